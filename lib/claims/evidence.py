"""Evidence: what a claim's function hands over, and the verdict that follows from it.

A verdict is never written by hand. Each kind of evidence has one rule:

========== ============================== =============================================================
evidence   what it holds                  verdict
========== ============================== =============================================================
Value      computed numbers               reproduced where all round to the printed one; imprecise where
                                          they are near it (see `lib.claims.printed`); refuted otherwise
Checks     named truths and residuals     reproduced where all are true or exactly zero, else refuted
Table      cells, printed and computed    reproduced where all round; imprecise where the worst is near;
                                          partly where only some hold; refuted where none does
Readings   readings or domains, each      reproduced where all hold, partly where some do, refuted where
           with its own truth or numbers  none does
External   a third party's observation    external
========== ============================== =============================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from lib.claims.printed import NEAR, OFF, ROUNDS, agreement, show

REPRODUCED, IMPRECISE, PARTLY, REFUTED, EXTERNAL = VERDICTS = (
    "reproduced",
    "imprecise",
    "partly",
    "refuted",
    "external",
)


@dataclass(frozen=True)
class Value:
    """Computed numbers in the printed unit: one, or the two ends of a range."""

    values: tuple[float, ...]

    def __init__(self, *values):
        object.__setattr__(self, "values", tuple(float(v) for v in values))

    def verdict(self, printed):
        return {ROUNDS: REPRODUCED, NEAR: IMPRECISE, OFF: REFUTED}[agreement(printed, self.values)]

    def in_words(self, printed):
        return " to ".join(show(value, printed) for value in self.values)


@dataclass(frozen=True)
class Checks:
    """Named conditions, all of which the claim needs: truths, or SymPy residuals that must be zero."""

    checks: Mapping[str, bool | sp.Basic]

    def verdict(self, printed):
        return REPRODUCED if self.checks and all(map(passed, self.checks.values())) else REFUTED

    def in_words(self, printed):
        return "holds" if self.verdict(printed) == REPRODUCED else "does not hold"


@dataclass(frozen=True)
class Cell:
    """A cell of a printed table with the value computed for it."""

    place: str
    printed: str
    computed: float

    @property
    def agreement(self):
        return agreement(self.printed, self.computed)


@dataclass(frozen=True)
class Table:
    """All computed cells of a printed table."""

    cells: tuple[Cell, ...]

    def verdict(self, printed):
        found = [cell.agreement for cell in self.cells]
        if OFF not in found:
            return IMPRECISE if NEAR in found else REPRODUCED
        return PARTLY if ROUNDS in found else REFUTED

    def failing(self):
        return [cell for cell in self.cells if cell.agreement != ROUNDS]

    def in_words(self, printed):
        return f"{len(self.cells) - len(self.failing())} of {len(self.cells)} cells"


@dataclass(frozen=True)
class Readings:
    """What the claim may mean, or where it may apply: each reading holds or does not."""

    readings: Mapping[str, bool | Value]

    def verdict(self, printed):
        held = self.held(printed)
        return REPRODUCED if all(held) else PARTLY if any(held) else REFUTED

    def held(self, printed):
        return [self.holds(reading, printed) for reading in self.readings.values()]

    def in_words(self, printed):
        return f"holds in {sum(self.held(printed))} of {len(self.readings)} readings"

    @staticmethod
    def holds(reading, printed):
        if isinstance(reading, Value):
            return reading.verdict(printed) == REPRODUCED
        return passed(reading)


@dataclass(frozen=True)
class External:
    """Somebody's observation: nothing here can compute it."""

    def verdict(self, printed):
        return EXTERNAL

    def in_words(self, printed):
        return "not computable here"


@dataclass(frozen=True)
class Outcome:
    """What a claim's function returns.

    Attributes
    ----------
    evidence : Value, Checks, Table, Readings or External
        What the verdict is derived from.
    value : float, optional
        The computed number to show in the printed unit; a single `Value` is its own.
    text : str, optional
        What to show where there is no single number.
    facts : dict
        Computed numbers and texts by name, for the placeholders of the ledger's sentences.
    """

    evidence: Value | Checks | Table | Readings | External
    value: float | None = None
    text: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


def passed(check):
    """Tell whether a check is true, or a residual that SymPy has reduced to exactly zero."""
    if isinstance(check, sp.Basic) and not isinstance(check, sp.logic.boolalg.BooleanAtom):
        return check == 0
    return bool(check)


def verdict(outcome, printed=""):
    """Derive the verdict from an outcome's evidence and the claim as printed.

    Examples
    --------
    >>> verdict(Outcome(Value(2.43)), "2.5"), verdict(Outcome(Checks({"difference": sp.Integer(0)})))
    ('imprecise', 'reproduced')
    >>> verdict(Outcome(Readings({"share of useful time": True, "share of wall time": False})))
    'partly'
    """
    return outcome.evidence.verdict(printed)
