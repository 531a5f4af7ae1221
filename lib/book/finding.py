"""Search by id: "A-28" leads to the claim's row of the audit, "D-04" to the theorem in its chapter.

Sphinx's search drops words that are numbers, but compares a whole query with the entries of the index.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from sphinx import addnodes

from lib.book import records, roles

CHAPTERS = Path(__file__).parents[2] / "chapters"


def collect(app):
    """Gather the ids of each page once, before pages are written."""
    from lib import claims

    app.report_ids = defaultdict(list)
    for claim in claims.load():
        app.report_ids[roles.AUDIT] += _entries(claim.id, ["claim"], roles.anchor(claim.id))
    for record in records.gather(CHAPTERS):
        theorem = f"thm-{record['id'].lower()}"
        app.report_ids[record["chapter"]] += _entries(record["id"], ["theorem", "derivation"], theorem)


def _entries(name, kinds, anchor):
    forms = [name, *(f"{kind} {name}" for kind in kinds)]
    return [("single", form, anchor, "main", None) for form in forms]


def add(app, doctree, docname):
    """Append the page's ids as index entries, which no reader sees."""
    if app.builder.format == "html" and docname in app.report_ids:
        doctree += addnodes.index(entries=app.report_ids[docname])


def register(app):
    app.connect("builder-inited", collect)
    app.connect("doctree-resolved", add)
