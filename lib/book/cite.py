"""How to cite the report, a chapter or a derivation: BibTeX and plain text, as a disclosure for the page."""

from __future__ import annotations

import re
from html import escape

REPORT = "Failures and Checkpoints at Scale: a reproducible report"
AUTHORS = "The contributors of Failures and Checkpoints at Scale"
YEAR = 2026


def plain(title, part=""):
    """Return the citation as one line of text; `part` says which derivation it is, if any."""
    return f"{AUTHORS} ({YEAR}). {title}. {part + ' in ' if part else 'In '}{REPORT}."


def bibtex(key, title, part=""):
    """Return the citation as a BibTeX entry."""
    note = f"  note = {{{part}}},\n" if part else ""
    return (f"@incollection{{failures-checkpoints-{key},\n"
            f"  author = {{{{{AUTHORS}}}}},\n"
            f"  title = {{{title}}},\n"
            f"  booktitle = {{{REPORT}}},\n"
            f"{note}"
            f"  year = {{{YEAR}}}\n}}")


def disclosure(what, key, title, part="", anchor=""):
    """Return the HTML that shows both forms when opened; `anchor` is the element that a link should lead to."""
    return (f"<details class=\"cite\"><summary>Cite this {what}</summary>\n"
            f"<pre class=\"cite-plain\">{escape(plain(title, part))}</pre>\n"
            f"<pre class=\"cite-bibtex\" data-anchor=\"{anchor}\">{escape(bibtex(key, title, part))}</pre></details>")


def with_addresses(body, page_address):
    """Add the page's address to each BibTeX entry of a page, for a site whose address is known."""
    def add(match):
        anchor = f"#{match['anchor']}" if match["anchor"] else ""
        return f"{match['entry']},\n  url = {{{page_address}{anchor}}}\n}}</pre>"

    pattern = (r'(?P<entry><pre class="cite-bibtex" data-anchor="(?P<anchor>[^"]*)">[^<]*?)'
               r"\n\}</pre>")
    return re.sub(pattern, add, body)
