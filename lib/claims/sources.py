"""What the claims are computed from: `data/inputs.csv` and the tables in `data/tables`.

Reading an input or a table is noted, so that the ledger's column of inputs can be held against what a
claim's function really used.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"

_used: set[str] = set()


@dataclass(frozen=True)
class Input:
    """One input with its provenance: a row of `data/inputs.csv`."""

    name: str
    value: float
    unit: str
    kind: str
    source: str
    where: str
    note: str


class Inputs(Mapping):
    """The inputs by name: ``inputs["gpu_mttf"]`` is the number, ``inputs.row("gpu_mttf")`` the whole row."""

    def __getitem__(self, name):
        value = self.row(name).value
        _used.add(name)
        return value

    def __iter__(self):
        return iter(_rows())

    def __len__(self):
        return len(_rows())

    def row(self, name):
        """Return the row of an input.

        Raises
        ------
        KeyError
            Where there is no such input; the text says where inputs are kept.
        """
        if name not in _rows():
            raise KeyError(f"no input named {name!r}; inputs are the rows of data/inputs.csv")
        return _rows()[name]


inputs = Inputs()


def table(name):
    """Return the rows of `data/tables/<name>.csv`, each a dict of column to text."""
    _used.add(name)
    return [dict(row) for row in _table(name)]


def start_noting():
    """Forget which inputs were read; `noted` then tells what has been read since."""
    _used.clear()


def noted():
    """Return the names of the inputs and tables read since `start_noting`."""
    return frozenset(_used)


def read_csv(path):
    """Return the rows of a CSV file as dicts."""
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


@cache
def _rows():
    rows = read_csv(DATA / "inputs.csv")
    return {row["name"]: Input(**{**row, "value": float(row["value"])}) for row in rows}


@cache
def _table(name):
    return read_csv(DATA / "tables" / f"{name}.csv")
