"""What every function of lib promises about its arguments, turned into test cases from a table of ranges.

A table maps an argument's name to its range as the error text gives it: "(0, inf]", or
"whole numbers in [1, inf)".
"""

import re

import numpy as np
import pytest

NOT_NUMBERS = ["1", None, True, 1j, [[1], [1, 2]], np.array(["1"]), {"a": 1}]


def outside(allowed):
    """Numbers just and far outside a range, and NaN."""
    opening, low, high, closing = re.search(r"([\[(])(\S+), (\S+)([\])])$", allowed).groups()
    low, high = float(low), float(high)
    values = [low - 1.0, low - 0.125, -np.inf, np.nan]
    values += [low] * (opening == "(") + [high] * (closing == ")")
    values += [high + 0.125, np.inf] * (high < np.inf)
    values += [low + 0.5, 2.0**52 - 0.5] * allowed.startswith("whole")
    return values


def refused_values(cases, ranges):
    """Parameters (function, keywords, argument, refused value, range) for every argument of every case."""
    return [
        pytest.param(function, keywords, name, value, ranges[name], id=f"{function.__name__}-{name}-{value}")
        for function, keywords in cases
        for name in keywords
        for value in outside(ranges[name])
    ]


def assert_refused(function, keywords, name, value, allowed):
    """The error names argument, value and range, for a number alone and for an element of an array."""
    with pytest.raises(ValueError) as error:
        function(**keywords | {name: value})
    text = str(error.value)
    shown = repr(float(value)).removesuffix(".0")
    assert text.startswith(f"{name} = {shown} is outside the domain; allowed") and text.endswith(allowed)
    with pytest.raises(ValueError) as error:
        function(**keywords | {name: [[keywords[name], value]]})
    assert str(error.value) == text.replace(f"{name} =", f"{name}[0, 1] =")


def refused_types(cases):
    """Parameters (function, keywords, argument, value) where the value is not made of numbers."""
    return [
        pytest.param(function, keywords, name, value, id=f"{function.__name__}-{name}-{value!r}")
        for function, keywords in cases
        for name in keywords
        for value in NOT_NUMBERS
        if not (value is None and name == "coverage")
    ]


def assert_type_refused(function, keywords, name, value):
    with pytest.raises(TypeError, match=f"^{name} = .* is not a "):
        function(**keywords | {name: value})


def pairs(cases):
    """Parameters (function, keywords, first, second) for every two arguments next to each other."""
    return [
        pytest.param(function, keywords, first, second, id=f"{function.__name__}-{first}-{second}")
        for function, keywords in cases
        for first, second in zip(keywords, list(keywords)[1:])
    ]


def assert_shapes_refused(function, keywords, first, second):
    shapes = {first: [keywords[first]] * 2, second: [keywords[second]] * 3}
    with pytest.raises(ValueError, match="^shapes do not broadcast: ") as error:
        function(**keywords | shapes)
    assert f"{first} (2,)" in str(error.value) and f"{second} (3,)" in str(error.value)


def assert_broadcasts(function, keywords):
    """Scalars of any kind give the same float; an array in any place gives an array of those."""
    scalar = function(**keywords)
    assert type(scalar) is float
    for kind in (np.float64, np.array):
        again = function(**{name: kind(value) for name, value in keywords.items()})
        assert type(again) is float and again == scalar
    for name, value in keywords.items():
        got = function(**keywords | {name: np.full((2, 1), value)})
        assert got.shape == (2, 1) and got.dtype == np.float64 and np.all(got == scalar)
        assert function(**keywords | {name: np.empty((0, 2))}).shape == (0, 2)
