"""Citing: each recorded derivation has its box, its theorem and its entry; one action copies a citation."""

import json
import re

import pytest

from lib.book import cite
from tests.browsing import visit

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


@pytest.fixture
def box(address, browser):
    browser.grant_permissions(["clipboard-read", "clipboard-write"], origin=address.rstrip("/"))
    trouble = []
    page = visit(browser, address + PAGE, trouble)
    page.wait_for_selector(f"{FIRST} details.cite button.copybtn", state="attached")
    page.evaluate("navigator.clipboard.writeText('nothing yet')")
    yield page.locator(f"{FIRST} details.cite")
    page.close()
    assert not trouble


def clipboard(box):
    return box.page.evaluate("navigator.clipboard.readText()").strip()


def test_mouse_copies_both_forms(box):
    box.locator("summary").click()
    title = re.search(r"\d{4}\)\. (.*?)\. Derivation D-01", box.locator(".cite-plain").inner_text())[1]
    for name, text in (("Copy text", cite.plain(title, "Derivation D-01")),
                       ("Copy BibTeX", cite.bibtex("d01", title, "Derivation D-01"))):
        box.get_by_role("button", name=name).click()
        assert clipboard(box) == text


def test_keyboard_copies(box):
    keys = box.page.keyboard
    box.locator("summary").focus()
    keys.press("Enter")
    keys.press("Tab")
    button = box.page.locator(":focus")
    assert button.evaluate("e => e.matches('.cite-plain + button.copybtn')")
    assert button.evaluate("e => getComputedStyle(e).opacity") == "1"
    keys.press("Enter")
    assert clipboard(box) == box.locator(".cite-plain").inner_text().strip()


def test_copy_button_of_code_shows_on_focus(box):
    button = box.page.locator("div.highlight button.copybtn").first
    assert button.evaluate("e => getComputedStyle(e).opacity") == "0"
    box.page.keyboard.press("Tab")  # so that the browser takes the reader for one who uses the keyboard
    button.focus()
    box.page.wait_for_function("() => getComputedStyle(document.activeElement).opacity === '1'")
    box.page.keyboard.press("Enter")
    code = button.evaluate("e => document.querySelector(e.dataset.clipboardTarget).textContent")
    assert clipboard(box) == code.strip()
