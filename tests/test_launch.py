"""Where the address of the repository is given at build time, the launch buttons point at files that exist."""

import re
from urllib.parse import unquote

import pytest

from tests.building import ROOT, build

pytestmark = pytest.mark.xdist_group("site")
REPOSITORY, SITE = "https://github.com/example/report", "https://example.org/report"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("launch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPOSITORY_URL", REPOSITORY)
        patch.setenv("SITE_URL", SITE)
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


def addresses(text, form):
    """Return {what is cited: its address} of the plain or BibTeX citations of a page."""
    boxes = re.findall(rf'<pre class="cite-{form}"[^>]*>([^<]*)</pre>', text)
    pattern = {"plain": r"^(.*) (https://\S+)$", "bibtex": r"^@misc\{([\w-]+),.*url = \{(\S+)\}\n\}$"}[form]
    return dict(re.search(pattern, box, re.S).groups() for box in boxes)


def test_a_derivation_has_one_address_in_every_citation(pages):
    listed = {form: addresses(pages["reference/derivations.html"], form) for form in ("plain", "bibtex")}
    assert listed["bibtex"]["failures-checkpoints-d20"] == f"{SITE}/foundations/daly.html#d-20"
    found = {}
    for name, text in pages.items():
        here = addresses(text, "bibtex")
        if name != "reference/derivations.html":
            found |= here
        assert list(addresses(text, "plain").values()) == list(here.values()), name
    assert set(listed["bibtex"]) < set(found)
    assert all(found[key] == url for key, url in listed["bibtex"].items())


def test_a_chapter_and_the_report_are_cited_with_their_addresses(pages):
    assert addresses(pages["scaling/background.html"], "bibtex")[
        "failures-checkpoints-scaling-background"] == f"{SITE}/scaling/background.html"
    assert addresses(pages["index.html"], "bibtex") == {"failures-checkpoints": f"{SITE}/index.html"}
