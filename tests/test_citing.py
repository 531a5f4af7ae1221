"""Citing: each recorded derivation has its box, its theorem and its entry; one action copies a citation or code."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest
from pybtex.database import parse_string

from lib.book import cite
from tests.browsing import pages, visit

pytestmark = pytest.mark.xdist_group("site")
PAGE, FIRST = "scaling/background.html", "#d-01"


def test_every_derivation_has_its_box_its_theorem_and_its_entry(site):
    derivations = json.loads((site / "derivations.json").read_text("utf8"))
    listed = (site / "reference" / "derivations.html").read_text("utf8")
    assert derivations
    for record in derivations:
        anchor = record["id"].lower()
        chapter = (site / f"{record['chapter']}.html").read_text("utf8")
        for page, name in ((chapter, anchor), (chapter, f"thm-{anchor}"), (listed, f"entry-{anchor}")):
            assert len(re.findall(f' id="{name}"', page)) == 1, f"{record['chapter']}: {name}"


@pytest.fixture(scope="module")
def entries(site):
    """The BibTeX entries of the site by their keys: each page that shows one shows the same."""
    found = {}
    for name in pages(site):
        for entry in re.findall(r'<pre class="cite-bibtex"[^>]*>(.*?)</pre>', (site / name).read_text("utf8"), re.S):
            key = re.match(r"@misc\{([\w-]+),", entry)[1]
            assert found.setdefault(key, unescape(entry)) == unescape(entry), name
    return found


def test_entries_are_read_by_pybtex(entries):
    assert len(entries) > 40
    for key, entry in entries.items():
        (name, read), = parse_string(entry, "bibtex").entries.items()
        assert name == key and read.type == "misc" and read.fields["year"] == str(cite.YEAR)
        assert [str(person) for person in read.persons["author"]] == [f"{{{cite.AUTHORS}}}"]
        assert re.fullmatch(r"\{.+\}", read.fields["title"])  # the braces keep capitals
        within = f"(Derivation [A-Z]-\\d+ in|Chapter of) {cite.REPORT}"
        assert key == "failures-checkpoints" or re.fullmatch(within, read.fields["howpublished"])


@pytest.mark.skipif(not shutil.which("bibtex"), reason="no bibtex")
def test_bibtex_warns_of_nothing_and_keeps_capitals(entries, tmp_path):
    (tmp_path / "all.bib").write_text("\n".join(entries.values()), "utf8")
    (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n")
    result = subprocess.run(["bibtex", "all"], cwd=tmp_path, text=True, capture_output=True)
    assert result.returncode == 0 and "Warning" not in result.stdout, result.stdout
    made = " ".join((tmp_path / "all.bbl").read_text("utf8").split())
    assert "{Flatness of the first-order loss}. \\newblock Derivation D-02 in Failures and Checkpoints" in made


def test_the_landing_page_cites_the_whole_report(site, entries):
    page = (site / "index.html").read_text("utf8")
    assert f'<pre class="cite-plain">{cite.AUTHORS} ({cite.YEAR}). {cite.REPORT}.</pre>' in page
    assert "<summary>Cite this report</summary>" in page
    report = parse_string(entries["failures-checkpoints"], "bibtex").entries["failures-checkpoints"]
    assert report.fields["title"] == f"{{{cite.REPORT}}}" and "howpublished" not in report.fields


@pytest.mark.parametrize("page", ["reference/derivations.html", "reference/run.html"])
def test_files_for_programs_are_links(site, page):
    for name in ("derivations.json", "CITATION.cff"):
        assert f'href="../{name}"' in (site / page).read_text("utf8")
        assert (site / name).stat().st_size > 1000


@pytest.fixture
def opened(address, browser):
    """Opens pages on which the clipboard may be read; what went wrong on them fails the test."""
    browser.grant_permissions(["clipboard-read", "clipboard-write"], origin=address.rstrip("/"))
    trouble, shown = [], []

    def open_page(name):
        page = visit(browser, address + name, trouble)
        shown.append(page)
        page.wait_for_selector("button.copybtn", state="attached")
        page.evaluate("navigator.clipboard.writeText('nothing yet')")
        return page

    yield open_page
    for page in shown:
        page.close()
    assert not trouble


@pytest.fixture
def box(opened):
    return opened(PAGE).locator(f"{FIRST} details.cite")


def clipboard(page):
    return page.evaluate("navigator.clipboard.readText()").strip()


def test_mouse_copies_both_forms(box):
    box.locator("summary").click()
    title = re.search(r"\d{4}\)\. (.*?)\. Derivation D-01", box.locator(".cite-plain").inner_text())[1]
    for name, text in (("Copy text", cite.plain(title, "Derivation D-01")),
                       ("Copy BibTeX", cite.bibtex("d01", title, "Derivation D-01"))):
        box.get_by_role("button", name=name).click()
        assert clipboard(box.page) == text


def test_keyboard_copies_and_stays_at_the_button(box):
    keys = box.page.keyboard
    box.locator("summary").focus()
    keys.press("Enter")
    for form in ("plain", "bibtex"):
        keys.press("Tab")
        button = box.page.locator(":focus")
        assert button.evaluate(f"e => e.matches('.cite-{form} + button.copybtn')")
        assert button.evaluate("e => getComputedStyle(e).opacity") == "1"
        keys.press("Enter")
        assert clipboard(box.page) == box.locator(f".cite-{form}").inner_text().strip()


def test_copy_button_of_code_shows_on_focus_and_keeps_it(box):
    button = box.page.locator("div.highlight button.copybtn").first
    assert button.evaluate("e => getComputedStyle(e).opacity") == "0"
    box.page.keyboard.press("Tab")  # so that the browser takes the reader for one who uses the keyboard
    button.focus()
    box.page.wait_for_function("() => getComputedStyle(document.activeElement).opacity === '1'")
    box.page.keyboard.press("Enter")
    code = button.evaluate("e => document.querySelector(e.dataset.clipboardTarget).textContent")
    assert clipboard(box.page) == code.strip()
    assert button.evaluate("e => document.activeElement === e")


def test_prompts_are_not_copied(opened):
    page = opened("reference/run.html")
    block = page.locator("pre", has_text=">>> from lib.intervals import optimal")
    block.locator("xpath=following-sibling::button").click(force=True)
    typed = [line.removeprefix(">>> ") for line in block.inner_text().splitlines() if line.startswith(">>> ")]
    assert len(typed) == 4 and clipboard(page).splitlines() == typed


def test_outputs_are_copied_whole(opened):
    page = opened(PAGE)
    block = page.locator(".cell_output div.highlight pre").filter(has_text="\n").first
    block.locator("xpath=following-sibling::button").click(force=True)
    assert clipboard(page) == block.inner_text().strip() and "\n" in clipboard(page)


def test_only_examples_have_lines_that_look_like_prompts(site):
    """Of a block with such a line, the copy button copies these lines alone."""
    found = {name for name in pages(site) for block in re.findall(r"<pre[^>]*>(.*?)</pre>", (site / name).read_text("utf8"), re.S)
             if re.search(r"^(>>> |\.\.\. |\.\.\.$)", unescape(re.sub("<[^>]+>", "", block)), re.M)}
    assert found == {"reference/run.html", "reference/library.html"}
