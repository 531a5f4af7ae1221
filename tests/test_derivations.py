"""Every recorded derivation against the function of lib that it names, in 50-digit arithmetic, and on its page."""

import importlib
import random
import re

import mpmath
import pytest
import sympy as sp

from lib.book.records import gather
from tests.building import ROOT

RECORDS = gather(ROOT / "chapters")
IMPLEMENTED = [r for r in RECORDS if r["implements"]]
mpmath.mp.dps = 50


def identity(record):
    return record["id"]


def function(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def test_there_are_records():
    assert RECORDS


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_statement_can_be_read_again(record):
    statement = sp.sympify(record["statement"]["srepr"])
    assert sp.srepr(statement) == record["statement"]["srepr"]
    assert record["assumptions"] and record["checks"]


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_theorem_has_its_label(record):
    text = (ROOT / "chapters" / f"{record['chapter']}.md").read_text("utf8")
    assert f":label: thm-{record['id'].lower()}" in text


@pytest.mark.parametrize("record", IMPLEMENTED, ids=identity)
def test_lib_agrees_with_the_statement(record):
    """Evaluate the statement's right-hand side at points over six orders of magnitude in 50 digits."""
    right = sp.sympify(record["statement"]["srepr"]).rhs
    symbols = sorted(right.free_symbols, key=str)
    arguments = [record["arguments"][str(s)] for s in symbols]
    reference = sp.lambdify(symbols, right, "mpmath")
    implementation = function(record["implements"])
    compared = 0
    for point in points(symbols, record["ranges"]):
        expected = mpmath.re(reference(*map(mpmath.mpf, point)))
        got = implementation(**dict(zip(arguments, point)), **record["options"])
        if mpmath.isfinite(expected) and abs(expected) < 1e290:
            assert abs(got - expected) <= mpmath.mpf("1e-12") * abs(expected), (point, got, expected)
            compared += 1
    assert compared >= 20


def points(symbols, ranges, count=60):
    """Return points of a fixed seed: log-uniform numbers, whole where the symbol is an integer."""
    dice = random.Random(20061974)

    def one(symbol):
        low, high = ranges.get(str(symbol), (1, 6) if symbol.is_integer else (1e-3, 1e3))
        return dice.randint(low, high) if symbol.is_integer else low * (high / low) ** dice.random()

    for _ in range(count):
        yield [one(s) for s in symbols]


@pytest.mark.parametrize("record", IMPLEMENTED, ids=identity)
def test_function_names_its_theorem(record):
    assert re.search(rf"\b{record['id']}\b", function(record["implements"]).__doc__)
