"""The box at the end of each chapter: how to reproduce it and how to cite it."""

from __future__ import annotations

import re
from html import escape, unescape

from lib.book.records import REPORT, YEAR


def add(app, pagename, templatename, context, doctree):
    """Append the box to pages that come from notebooks."""
    if not str(context.get("page_source_suffix", "")).endswith(".ipynb"):
        return
    title = unescape(re.sub(r"<[^>]+>", "", context["title"]))
    title = re.sub(r"^\d+(\.\d+)*\.\s*", "", title)
    context["body"] += _box(pagename, title)


def bibtex(pagename, title):
    """Return the BibTeX entry that cites one chapter."""
    key = pagename.replace("/", "-").replace("_", "-")
    return (f"@incollection{{failures-checkpoints-{key},\n"
            f"  title = {{{title}}},\n"
            f"  booktitle = {{{REPORT}}},\n"
            f"  year = {{{YEAR}}}\n}}")


def _box(pagename, title):
    return (
        '<aside class="chapter-box" aria-label="Reproduce and cite this chapter">\n'
        f"<p><strong>Reproduce.</strong> <code>make book</code> in a clone re-executes this chapter and compares every "
        f"output with the stored one. <code>.venv/bin/python tools/refresh.py chapters/{escape(pagename)}.md</code> "
        "executes it alone. The button at the top of the page downloads it as a notebook.</p>\n"
        f"<details><summary>Cite this chapter</summary><pre>{escape(bibtex(pagename, title))}</pre></details>\n"
        "</aside>\n")
