"""lib._checks: what passes, what is refused, and how the refusal reads."""

import reprlib
import warnings
from functools import partial

import numpy as np
import pytest

from lib._checks import flag, plain, real, together, unmasked, whole


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


# --- real


@pytest.mark.parametrize(
    "value",
    [3, 3.5, np.float32(3.5), np.uint8(3), [1, 2.5], (1, 2), [[1], [2]], np.arange(3), np.arange(3.0)[::-1],
     [], np.array(3.0), [np.array(1.0), 2], np.float16([0.5, np.inf])],
    ids=repr,
)
def test_numbers_pass_as_float64(value):
    array = real("x", value)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, np.asarray(value))
    assert array.shape == np.shape(value)


def test_integers_beyond_64_bits_pass():
    assert real("gpus", 9 * 10**21) == 9e21
    assert whole("gpus", [9 * 10**21, 1.0, 2]).tolist() == [9e21, 1.0, 2.0]


@pytest.mark.parametrize("value", [10**400, [1, -(10**400)]])
def test_integers_beyond_float64_are_refused(value):
    with pytest.raises(ValueError, match=r"^gpus = .*000.* is too large; allowed: up to 1\.8e308$"):
        real("gpus", value)


def test_extended_precision_beyond_float64_is_infinite():
    value = np.longdouble(np.finfo(np.float64).max) * 4
    assert real("x", value) == np.inf


def test_argument_is_copied():
    given = np.array([0.0, 1.0])
    real("x", given)[:] = 7.0
    whole("x", given, low=0)[:] = 7.0
    assert given.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("check", [real, partial(whole, low=0)], ids=["real", "whole"])
def test_negative_zero_becomes_zero(check):
    assert not np.signbit(check("x", -0.0)) and not np.signbit(check("x", [-0.0])).any()


@pytest.mark.parametrize("check", [real, whole])
@pytest.mark.parametrize(
    "value",
    ["1", b"1", "", None, True, np.True_, [True, False], 1j, np.complex64(1), [None], ["1", 2], [2**70, True],
     [2**70, None], print, {"a": 1}, {1.0}, np.array(["1"]), np.array([], dtype=object),
     np.datetime64("2024-01-01"), np.timedelta64(1, "h")],
    ids=repr,
)
def test_what_is_not_a_number_is_refused(check, value):
    with pytest.raises(TypeError, match="^x = .* is not a real number or an array of real numbers$"):
        check("x", value)


@pytest.mark.parametrize("check", [real, whole])
def test_ragged_lists_are_refused(check):
    with pytest.raises(TypeError, match=r"^x = \[\[1\], \[1, 2\]\] is not a number or a regular array of"):
        check("x", [[1], [1, 2]])


def test_refused_type_is_shown():
    with pytest.raises(TypeError, match=r"^x = \[None, 1\] is not a real number or an array of"):
        real("x", [None, 1])


def test_long_arguments_are_shortened_in_the_text():
    for value in ("x" * 10000, ["x"] * 10000, [[1], [1, 2]] * 10000, 10**400):
        with pytest.raises((TypeError, ValueError)) as error:
            real("x", value)
        assert len(str(error.value)) < 200


RANGES = [
    ({}, "[0, inf]", [0.0, 1.0, np.inf], [-5e-324, -1.0, -np.inf]),
    ({"open_low": True}, "(0, inf]", [5e-324, np.inf], [0.0, -0.0, -1.0]),
    ({"open_high": True}, "[0, inf)", [0.0, 1e308], [np.inf, -1.0]),
    ({"high": 1.0}, "[0, 1]", [0.0, 0.5, 1.0], [1.0 + 2.0**-52, 2.0, -0.1]),
    ({"high": 1.5, "open_high": True}, "[0, 1.5)", [0.0, 1.5 - 2.0**-52], [1.5, np.inf]),
    ({"low": -2.0, "high": 3.0, "open_low": True, "open_high": True}, "(-2, 3)", [-1.9, 2.9], [-2.0, 3.0]),
]


@pytest.mark.parametrize("limits, allowed, inside, outside", RANGES, ids=[r[1] for r in RANGES])
def test_range(limits, allowed, inside, outside):
    np.testing.assert_array_equal(real("x", inside, **limits), inside)
    for value in [*outside, np.nan]:
        shown = repr(value + 0.0).removesuffix(".0")
        text = f" = {shown} is outside the domain; allowed range {allowed}"
        with pytest.raises(ValueError) as error:
            real("x", value, **limits)
        assert str(error.value) == "x" + text
        with pytest.raises(ValueError) as error:
            real("x", [[inside[0], inside[1]], [value, outside[0]]], **limits)
        assert str(error.value) == "x[1, 0]" + text


def test_text_shows_how_little_is_missing():
    with pytest.raises(ValueError, match=r"^x = 1\.0000000000000002 is outside the domain; allowed range"):
        real("x", 1 + 2.0**-52, high=1.0)


# --- whole


def test_whole_numbers_pass():
    assert whole("n", 3.0) == 3.0 and whole("n", 1).dtype == np.float64
    assert whole("n", [1, 2**53, 1e300]).tolist() == [1.0, 2.0**53, 1e300]
    assert whole("n", 0, low=0) == 0.0
    assert whole("n", [3, 5], low=3, high=5).tolist() == [3.0, 5.0]


@pytest.mark.parametrize(
    "limits, allowed, outside",
    [
        ({}, "[1, inf)", [0, -1, 0.5, 1.5, 2.0**52 - 0.5, np.inf, -np.inf, np.nan]),
        ({"low": 0}, "[0, inf)", [-1, 0.5, np.inf, np.nan]),
        ({"low": 2, "high": 5}, "[2, 5]", [1, 6, 2.5, np.inf, np.nan]),
    ],
)
def test_other_numbers_are_refused(limits, allowed, outside):
    for value in outside:
        with pytest.raises(ValueError) as error:
            whole("n", value, **limits)
        shown = f"n = {value:.17g} is outside the domain"
        assert str(error.value) == f"{shown}; allowed: whole numbers in {allowed}"
        with pytest.raises(ValueError, match=r"^n\[1\] = "):
            whole("n", [3, value], **limits)


# --- masks


MASKED = [np.ma.array([1.0, 2.0], mask=[0, 1]), np.ma.array([1, 2]), np.ma.array(3.0), np.ma.masked,
          np.ma.array(np.float16([1.0, 2.0]), mask=[0, 1]), [np.ma.array([1.0, 2.0], mask=[0, 1])] * 2,
          [1.0, np.ma.masked], [[1.0, 2], (3, np.ma.array(4.0))]]


@pytest.mark.parametrize("check", [real, whole, unmasked])
@pytest.mark.parametrize("value", MASKED, ids=range(len(MASKED)))
def test_masks_are_not_lost(check, value):
    with pytest.raises(TypeError, match=r"^x = .* is a masked array, whose mask would be lost; allowed: numbers "
                                        r"without a mask, so fill it \(\.filled\) or keep the rest of it "
                                        r"\(\.compressed\)$"):
        check("x", value)


def test_masked_elements_are_shown():
    with pytest.raises(TypeError, match=r"^x = \[1\.0, None\] is a masked"):
        real("x", MASKED[0])
    with pytest.raises(TypeError) as error:
        real("x", np.ma.array(np.ones(10**5), mask=True))
    assert len(str(error.value)) < 250


def test_what_has_no_mask_is_no_masked_array():
    for value in (1.0, [1, [2.0]], np.ones(2), "1", None, MASKED[0].filled(0.0), MASKED[0].compressed()):
        assert unmasked("x", value) is None


# --- flag


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_], ids=repr)
def test_flags_pass(value):
    assert flag("shift", value) is bool(value)


@pytest.mark.parametrize("value", [0, 1, 1.0, "no", None, 1 + 2j, np.array([True]), [True], np.ones(10**4)])
def test_other_answers_are_refused(value):
    with pytest.raises(TypeError, match="^shift = .* is not a bool; allowed: True or False$") as error:
        flag("shift", value)
    assert str(error.value).startswith(f"shift = {reprlib.repr(value)} is not") and len(str(error.value)) < 200


# --- together and plain


def test_shapes_that_fit_are_broadcast_in_order():
    a, b, c = together(a=np.array([1.0, 2.0]), b=np.array([[3.0], [4.0]]), c=np.array(5.0))
    assert a.tolist() == [[1.0, 2.0]] * 2
    assert b.tolist() == [[3.0, 3.0], [4.0, 4.0]]
    assert c.tolist() == [[5.0, 5.0]] * 2


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ValueError) as error:
        together(a=np.ones(2), b=np.ones((4, 3)), c=np.array(5.0))
    assert str(error.value) == "shapes do not broadcast: a (2,), b (4, 3), c ()"


def test_plain_keeps_arrays_and_unwraps_numbers():
    array = np.ones(1)
    assert plain(array) is array
    for number in (np.float64(2.5), np.array(2.5), 2.5):
        assert type(plain(number)) is float and plain(number) == 2.5
