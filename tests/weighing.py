"""What a page weighs on a first visit: the sum of all that it asks for, each file compressed by itself."""

import functools
import gzip
from pathlib import Path

READY = ("() => [...document.querySelectorAll('.book-chart')].every(c => c.dataset.drawn)"
         " && [...document.querySelectorAll('.math')].every(m => m.querySelector('mjx-container'))"
         " && document.fonts.status === 'loaded'")


@functools.cache
def compressed(path):
    """Return the size in bytes of a file as a server would send it, compressed."""
    return len(gzip.compress(Path(path).read_bytes(), mtime=0))


def asked(browser, url, wait=READY):
    """Return the addresses that a page asks for on a first visit, with nothing kept from earlier ones."""
    page, addresses = browser.new_page(), set()
    page.on("request", lambda r: addresses.add(r.url.split("?")[0].split("#")[0]))
    browser.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(url)
    page.wait_for_function(wait, timeout=60_000)
    page.wait_for_timeout(300)  # what scripts ask for after that
    page.close()
    return addresses


def parts(browser, site, address, name):
    """Return the compressed size of each file of the site that a page asks for."""
    return {place: compressed(site / place) for place in
            (url.removeprefix(address) for url in asked(browser, address + name) if url.startswith(address))}
