"""Printed numbers: what precision their digits promise, and whether a computed value keeps it.

A printed number stands for every value that rounds to it. Its precision is the place of its last
digit, whatever that digit is: 30 promises whole units, 0.3 tenths, 2.3e9 tenths of a billion. At a tie
(562.5 against 562 or 563) both neighbours are right.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

ROUNDS, NEAR, OFF = "rounds", "near", "off"
_FROM_BEST = (ROUNDS, NEAR, OFF)

#: A value that does not round to the printed one still counts as near within this relative distance:
#: the size of a slip that comes from rounding an input, too small to change what the number tells.
NEAR_RELATIVE = 0.05

_EVALUATION_ERROR = 1e-12  # relative: what float64 may be off by; it keeps exact ties ties

_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"


def agreement(printed, values):
    """Compare computed values with a printed number.

    Parameters
    ----------
    printed : str
        A number ("2.1", "2e6"), a reciprocal ("1/8000"), a bound ("<1", ">99.9") or a range
        ("33-38"). A trailing " %" is ignored.
    values : float or sequence of float
        In the unit of `printed`. A range takes its two ends; otherwise every value must agree.

    Returns
    -------
    str
        "rounds" where each value rounds to the printed digits; else "near" where each is less than
        one unit of the last digit away or within `NEAR_RELATIVE`; else "off".

    Raises
    ------
    ValueError
        Where `printed` is none of these, or a range does not meet two values.

    Examples
    --------
    >>> agreement("2.1", 2.1033), agreement("70", 72.0), agreement("533", 32000.0)
    ('rounds', 'near', 'off')
    >>> agreement("562", 562.5), agreement("563", 562.5), agreement("33-38", (33.0, 37.5))
    ('rounds', 'rounds', 'rounds')
    """
    values = (values,) if isinstance(values, (int, float)) else tuple(values)
    parts = ends(printed)
    if len(parts) == 1:
        parts = parts * len(values)
    if len(parts) != len(values) or not values:
        raise ValueError(f"printed = {printed!r} does not fit {len(values)} computed values")
    return max((_compare(p, v) for p, v in zip(parts, values, strict=True)), key=_FROM_BEST.index)


def ends(printed):
    """Return the ends of a printed range as texts, or the one number.

    Examples
    --------
    >>> ends("33-38"), ends("2.1 %"), ends("<1")
    (['33', '38'], ['2.1'], ['<1'])
    """
    text = printed.removesuffix("%").strip()
    found = re.fullmatch(rf"([<>]|1/)?{_NUMBER}|({_NUMBER})-({_NUMBER})", text)
    if not found:
        raise ValueError(f"printed = {printed!r} is no number, reciprocal, bound or range")
    return [text] if found[2] is None else [found[2], found[3]]


def number(text):
    """Return the value of a printed number, reciprocal or bound as a float."""
    sign, digits = _split(text)
    return 1.0 / float(digits) if sign == "1/" else float(digits)


def last_digit(text):
    """Return the unit of the last digit of a printed number: 0.1 for "2.1", 1e6 for "2e6"."""
    _, digits = _split(text)
    return float(Decimal(1).scaleb(digits.as_tuple().exponent))


def show(value, printed=""):
    """Format a computed value: one decimal more than printed, at least three significant digits.

    A value is shown with an exponent where the printed one is.

    Examples
    --------
    >>> show(2.10332, "2.1"), show(32000.0, "533"), show(1.3824e11, "2.3e9"), show(30.0, "30")
    ('2.1', '32,000', '1.38e11', '30')
    """
    if re.fullmatch(_NUMBER, printed) and "e" in printed:
        return _scientific(value)
    return compact(value, decimals=_decimals(printed) + 1)


def compact(value, decimals=0):
    """Format a number with three significant digits, more where `decimals` or whole digits ask for it.

    Examples
    --------
    >>> compact(0.0213), compact(50676.4), compact(1.88e15), compact(2.0)
    ('0.0213', '50,676', '1.88e15', '2')
    """
    value = float(value)
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    magnitude = math.floor(math.log10(abs(value)))
    if not -4 <= magnitude < 6:
        return _scientific(value)
    return _trim(f"{value:,.{max(decimals, 2 - magnitude, 0)}f}")


def _compare(printed, value):
    sign, digits = _split(printed)
    if sign == "<":
        return ROUNDS if value < number(printed) else OFF
    if sign == ">":
        return ROUNDS if value > number(printed) else OFF
    if sign == "1/":
        value = 1.0 / value
    expected, unit = float(digits), last_digit(printed)
    distance = abs(value - expected)
    if distance <= 0.5 * unit + _EVALUATION_ERROR * abs(value):
        return ROUNDS
    return NEAR if distance < unit or distance <= NEAR_RELATIVE * abs(expected) else OFF


def _split(text):
    sign, digits = re.fullmatch(r"([<>]|1/)?(.*)", text).groups()
    return sign, Decimal(digits.replace(",", ""))


def _decimals(printed):
    try:
        digits = [_split(part)[1] for part in ends(printed)]
    except ValueError:
        return 0
    return max(0, *(-d.as_tuple().exponent for d in digits), 0)


def _scientific(value):
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{_trim(mantissa)}e{int(exponent)}"


def _trim(text):
    return text.rstrip("0").rstrip(".") if "." in text else text
