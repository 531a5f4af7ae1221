"""Opening pages of the built site in a real Chromium."""

import http.server
import re
import shutil

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def pages(site):
    """Return the names of all pages of the built site."""
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
