"""No page is heavy on a first visit."""

import pytest

from tests.browsing import pages
from tests.weighing import parts

pytestmark = pytest.mark.xdist_group("site")
LIMIT = 1_200_000  # bytes, compressed


def test_no_page_is_heavy_on_a_first_visit(site, address, browser):
    found = {name: parts(browser, site, address, name) for name in pages(site)}
    assert not {name: files for name, files in found.items() if sum(files.values()) > LIMIT}
    for name, files in found.items():
        assert name in files and "_static/report.css" in files, name
        if '<div class="book-chart"' in (site / name).read_text("utf8"):
            assert "_static/scripts/charts.js" in files, name
