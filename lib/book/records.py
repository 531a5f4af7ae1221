"""Derivation records: what a chapter has proved, in a form that tests and readers can use.

The last cell of a derivation calls `record`. Its output is an ``application/json`` object, gathered into
``derivations.json`` by the build, beside a box for the page. Tests evaluate the statement and hold the
named function of ``lib`` against it.
"""

from __future__ import annotations

import html

import sympy as sp

from lib.book import cite


class Record:
    """A derivation with its statement and checks; shows as a box and as JSON."""

    def __init__(self, content):
        self.content = content

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/json": self.content, "text/html": _box(self.content),
                "text/plain": f"{self.content['id']}: {self.content['title']}"}


def record(id, title, *, assumptions, statement, checks, implements=None, arguments=None, options=None,
           ranges=None):
    """Return the record of a derivation after confirming that each of its checks passed.

    Parameters
    ----------
    id : str
        Stable id such as ``D-04``; the theorem's label is ``thm-d-04``.
    title : str
        A short noun phrase.
    assumptions : list of str
        What must hold for the statement.
    statement : sympy.Basic
        The result, usually ``Eq(left, right)`` in the symbols of ``lib.book.symbols``.
    checks : dict of str to bool
        What was checked, each with its outcome, computed in the chapter.
    implements : str, optional
        The function that evaluates the right-hand side, such as ``lib.intervals.optimal``.
    arguments : dict of sympy.Symbol to str, optional
        Which symbol of the statement is which argument of that function.
    options : dict, optional
        Further keyword arguments of that function, such as ``exposed_writes=False``.
    ranges : dict of sympy.Symbol to (low, high), optional
        Where the comparison draws a symbol from, if not from 0.001 to 1000.

    Raises
    ------
    AssertionError
        Where a check did not pass, naming it.
    """
    failed = [text for text, passed in checks.items() if passed is not True and passed != sp.true]
    assert checks and not failed, f"{id}: checks that did not pass: {failed or 'there are none'}"
    return Record({
        "id": id, "title": title, "assumptions": assumptions,
        "statement": {"srepr": sp.srepr(statement), "latex": sp.latex(statement)},
        "checks": list(checks),
        "implements": implements,
        "arguments": {str(symbol): name for symbol, name in (arguments or {}).items()},
        "options": options or {},
        "ranges": {str(symbol): list(ends) for symbol, ends in (ranges or {}).items()},
    })


def key(content):
    """Return the part of a BibTeX key that names a derivation, such as ``d04``."""
    return content["id"].lower().replace("-", "")


def part(content):
    """Return the words that name a derivation in a citation."""
    return f"Derivation {content['id']}"


def _box(content):
    checks = "".join(f"<li>{html.escape(check)}</li>" for check in content["checks"])
    function = content["implements"]
    evaluated = f"<p>Evaluated by <code>{html.escape(function)}</code>.</p>" if function else ""
    anchor = content["id"].lower()
    return (f'<div class="derivation-box" id="{anchor}">\n'
            f"<p><strong>{part(content)}. {html.escape(content['title'])}.</strong> Checked above:</p>\n"
            f"<ul>{checks}</ul>\n{evaluated}\n"
            f"{cite.disclosure('derivation', key(content), content['title'], part(content), anchor)}\n"
            f"<details><summary>Statement for SymPy</summary><pre>{html.escape(content['statement']['srepr'])}</pre>"
            f"</details>\n</div>")


def gather(chapters):
    """Return the records stored in the notebooks of a folder, each with its chapter, ordered by id.

    Raises
    ------
    ValueError
        Where two records share an id.
    """
    import nbformat

    found = {}
    for path in sorted(chapters.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                content = output.get("data", {}).get("application/json")
                if not content or "statement" not in content:
                    continue
                if content["id"] in found:
                    raise ValueError(f"two derivations share the id {content['id']}")
                chapter = path.relative_to(chapters).with_suffix("").as_posix()
                found[content["id"]] = {**content, "chapter": chapter}
    return [found[key] for key in sorted(found)]
