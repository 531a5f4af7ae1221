"""Quotients with twice the working precision, for exponents.

exp(t) turns a rounding error of t into a relative error |t| times as large: close to overflow,
at t = 700, the rounding of t = a/b alone would cost 300 units in the last place. Here a quotient
is an unevaluated sum ``high + low`` of two floats, so that exp(t) = exp(high) (1 + low) is exact
to the last places.
"""

from __future__ import annotations

import numpy as np

_SPLITTER = 2.0**27 + 1.0  # cuts the 53 bits of a float into two halves of at most 26 bits


def quotient(a, b):
    """Return `high`, `low` with high + low = a/b to about 100 bits; a >= 0, b > 0, a finite or b finite.

    Where a/b is infinite or b is, `high` is inf or 0 and `low` is 0.
    """
    # Mantissas lie in [0.5, 1), so that no product below can overflow or underflow.
    (m, i), (n, j) = np.frexp(a), np.frexp(b)
    high = m / n
    product, error = two_product(high, n)
    low = ((m - product) - error) / n
    low = np.where(np.isfinite(low), low, 0.0)
    return np.ldexp(high, i - j), np.ldexp(low, i - j)


def two_product(a, b):
    """Return a b rounded, and the rounding error (Dekker 1971, doi:10.1007/BF01397083)."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def two_sum(a, b):
    """Return a + b rounded, and the rounding error (Knuth 1969); the error is 0 where the sum is infinite."""
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(error), error, 0.0)


def _halves(a):
    scaled = _SPLITTER * a
    top = scaled - (scaled - a)
    return top, a - top
