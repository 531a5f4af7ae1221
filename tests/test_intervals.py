"""lib.intervals against 50-digit arithmetic, its limits, its symmetries and its error texts."""

import tracemalloc
import warnings
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib import intervals
from lib.intervals import daly, kernel, optimal, young
from tests import reference

BOTH = pytest.mark.parametrize("exposed", [True, False], ids=["exposed", "protected"])
quick = settings(deadline=None, derandomize=True, max_examples=100)
ratios = st.floats(-12, 4).map(lambda power: 10.0**power)
times = st.floats(-4, 4).map(lambda power: 10.0**power)


@pytest.fixture
def dice():
    return np.random.default_rng(20061974)


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def spread(low, high, count):
    """Log-spaced and random numbers between two powers of ten."""
    random = np.random.default_rng(20061974).uniform(low, high, count // 2)
    return 10.0 ** np.concatenate([np.linspace(low, high, count // 2), random])


def representable(value):
    return mp.mpf(2) ** -1022 <= value < mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -54)


def assert_ulps(got, expected, limit=4.0):
    errors = [reference.ulps(g, e) if representable(e) else 0.0 for g, e in zip(got, expected, strict=True)]
    worst = int(np.argmax(errors))
    assert errors[worst] <= limit, (worst, got[worst], mp.nstr(expected[worst], 20), errors[worst])
    assert sum(map(representable, expected)) > 0.5 * len(expected)


# --- kernel


@pytest.mark.parametrize(
    "x",
    [
        spread(-300, 300, 2000),
        spread(-4, 4, 4000),
        spread(-308.25, -295, 100),
        np.linspace(1.9, 2.1, 201),  # around the change of method
        1.0 + np.linspace(-1e-6, 1e-6, 201),  # where W0 passes zero
        1.0 + np.arange(-20, 21) * 2.0**-53,
        2.0 + np.arange(-20, 21) * 2.0**-52,
        np.linspace(1e308, np.finfo(float).max, 20),
        5e-324 * np.array([1.0, 2.0, 3.0, 1000.0, 12345.0]),
    ],
    ids=["wide", "middle", "smallest", "split", "near 1", "at 1", "at 2", "largest", "subnormal"],
)
def test_kernel_is_within_four_units_in_the_last_place(x):
    assert_ulps(kernel(x), [reference.kernel(v) for v in x])


@pytest.mark.parametrize("x, u", [(0, 0), (-0.0, 0), (1, 1), (np.inf, np.inf)])
def test_kernel_at_its_ends(x, u):
    assert kernel(x) == u and np.signbit(kernel(x)) == 0


def series(count):
    """Rational coefficients of u in p = sqrt(2x), from u u' (p^2/2 - 1) = p (u - 1)."""
    a = [Fraction(0), Fraction(1)]

    def product(k):  # of p^k in u u' = (u^2)'/2
        return Fraction(k + 1, 2) * sum(a[i] * a[k + 1 - i] for i in range(len(a)) if 0 <= k + 1 - i < len(a))

    for n in range(2, count):
        a.append((product(n - 2) / 2 - product(n) - a[n - 1]) / (n + 1))
    return a


def test_series_solves_the_equation():
    """The recurrence's coefficients leave (u - 1) e^u + 1 - p^2/2 at the order of the first one dropped."""
    a = series(16)
    assert a[:5] == [0, 1, Fraction(-1, 3), Fraction(11, 72), Fraction(-43, 540)]
    p = mp.mpf("1e-3")
    u = mp.polyval([mp.mpf(c.numerator) / c.denominator for c in a[::-1]], p)
    assert abs((u - 1) * mp.exp(u) + 1 - p**2 / 2) < p**16


def test_starting_guess_is_the_pade_approximant_of_the_series():
    coefficients = [mp.mpf(c.numerator) / c.denominator for c in series(10)[1:]]
    numerator, denominator = mp.pade(coefficients, 4, 4)
    assert [float(c) for c in numerator] == pytest.approx(intervals._NUMERATOR, rel=1e-15)
    assert [float(c) for c in denominator] == pytest.approx(intervals._DENOMINATOR, rel=1e-15)


def test_taylor_coefficients_are_those_of_the_integral():
    p = mp.taylor(lambda u: (u - 1) * mp.exp(u) + 1, 0, len(intervals._TAYLOR) + 2)
    assert [float(c) for c in p[:3]] == [0.0, 0.0, 0.5]
    assert [float(c) for c in p[3:]] == pytest.approx(intervals._TAYLOR, rel=1e-13)


@quick
@given(ratios, st.floats(1e-9, 1.0))
def test_kernel_grows(x, step):
    assert kernel(x) < kernel(x * (1 + step))


@quick
@given(st.lists(st.floats(0, 1e300), max_size=20))
def test_kernel_of_an_array_is_the_loop(values):
    np.testing.assert_array_equal(kernel(values), [kernel(v) for v in values])


@pytest.mark.parametrize("size", [0, 1, 2**15 - 1, 2**15, 2**15 + 1, 3 * 2**15 + 7])
def test_blocks_leave_no_seam(size):
    x = spread(-3, 3, 2 * (size // 2 + 1))[:size]
    u = kernel(x)
    assert u.shape == (size,)
    picked = [i for edge in range(0, size + 1, 2**15) for i in range(edge - 2, edge + 2) if 0 <= i < size]
    np.testing.assert_array_equal(u[picked], [kernel(x[i]) for i in picked])


def test_kernel_keeps_any_shape_and_layout():
    x = spread(-3, 3, 2**16).reshape(2**14, 4)
    u = kernel(x)
    np.testing.assert_array_equal(kernel(x.T), u.T)
    np.testing.assert_array_equal(kernel(x[::-3, ::2]), u[::-3, ::2])
    np.testing.assert_array_equal(kernel(np.broadcast_to(x[0], (3, 4))), np.stack([u[0]] * 3))
    np.testing.assert_array_equal(kernel(np.asfortranarray(x)), u)
    assert kernel(np.empty((0, 3))).shape == (0, 3)


def test_kernel_does_not_touch_its_argument():
    x = np.array([0.0, 0.5, 5.0])
    x.setflags(write=False)
    kernel(x)
    np.testing.assert_array_equal(x, [0.0, 0.5, 5.0])


def test_working_memory_does_not_grow_with_the_array():
    def working_memory(size):
        x = np.linspace(0.0, 4.0, size)
        tracemalloc.start()
        result = kernel(x)
        peak = tracemalloc.get_traced_memory()[1] - result.nbytes
        tracemalloc.stop()
        return peak

    small, large = working_memory(2**17), working_memory(2**21)
    assert large < 1.1 * small < 5e6


def test_refused_element_is_named_in_the_whole_array():
    x = np.ones((2, 40000))
    x[1, 39999] = -2.5
    with pytest.raises(ValueError, match=r"^x\[1, 39999\] = -2\.5 is outside the domain; allowed range \[0"):
        kernel(x)


# --- optimal


@BOTH
@pytest.mark.parametrize("low, high, limit", [(-300, 300, 300), (-3, 3, 3), (2, 2.86, 2)])
def test_optimal_is_within_four_units_in_the_last_place(exposed, low, high, limit, dice):
    m = dice.uniform(0.5, 2.0, 1500)
    delta = spread(low, high, 1500) * m
    r = m * 10.0 ** dice.uniform(-limit, limit, 1500) * (dice.random(1500) < 0.7)
    got = optimal(delta, m, r, exposed_writes=exposed)
    assert_ulps(got, [reference.optimal(*v, exposed) for v in zip(delta, m, r)])


@BOTH
def test_optimal_wherever_the_result_is_representable(exposed, dice):
    """Times from the whole range of floats: quotients and sums of them over- and underflow."""
    delta, m, r = 10.0 ** dice.uniform(-305, 305, (3, 400))
    top = np.finfo(float).max
    delta = np.concatenate([delta, [1e-300, 1e308, 1.0, 1e100, top, top, 1e307, 1e-310, 1e-306]])
    m = np.concatenate([m, [1e300, 1e-308, top, 1.0, top, 0.7 * top, 1e-2, 1e-310, 1e-5]])
    r = np.concatenate([r, [0.0, 0.0, top, 1e308, 0.8 * top, top, 1e-3, 1e10, 0.0]])
    got = optimal(delta, m, r, exposed_writes=exposed)
    assert_ulps(got, [reference.optimal(*v, exposed) for v in zip(delta, m, r)])


@BOTH
def test_optimal_at_its_ends(exposed):
    kind = {"exposed_writes": exposed}
    assert optimal(0.0, 3.0, 2.0, **kind) == 0.0
    assert optimal([0.0, 5.0], np.inf, 2.0, **kind).tolist() == [np.inf, np.inf]


@quick
@given(times, times, times)
def test_restart_time_moves_only_the_protected_optimum(delta, m, r):
    assert optimal(delta, m, r) == optimal(delta, m)
    assert optimal(delta, m, r, exposed_writes=False) < optimal(delta, m, exposed_writes=False) * (1 + 1e-15)
    assert optimal(delta, m, m, exposed_writes=False) < optimal(delta, m, exposed_writes=False)


@BOTH
@quick
@given(times, times, times, st.floats(1e-6, 1.0))
def test_optimal_grows_with_either_time(exposed, delta, m, r, step):
    def tau(delta, m):
        return optimal(delta, m, r, exposed_writes=exposed)

    assert tau(delta * (1 + step), m) >= tau(delta, m)
    assert tau(delta, m * (1 + step)) > tau(delta, m)


@quick
@given(times, times)
def test_exposed_optimum_stays_below_the_mtbf(delta, m):
    assert optimal(delta, m) <= m


def protected(delta, m):
    return optimal(delta, m, restart_time=delta, exposed_writes=False)


@pytest.mark.parametrize("function", [young, daly, optimal, protected])
@quick
@given(delta=times, m=times, power=st.integers(-60, 60), factor=times)
def test_unit_of_time_does_not_matter(function, delta, m, power, factor):
    tau = function(delta, m)
    assert function(delta * 2.0 ** (2 * power), m * 2.0 ** (2 * power)) == tau * 2.0 ** (2 * power)
    assert function(delta * factor, m * factor) == pytest.approx(tau * factor, rel=1e-14)


@BOTH
def test_first_order_limit(exposed):
    """Theorem D-05: for a short write both optima tend to Young's formula, protected with M^2/(M + R)."""
    delta, m, r = 1e-12, 2.0, 0.5
    limit = young(delta, m if exposed else m * m / (m + r))
    assert optimal(delta, m, r, exposed_writes=exposed) == pytest.approx(limit, rel=1e-6)


def test_long_write_limits():
    """Theorem D-06: protected, the optimum grows as M (log x - log log x); exposed, it reaches M."""
    x = 1e200
    assert optimal(x, 1.0, exposed_writes=False) == pytest.approx(np.log(x / np.log(x)), rel=1e-3)
    assert optimal(40.0, 1.0) == 1.0


# --- Young and Daly


@pytest.mark.parametrize("low, high", [(-305, 305), (-3, 3)])
def test_young_and_daly_are_right_to_14_digits(low, high, dice):
    delta, m = 10.0 ** dice.uniform(low, high, (2, 1000))
    for d, t, y, published in zip(delta, m, young(delta, m), daly(delta, m)):
        root, ratio = mp.sqrt(2 * mp.mpf(d) * mp.mpf(t)), mp.mpf(d) / (2 * mp.mpf(t))
        assert reference.relative(y, root) < 1e-14
        expected = root * (1 + mp.sqrt(ratio) / 3 + ratio / 9) - mp.mpf(d) if ratio < 1 else mp.mpf(t)
        assert reference.relative(published, expected) < 1e-14


def test_daly_jumps_where_the_write_takes_twice_the_mtbf():
    assert daly(2.0, 1.0) == 1.0
    m = np.linspace(0.5, 1.5, 101)
    assert daly(2.0 * m, m).tolist() == m.tolist()
    np.testing.assert_allclose(daly(np.nextafter(2.0 * m, 0.0), m), 8 / 9 * m, rtol=1e-14)


def test_daly_is_the_exact_series_up_to_its_third_term():
    """Theorems D-21 and D-22: the next term of tau/M is e^4/270, e = sqrt(2 delta/M)."""
    for delta in (mp.mpf("1e-6"), mp.mpf("1e-8")):
        e = mp.sqrt(2 * delta)
        rest = reference.optimal(delta, 1) - e * (1 - e / 6) ** 2
        assert abs(rest / (e**4 / 270) - 1) < 0.01


@pytest.mark.parametrize("function", [young, daly])
def test_young_and_daly_at_their_ends(function):
    assert function(0.0, 4.0) == 0.0
    assert function([0.0, 5.0], np.inf).tolist() == [np.inf, np.inf]


# --- arguments


FUNCTIONS = [
    (kernel, {"x": 0.5}),
    (young, {"write_time": 0.5, "mtbf": 2.0}),
    (daly, {"write_time": 0.5, "mtbf": 2.0}),
    (optimal, {"write_time": 0.5, "mtbf": 2.0, "restart_time": 0.1}),
]
RANGES = {"x": "[0, inf]", "write_time": "[0, inf)", "mtbf": "(0, inf]", "restart_time": "[0, inf)"}
ARGUMENTS = [(f, kwargs, name) for f, kwargs in FUNCTIONS for name in kwargs]


@pytest.mark.parametrize("function, kwargs", FUNCTIONS)
def test_scalars_give_floats_and_arrays_arrays(function, kwargs):
    scalar = function(**kwargs)
    assert type(scalar) is float
    assert type(function(**{k: np.float64(v) for k, v in kwargs.items()})) is float
    assert type(function(**{k: np.array(v) for k, v in kwargs.items()})) is float
    for name in kwargs:
        got = function(**(kwargs | {name: [[kwargs[name]], [1]]}))
        assert got.shape == (2, 1) and got[0, 0] == scalar and got.dtype == np.float64
        assert got[1, 0] == function(**(kwargs | {name: 1}))


@pytest.mark.parametrize("function, kwargs, name", ARGUMENTS)
def test_number_outside_its_range_is_named(function, kwargs, name):
    outside = [-1.5, np.nan, -np.inf] + [0.0] * (name == "mtbf") + [np.inf] * ("inf)" in RANGES[name])
    for value in outside:
        with pytest.raises(ValueError) as error:
            function(**(kwargs | {name: value}))
        assert str(error.value) == f"{name} = {value:g} is outside the domain; allowed range {RANGES[name]}"
        with pytest.raises(ValueError) as error:
            function(**(kwargs | {name: [1.0, value]}))
        assert str(error.value).startswith(f"{name}[1] = {value:g} is outside")


@pytest.mark.parametrize("function, kwargs, name", ARGUMENTS)
@pytest.mark.parametrize("value", ["1", None, True, 1j, [[1], [1, 2]], np.array(["1"])], ids=repr)
def test_what_is_not_a_number_is_named(function, kwargs, name, value):
    with pytest.raises(TypeError, match=f"^{name} = .* is not a "):
        function(**(kwargs | {name: value}))


@pytest.mark.parametrize("function", [young, daly, optimal])
def test_shapes_that_do_not_broadcast(function):
    with pytest.raises(ValueError, match=r"^shapes do not broadcast: write_time \(2,\), mtbf \(3,\)"):
        function([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("value", [1, 0, None, "yes", [True]])
def test_model_is_a_bool(value):
    with pytest.raises(TypeError, match="^exposed_writes = .* is not a bool; allowed: True or False$"):
        optimal(1.0, 2.0, exposed_writes=value)


def test_numpy_bools_are_bools():
    assert optimal(1.0, 2.0, exposed_writes=np.False_) == optimal(1.0, 2.0, exposed_writes=False)


def test_broadcasting():
    delta, m, r = np.array([[0.1], [2.0]]), np.array([1.0, 10.0, np.inf]), 0.3
    for exposed in (True, False):
        got = optimal(delta, m, r, exposed_writes=exposed)
        loop = [[optimal(d, t, r, exposed_writes=exposed) for t in m] for d in delta[:, 0]]
        np.testing.assert_array_equal(got, loop)


def test_masked_arrays_are_refused():
    hidden = np.ma.array([0.5, 2.0], mask=[False, True])
    with pytest.raises(TypeError, match="^x = .* is a masked array"):
        kernel(hidden)
    for function in (young, daly, optimal):
        with pytest.raises(TypeError, match="^write_time = .* is a masked array"):
            function(hidden, 4.0)
        with pytest.raises(TypeError, match="^mtbf = .* is a masked array"):
            function(0.1, hidden)
