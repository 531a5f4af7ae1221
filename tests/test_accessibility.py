"""WCAG 2.2 AA by axe-core on every page: light, dark, narrow, all disclosures open; keyboard, paper, motion."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from lib.book.charts import MODELS, SERIES
from tests.browsing import pages, visit
from tests.colours import channels, contrast

pytestmark = pytest.mark.xdist_group("site")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
# Colours do not depend on the width: the narrow look leaves out the one slow rule.
LOOKS = {"light": ("light", 1280, {}), "dark": ("dark", 1280, {}),
         "narrow": ("light", 390, {"color-contrast": {"enabled": False}})}
DRAWN = "theme => [...document.querySelectorAll('.book-chart')].every(c => c.dataset.drawn === theme)"
# Faults of the theme that nothing here can mend: (rule, selector of the element): why.
ALLOWED = {}

# Opens every disclosure. Of code it leaves one word of each kind in its colour: the others look the same.
PREPARE = """() => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  const seen = new Set();
  for (const word of document.querySelectorAll('div.highlight pre span[class]')) {
    if (seen.has(word.className)) word.replaceWith(...word.childNodes);
    seen.add(word.className);
  }
}"""


def faults(page, theme, width, rules):
    """Return what axe finds as (rule, element, why)."""
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("t => { document.documentElement.dataset.theme = t; }", theme)
    page.wait_for_function(DRAWN, arg=theme)
    page.wait_for_timeout(500)  # the theme fades its colours, charts follow the width
    options = {"runOnly": RULES, "resultTypes": ["violations"], "rules": rules}
    found = Axe().run(page, options=options).response["violations"]
    return [(v["id"], node["target"][0], node["failureSummary"].splitlines()[-1].strip())
            for v in found for node in v["nodes"] if (v["id"], node["target"][0]) not in ALLOWED]


def test_no_page_has_a_fault_that_axe_can_see(site, address, browser):
    found = {}
    for name in pages(site):
        page = visit(browser, address + name, [])
        page.evaluate(PREPARE)
        for look, how in LOOKS.items():
            if wrong := faults(page, *how):
                found[name, look] = wrong
        page.close()
    assert not found


STATES = {
    "planner with a wrong input": ("reference/planner.html", lambda page: page.fill("#p-gpus", "many")),
    "claims filtered and sorted": ("reference/audit.html", lambda page: (
        page.locator(".claim-table th button").first.click(), page.fill("[data-filter=text]", "flip"))),
    "results of a search": ("search.html?q=interval",
                            lambda page: page.wait_for_selector("#search-results li a")),
    "page reached from a search": ("scaling/background.html?highlight=interval",
                                   lambda page: page.wait_for_selector(".highlighted")),
    "search opened by keyboard": ("scaling/background.html", lambda page: page.keyboard.press("Control+k")),
}


@pytest.mark.parametrize("state", STATES)
def test_no_state_of_a_page_has_a_fault_that_axe_can_see(address, browser, state):
    name, act = STATES[state]
    page = visit(browser, address + name, [])
    act(page)
    found = {look: faults(page, *how) for look, how in LOOKS.items()}
    page.close()
    assert not any(found.values()), found


@pytest.mark.parametrize(("theme", "ground"), [("light", "#ffffff"), ("dark", "#121212")])
def test_colours_of_charts_stand_out(address, browser, theme, ground):
    """Lines against the page: at least 3 to 1, the limit for what is not text."""
    page = visit(browser, address + "index.html", [])
    page.evaluate("t => { document.documentElement.dataset.theme = t; }", theme)
    page.wait_for_timeout(500)
    shown = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.close()
    assert channels(shown) == channels(ground)
    for colour in {*SERIES, *(colour for colour, _ in MODELS.values())}:
        assert contrast(channels(colour), channels(ground)) >= 3, colour


def test_what_scrolls_is_reached_by_keyboard_and_what_fits_is_not(address, browser):
    page = visit(browser, address + "scaling/general_model.html", [])
    stops = """() => ['.math', 'mjx-container', '.bd-article table'].map(
        s => document.querySelectorAll(s + '[tabindex="0"]').length)"""
    wide = page.evaluate(stops)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(500)
    narrow = page.evaluate(stops)
    equations = page.locator(".math").count()
    focused = page.evaluate("""() => {
        const stops = [...document.querySelectorAll('mjx-container[tabindex="0"]')];
        const region = stops.find(e => e.scrollWidth > e.clientWidth + 50);
        region.focus();
        return document.activeElement === region; }""")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    page.close()
    assert focused and sum(narrow) > sum(wide) and wide[1] < equations / 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_paper_shows_text_charts_and_whole_lines_whatever_the_theme(address, browser, theme):
    page = visit(browser, address + "scaling/background.html", [])
    page.evaluate("t => { document.documentElement.dataset.theme = t; }", theme)
    page.wait_for_function("t => document.querySelector('.book-chart').dataset.drawn === t", arg=theme)
    page.emulate_media(media="print")
    page.wait_for_timeout(500)
    colours, charts, cut = page.evaluate("""() => [
        ['article p', 'article h2', 'article pre', '.highlight .kn', '.derivation-box p', '.claim-mark'].map(
            s => getComputedStyle(document.querySelector(s)).color).concat(
            [...document.querySelectorAll('.book-chart svg text')].map(e => getComputedStyle(e).fill)),
        [...document.querySelectorAll('.book-chart svg')].map(e => e.getBoundingClientRect().height),
        [...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth + 1).length]""")
    page.close()
    assert all(contrast(channels(colour), [255, 255, 255]) >= 4.5 for colour in colours), colours
    assert min(charts) > 100 and not cut


def test_nothing_moves_for_readers_who_ask_for_that(address, browser):
    page = visit(browser, address + "scaling/background.html", [])
    moving = """() => [...document.querySelectorAll('*')].filter(e => {
        const {transitionDuration, animationDuration} = getComputedStyle(e);
        return parseFloat(transitionDuration) > 0 || parseFloat(animationDuration) > 0; }).length"""
    before = page.evaluate(moving)
    page.emulate_media(reduced_motion="reduce")
    after = page.evaluate(moving)
    page.close()
    assert before > 0 and after == 0
