"""Where the address of the repository is given at build time, the launch buttons point at files that exist."""

import re
from urllib.parse import unquote

import pytest

from tests.building import ROOT, build

pytestmark = pytest.mark.xdist_group("site")
REPOSITORY = "https://github.com/example/report"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("launch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPOSITORY_URL", REPOSITORY)
        patch.setenv("SITE_URL", "https://example.org/report")
        result = build(out)
    assert result.returncode == 0, result.stdout[-3000:]
    site = out / "_build" / "html"
    return {p.relative_to(site).as_posix(): p.read_text("utf8") for p in site.rglob("*.html")}


def test_binder_and_colab_open_files_of_the_repository(pages):
    found = 0
    for name, text in pages.items():
        for link in re.findall(r'href="(https://(?:mybinder\.org|colab\.research\.google\.com)[^"]+)"', text):
            path = re.search(r"chapters/[\w/.]+", unquote(link))[0]
            assert (ROOT / path).is_file(), (name, link)
            found += 1
    assert found >= 2 * 10


def test_the_run_page_names_the_repository(pages):
    """Colab opens a chapter alone, so the page says how to clone there."""
    assert f"git clone --depth 1 {REPOSITORY} report" in re.sub("<[^>]+>", "", pages["reference/run.html"])


def test_binder_takes_a_python_that_the_lock_is_made_for():
    name, major, minor = re.split("[-.]", (ROOT / "runtime.txt").read_text().strip())
    assert name == "python" and (3, 11) <= (int(major), int(minor)) <= (3, 13)


def test_a_derivation_is_cited_with_its_address(pages):
    text = pages["scaling/background.html"]
    assert "url = {https://example.org/report/scaling/background.html#d-01}" in text
    assert "url = {https://example.org/report/scaling/background.html}" in text
