"""Floating-point formats as bit patterns, and what flipping one bit of a number does.

A number is a word of sign, exponent field and mantissa field, from the highest bit to the lowest.
Words are unsigned integers; bit 0 is the lowest bit. Everything about a flip follows from the fields.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lib._checks import _numbers, plain, together, unmasked, whole


@dataclass(frozen=True)
class Format:
    """Layout of a binary floating-point format.

    Attributes
    ----------
    name : str
        The name used for `format` arguments.
    exponent_bits : int
        Width of the exponent field [bit].
    mantissa_bits : int
        Width of the mantissa field [bit].
    infinities : bool
        True where the highest exponent is kept for infinity and NaN (IEEE 754). False where only the
        word with all exponent and mantissa bits set is NaN, and there is no infinity (OCP e4m3).
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    infinities: bool = True

    @property
    def bits(self):
        """Width of a word [bit]."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self):
        """What the exponent field exceeds the exponent by [dimensionless]."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def word(self):
        """NumPy type of a word."""
        return np.dtype(f"uint{self.bits}")

    def field(self, bit):
        """Name of the field that `bit` belongs to."""
        if bit == self.bits - 1:
            return "sign"
        return "exponent" if bit >= self.mantissa_bits else "mantissa"


FORMATS = {
    f.name: f
    for f in (
        Format("float16", 5, 10),
        Format("bfloat16", 8, 7),
        Format("float32", 8, 23),
        Format("e4m3", 4, 3, infinities=False),
        Format("e5m2", 5, 2),
    )
}

#: What a flip can do. Each flip is of one kind only: the first in this order that applies.
KINDS = {
    "from infinity or NaN": "the number was not finite before the flip",
    "sign": "the sign bit of a finite number: the factor is exactly -1",
    "from zero or subnormal": "an exponent or mantissa bit of a number without leading one: no fixed factor",
    "to infinity or NaN": "a normal number stops being finite",
    "mantissa": "a mantissa bit of a normal number: the magnitude stays within a factor of 2",
    "scaled up": "exponent bit k rises from 0 to 1: the factor is exactly 2^(2^k)",
    "to zero or subnormal": "the last set exponent bit falls: the leading one is lost, no fixed factor",
    "scaled down": "exponent bit k falls from 1 to 0: the factor is exactly 2^-(2^k)",
}

_NAMES = np.array(list(KINDS))
_NATIVE = {np.dtype(np.float16): "float16", np.dtype(np.float32): "float32"}


class FlipRow(NamedTuple):
    """One row of `flip_table`: all flips of one bit that are of one kind.

    Attributes
    ----------
    bit : int
        The bit that is flipped, 0 the lowest [dimensionless].
    field : str
        "sign", "exponent" or "mantissa".
    kind : str
        A key of `KINDS`.
    count : int
        Number of words [words].
    smallest : float
        Least factor by which the magnitude changes [dimensionless]; NaN where one side of the flip
        is not finite, infinite where the number was zero.
    largest : float
        Greatest factor, likewise [dimensionless].
    """

    bit: int
    field: str
    kind: str
    count: int
    smallest: float
    largest: float


for _name in FlipRow._fields:
    getattr(FlipRow, _name).__doc__ = ""  # listed above, which "Alias for field number 0" would do again
del _name


def fields(words, format):
    r"""Split words into sign, exponent field and mantissa field.

    .. math:: \text{word} = 2^{E+F} s + 2^F e + m

    with E exponent bits and F mantissa bits.

    Parameters
    ----------
    words : int or array_like of int, shape (...), [words]
        Bit patterns, each in [0, 2^bits - 1].
    format : str, [dimensionless]
        A key of `FORMATS`.

    Returns
    -------
    tuple of ndarray
        Sign s, exponent field e and mantissa field m, each of the shape of `words` [dimensionless].

    Raises
    ------
    TypeError
        Where `words` are not integers.
    ValueError
        Where a word is outside [0, 2^bits - 1] or the format is unknown.

    Notes
    -----
    Holds for every word. Theorem D-23 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> [int(part) for part in fields(0x3C01, "float16")]
    [0, 15, 1]

    References
    ----------
    IEEE Standard for Floating-Point Arithmetic, IEEE 754-2019, doi:10.1109/IEEESTD.2019.8766229.
    """
    return _fields(*_words("words", words, format))


def decode(words, format):
    r"""Return the values of words, from their fields.

    .. math:: (-1)^s \, 2^{e - \text{bias}} \left(1 + \frac{m}{2^F}\right), \qquad
              (-1)^s \, 2^{1 - \text{bias}} \, \frac{m}{2^F} \quad \text{where } e = 0

    with sign s, exponent field e, mantissa field m of F bits; the words kept for infinity and NaN aside.

    Parameters
    ----------
    words : int or array_like of int, shape (...), [words]
        Bit patterns, each in [0, 2^bits - 1].
    format : str, [dimensionless]
        A key of `FORMATS`.

    Returns
    -------
    float or ndarray
        Values in float64, of the shape of `words` [dimensionless].

    Raises
    ------
    TypeError
        Where `words` are not integers.
    ValueError
        Where a word is outside [0, 2^bits - 1] or the format is unknown.

    Notes
    -----
    Exact for every word of every format; a NaN loses its sign and payload.
    Theorem D-23 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> decode(0x3C01, "float16")
    1.0009765625
    >>> decode([0x00, 0x01, 0x7E, 0x7F], "e4m3").tolist()
    [0.0, 0.001953125, 448.0, nan]

    References
    ----------
    IEEE Standard for Floating-Point Arithmetic, IEEE 754-2019, doi:10.1109/IEEESTD.2019.8766229.
    Micikevicius et al. (2022), FP8 formats for deep learning, arXiv:2209.05433.
    """
    return plain(_values(*_words("words", words, format)))


def flip_bit(values, bit, *, format=None):
    r"""Return numbers with one bit flipped.

    .. math:: \text{word}' = \text{word} \oplus 2^{\text{bit}}

    Parameters
    ----------
    values : float16 or float32 scalar or ndarray [dimensionless], or array_like of int [words], shape (...)
        Numbers, their type being the format, in either byte order; or bit patterns of the format named by
        `format`.
    bit : int or array_like of int, [dimensionless]
        Which bit, 0 the lowest, in [0, bits - 1]; its shape broadcasts against that of `values`.
    format : str, [dimensionless], optional
        A key of `FORMATS`; needed for bit patterns.

    Returns
    -------
    NumPy scalar or ndarray
        Numbers of the type of `values`, or bit patterns as unsigned words of the format
        [dimensionless] or [words]. A scalar stays a NumPy scalar, because its type is the format.

    Raises
    ------
    TypeError
        Where `values` are neither float16, float32 nor integers, or `bit` is not a number.
    ValueError
        Where a word or a bit is outside the format, the format is missing, unknown or not that of
        `values`, or the shapes do not broadcast.

    Notes
    -----
    Holds for every word; a second flip of the same bit undoes the first.
    Theorem D-23 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> float(flip_bit(np.float16(0.5), 14))
    32768.0
    >>> flip_bit(np.float32([1.0, 2.0]), 31).tolist()
    [-1.0, -2.0]
    >>> hex(flip_bit(0x3F80, 14, format="bfloat16"))
    '0x7f80'

    References
    ----------
    Dixit et al. (2021), Silent data corruptions at scale, arXiv:2102.11245.
    """
    words, fmt = _read(values, format)
    words, bit = together(values=words, bit=_bit(bit, fmt))
    flipped = _flip(words, bit).astype(fmt.word)
    return (flipped.view(fmt.name).astype(values.dtype) if _native(values) else flipped)[()]


def flip_kind(values, bit, *, format=None):
    """Name what flipping one bit does: a key of `KINDS`.

    The kinds exclude each other and cover every word and bit.

    Parameters
    ----------
    values : float16 or float32 scalar or ndarray [dimensionless], or array_like of int [words], shape (...)
        As for `flip_bit`.
    bit : int or array_like of int, [dimensionless]
        Which bit, 0 the lowest, in [0, bits - 1]; its shape broadcasts against that of `values`.
    format : str, [dimensionless], optional
        A key of `FORMATS`; needed for bit patterns.

    Returns
    -------
    str or ndarray of str
        Keys of `KINDS` [dimensionless].

    Raises
    ------
    TypeError
        As `flip_bit`.
    ValueError
        As `flip_bit`.

    Notes
    -----
    Holds for every word. Theorem D-23 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> flip_kind(np.float16([0.0, 0.5, 1.5, 2.0, 4.0]), 14).tolist()[:3]
    ['from zero or subnormal', 'scaled up', 'to infinity or NaN']
    >>> flip_kind(np.float16([2.0, 4.0]), 14).tolist()
    ['to zero or subnormal', 'scaled down']

    References
    ----------
    IEEE Standard for Floating-Point Arithmetic, IEEE 754-2019, doi:10.1109/IEEESTD.2019.8766229.
    """
    words, fmt = _read(values, format)
    words, bit = together(values=words, bit=_bit(bit, fmt))
    names = _NAMES[_codes(words, bit, fmt)]
    return str(names) if names.ndim == 0 else names


def flip_factor(values, bit, *, format=None):
    r"""Return the factor by which flipping one bit multiplies a number.

    .. math:: \text{factor} = \frac{\text{value after the flip}}{\text{value before}}

    Parameters
    ----------
    values : float16 or float32 scalar or ndarray [dimensionless], or array_like of int [words], shape (...)
        As for `flip_bit`.
    bit : int or array_like of int, [dimensionless]
        Which bit, 0 the lowest, in [0, bits - 1]; its shape broadcasts against that of `values`.
    format : str, [dimensionless], optional
        A key of `FORMATS`; needed for bit patterns.

    Returns
    -------
    float or ndarray
        Factor with its sign [dimensionless]; infinite where the number was zero and is not any more,
        NaN where it was or becomes infinite or NaN.

    Raises
    ------
    TypeError
        As `flip_bit`.
    ValueError
        As `flip_bit`.

    Notes
    -----
    A power of two is exact, any other factor correctly rounded. Flipping the sign of zero counts as
    the factor -1. Theorem D-23 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> flip_factor(np.float16([0.5, 4.0, 1.0, 0.0]), 14).tolist()
    [65536.0, 1.52587890625e-05, nan, inf]

    References
    ----------
    IEEE Standard for Floating-Point Arithmetic, IEEE 754-2019, doi:10.1109/IEEESTD.2019.8766229.
    """
    words, fmt = _read(values, format)
    words, bit = together(values=words, bit=_bit(bit, fmt))
    return plain(_factors(words, bit, fmt))


def flip_table(format):
    """Count what flipping each bit does, over all words of a format.

    One row for each bit and each kind that occurs, bits from high to low.

    Parameters
    ----------
    format : str, [dimensionless]
        A key of `FORMATS`.

    Returns
    -------
    list of FlipRow
        The counts of each bit add up to 2^bits [words].

    Raises
    ------
    ValueError
        Where the format is unknown.

    Notes
    -----
    Formats of up to 16 bits are enumerated word by word. In float32 the kind depends on the exponent
    field and the bit only, and for a given exponent the factor is monotone in the other mantissa bits
    once the flipped bit is given: each exponent field is counted once with its extreme mantissas.
    Theorem D-23 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> top = [row for row in flip_table("float16") if row.bit == 14]
    >>> for row in top[2:4]:
    ...     print(row.kind, row.count, row.smallest, row.largest)
    to infinity or NaN 2048 nan nan
    scaled up 28672 65536.0 65536.0

    References
    ----------
    IEEE Standard for Floating-Point Arithmetic, IEEE 754-2019, doi:10.1109/IEEESTD.2019.8766229.
    Micikevicius et al. (2022), FP8 formats for deep learning, arXiv:2209.05433.
    """
    fmt = _format(format)
    patterns = _every_word if fmt.bits <= 16 else _extreme_words
    return [row for bit in reversed(range(fmt.bits)) for row in _rows(bit, fmt, *patterns(bit, fmt))]


def _rows(bit, fmt, words, weight):
    codes, sizes = _codes(words, bit, fmt), np.abs(_factors(words, bit, fmt))
    for code, kind in enumerate(KINDS):
        found = sizes[codes == code]
        if found.size:
            low, high = float(found.min()), float(found.max())
            yield FlipRow(bit, fmt.field(bit), kind, found.size * weight, low, high)


def _every_word(bit, fmt):
    """All words, each standing for itself."""
    return np.arange(2**fmt.bits), 1


def _extreme_words(bit, fmt):
    """Four words for each exponent: the rest of the mantissa all 0 or all 1, the flipped bit 0 or 1."""
    full = 2**fmt.mantissa_bits - 1
    own = 1 << min(bit, fmt.mantissa_bits - 1)
    mantissas = np.array([0, own, full ^ own, full])
    exponents = np.arange(2**fmt.exponent_bits) << fmt.mantissa_bits
    return np.add.outer(exponents, mantissas).ravel(), 2 ** (fmt.mantissa_bits + 1) // len(mantissas)


def _fields(words, fmt):
    mantissa = words & (2**fmt.mantissa_bits - 1)
    exponent = (words >> fmt.mantissa_bits) & (2**fmt.exponent_bits - 1)
    return words >> (fmt.bits - 1), exponent, mantissa


def _values(words, fmt):
    sign, exponent, mantissa = _fields(words, fmt)
    leading = np.where(exponent > 0, 2**fmt.mantissa_bits, 0)
    power = np.maximum(exponent, 1) - fmt.bias - fmt.mantissa_bits
    magnitude = np.ldexp((leading + mantissa).astype(np.float64), power)
    special = np.where(fmt.infinities & (mantissa == 0), np.inf, np.nan)
    magnitude = np.where(_nonfinite(words, fmt), special, magnitude)
    return np.where(sign == 1, -magnitude, magnitude)


def _nonfinite(words, fmt):
    _, exponent, mantissa = _fields(words, fmt)
    reserved = exponent == 2**fmt.exponent_bits - 1
    return reserved if fmt.infinities else reserved & (mantissa == 2**fmt.mantissa_bits - 1)


def _flip(words, bit):
    return words ^ (1 << bit)


def _codes(words, bit, fmt):
    """Position in KINDS of what each flip does; the conditions stand in the same order."""
    after = _flip(words, bit)
    before_exponent, after_exponent = _fields(words, fmt)[1], _fields(after, fmt)[1]
    conditions = [
        _nonfinite(words, fmt),
        bit == fmt.bits - 1,
        before_exponent == 0,
        _nonfinite(after, fmt),
        bit < fmt.mantissa_bits,
        after_exponent > before_exponent,
        after_exponent == 0,
    ]
    conditions = np.broadcast_arrays(*conditions)
    return np.select(conditions, range(len(conditions)), default=len(conditions))


def _factors(words, bit, fmt):
    after = _flip(words, bit)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = _values(after, fmt) / _values(words, fmt)
    # Division cannot tell: -0/0 is NaN, and 1/infinity is 0 although nothing was scaled.
    factor = np.where(bit == fmt.bits - 1, -1.0, factor)
    return np.where(_nonfinite(words, fmt) | _nonfinite(after, fmt), np.nan, factor)


def _format(format):
    if not isinstance(format, str) or format not in FORMATS:
        raise ValueError(f"format = {format!r} is unknown; allowed: {', '.join(FORMATS)}")
    return FORMATS[format]


def _bit(bit, fmt):
    return whole("bit", bit, 0, fmt.bits - 1).astype(np.int64)


def _words(name, words, format):
    fmt = _format(format)
    _integers(name, words, f"{fmt.name} bit patterns")
    return whole(name, words, 0, 2**fmt.bits - 1).astype(np.int64), fmt


def _integers(name, value, allowed):
    _numbers(name, value)
    if np.asarray(value).dtype.kind == "f":
        raise TypeError(f"{name} = {reprlib.repr(value)} are not integers; allowed: {allowed}")


def _native(values):
    """Return the format of a NumPy scalar or array of that type, in either byte order; None of another."""
    dtype = getattr(values, "dtype", None)
    return _NATIVE.get(dtype.newbyteorder("=")) if isinstance(dtype, np.dtype) else None


def _read(values, format):
    """Return the words behind `values`, and their format."""
    unmasked("values", values)
    native = _native(values)
    if native is None:
        if format is None:
            _integers("values", values, "float16 or float32, or integers with a `format`")
        return _words("values", values, format)
    if format not in (None, native):
        raise ValueError(f"format = {format!r} is not that of values of type {native}; allowed: {native}")
    fmt = FORMATS[native]
    return np.asarray(values, dtype=native).view(fmt.word).astype(np.int64), fmt
