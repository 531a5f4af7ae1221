"""The site as a whole: its address where known, its map for search engines, its page for wrong addresses."""

from __future__ import annotations

import os
from pathlib import Path
from xml.sax.saxutils import escape

NOT_FOUND = "404"
# What a reader who followed a dead link may have looked for.
WAYS_ON = (("index", "The report from its beginning"),
           ("reference/planner", "The planner: your cluster, its interval and its loss"),
           ("reference/audit", "The audit: every claim with its verdict"),
           ("reference/derivations", "All derivations"))


def address(page=None):
    """Return the address of the site, or of a page; an empty string where SITE_URL is not given."""
    site = os.environ.get("SITE_URL", "").rstrip("/")
    return f"{site}/{page}.html" if site and page else site


def canonical(app, config):
    """Each page names its own address, so that copies of the site count as one."""
    if address():
        config.html_baseurl = address() + "/"


def not_found(app):
    """Give the server a page to show for addresses that lead nowhere."""
    links = "".join(f'<li><a href="{page}.html">{text}</a></li>' for page, text in WAYS_ON)
    body = ('<section><h1>There is no such page</h1>\n'
            "<p>The address may be mistyped, or the page may have moved.</p>\n"
            '<form class="report-search" role="search" action="search.html"><label for="wanted">'
            "Search for a word, a claim such as A-28 or a derivation such as D-04</label>"
            '<input type="search" id="wanted" name="q">'
            f"<button type=\"submit\">Search</button></form>\n<ul>{links}</ul></section>")
    return [(NOT_FOUND, {"title": "There is no such page", "body": body}, "page.html")]


def anchor_links(app, pagename, templatename, context, doctree):
    """A server shows the 404 page at any depth: its links start from the site's address."""
    if pagename == NOT_FOUND and address():
        context["metatags"] = f'<base href="{address()}/" />\n' + context.get("metatags", "")


def write_map(app, exception):
    """Write sitemap.xml where the site's address is known."""
    if exception or app.builder.format != "html" or not address():
        return
    pages = map(address, sorted(app.env.found_docs))
    places = "".join(f"<url><loc>{escape(page)}</loc></url>\n" for page in pages)
    text = ('<?xml version="1.0" encoding="utf-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n')
    (Path(app.outdir) / "sitemap.xml").write_text(text, encoding="utf8")


def register(app):
    app.connect("config-inited", canonical)
    app.connect("html-collect-pages", not_found)
    app.connect("html-page-context", anchor_links)
    app.connect("build-finished", write_map)
