"""The ledger: each claim of `data/claims.csv` joined with what its function computes."""

from __future__ import annotations

import string
from collections import Counter
from dataclasses import dataclass
from functools import cache

from lib.claims import evidence, registry
from lib.claims.printed import compact, show
from lib.claims.sources import DATA, inputs, read_csv


@dataclass(frozen=True)
class Claim:
    """One claim of a document, checked.

    Attributes
    ----------
    id, section, chapter : str
        Stable id, section of the source, and the chapter that treats it.
    statement : str
        The claim in the report's words.
    printed, unit, kind : str
        What the document prints, its unit, and one of numeric, table, formula, qualitative, external.
    inputs : str
        What the value is computed from, in words with numbers.
    verdict, derived : str
        The stored verdict, and the one that follows from the evidence.
    explanation, consequence : str
        Why the claim is not plainly reproduced, and what the right value changes; "" where nothing is to say.
    reference : str
        Keys of `data/references.bib`, separated by "; ".
    computed : float or None
        The computed number in `unit`, where there is one.
    computed_text, printed_text : str
        Both values as a reader sees them, with the unit.
    """

    id: str
    section: str
    statement: str
    printed: str
    unit: str
    kind: str
    inputs: str
    verdict: str
    derived: str
    explanation: str
    consequence: str
    reference: str
    chapter: str
    computed: float | None
    computed_text: str
    printed_text: str


#: Refuted claims that repeat one slip: the training's length left out, a factor of sixty,
#: and a gradient without the derivative of the softmax.
ONE_SLIP = (("A-28", "A-48", "A-49"), ("A-18", "A-19"), ("B-53", "B-58"))

#: A refuted claim that no document makes: a comparison that this report adds.
OWN_COMPARISON = ("B-29",)


def rows():
    """Return the rows of `data/claims.csv` as they are stored."""
    return read_csv(DATA / "claims.csv")


@cache
def _load():
    return tuple(check(row) for row in rows())


def load():
    """Return all claims in the order of the ledger; the first call computes them."""
    return list(_load())


def get(claim_id):
    """Return one claim.

    Raises
    ------
    KeyError
        Where the ledger has no such claim; the text names it.
    """
    for claim in _load():
        if claim.id == claim_id:
            return claim
    raise KeyError(f"no claim {claim_id!r} in data/claims.csv; ids are like A-08 or B-41")


def as_json():
    """Return the claims as a list of plain dicts, for `claims.json`."""
    names = ("id", "section", "statement", "printed", "computed", "unit", "verdict", "explanation", "chapter")
    return [{name: getattr(claim, name) for name in names} for claim in _load()]


def totals():
    """Return the number of claims by document ("A", "B") and verdict, every verdict listed."""
    found = Counter((claim.id[0], claim.verdict) for claim in _load())
    return {doc: {v: found[doc, v] for v in evidence.VERDICTS} for doc in ("A", "B")}


def slips():
    """Return how many separate slips the refuted claims of each document come down to."""
    repeated = [claim_id for slip in ONE_SLIP for claim_id in slip[1:]]
    left_out = Counter(claim_id[0] for claim_id in (*repeated, *OWN_COMPARISON))
    return {doc: count[evidence.REFUTED] - left_out[doc] for doc, count in totals().items()}


def check(row):
    """Compute the claim of one stored row and fill its sentences."""
    outcome, _ = registry.evaluate(row["id"])
    number, text = computed(outcome, row["printed"])
    facts = {**outcome.facts, "computed": text, "printed": row["printed"]}
    return Claim(
        **{
            **row,
            "inputs": inputs_in_words(row["inputs"]),
            "derived": evidence.verdict(outcome, row["printed"]),
            "explanation": fill(row["explanation"], facts),
            "consequence": fill(row["consequence"], facts),
            "computed": number,
            "computed_text": text if number is None and not outcome.text else with_unit(text, row["unit"]),
            "printed_text": with_unit(row["printed"], row["unit"]),
        }
    )


def computed(outcome, printed):
    """Return the computed number, or None, and its text without a unit."""
    number, found = outcome.value, outcome.evidence
    if number is None and isinstance(found, evidence.Value) and len(found.values) == 1:
        (number,) = found.values
    if outcome.text:
        return number, outcome.text
    return number, found.in_words(printed) if number is None else show(number, printed)


def with_unit(text, unit):
    """Return a value as a reader sees it."""
    return f"{text} {unit}".rstrip()


def fill(sentence, facts):
    """Return a sentence with its placeholders filled from facts and inputs.

    Raises
    ------
    KeyError
        Where a placeholder is neither a fact nor an input.
    """
    names = {name for _, name, _, _ in string.Formatter().parse(sentence) if name}
    values = {name: facts[name] if name in facts else inputs[name] for name in names}
    return sentence.format_map(
        {name: _Figure(v) if isinstance(v, float) else v for name, v in values.items()}
    )


def inputs_in_words(listed):
    """Return the names of the column of inputs as a reader sees them: what, value, unit."""
    return "; ".join(_input_in_words(name) for name in listed.split("; ") if name)


def _input_in_words(name):
    if name not in inputs:
        return f"table {name}"
    row = inputs.row(name)
    return with_unit(f"{row.note}: {compact(row.value)}", "" if row.unit == "1" else row.unit)


class _Figure(float):
    """A number that prints with three significant digits unless a format is asked for."""

    def __format__(self, spec):
        return format(float(self), spec) if spec else compact(self)
