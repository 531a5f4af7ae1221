"""`lib.floats` against NumPy's own formats, exact fractions and brute force."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib import floats
from lib.floats import FORMATS, KINDS, decode, fields, flip_bit, flip_factor, flip_kind, flip_table

quiet = settings(deadline=None, derandomize=True)
SMALL = ["float16", "bfloat16", "e4m3", "e5m2"]
IEEE = ["float16", "bfloat16", "float32", "e5m2"]
RESERVED = {"float16": 2048, "bfloat16": 256, "e4m3": 2, "e5m2": 8}  # words that are infinity or NaN


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def every_word(name):
    return np.arange(2 ** FORMATS[name].bits)


def same(a, b):
    """Equal, NaN to NaN, and zeros of the same sign."""
    zero = (a == 0) & (b == 0)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a[zero]), np.signbit(b[zero]))


@st.composite
def words_and_bits(draw, names=tuple(FORMATS)):
    fmt = FORMATS[draw(st.sampled_from(names))]
    size = draw(st.integers(1, 20))
    words = draw(st.lists(st.integers(0, 2**fmt.bits - 1), min_size=size, max_size=size))
    bits = draw(st.lists(st.integers(0, fmt.bits - 1), min_size=size, max_size=size))
    return fmt, np.array(words), np.array(bits)


# --- values ---


def test_float16_is_numpys_for_every_word():
    words = every_word("float16")
    assert same(decode(words, "float16"), words.astype(np.uint16).view(np.float16).astype(np.float64))


def test_bfloat16_is_the_upper_half_of_float32():
    words = every_word("bfloat16")
    with np.errstate(invalid="ignore"):  # casting a signalling NaN
        upper = (words.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    assert same(decode(words, "bfloat16"), upper)


def test_e5m2_is_the_upper_half_of_float16():
    words = every_word("e5m2")
    assert same(decode(words, "e5m2"), (words.astype(np.uint16) << 8).view(np.float16).astype(np.float64))


@quiet
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1))
def test_float32_is_numpys(words):
    edges = [0, 1, 2**23 - 1, 2**23, 255 * 2**23 - 1, 255 * 2**23, 255 * 2**23 + 1, 2**31, 2**32 - 1]
    words = np.array(words + edges, dtype=np.uint32)
    with np.errstate(invalid="ignore"):  # casting a signalling NaN
        assert same(decode(words, "float32"), words.view(np.float32).astype(np.float64))


def test_e4m3_from_its_definition_in_exact_fractions():
    for word in range(256):
        text = f"{word:08b}"
        sign, exponent, mantissa = int(text[0]), int(text[1:5], 2), int(text[5:], 2)
        if text[1:] == "1111111":
            assert np.isnan(decode(word, "e4m3"))
            continue
        size = Fraction(mantissa, 8) * Fraction(1, 64) if exponent == 0 else 0
        size = size or (1 + Fraction(mantissa, 8)) * Fraction(2) ** (exponent - 7) * (exponent > 0)
        assert Fraction(decode(word, "e4m3")) == (-1) ** sign * size


def test_e4m3_limits_as_published():
    values = decode(np.arange(128), "e4m3")
    assert np.nanmax(values) == 448.0
    assert values[1] == 2.0**-9 and values[8] == 2.0**-6
    assert np.isnan(values).sum() == 1 and not np.isinf(values).any()


def test_e5m2_limits_as_published():
    values = decode(np.arange(128), "e5m2")
    assert values[np.isfinite(values)].max() == 57344.0
    assert values[1] == 2.0**-16 and values[4] == 2.0**-14
    assert np.isinf(values).sum() == 1 and np.isnan(values).sum() == 3


@pytest.mark.parametrize("name", SMALL)
def test_positive_words_are_in_the_order_of_their_values(name):
    values = decode(np.arange(2 ** (FORMATS[name].bits - 1)), name)
    values = values[~np.isnan(values)]
    assert np.all(np.diff(values[np.isfinite(values)]) > 0)


@quiet
@given(st.integers(0, 255 * 2**23 - 1), st.integers(0, 255 * 2**23 - 1))
def test_decode_is_monotone_on_positive_float32_words(a, b):
    assert (a < b) == (decode(a, "float32") < decode(b, "float32"))


@quiet
@given(words_and_bits())
def test_fields_put_together_give_the_word(case):
    fmt, words, _ = case
    sign, exponent, mantissa = fields(words, fmt.name)
    assert np.array_equal((sign << (fmt.bits - 1)) + (exponent << fmt.mantissa_bits) + mantissa, words)
    assert sign.max() <= 1 and exponent.max() < 2**fmt.exponent_bits and mantissa.max() < 2**fmt.mantissa_bits


@pytest.mark.parametrize(
    "name, bits, bias",
    [("float16", 16, 15), ("bfloat16", 16, 127), ("float32", 32, 127), ("e4m3", 8, 7), ("e5m2", 8, 15)],
)
def test_layout(name, bits, bias):
    fmt = FORMATS[name]
    assert (fmt.name, fmt.bits, fmt.bias, fmt.word.itemsize * 8) == (name, bits, bias, bits)
    named = [fmt.field(bit) for bit in range(bits)]
    assert named == ["mantissa"] * fmt.mantissa_bits + ["exponent"] * fmt.exponent_bits + ["sign"]


# --- flips ---


@quiet
@given(words_and_bits())
def test_flipping_twice_changes_nothing_and_once_changes_one_bit(case):
    fmt, words, bits = case
    once = flip_bit(words, bits, format=fmt.name)
    assert once.dtype == fmt.word
    changed = once.astype(np.int64) ^ words
    assert np.array_equal(changed, 2**bits)
    assert np.array_equal(flip_bit(once, bits, format=fmt.name), words)


@pytest.mark.parametrize("real, word", [(np.float16, np.uint16), (np.float32, np.uint32)])
def test_numbers_and_their_words_flip_alike(real, word):
    numbers = np.array([[0.0, -0.0, 1.5], [np.inf, np.nan, -6e-8]], dtype=real)
    for bit in range(word(0).itemsize * 8):
        flipped = flip_bit(numbers, bit)
        assert flipped.dtype == real and flipped.shape == numbers.shape
        words = flip_bit(numbers.view(word), bit, format=real.__name__)
        assert np.array_equal(flipped.view(word), words)
        assert np.array_equal(flip_bit(flipped, bit).view(word), numbers.view(word))


def test_numbers_may_name_their_own_format():
    assert flip_bit(np.float16(1.0), 15, format="float16") == -1.0
    assert flip_kind(np.float32(1.0), 31, format="float32") == "sign"


def test_scalars_stay_scalars_of_their_format():
    assert type(flip_bit(np.float16(1), 0)) is np.float16
    assert type(flip_bit(np.float32(1), 0)) is np.float32
    assert type(flip_bit(0x38, 0, format="e4m3")) is np.uint8
    assert type(flip_bit(0x3C00, 0, format="bfloat16")) is np.uint16
    assert type(decode(0x38, "e4m3")) is float and type(flip_factor(0x38, 0, format="e4m3")) is float
    assert type(flip_kind(0x38, 0, format="e4m3")) is str


def test_values_are_not_changed_in_place():
    numbers = np.ones(3, dtype=np.float16)
    flip_bit(numbers, 15)
    assert np.array_equal(numbers, [1, 1, 1])


@pytest.mark.parametrize("function", [flip_bit, flip_kind, flip_factor])
def test_arrays_equal_loops_and_broadcast(function):
    words, bits = np.array([0x00, 0x35, 0x7F])[:, None], np.arange(8)
    table = function(words, bits, format="e4m3")
    loop = [[function(int(w), int(b), format="e4m3") for b in bits] for w in words[:, 0]]
    assert table.shape == (3, 8)
    if function is flip_factor:
        assert np.array_equal(table, loop, equal_nan=True)
    else:
        assert np.array_equal(table, loop)


# --- what a flip does ---


def kinds_from_values(name):
    """Every word's kind for every bit, decided by values instead of fields."""
    fmt = FORMATS[name]
    words, bits = every_word(name)[:, None], np.arange(fmt.bits)
    before, after = (np.abs(decode(w, name)) for w in (words, words ^ (1 << bits)))
    smallest_normal = 2.0 ** (1 - fmt.bias)
    return np.select(
        [
            ~np.isfinite(before) & (bits >= 0),
            (bits == fmt.bits - 1) & (before >= 0),
            (before < smallest_normal) & (bits >= 0),
            ~np.isfinite(after),
            (bits < fmt.mantissa_bits) & (before > 0),
            after < smallest_normal,
            after > before,
            after < before,
        ],
        [
            "from infinity or NaN",
            "sign",
            "from zero or subnormal",
            "to infinity or NaN",
            "mantissa",
            "to zero or subnormal",
            "scaled up",
            "scaled down",
        ],
        default="none",
    )


@pytest.mark.parametrize("name", SMALL)
def test_kind_of_every_flip(name):
    fmt = FORMATS[name]
    kinds = flip_kind(every_word(name)[:, None], np.arange(fmt.bits), format=name)
    assert np.array_equal(kinds, kinds_from_values(name))
    assert set(np.unique(kinds)) == set(KINDS)


@pytest.mark.parametrize("name", SMALL)
def test_factor_of_every_flip(name):
    fmt = FORMATS[name]
    words = every_word(name)
    values = decode(words, name)
    for bit in range(fmt.bits):
        kinds, factors = flip_kind(words, bit, format=name), flip_factor(words, bit, format=name)
        after = decode(words ^ (1 << bit), name)
        nonfinite = np.isin(kinds, ["from infinity or NaN", "to infinity or NaN"])
        assert np.array_equal(np.isnan(factors), nonfinite)
        zero = (values == 0) & (kinds != "sign")
        assert np.all(np.isinf(factors[zero])) and np.isinf(factors).sum() == zero.sum()
        plain = ~nonfinite & ~zero
        assert np.allclose(factors[plain] * values[plain], after[plain], rtol=3e-16, atol=0)
        assert np.all(factors[kinds == "sign"] == -1)
        if fmt.field(bit) == "exponent":
            step = 2.0 ** (2 ** (bit - fmt.mantissa_bits))
            assert np.all(factors[kinds == "scaled up"] == step)
            assert np.all(factors[kinds == "scaled down"] == 1 / step)
        moved = factors[kinds == "mantissa"]
        assert np.all((moved > 0.5) & (moved < 2) & (moved != 1))


@pytest.mark.parametrize("name", IEEE)
def test_counts_of_the_highest_exponent_bit_in_closed_form(name):
    """Of 2^E exponents half rise and half fall; four of them are special, the rest scale exactly."""
    fmt = FORMATS[name]
    per_exponent = 2 ** (fmt.mantissa_bits + 1)
    exact = (2 ** (fmt.exponent_bits - 1) - 2) * per_exponent
    counts = {row.kind: row.count for row in flip_table(name) if row.bit == fmt.bits - 2}
    assert counts == {
        "from infinity or NaN": per_exponent,
        "from zero or subnormal": per_exponent,
        "to infinity or NaN": per_exponent,
        "to zero or subnormal": per_exponent,
        "scaled up": exact,
        "scaled down": exact,
    }


@pytest.mark.parametrize("name", SMALL)
def test_table_is_the_enumeration(name):
    fmt = FORMATS[name]
    kinds, words = kinds_from_values(name), every_word(name)
    rows = {(row.bit, row.kind): row for row in flip_table(name)}
    for bit in range(fmt.bits):
        factors = np.abs(flip_factor(words, bit, format=name))
        for kind in np.unique(kinds[:, bit]):
            row, mine = rows.pop((bit, kind)), kinds[:, bit] == kind
            assert row.count == mine.sum() and row.field == fmt.field(bit)
            expected = [factors[mine].min(), factors[mine].max()]
            assert np.array_equal([row.smallest, row.largest], expected, equal_nan=True)
    assert not rows


@pytest.mark.parametrize("name", ["float16", "bfloat16", "e5m2"])
def test_counting_by_exponent_agrees_with_counting_every_word(name):
    fmt = FORMATS[name]
    for bit in range(fmt.bits):
        short = list(floats._rows(bit, fmt, *floats._extreme_words(bit, fmt)))
        whole = list(floats._rows(bit, fmt, *floats._every_word(bit, fmt)))
        assert repr(short) == repr(whole)  # repr, because NaN is not equal to itself


@pytest.mark.parametrize("name", FORMATS)
def test_table_counts_every_word_once_for_each_bit_from_high_to_low(name):
    fmt, rows = FORMATS[name], flip_table(name)
    for bit in range(fmt.bits):
        assert sum(row.count for row in rows if row.bit == bit) == 2**fmt.bits
        assert sum(row.count for row in rows if row.bit == bit and row.kind == "from infinity or NaN") == (
            RESERVED.get(name, 2**24)
        )
    bits = [row.bit for row in rows]
    assert bits == sorted(bits, reverse=True)


@quiet
@given(words_and_bits(names=("float32",)))
def test_float32_table_bounds_every_flip(case):
    fmt, words, bits = case
    rows = {(row.bit, row.kind): row for row in flip_table("float32")}
    for word, bit in zip(words, bits):
        row = rows[int(bit), flip_kind(word, bit, format="float32")]
        size = abs(flip_factor(word, bit, format="float32"))
        assert row.smallest <= size <= row.largest or (np.isnan(size) and np.isnan(row.largest))


# --- refusals ---


@pytest.mark.parametrize("function", [flip_bit, flip_kind, flip_factor])
@pytest.mark.parametrize(
    "values, bit, format, error, text",
    [
        (np.float16(1), 16, None, ValueError, r"bit = 16 .*\[0, 15\]"),
        (np.float32(1), 32, None, ValueError, r"bit = 32 .*\[0, 31\]"),
        (1, 8, "e4m3", ValueError, r"bit = 8 .*\[0, 7\]"),
        (1, -1, "e4m3", ValueError, r"bit = -1 .*\[0, 7\]"),
        (1, 0.5, "e4m3", ValueError, r"bit = 0.5 "),
        (1, "0", "e4m3", TypeError, r"bit = '0'"),
        (256, 0, "e5m2", ValueError, r"values = 256 .*\[0, 255\]"),
        (65536, 0, "bfloat16", ValueError, r"values = 65536 .*\[0, 65535\]"),
        ([1, -1], 0, "e5m2", ValueError, r"values\[1\] = -1 "),
        (1.0, 0, "e5m2", TypeError, r"values = 1.0 are not integers; allowed: e5m2 bit patterns"),
        (np.float64(1), 0, "float16", TypeError, r"values = .*not integers"),
        ("one", 0, "e5m2", TypeError, r"values = 'one'"),
        ([[1], [1, 2]], 0, "e5m2", TypeError, r"values = "),
        (1, 0, None, ValueError, r"format = None is unknown; .*: float16, bfloat16, float32, e4m3, e5m2"),
        (1, 0, "float8", ValueError, r"format = 'float8' is unknown"),
        (1, 0, ["e4m3"], ValueError, r"format = \['e4m3'\] is unknown"),
        (np.float16(1), 0, "bfloat16", ValueError, r"format = 'bfloat16' .* allowed: float16"),
        ([1, 2], [0, 1, 2], "e4m3", ValueError, r"do not broadcast: values \(2,\), bit \(3,\)"),
    ],
)
def test_bad_flips_are_refused_by_name(function, values, bit, format, error, text):
    with pytest.raises(error, match=text):
        function(values, bit, format=format)


@pytest.mark.parametrize("function", [decode, fields])
@pytest.mark.parametrize(
    "words, format, error, text",
    [
        (256, "e4m3", ValueError, r"words = 256 .*\[0, 255\]"),
        (2**32, "float32", ValueError, r"words = 4294967296 "),
        (np.float16([1.0]), "float16", TypeError, r"words = .*not integers"),
        (None, "float16", TypeError, r"words = None"),
        (0, "half", ValueError, r"format = 'half' is unknown"),
    ],
)
def test_bad_words_are_refused_by_name(function, words, format, error, text):
    with pytest.raises(error, match=text):
        function(words, format)


def test_table_refuses_an_unknown_format():
    with pytest.raises(ValueError, match="format = 'float64' is unknown"):
        flip_table("float64")


def test_formats_cannot_be_changed():
    with pytest.raises(AttributeError):
        FORMATS["float16"].exponent_bits = 6


# --- types of values


NUMBERS = [np.float64(1), 1.0, 1.5, [1.0, 2.0], np.longdouble(1), np.array([0.5]), np.float64("nan"), []]


@pytest.mark.parametrize("function", [flip_bit, flip_kind, flip_factor])
@pytest.mark.parametrize("values", NUMBERS, ids=repr)
def test_numbers_of_another_type_are_refused(function, values):
    with pytest.raises(TypeError, match=r"^values = .* are not integers; allowed: float16 or float32, or integers "
                                        r"with a `format`$"):
        function(values, 3)
    with pytest.raises(TypeError, match="^values = .* are not integers; allowed: bfloat16 bit patterns$"):
        function(values, 3, format="bfloat16")


@pytest.mark.parametrize("function", [flip_bit, flip_kind, flip_factor])
@pytest.mark.parametrize("values", [None, "1", True, 1 + 2j, [[1], [1, 2]]], ids=repr)
def test_what_is_no_number_is_refused_before_the_format(function, values):
    with pytest.raises(TypeError, match="^values = .* is not a "):
        function(values, 3)


def test_integers_need_a_format():
    with pytest.raises(ValueError, match="^format = None is unknown"):
        flip_bit(1, 3)


@pytest.mark.parametrize("function", [flip_bit, flip_kind, flip_factor])
def test_masked_values_are_refused(function):
    with pytest.raises(TypeError, match=r"^values = \[1\.0, None\] is a masked array"):
        function(np.ma.array(np.float16([1, 2]), mask=[0, 1]), 3)
    with pytest.raises(TypeError, match=r"^values = \[1, 2\] is a masked array"):
        function(np.ma.array([1, 2]), 3, format="e4m3")
    with pytest.raises(TypeError, match=r"^bit = \[1, 2\] is a masked array"):
        function(np.float16(1), np.ma.array([1, 2]))


@pytest.mark.parametrize("name, word", [("f2", 0x7C01), ("f4", 0x7F800001), ("f2", 0x3C00), ("f4", 0x3F800000)])
def test_either_byte_order(name, word):
    """A flip is one of the number, wherever its bytes are; the signalling NaNs show that no bit is touched."""
    native = np.array([word], name.replace("f", "u")).view(name)
    for order in "<>":
        values = native.astype(order + name)
        flipped = flip_bit(values, 3)
        assert flipped.dtype == values.dtype
        assert flipped.astype(name).tobytes() == flip_bit(native, 3).tobytes()
        assert flip_kind(values, 3) == flip_kind(native, 3)
        assert np.array_equal(flip_factor(values, 14), flip_factor(native, 14), equal_nan=True)


def test_rows_list_their_fields_once():
    assert not any(getattr(floats.FlipRow, name).__doc__ for name in floats.FlipRow._fields)
    assert all(f"    {name} : " in floats.FlipRow.__doc__ for name in floats.FlipRow._fields)
