"""Exponents with twice the working precision.

exp(t) turns a rounding error of t into a relative error t times as large: close to overflow, at
t = 700, the rounding of a quotient t = a/b alone would cost 300 units in the last place. Here an
exponent is an unevaluated sum ``high + low`` of two floats, so that exp(high) (1 + low) is right to
the last places.
"""

from __future__ import annotations

import numpy as np

_SPLITTER = 2.0**27 + 1.0  # cuts the 53 bits of a float into two halves of at most 26 bits
_ENOUGH = 2048.0  # exp, and exp(t)/t, overflow well below


def exponent(times, mtbf, more=0.0):
    """Return `high`, `low` with high + low = sum(times)/mtbf + more to about 100 bits.

    Times are finite or inf and >= 0, mtbf > 0. An infinite `mtbf` makes every quotient 0, and `low`
    is 0 where exp(high) overflows.
    """
    high, low = more, 0.0
    for time in times:
        quotient, rest = _quotient(time, mtbf)
        high, rounding = _sum(high, quotient)
        low = low + rest + rounding
    return high, np.where(high < _ENOUGH, low, 0.0)


def _quotient(a, b):
    """Return a/b rounded, and a/b minus that."""
    # Mantissas lie in [0.5, 1), so that no product below can overflow or underflow.
    (m, i), (n, j) = np.frexp(a), np.frexp(b)
    ratio = m / n
    product, rounding = _product(ratio, n)
    rest = ((m - product) - rounding) / n
    shift = i - j
    return tuple(np.where(np.isinf(b), 0.0, np.ldexp(part, shift)) for part in (ratio, rest))


def _product(a, b):
    """Return a b rounded, and a b minus that (Dekker 1971, doi:10.1007/BF01397083)."""
    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def halves(a):
    """Return two floats of at most 26 bits each with the sum a (Veltkamp): products of them are exact."""
    scaled = _SPLITTER * a
    top = scaled - (scaled - a)
    return top, a - top


def _sum(a, b):
    """Return a + b rounded, and a + b minus that (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
