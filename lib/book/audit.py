"""The audit chapter's HTML: totals by document and verdict, and the table of all claims.

The table works without a script; ``static/audit.js`` adds filters and sorting.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path

from lib.book.roles import MARKS, anchor

CHAPTERS = Path(__file__).parents[2] / "chapters"
DOCUMENTS = {"A": "document A", "B": "document B"}


class Html:
    """A piece of HTML as a cell's output, with a text form for other front ends."""

    def __init__(self, html, text):
        self.html, self.text = html, text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": f'<div class="report-html">{self.html}</div>', "text/plain": self.text}


def counts(rows):
    """Return how many claims of each document have each verdict, as records for a chart."""
    found = Counter((DOCUMENTS[r.id[0]], r.verdict) for r in rows)
    return [{"document": d, "verdict": v, "claims": found[d, v]} for d in DOCUMENTS.values() for v in MARKS]


def totals(rows):
    """Return the totals as a small table."""
    found = {(c["document"], c["verdict"]): c["claims"] for c in counts(rows)}
    head = "".join(f'<th scope="col">{_verdict(v)}</th>' for v in MARKS)
    lines = []
    for name in DOCUMENTS.values():
        numbers = [found[name, v] for v in MARKS]
        lines.append(_line(name, [*numbers, sum(numbers)]))
    both = [sum(found[d, v] for d in DOCUMENTS.values()) for v in MARKS]
    lines.append(_line("both", [*both, sum(both)]))
    html = (f'<table class="claim-totals"><thead><tr><th scope="col">claims of</th>{head}<th scope="col">all</th>'
            f"</tr></thead><tbody>{''.join(lines)}</tbody></table>")
    return Html(html, ", ".join(f"{v}: {n}" for v, n in zip(MARKS, both)))


def table(rows):
    """Return every claim with its verdict, explanation and consequence, one row each."""
    sections = list(dict.fromkeys(r.section for r in rows))
    filters = (f'<div class="claim-filters" hidden>{_select("section", sections)}{_select("verdict", list(MARKS))}'
               '<label>text <input type="search" data-filter="text"></label>'
               f'<span role="status" data-shown>{len(rows)} claims</span></div>')
    head = "".join(f'<th scope="col" data-sort="{name}">{name}</th>'
                   for name in ("claim", "section", "statement", "printed", "computed", "verdict"))
    body = "\n".join(_row(r) for r in rows)
    html = (f'{filters}\n<table class="claim-table"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>')
    return Html(html, f"{len(rows)} claims; read them with `make claims`")


def _row(claim):
    chapter = claim.section
    if (CHAPTERS / f"{claim.chapter}.ipynb").exists():
        chapter = f'<a href="../{claim.chapter}.html">{escape(claim.section)}</a>'
    notes = "".join(f'<p class="claim-note">{label}{escape(text)}</p>' for label, text in
                    (("", claim.explanation), ("<b>What changes.</b> ", claim.consequence)) if text)
    cells = [("claim", f'<a href="#{anchor(claim.id)}">{claim.id}</a>'), ("section", chapter),
             ("statement", escape(claim.statement) + notes),
             ("printed", escape(claim.printed_text)), ("computed", escape(claim.computed_text)),
             ("verdict", _verdict(claim.verdict))]
    columns = "".join(f'<td data-label="{name}">{content}</td>' for name, content in cells)
    return (f'<tr id="{anchor(claim.id)}" data-section="{escape(claim.section)}" data-verdict="{claim.verdict}">'
            f"{columns}</tr>")


def _line(name, numbers):
    return f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{n}</td>" for n in numbers) + "</tr>"


def _verdict(verdict):
    return (f'<span class="claim-{verdict}"><span class="claim-mark" aria-hidden="true">{MARKS[verdict]}</span> '
            f"{verdict}</span>")


def _select(name, options):
    choices = "".join(f'<option value="{escape(o)}">{escape(o)}</option>' for o in options)
    return f'<label>{name} <select data-filter="{name}"><option value="">all</option>{choices}</select></label>'
