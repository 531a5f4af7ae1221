"""Checks of arguments: a bad input is refused by name before anything is computed."""

from __future__ import annotations

import reprlib

import numpy as np


def real(name, value, low=0.0, high=np.inf, *, open_low=False, open_high=False):
    """Return `value` as a float64 array after checking type, NaN and range.

    A negative zero comes back as zero, so that dividing by it can't turn a limit round.

    Parameters
    ----------
    name : str
        The argument's name, for the error text.
    value : number or array_like
        What the caller passed.
    low, high : float
        The allowed range; each end belongs to it unless `open_low` or `open_high` is set.

    Raises
    ------
    TypeError
        Where `value` is not made of real numbers (strings, booleans, None, complex), or is masked.
    ValueError
        Where an element is NaN or outside the range.
    """
    array = _numbers(name, value)
    low_ok = array > low if open_low else array >= low
    high_ok = array < high if open_high else array <= high
    _refuse(name, array, ~(low_ok & high_ok), "allowed range " + _range(low, high, open_low, open_high))
    return array


def whole(name, value, low=1, high=np.inf):
    """Return `value` as a float64 array of finite whole numbers in [`low`, `high`].

    Raises
    ------
    TypeError
        As `real`.
    ValueError
        Where an element is not a whole number, is infinite, NaN or outside the range.
    """
    array = _numbers(name, value)
    good = np.isfinite(array) & (array == np.floor(array)) & (array >= low) & (array <= high)
    _refuse(name, array, ~good, "allowed: whole numbers in " + _range(low, high, False, high == np.inf))
    return array


def together(**arrays):
    """Check that the named arrays broadcast against each other and return them as a list.

    Raises
    ------
    ValueError
        Where the shapes do not broadcast; the text names each argument and its shape.
    """
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(a)}" for name, a in arrays.items())
        raise ValueError(f"shapes do not broadcast: {shapes}") from None


def flag(name, value):
    """Return `value` as a bool.

    Raises
    ------
    TypeError
        Where `value` is anything else: a 1, a string and an array are no answers to a question.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {reprlib.repr(value)} is not a bool; allowed: True or False")
    return bool(value)


def unmasked(name, value):
    """Refuse an array that hides elements, which NumPy would bring back without a word.

    Raises
    ------
    TypeError
        Where `value` is a masked array, or a list or tuple with one inside.
    """
    if _masked(value):
        shown = reprlib.repr(value.tolist() if isinstance(value, np.ma.MaskedArray) else value)
        raise TypeError(f"{name} = {shown} is a masked array, whose mask would be lost; allowed: numbers without "
                        "a mask, so fill it (.filled) or keep the rest of it (.compressed)")


def plain(result):
    """Return a Python float for a 0-d result and the array otherwise."""
    return float(result) if np.ndim(result) == 0 else result


def _numbers(name, value):
    unmasked(name, value)
    try:
        raw = np.asarray(value)
    except ValueError:
        text = f"{name} = {reprlib.repr(value)} is not a number or a regular array of numbers"
        raise TypeError(text) from None
    if raw.dtype.kind not in "iuf" and not _python_integers(raw):
        raise TypeError(f"{name} = {reprlib.repr(value)} is not a real number or an array of real numbers")
    try:
        with np.errstate(all="ignore"):
            return raw.astype(np.float64) + 0.0
    except OverflowError:
        raise ValueError(f"{name} = {reprlib.repr(value)} is too large; allowed: up to 1.8e308") from None


def _masked(value):
    if isinstance(value, (list, tuple)):
        return any(_masked(v) for v in value if type(v) not in (int, float))
    return isinstance(value, np.ma.MaskedArray)


def _python_integers(raw):
    # NumPy keeps integers beyond 64 bits as objects: 9 * 10**21 GPUs is a number all the same.
    return raw.dtype.kind == "O" and raw.size > 0 and all(type(v) in (int, float) for v in raw.flat)


def _range(low, high, open_low, open_high):
    return f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"


def _refuse(name, array, bad, allowed):
    if not bad.any():
        return
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    index = f"[{', '.join(map(str, where))}]" if where else ""
    shown = repr(float(array[where])).removesuffix(".0")
    raise ValueError(f"{name}{index} = {shown} is outside the domain; {allowed}")
