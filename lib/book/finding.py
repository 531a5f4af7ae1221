"""Search by id: "A-28" leads to the claim's row of the audit, "D-04" to the theorem in its chapter.

After these come the other pages that show the id. Sphinx's search drops words that are numbers, but compares
a whole query with the entries of the index.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

from lib.book import records, roles

CHAPTERS = Path(__file__).parents[2] / "chapters"
ID = re.compile(r"\b[A-Za-z]-\d+\b")  # in words, and in the anchors that links lead to


def collect(app):
    """Gather the ids of each page once, before pages are written."""
    from lib import claims

    app.report_ids, app.report_kinds = defaultdict(list), {}
    for claim in claims.load():
        _known(app, roles.AUDIT, claim.id, ["claim"], roles.anchor(claim.id))
    for record in records.gather(CHAPTERS):
        _known(app, record["chapter"], record["id"], ["theorem", "derivation"], f"thm-{record['id'].lower()}")


def _known(app, docname, name, kinds, anchor):
    app.report_ids[docname] += _entries(name, kinds, anchor, "main")
    app.report_kinds[name] = (docname, kinds)


def _entries(name, kinds, anchor, main=""):
    forms = [name, *(f"{kind} {name}" for kind in kinds)]
    return [("single", form, anchor, main, None) for form in forms]


def shown(app, doctree, docname):
    """Return the ids that a page shows and that have their own place on another, each with its first section here."""
    found = {}
    for node in doctree.findall(lambda n: isinstance(n, nodes.Text | nodes.reference)):
        raw = node.parent if isinstance(node.parent, nodes.raw) else None
        if raw is not None and raw["format"] != "html":
            continue
        words = str(node) if isinstance(node, nodes.Text) else node.get("refuri", "") + node.get("refid", "")
        for name in ID.findall(words):
            found.setdefault(name.upper(), node)
    return {name: _section(node) for name, node in found.items()
            if name in app.report_kinds and app.report_kinds[name][0] != docname}


def _section(node):
    """Return the id of the section with a title that a part of a page belongs to."""
    while node is not None:
        if isinstance(node, nodes.section) and isinstance(node.next_node(), nodes.title):
            return node["ids"][0]
        node = node.parent
    return ""


def add(app, doctree, docname):
    """Append the page's ids as index entries, which no reader sees."""
    if app.builder.format == "html":
        others = [entry for name, anchor in shown(app, doctree, docname).items()
                  for entry in _entries(name, app.report_kinds[name][1], anchor)]
        if entries := app.report_ids.get(docname, []) + others:
            doctree += addnodes.index(entries=entries)


def register(app):
    app.connect("builder-inited", collect)
    app.connect("doctree-resolved", add)
