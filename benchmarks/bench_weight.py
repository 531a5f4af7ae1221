"""What each page weighs on a first visit, beside the same chapter under a stock Jupyter Book configuration.

Sizes are sums of files compressed one by one. The stock book has the same text, Altair's own output for
charts and Jupyter Book's own settings; its planner is a form without a script. What it asks of other sites
is answered, and weighed, from copies on this machine: MathJax from sphinx-mathjax-offline; vega, vega-lite
and vega-embed together as the one script that vl-convert carries. An address without a copy here would be
named and not weighed.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import re
import sys
import tempfile
import threading
from pathlib import Path

import altair as alt
import nbformat
import vl_convert
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests import building  # noqa: E402
from tests.browsing import BROWSER, FLAGS, Quiet, pages  # noqa: E402
from tests.weighing import READY, asked, compressed  # noqa: E402

MATHJAX = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
SETTINGS = """title: Failures and Checkpoints at Scale
only_build_toc_files: true
execute: {execute_notebooks: "off"}
bibtex_bibfiles: [../data/references.bib]
parse: {myst_enable_extensions: [amsmath, colon_fence, deflist, dollarmath, attrs_inline]}
sphinx:
  local_extensions: {stock: .}
  extra_extensions: [sphinx_proof, sphinx_exercise, sphinx.ext.autodoc, sphinx.ext.napoleon]
"""
# The chapters' own roles and directives, so that the text is the same; none of the report's scripts.
EXTENSION = """from lib.book import catalogue, planner, roles


def setup(app):
    for part in (catalogue, planner, roles):
        part.register(app)
"""
READY_STOCK = READY.replace("('.book-chart')].every(c => c.dataset.drawn)",
                            "('[id^=altair-viz]')].every(c => c.querySelector('canvas, svg'))")
CDN = "https://cdn.jsdelivr.net/npm/"


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, sync_playwright() as play:
        folder = Path(folder)
        browser = play.chromium.launch_persistent_context(folder / "profile", executable_path=BROWSER,
                                                          headless=True, args=FLAGS)
        print("building the report and its stock twin")
        ours = weigh(browser, built(folder / "ours", ROOT), READY, {})
        stock = weigh(browser, built(folder / "stock", stock_book(folder)), READY_STOCK, copies(folder))
        browser.close()
    print(f"{'kB compressed, first visit':40} {'ours':>8} {'stock':>8} {'of it outside':>14} {'times':>6}")
    for name in sorted(ours.keys() & stock.keys()):
        inside, outside, _ = stock[name]
        here, total = sum(ours[name][:2]), inside + outside
        print(f"{name:40} {here / 1000:8.0f} {total / 1000:8.0f} {outside / 1000:14.0f} {total / here:6.2f}")
    print("asked of other sites by the stock pages, and not weighed: "
          + (", ".join(sorted({url for *_, unknown in stock.values() for url in unknown})) or "nothing"))


def built(out, source):
    result = building.build(out, source)
    html = out / "_build" / "html"
    assert (html / "index.html").exists(), result.stdout[-4000:]
    return html


def stock_book(folder):
    """Return a copy of the checkout with Jupyter Book's own settings and Altair's own outputs."""
    copy = building.scratch(folder)
    (copy / "_config.yml").write_text(SETTINGS, "utf8")
    (copy / "stock.py").write_text(EXTENSION, "utf8")
    for path in (copy / "chapters").rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for data in (o["data"] for cell in notebook.cells for o in cell.get("outputs", []) if "data" in o):
            if spec := data.pop("application/vnd.vegalite.v5+json", None):
                data["text/html"] = alt.renderers.get()(spec)["text/html"]
        nbformat.write(notebook, path)
    return copy


def copies(folder):
    """Return the file that stands for each outside address, by the beginning of the address."""
    vega, nothing = folder / "vega.js", folder / "nothing.js"
    vega.write_text("(function(){" + vl_convert.javascript_bundle(vl_version="6.4") + "})();", "utf8")
    nothing.write_text("", "utf8")
    return {f"{CDN}mathjax@3/es5": MATHJAX, f"{CDN}vega@": vega, f"{CDN}vega-lite@": nothing,
            f"{CDN}vega-embed@": nothing}


def copy_of(url, known):
    """Return the local copy of an outside address, or None."""
    for start, path in known.items():
        if url.startswith(start):
            return path / url.removeprefix(f"{start}/").split("?")[0] if path.is_dir() else path
    return None


def weigh(browser, html, ready, known):
    """Return for each page the bytes from the site, those from outside, and what could not be weighed."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"

    def answer(route):
        path = copy_of(route.request.url, known)
        route.fulfill(path=path) if path and path.is_file() else route.abort()

    browser.route(re.compile(f"^(?!{re.escape(address)}|data:|blob:)"), answer)
    found = {name: split(asked(browser, address + name, ready), html, address, known) for name in pages(html)}
    browser.unroute_all()
    server.shutdown()
    return found


def split(urls, html, address, known):
    inside = sum(compressed(html / url.removeprefix(address)) for url in urls if url.startswith(address))
    others = {url: copy_of(url, known) for url in urls if re.match(f"http(?!{re.escape(address[4:])})", url)}
    weighed = [path for path in others.values() if path and path.is_file()]
    return inside, sum(map(compressed, weighed)), [url for url, path in others.items() if path not in weighed]


if __name__ == "__main__":
    main()
