"""Reads the numpydoc docstrings of lib: sections, documented arguments and the units they state."""

import inspect
import re
from importlib import import_module
from typing import NamedTuple

#: Units in brackets, and what they stand for.
UNITS = {
    "dimensionless": "a pure number: a count, share, probability, exponent, name or switch",
    "h": "hours; only arguments whose name ends in _h, and FIT, fix the unit of time so",
    "s": "seconds; only where the time meets bytes or operations per second",
    "1/(1e9 h)": "FIT, failures in 1e9 device-hours",
    "bytes": "bytes",
    "bytes/s": "bandwidth",
    "FLOP/s": "floating-point operations per second",
    "words": "bit patterns of a floating-point format, as unsigned integers",
    "loss": "the unit of the loss function, whatever it is",
}
#: Units in words; a name in backticks is another argument of the same function.
PHRASES = [
    r"any time unit",
    r"time unit of `(\w+)`",
    r"per time unit of `(\w+)`",
    r"any unit of work per time",
    r"(?<!time )unit of `(\w+)`",
]
SECTIONS = ["Parameters", "Returns", "Raises", "Notes", "Examples", "References"]


class Argument(NamedTuple):
    name: str
    kind: str
    text: str


def functions(module):
    """Public functions that a module defines itself."""
    members = vars(import_module(module)).items()
    return [f for name, f in members
            if inspect.isfunction(f) and f.__module__ == module and not name.startswith("_")]


def sections(function):
    """The text before the first section under "", and every section's text under its title."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(function) or "", flags=re.M)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2]))


def arguments(text):
    """Documented arguments or results; `a, b : kind` counts as two."""
    entries = re.findall(r"^(\S[^:\n]*?)(?: : (.*))?\n((?:(?: {4}.*)?\n?)*)", text + "\n", flags=re.M)
    return [Argument(name, kind, body) for names, kind, body in entries for name in names.split(", ")]


def units(text, names):
    """Units stated in a text, or an empty list; one that refers to an unknown argument does not count."""
    bracketed = [unit for unit in re.findall(r"\[([^\[\]\n]+)\]", text) if unit in UNITS]
    worded = [match for phrase in PHRASES for match in re.finditer(phrase, text)]
    return bracketed + [match[0] for match in worded if set(match.groups()) <= set(names)]
