"""The page of all derivations: the directive ``{derivations}`` lists every record of the notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import texescape
from sphinx.util.docutils import SphinxDirective

from lib.book import cite, records
from lib.book.roles import page_uri

EVALUATED = "Evaluated by {}, compared with it in 50 digits."
CHAPTERS = Path(__file__).parents[2] / "chapters"


class Derivations(SphinxDirective):
    """One section per record: statement, theorem, assumptions, checks, function, formats, citation."""

    def run(self):
        return [self._entry(r) for r in records.gather(CHAPTERS) if r["chapter"] in self.env.found_docs]

    def _entry(self, record):
        anchor, latex = record["id"].lower(), record["statement"]["latex"]
        title, name = f"{record['id']} {record['title']}", f"entry-{anchor}"
        entry = nodes.section(ids=[name], names=[name], classes=["derivation-entry"])
        entry += [nodes.title(title, title),
                  nodes.math_block(latex, latex, nowrap=False, number=None, label=None,
                                   classes=["derivation-statement"]),  # lib.book.printing fits it to the page
                  nodes.paragraph("", "", self._theorem(f"thm-{anchor}"),
                                  nodes.Text(f" assumes: {'; '.join(record['assumptions'])}.")),
                  nodes.raw("", self._rest(record, anchor), format="html"),
                  nodes.raw("", self._print(record), format="latex")]
        return entry

    def _theorem(self, label):
        return addnodes.pending_xref(
            "", nodes.inline(label, label), refdomain="prf", reftype="ref", reftarget=label,
            refexplicit=False, refwarn=True, refdoc=self.env.docname)

    def _rest(self, record, anchor):
        checks = f"{page_uri(self.env.docname, record['chapter'])}#{anchor}"
        latex, srepr = (escape(record["statement"][form]) for form in ("latex", "srepr"))
        evaluated = EVALUATED.format(f"<code>{record['implements']}</code>") if record["implements"] else ""
        return (f'<p>Checks that passed: {len(record["checks"])}. <a href="{checks}">See them</a>. {evaluated}</p>\n'
                f"<details><summary>LaTeX and SymPy</summary><pre>{latex}</pre><pre>{srepr}</pre></details>\n"
                + cite.disclosure("derivation", records.key(record), record["title"], records.part(record),
                                  anchor, record["chapter"]))

    def _print(self, record):
        evaluated = EVALUATED.format(record["implements"]) if record["implements"] else ""
        cited = cite.plain(record["title"], records.part(record))
        return texescape.escape(f"Checks that passed: {len(record['checks'])}. {evaluated} Cite as: {cited}", "xelatex")


def register(app):
    app.add_directive("derivations", Derivations)
