"""The page of all derivations: the directive ``{derivations}`` lists every record of the notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lib.book import cite, records
from lib.book.roles import page_uri

CHAPTERS = Path(__file__).parents[2] / "chapters"


class Derivations(SphinxDirective):
    """One entry per record: statement, assumptions, checks, function, formats, links."""

    def run(self):
        return [node for record in records.gather(CHAPTERS) for node in self._entry(record)]

    def _entry(self, record):
        before, after = self._html(record)
        latex = record["statement"]["latex"]
        return [nodes.raw("", before, format="html"),
                nodes.math_block(latex, latex, nowrap=False, number=None, label=None),
                nodes.raw("", after, format="html")]

    def _html(self, record):
        page = page_uri(self.env.docname, record["chapter"])
        theorem = f"{page}#thm-{record['id'].lower()}"
        function = record["implements"]
        evaluated = f"<p>Evaluated by <code>{escape(function)}</code>, compared with it in 50 digits.</p>" if function else ""
        head = (
            f'<section class="derivation-entry" id="entry-{record["id"].lower()}" aria-label="{record["id"]}">\n'
            f'<h3><a href="{theorem}">{record["id"]}</a> {escape(record["title"])}</h3>\n')
        rest = (
            f"<p>Assumes: {escape('; '.join(record['assumptions']))}.</p>\n"
            f"<p>Checks that passed: {len(record['checks'])}. <a href=\"{page}#{record['id'].lower()}\">See them</a>.</p>\n"
            f"{evaluated}\n"
            f"<details><summary>LaTeX and SymPy</summary><pre>{escape(record['statement']['latex'])}</pre>"
            f"<pre>{escape(record['statement']['srepr'])}</pre></details>\n"
            f"{cite.disclosure('derivation', records.key(record), record['title'], records.part(record))}\n</section>")
        return head, rest


def register(app):
    app.add_directive("derivations", Derivations)
