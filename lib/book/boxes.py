"""The box at the end of each chapter: how to reproduce it and how to cite it."""

from __future__ import annotations

from html import escape

from lib.book import cite, meta, site


def add(app, pagename, templatename, context, doctree):
    """Append the box to pages that come from notebooks; add addresses where SITE_URL gives the site's own."""
    if "body" not in context:
        return
    if str(context.get("page_source_suffix", "")).endswith(".ipynb"):
        context["body"] += _box(pagename, meta.title(context))
    if address := site.address(pagename):
        context["body"] = cite.with_addresses(context["body"], address)


def _box(pagename, title):
    key = pagename.replace("/", "-").replace("_", "-")
    return (
        '<aside class="chapter-box" aria-label="Reproduce and cite this chapter">\n'
        "<p><strong>Reproduce.</strong> <code>make book</code> in a clone re-executes this chapter and compares every "
        f"output with the stored one. <code>.venv/bin/python tools/refresh.py chapters/{escape(pagename)}.md</code> "
        "executes it alone. The button at the top of the page downloads it as a notebook.</p>\n"
        f"{cite.disclosure('chapter', key, title)}\n</aside>\n")
