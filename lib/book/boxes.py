"""The box at the end of each chapter: how to reproduce it and how to cite it."""

from __future__ import annotations

from html import escape

from lib.book import cite, meta, site


def add(app, pagename, templatename, context, doctree):
    """Append the box to pages that come from notebooks; add addresses where SITE_URL gives the site's own."""
    if "body" not in context:
        return
    if str(context.get("page_source_suffix", "")).endswith(".ipynb"):
        context["body"] += _box(pagename, meta.title(context), pagename == app.config.root_doc)
    if site.address():
        context["body"] = cite.with_addresses(context["body"], pagename, site.address)


def _box(pagename, title, whole):
    """The landing page stands for the whole report."""
    what, executed = ("report", "every chapter") if whole else ("chapter", "this chapter")
    key = pagename.replace("/", "-").replace("_", "-")
    cited = cite.disclosure(what, "", cite.REPORT) if whole else cite.disclosure(what, key, title)
    return (
        f'<aside class="chapter-box" aria-label="Reproduce and cite this {what}">\n'
        f"<p><strong>Reproduce.</strong> <code>make book</code> in a clone re-executes {executed} and compares every "
        f"output with the stored one. <code>.venv/bin/python tools/refresh.py chapters/{escape(pagename)}.md</code> "
        f"executes this page alone. The button at the top of the page downloads it as a notebook.</p>\n{cited}\n</aside>\n")
