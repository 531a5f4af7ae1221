"""lib._exact against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib._exact import exponent, halves

quick = settings(deadline=None, derandomize=True, max_examples=200)
numbers = st.floats(-8, 2).map(lambda power: 10.0**power)


def both(parts):
    return sum(Fraction(float(part)) for part in parts)


@quick
@given(st.lists(numbers, min_size=1, max_size=3), st.floats(0.5, 2.0), st.floats(0.0, 1.0))
def test_exponent_has_twice_the_digits(times, mtbf, more):
    high, low = exponent(times, mtbf, more)
    expected = sum(map(Fraction, times)) / Fraction(mtbf) + Fraction(more)
    assert abs(both((high, low)) - expected) < Fraction(2) ** -98 * expected
    assert high == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_exponent_of_very_large_and_small_times(scale):
    high, low = exponent([scale / 3], scale * 7)
    expected = Fraction(scale / 3) / Fraction(scale * 7)
    assert abs(both((high, low)) - expected) < Fraction(2) ** -98 * expected


def test_exponent_at_its_ends():
    with np.errstate(all="ignore"):
        for time, mtbf, expected in (
            (1.0, np.inf, 0.0), (np.inf, np.inf, 0.0), (np.inf, 1.0, np.inf), (1e300, 1.0, 1e300)
        ):
            assert [float(part) for part in exponent([time], mtbf)] == [expected, 0.0]
        assert [float(part) for part in exponent([1e308], 1e-308)] == [np.inf, 0.0]


@quick
@given(st.floats(1e-100, 1e100))
def test_products_of_halves_are_exact(value):
    top, rest = halves(np.float64(value))
    assert top + rest == value
    for a, b in ((top, top), (top, rest), (rest, rest)):
        assert Fraction(float(a * b)) == Fraction(float(a)) * Fraction(float(b))
