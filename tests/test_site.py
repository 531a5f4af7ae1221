"""The built site in a real browser: nothing asked of the network, everything drawn, nothing cut off."""

import pytest

from tests.browsing import pages, visit
from tests.colours import channels, contrast

pytestmark = pytest.mark.xdist_group("site")
FACTS = """() => ({
  charts: document.querySelectorAll('.book-chart').length,
  drawn: document.querySelectorAll('.book-chart[data-drawn] svg.marks').length,
  equations: document.querySelectorAll('.math').length,
  untypeset: [...document.querySelectorAll('.math')].filter(e => !e.querySelector('mjx-container')).length,
  mathErrors: document.querySelectorAll('mjx-merror').length,
  vega: 'vegaEmbed' in window,
  overflow: document.documentElement.scrollWidth - window.innerWidth})"""
# What a reader cannot see: beyond the edge with nothing to scroll, or an equation longer than its box.
CUT = """() => {
  const able = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const scrolls = e => e && (able(e) || scrolls(e.parentElement));
  const beyond = (e, edge) => e.getBoundingClientRect().right > edge + 1;
  const kinds = 'h1, h2, h3, p, li, dt, dd, pre, table, svg, input, select, div.math';
  return [...document.querySelectorAll(`article :is(${kinds})`)]
      .filter(e => beyond(e, innerWidth) && !scrolls(e))
    .concat([...document.querySelectorAll('span.math mjx-math')]
      .filter(e => beyond(e, e.closest('.math').getBoundingClientRect().right)))
    .map(e => `${e.tagName}: ${e.textContent.trim().slice(0, 60)}`); }"""


def test_every_page_works_without_the_network(site, address, browser):
    faults = {}
    for name in pages(site):
        trouble = []
        page = visit(browser, address + name, trouble)
        facts = page.evaluate(FACTS)
        if facts["drawn"] != facts["charts"]:
            trouble.append(f"{facts['charts'] - facts['drawn']} charts not drawn")
        if facts["untypeset"] or facts["mathErrors"]:
            trouble.append(f"{facts['untypeset']} equations not typeset, {facts['mathErrors']} with errors")
        if facts["vega"] != (facts["charts"] > 0):
            trouble.append(f"chart script loaded: {facts['vega']}, charts: {facts['charts']}")
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.wait_for_timeout(600)
        overflow = page.evaluate(FACTS)["overflow"]
        if overflow > 0:
            trouble.append(f"{overflow} px too wide at 390 px")
        trouble += [f"cut off at 390 px: {text}" for text in page.evaluate(CUT)]
        page.close()
        if trouble:
            faults[name] = trouble
    assert not faults


def test_there_are_charts_and_equations_to_look_at(site, address, browser):
    page = visit(browser, address + "scaling/background.html", [])
    facts = page.evaluate(FACTS)
    page.close()
    assert facts["charts"] >= 1 and facts["equations"] >= 10


def test_sliders_keep_their_values_when_the_theme_changes(address, browser):
    page = visit(browser, address + "scaling/background.html", [])
    slider = page.locator(".book-chart input[type=range]").first
    slider.evaluate("e => { e.value = 6; e.dispatchEvent(new Event('input', {bubbles: true})); }")
    for theme in ("dark", "light"):
        page.evaluate("t => { document.documentElement.dataset.theme = t; }", theme)
        page.wait_for_function("t => document.querySelector('.book-chart').dataset.drawn === t", arg=theme)
        assert page.locator(".book-chart input[type=range]").first.input_value() == "6"
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast(address, browser, theme):
    """Body text and chart labels against the page: at least 4.5 to 1."""
    page = visit(browser, address + "scaling/background.html", [])
    page.evaluate("t => { document.documentElement.dataset.theme = t; }", theme)
    page.wait_for_function("t => document.querySelector('.book-chart').dataset.drawn === t", arg=theme)
    ground, *texts = page.evaluate("""() => [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector('article p')).color,
        document.querySelector('.book-chart svg .role-axis-label text').getAttribute('fill'),
        ...[...document.querySelectorAll('.claim-mark')].map(e => getComputedStyle(e).color)]""")
    page.close()
    for text in texts:
        assert contrast(channels(text), channels(ground)) >= 4.5, (theme, text, ground)


def test_exports_are_there(site):
    import json

    claims = json.loads((site / "claims.json").read_text("utf8"))
    derivations = json.loads((site / "derivations.json").read_text("utf8"))
    assert len(claims) >= 101
    assert {"id", "section", "statement", "printed", "computed", "unit", "verdict", "explanation", "chapter"} <= set(claims[0])
    assert {d["id"] for d in derivations} >= {"D-01", "D-02", "D-03", "D-04", "D-05", "D-06"}


# Elements that look the same with the focus as without it.
UNMARKED = """() => {
  const ring = e => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth, s.boxShadow].join(); };
  const look = e => ring(e) + ring(e.parentElement);
  const stops = document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]');
  return [...stops].filter(e => {
    const before = look(e);
    e.focus();
    return document.activeElement === e && look(e) === before;
  }).map(e => e.outerHTML.slice(0, 80)); }"""


@pytest.mark.parametrize("name", ["index.html", "scaling/background.html", "reference/audit.html", "search.html?q=write"])
def test_the_keyboard_s_place_can_be_seen(address, browser, name):
    page = visit(browser, address + name, [])
    page.emulate_media(reduced_motion="reduce")  # so that no ring fades in
    page.keyboard.press("Tab")  # so that the browser takes the reader for one who uses the keyboard
    page.evaluate("document.activeElement.blur()")
    unmarked = page.evaluate(UNMARKED)
    page.evaluate("localStorage.clear()")  # the next page would mark the words of the search
    page.close()
    assert not unmarked


@pytest.mark.parametrize("name", ["Toggle primary sidebar", "Download this page"])
def test_buttons_of_the_theme_have_a_ring(address, browser, name):
    page = visit(browser, address + "scaling/background.html", [])
    page.keyboard.press("Tab")
    button = page.get_by_role("button", name=name).first
    button.focus()
    ring = button.evaluate("e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth]")
    page.close()
    assert ring == ["solid", "3px"]


def test_the_landing_page_fits_a_screen(address, browser):
    """What was asked, the three ways in, what was found and the chart: within 1280 by 800 pixels."""
    page = visit(browser, address + "index.html", [])
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_timeout(600)
    bottoms = page.evaluate("""() => Object.fromEntries(['h1 ~ p', '.three-ways', 'h1 ~ ul > li', '.book-chart', 'figcaption'].map(part =>
        [part, Math.max(...[...document.querySelectorAll(`article ${part}`)].map(e => e.getBoundingClientRect().bottom))]))""")
    page.close()
    assert all(0 < bottom <= 800 for bottom in bottoms.values()), bottoms
