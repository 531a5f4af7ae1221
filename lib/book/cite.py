"""How to cite the report, a chapter or a derivation: BibTeX and plain text, as a disclosure for the page."""

from __future__ import annotations

import re
from html import escape

REPORT = "Failures and Checkpoints at Scale: a reproducible report"
AUTHORS = "The contributors of Failures and Checkpoints at Scale"
YEAR = 2026
PAIR = re.compile(r'(?P<plain><pre class="cite-plain">[^<]*)</pre>\n'
                  r'<pre class="cite-bibtex"(?: data-page="(?P<page>[^"]*)")? data-anchor="(?P<anchor>[^"]*)">'
                  r"(?P<entry>[^<]*?)\n\}</pre>")


def plain(title, part=""):
    """Return the citation as one line of text; `part` says which derivation it is, if any."""
    within = "" if title == REPORT else f" {part + ' in ' if part else 'In '}{REPORT}."
    return f"{AUTHORS} ({YEAR}). {title}.{within}"


def bibtex(key, title, part=""):
    """Return the citation as a BibTeX entry.

    It is a `misc`, which needs no publisher. The second braces keep the capitals of the title.
    """
    within = "" if title == REPORT else f"  howpublished = {{{part or 'Chapter'} {'in' if part else 'of'} {REPORT}}},\n"
    return (f"@misc{{{'-'.join(filter(None, ('failures-checkpoints', key)))},\n"
            f"  author = {{{{{AUTHORS}}}}},\n"
            f"  title = {{{{{title}}}}},\n"
            f"{within}"
            f"  year = {{{YEAR}}}\n}}")


def disclosure(what, key, title, part="", anchor="", page=""):
    """Return the HTML that shows both forms when opened.

    A link should lead to the element `anchor` of `page`, which is the page of the box itself unless it is named.
    """
    place = f' data-page="{page}"' if page else ""
    return (f"<details class=\"cite\"><summary>Cite this {what}</summary>\n"
            f"<pre class=\"cite-plain\">{escape(plain(title, part))}</pre>\n"
            f"<pre class=\"cite-bibtex\"{place} data-anchor=\"{anchor}\">{escape(bibtex(key, title, part))}</pre></details>")


def with_addresses(body, here, address):
    """Add its address to both forms of each citation on the page `here`; `address` gives that of a page."""
    def add(match):
        url = address(match["page"] or here) + (match["anchor"] and f"#{match['anchor']}")
        return (f"{match['plain']} {url}</pre>\n"
                f'<pre class="cite-bibtex">{match["entry"]},\n  url = {{{url}}}\n}}</pre>')

    return PAIR.sub(add, body)
