"""The built site in a real browser: nothing asked of the network, everything drawn, nothing cut off."""

import functools
import http.server
import os
import re
import shutil
import tempfile
import threading

import pytest

from tests.building import build

pytestmark = pytest.mark.xdist_group("site")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
FACTS = """() => ({
  charts: document.querySelectorAll('.book-chart').length,
  drawn: document.querySelectorAll('.book-chart[data-drawn] svg.marks').length,
  equations: document.querySelectorAll('.math').length,
  untypeset: [...document.querySelectorAll('.math')].filter(e => !e.querySelector('mjx-container')).length,
  mathErrors: document.querySelectorAll('mjx-merror').length,
  vega: 'vegaEmbed' in window,
  overflow: document.documentElement.scrollWidth - window.innerWidth})"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    result = build(out)
    assert result.returncode == 0, result.stdout[-4000:]
    return out / "_build" / "html"


@pytest.fixture(scope="module")
def address(site):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        message = "no Chromium on the PATH: the site was not looked at"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play, tempfile.TemporaryDirectory() as profile:
        context = play.chromium.launch_persistent_context(profile, executable_path=BROWSER, headless=True, args=FLAGS,
                                                          viewport={"width": 1280, "height": 900})
        yield context
        context.close()


def pages(site):
    return sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html") if "_static" not in p.parts)


def visit(browser, url, trouble):
    """Open a page, noting whatever a reader would not want, and wait until its charts and equations are there."""
    page = browser.new_page()
    base = re.match(r"http://[^/]+/", url)[0]
    page.on("request", lambda r: r.url.startswith((base, "data:", "blob:")) or trouble.append(f"asked {r.url}"))
    page.on("requestfailed", lambda r: trouble.append(f"failed {r.url}"))
    page.on("response", lambda r: r.status < 400 or trouble.append(f"{r.status} {r.url}"))
    page.on("console", lambda m: m.type != "error" or trouble.append(f"console: {m.text}"))
    page.on("pageerror", lambda e: trouble.append(f"script: {e}"))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(url)
    page.wait_for_function("() => [...document.querySelectorAll('.book-chart')].every(c => c.dataset.drawn)"
                           " && [...document.querySelectorAll('.math')].every(m => m.querySelector('mjx-container'))",
                           timeout=60_000)
    page.wait_for_timeout(200)  # whatever a script asks for after that
    return page


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
        page.wait_for_timeout(300)
        overflow = page.evaluate(FACTS)["overflow"]
        if overflow > 0:
            trouble.append(f"{overflow} px too wide at 390 px")
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


def channels(colour):
    if colour.startswith("#"):
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        return [int(digits[i:i + 2], 16) for i in (0, 2, 4)]
    return [float(v) for v in re.findall(r"[\d.]+", colour)[:3]]


def contrast(one, other):
    """Return the contrast ratio of two sRGB colours as WCAG 2 defines it."""
    def luminance(rgb):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_exports_are_there(site):
    import json

    claims = json.loads((site / "claims.json").read_text("utf8"))
    derivations = json.loads((site / "derivations.json").read_text("utf8"))
    assert len(claims) >= 101
    assert {"id", "section", "statement", "printed", "computed", "unit", "verdict", "explanation", "chapter"} <= set(claims[0])
    assert {d["id"] for d in derivations} >= {"D-01", "D-02", "D-03", "D-04", "D-05", "D-06"}
