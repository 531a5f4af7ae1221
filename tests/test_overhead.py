"""lib.overhead against 50-digit arithmetic, its limits, its symmetries and its error texts."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.intervals import kernel, optimal, young
from lib.overhead import (
    efficiency,
    first_order_loss,
    goodput,
    largest_useful_cluster,
    optimal_slowdown,
    recovery_time,
    slowdown,
)
from tests import reference

BOTH = pytest.mark.parametrize("exposed", [True, False], ids=["exposed", "protected"])
TOP = np.finfo(float).max
BEYOND = mp.mpf(10) ** 400  # stands for any number too large for a float
quick = settings(deadline=None, derandomize=True, max_examples=100)
times = st.floats(-4, 4).map(lambda power: 10.0**power)
shares = st.floats(-3, 0.5).map(lambda power: 10.0**power)  # of the MTBF


@pytest.fixture
def dice():
    return np.random.default_rng(20061974)


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def assert_close(got, expected, error=reference.relative, limit=1e-14):
    """Hold every representable value to `limit`, and what is too large to inf."""
    top = mp.mpf(2) ** 1024
    assert len(got) == len(expected)
    for g, e in zip(got, expected):
        if e >= top * (1 + mp.mpf("1e-13")):
            assert g == np.inf, (g, mp.nstr(e, 20))
        elif mp.mpf(2) ** -1022 <= e < top * (1 - mp.mpf("1e-13")):
            assert error(g, e) <= limit, (g, mp.nstr(e, 20))
    assert sum(e < top for e in expected) > 0.3 * len(expected)


def multiple(dice, m, low, high, shape):
    """`m` times random powers of ten, as far as floats reach."""
    with np.errstate(all="ignore"):
        return np.clip(m * 10.0 ** dice.uniform(low, high, shape), 5e-324, TOP)


# --- first order


@pytest.mark.parametrize("low, high", [(-300, 300), (-3, 3)])
def test_first_order_loss(low, high, dice):
    tau, delta, m = 10.0 ** dice.uniform(low, high, (3, 1000))
    expected = [mp.mpf(d) / mp.mpf(t) + mp.mpf(t) / (2 * mp.mpf(k)) for t, d, k in zip(tau, delta, m)]
    assert_close(first_order_loss(tau, delta, m), expected)


@pytest.mark.parametrize(
    "tau, delta, m, loss",
    [
        (0.0, 1.0, 2.0, np.inf),
        (0.0, 0.0, 2.0, 0.0),
        (np.inf, 1.0, 2.0, np.inf),
        (np.inf, 1.0, np.inf, 0.0),
        (2.0, 1.0, np.inf, 0.5),
        (1.5e308, 0.0, 0.5, 1.5e308),
        (5e-324, 0.0, 5e-324, 0.5),
        (1.5e308, 0.0, 1.5e308, 0.5),
    ],
)
def test_first_order_loss_at_its_ends(tau, delta, m, loss):
    assert first_order_loss(tau, delta, m) == loss


@quick
@given(times, times)
def test_first_order_optimum_is_young_and_flat(delta, m):
    """Theorems D-01 and D-02: the loss at k times Young's interval is (k + 1/k)/2 times the least."""
    least = first_order_loss(young(delta, m), delta, m)
    assert least == pytest.approx(np.sqrt(2 * delta / m), rel=1e-14)
    assert first_order_loss(2 * young(delta, m), delta, m) == pytest.approx(1.25 * least, rel=1e-14)


# --- slowdown


@BOTH
@pytest.mark.parametrize(
    "share, other", [((-3, 2.86), (-3, 2.86)), ((2.7, 2.86), (-3, 1)), ((-16, 0), (-16, 0))]
)
def test_slowdown_is_right_to_14_digits(exposed, share, other, dice):
    m = dice.uniform(0.5, 2.0, 1500)
    tau = m * 10.0 ** dice.uniform(*share, 1500)
    delta, r = m * 10.0 ** dice.uniform(*other, (2, 1500)) * (dice.random((2, 1500)) < 0.8)
    got = slowdown(tau, delta, m, r, exposed_writes=exposed)
    assert_close(got, [reference.slowdown(*v, exposed) for v in zip(tau, delta, m, r)])


@BOTH
def test_slowdown_wherever_the_result_is_representable(exposed, dice):
    """Times from the whole range of floats, most below 300 MTBFs: the others cost inf."""
    tau, delta, m, r = 10.0 ** dice.uniform(-300, 300, (4, 400))
    moderate = multiple(dice, m, -300, 2.5, (3, 400))
    tau, delta, r = np.where(dice.random((3, 400)) < 0.7, moderate, (tau, delta, r))
    extreme = [(1e-300, 0, 1e300, 1e299), (TOP, TOP, 1e308, TOP), (1e-300, 1e-320, 1e-305, 1e-310)]
    extreme += [(715.0, 0.0, 1.0, 0.0), (5e-324, 0.0, TOP, 0.0), (5e-324, 5e-324, 5e-324, 5e-324)]
    values = np.concatenate([np.stack([tau, delta, m, r], axis=1), extreme])
    got = slowdown(*values.T, exposed_writes=exposed)
    assert_close(got, [reference_slowdown(*v, exposed) for v in values])


def reference_slowdown(tau, delta, m, r, exposed):
    tau, delta, m, r = map(mp.mpf, map(float, (tau, delta, m, r)))
    if max(tau, delta if exposed else 0, r if exposed else 0) > 2000 * m:
        return BEYOND
    return reference.slowdown(tau, delta, m, r, exposed)


@BOTH
def test_slowdown_at_its_ends(exposed):
    def at(*args):
        return slowdown(*args, exposed_writes=exposed)

    assert at(0.0, 1.0, 2.0) == at(np.inf, 1.0, 2.0) == np.inf
    assert at(0.0, 0.0, 2.0, 2.0) == pytest.approx(np.e if exposed else 2.0)
    assert at(0.0, 0.0, 2.0) == at(0.0, 0.0, np.inf, 3.0) == at(np.inf, 3.0, np.inf, 3.0) == 1.0
    assert at(4.0, 1.0, np.inf, 7.0) == 1.25
    assert at(1e300, 1e300, 1.0) == at(1.0, 1e300, 1e-300, 1e300) == at(1.0, 0.0, 1.0, TOP) == np.inf


def test_no_failure_leaves_the_writes():
    assert slowdown(1.0, 0.25, 1e20) == slowdown(1.0, 0.25, 1e20, exposed_writes=False) == 1.25


@quick
@given(shares, shares, times, shares)
def test_exposure_costs(tau, delta, m, r):
    tau, delta, r = tau * m, delta * m, r * m
    assert slowdown(tau, delta, m, r) > slowdown(tau, delta, m, r, exposed_writes=False)
    assert optimal_slowdown(delta, m, r) > optimal_slowdown(delta, m, r, exposed_writes=False)


@BOTH
@quick
@given(shares, shares, times, shares, st.floats(1e-6, 1.0))
def test_slowdown_grows_with_what_goes_wrong(exposed, tau, delta, m, r, step):
    tau, delta, r = tau * m, delta * m, r * m
    more = 1 + step
    for f, first in ((slowdown, [tau]), (optimal_slowdown, [])):
        base = f(*first, delta, m, r, exposed_writes=exposed)
        assert base > 1.0
        assert f(*first, delta * more, m, r, exposed_writes=exposed) > base
        assert f(*first, delta, m, r * more, exposed_writes=exposed) > base
        assert f(*first, delta, m * more, r, exposed_writes=exposed) < base


@quick
@given(shares, times)
def test_both_models_agree_with_first_order(tau, m):
    """For tau and delta far below M both cost 1 + the first-order loss, up to second-order terms."""
    tau, delta = 1e-6 * tau * m, 1e-9 * tau * m
    for exposed in (True, False):
        loss = slowdown(tau, delta, m, exposed_writes=exposed) - 1.0
        assert loss == pytest.approx(first_order_loss(tau, delta, m), rel=0.01)


# --- optimum


@BOTH
@pytest.mark.parametrize("low, high", [(-300, 300), (-3, 3), (2.0, 2.85)])
def test_optimal_slowdown_is_within_four_units_in_the_last_place(exposed, low, high, dice):
    m = dice.uniform(0.5, 2.0, 1500)
    delta = m * 10.0 ** dice.uniform(low, high, 1500)
    r = m * 10.0 ** dice.uniform(-5, 2.85, 1500) * (dice.random(1500) < 0.7)
    if exposed:
        delta = np.minimum(delta, 1000 * m)  # infinite from there
    got = optimal_slowdown(delta, m, r, exposed_writes=exposed)
    assert_close(got, [reference_optimum(*v, exposed) for v in zip(delta, m, r)], reference.ulps, 4.0)


@BOTH
def test_optimal_slowdown_wherever_it_is_representable(exposed, dice):
    """Quotients that over- or underflow on the way."""
    m = 10.0 ** dice.uniform(-300, 300, 400)
    delta, r = multiple(dice, m, -300, 2.8 if exposed else 307, 400), multiple(dice, m, -300, 2.8, 400)
    values = np.concatenate([np.stack([delta, m, r], axis=1), [(1e304, 1e-6, 0.0), (1e-300, 1e300, TOP)]])
    got = optimal_slowdown(*values.T, exposed_writes=exposed)
    assert_close(got, [reference_optimum(*v, exposed) for v in values], reference.ulps, 4.0)


def reference_optimum(delta, m, r, exposed):
    """The closed forms of Theorem D-41, with the digits that 1 - u loses added first."""
    delta, m, r = map(mp.mpf, map(float, (delta, m, r)))
    if not exposed:
        return (1 + r / m) * mp.exp(reference.share(delta, m, r, False))
    if max(delta, r) > 2000 * m:
        return BEYOND
    with mp.workdps(60 + int(delta / m)):
        return mp.exp(r / m) / (1 - reference.share(delta, m, r))


@BOTH
def test_optimal_slowdown_at_its_ends(exposed):
    def at(*args):
        return optimal_slowdown(*args, exposed_writes=exposed)

    assert at(0.0, 2.0) == at(3.0, np.inf, 3.0) == at(0.0, np.inf) == 1.0
    assert at(0.0, 2.0, 2.0) == pytest.approx(np.e if exposed else 2.0, rel=1e-15)
    assert at(1e308, 1e-308) == at(1.0, 5e-324, TOP) == np.inf


@BOTH
@quick
@given(shares, times, shares, st.floats(1e-3, 5.0))
def test_optimum_is_the_minimum(exposed, delta, m, r, step):
    """Theorems D-04 and D-20: no other interval costs less, in 50 digits where the plain one is flat."""
    delta, r = delta * m, r * m
    tau = optimal(delta, m, r, exposed_writes=exposed)
    least = reference.slowdown(tau, delta, m, r, exposed)
    assert reference.slowdown(tau * (1 + step), delta, m, r, exposed) > least
    assert reference.slowdown(tau / (1 + step), delta, m, r, exposed) > least
    assert optimal_slowdown(delta, m, r, exposed_writes=exposed) == pytest.approx(float(least), rel=1e-14)
    assert slowdown(tau, delta, m, r, exposed_writes=exposed) == pytest.approx(float(least), rel=1e-14)


@BOTH
@quick
@given(st.lists(shares, min_size=1, max_size=9), shares, shares)
def test_array_is_the_loop(exposed, values, delta, r):
    for f, args in ((slowdown, (delta, 1.0, r)), (efficiency, (delta, 1.0, r))):
        got = f(values, *args, exposed_writes=exposed)
        np.testing.assert_array_equal(got, [f(v, *args, exposed_writes=exposed) for v in values])
    for f in (optimal_slowdown, largest_useful_cluster):
        got = f(values, 1.0, r, exposed_writes=exposed)
        np.testing.assert_array_equal(got, [f(v, 1.0, r, exposed_writes=exposed) for v in values])


@BOTH
@quick
@given(shares, shares, times, shares, st.integers(-100, 100), times)
def test_unit_of_time_does_not_matter(exposed, tau, delta, m, r, power, factor):
    tau, delta, r = tau * m, delta * m, r * m
    for unit, error in ((2.0**power, 0.0), (factor, 1e-13)):
        for f, args in (
            (slowdown, (tau, delta, m, r)),
            (efficiency, (tau, delta, m, r)),
            (optimal_slowdown, (delta, m, r)),
            (largest_useful_cluster, (delta, m, r)),
        ):
            got = f(*(unit * a for a in args), exposed_writes=exposed)
            assert got == pytest.approx(f(*args, exposed_writes=exposed), rel=error, abs=0.0)
        assert first_order_loss(tau * unit, delta * unit, m * unit) == pytest.approx(
            first_order_loss(tau, delta, m), rel=error, abs=0.0
        )


# --- recovery, efficiency, goodput


def test_recovery_time(dice):
    parts = 10.0 ** dice.uniform(-300, 300, (4, 500))
    got = recovery_time(*parts)
    assert_close(got, [mp.mpf(a) + mp.mpf(b) + mp.mpf(c) + mp.mpf(t) / 2 for a, b, c, t in parts.T])
    assert recovery_time(1, 2, 4, 16) == 15.0
    assert recovery_time(0.0, 0.0, 0.0, TOP) == TOP / 2
    assert recovery_time(1.0, 1.0, 1.0, np.inf) == recovery_time(TOP, TOP, TOP, 1.0) == np.inf


@BOTH
@quick
@given(shares, shares, times, shares, times)
def test_efficiency_and_goodput_are_the_inverse_of_slowdown(exposed, tau, delta, m, r, rawput):
    args, kind = (tau * m, delta * m, m, r * m), {"exposed_writes": exposed}
    wall = slowdown(*args, **kind)
    assert efficiency(*args, **kind) == 1.0 / wall
    assert goodput(rawput, *args, **kind) == rawput / wall


def test_efficiency_and_goodput_at_their_ends():
    assert efficiency(0.0, 1.0, 2.0) == goodput(5.0, 0.0, 1.0, 2.0) == 0.0
    assert efficiency(np.inf, 1.0, np.inf) == 1.0
    assert goodput(5.0, np.inf, 1.0, np.inf) == 5.0
    assert goodput(0.0, 1.0, 1.0, 2.0) == 0.0
    assert goodput(1e300, 700.0, 0.0, 1.0) > 0.0
    assert goodput(1e-300, 450.0, 0.0, 1.0) == 0.0  # below float64


# --- largest useful cluster


def wall_time(log_count, delta, m, r, exposed=True):
    """The logarithm of the wall time of fixed work on exp(log_count) components."""
    mtbf = m / mp.exp(log_count)
    return mp.log(reference.optimal_slowdown(delta, mtbf, r, exposed)) - log_count


@pytest.mark.parametrize("ratio", [0.0, 1e-6, 0.01, 0.3, 1.0, 3.0, 100.0, 1e6])
def test_largest_useful_cluster_is_where_the_wall_time_stops_falling(ratio, dice):
    """Theorem D-42 by numerical differentiation of the wall time, which the implementation never forms."""
    delta, m = dice.uniform(0.5, 2.0), dice.uniform(1e3, 1e5)
    r = ratio * delta
    got = largest_useful_cluster(delta, m, r)
    start = mp.log(got)
    root = mp.findroot(
        lambda n: mp.diff(lambda t: wall_time(t, delta, m, r), n), (start - 0.01, start + 0.02), tol=1e-50
    )
    assert reference.relative(got, mp.exp(root)) < 1e-14
    for step in (-0.5, -0.01, 0.01, 0.5):
        assert wall_time(root + step, delta, m, r) > wall_time(root, delta, m, r)


@pytest.mark.parametrize("low, high", [(-20, 20), (-1, 1), (-300, 300)])
def test_largest_useful_cluster_solves_its_equation(low, high, dice):
    """u + log(1 - u) + delta N/m = 0 with 1/u = m/(delta N) - R/delta, to 14 digits of N."""
    m = 1.0
    delta, r = 10.0 ** dice.uniform(low, high, (2, 300))
    for d, restart, count in zip(delta, r, largest_useful_cluster(delta, m, r)):
        with mp.workdps(700):
            assert stops(mp.mpf(count) * (1 - mp.mpf("1e-14")), mp.mpf(d), mp.mpf(restart)) > 0
            assert stops(mp.mpf(count) * (1 + mp.mpf("1e-14")), mp.mpf(d), mp.mpf(restart)) < 0


def stops(count, delta, r):
    """Positive while another component still helps."""
    rest = 1 / count - r  # (M - R) for m = 1
    if rest <= delta:  # u would be 1 or more
        return -1
    u = delta / rest
    return u + mp.log1p(-u) + delta * count


def test_largest_useful_cluster_without_restart():
    expected = 1 + mp.lambertw(-2 * mp.exp(-2)) / 2
    assert reference.relative(largest_useful_cluster(1.0, 1.0), expected) < 1e-15
    assert efficiency_at_the_limit(1.0, 1.0, 0.0) == pytest.approx(0.2031878700)
    assert efficiency_at_the_limit(1e-30, 1.0, 1.0) == pytest.approx(1 / np.e)


def efficiency_at_the_limit(delta, m, r):
    return 1.0 / optimal_slowdown(delta, m / largest_useful_cluster(delta, m, r), r)


@quick
@given(shares, shares, times)
def test_interval_at_the_limit(delta, r, m):
    """At the limit tau = delta / (1 - R/M): the write time itself where nothing has to restart."""
    mtbf = m / largest_useful_cluster(delta, m, r)
    assert mtbf > r
    assert optimal(delta, mtbf) == pytest.approx(delta / (1 - r / mtbf), rel=1e-11)


@quick
@given(times, times, times, st.floats(1e-6, 1.0))
def test_restart_brings_the_limit_forward(delta, r, m, step):
    count = largest_useful_cluster(delta, m, r)
    assert count < largest_useful_cluster(delta, m)
    assert largest_useful_cluster(delta, m, r * (1 + step)) < count
    assert largest_useful_cluster(delta * (1 + step), m, r) <= count


def test_largest_useful_cluster_at_its_ends():
    at = largest_useful_cluster
    assert at([1.7e308, 1.7e308, 0.0], np.inf, [0.0, 3.0, 0.0]).tolist() == [np.inf] * 3
    assert at(0.0, 6.0, 2.0) == 3.0
    assert at(0.0, 6.0) == at(1.0, np.inf, 1.0) == at(0.0, np.inf) == at(1e-300, 1e300) == np.inf
    assert at(1e-300, 1e8, 1e4) == 1e4
    assert at(1.0, 1e308, 1.7e308) == pytest.approx(1 / 1.7)
    assert at(1e308, 1e308, 1.7e308) == pytest.approx(at(1.0, 1.0, 1.7), rel=1e-14)
    assert at([1.0, 2.0], 1.0, exposed_writes=False).tolist() == [np.inf, np.inf]


@quick
@given(times, times, st.one_of(st.just(0.0), times), st.floats(0.01, 3.0))
def test_protected_writes_have_no_largest_cluster(delta, m, r, step):
    """The wall time keeps falling; with a restart time it stays above R exp(kernel(delta/R)) / m."""
    assert largest_useful_cluster(delta, m, r, exposed_writes=False) == np.inf
    smaller, larger = (
        optimal_slowdown(delta, m / count, r, exposed_writes=False) / count
        for count in (1e3, 1e3 * (1 + step))
    )
    assert larger < smaller
    if r > 0:
        floor = r * np.exp(kernel(delta / r)) / m
        assert larger > floor
        endless = optimal_slowdown(delta, m / 1e30, r, exposed_writes=False) / 1e30
        assert endless == pytest.approx(floor, rel=1e-12)


# --- arguments


INF, FINITE, POSITIVE = "[0, inf]", "[0, inf)", "(0, inf]"
MODEL = {"write_time": (0.5, FINITE), "mtbf": (2.0, POSITIVE), "restart_time": (0.1, FINITE)}
FUNCTIONS = {
    first_order_loss: {"interval": (1.0, INF), "write_time": (0.5, FINITE), "mtbf": (2.0, POSITIVE)},
    slowdown: {"interval": (1.0, INF)} | MODEL,
    optimal_slowdown: MODEL,
    recovery_time: {
        "detect": (1.0, FINITE), "reschedule": (2.0, FINITE), "reload": (3.0, FINITE), "interval": (4.0, INF)
    },
    efficiency: {"interval": (1.0, INF)} | MODEL,
    goodput: {"rawput": (9.0, FINITE), "interval": (1.0, INF)} | MODEL,
    largest_useful_cluster: {
        "write_time": (0.5, FINITE), "component_mtbf": (2.0, POSITIVE), "restart_time": (0.1, FINITE)
    },
}
ARGUMENTS = [(f, name) for f, arguments in FUNCTIONS.items() for name in arguments]
WITH_MODEL = [f for f in FUNCTIONS if f not in (first_order_loss, recovery_time)]


def plain_arguments(function):
    return {name: value for name, (value, _) in FUNCTIONS[function].items()}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_scalars_give_floats_and_arrays_arrays(function):
    kwargs = plain_arguments(function)
    scalar = function(**kwargs)
    assert type(scalar) is float
    assert type(function(**{k: np.array(v) for k, v in kwargs.items()})) is float
    assert function(**{k: [v] * 2 for k, v in kwargs.items()}).tolist() == [scalar] * 2
    for name in kwargs:
        got = function(**(kwargs | {name: [[kwargs[name]], [3]]}))
        assert got.shape == (2, 1) and got.dtype == np.float64
        assert got[:, 0].tolist() == [scalar, function(**(kwargs | {name: 3}))]


@pytest.mark.parametrize("function, name", ARGUMENTS)
def test_number_outside_its_range_is_named(function, name):
    allowed = FUNCTIONS[function][name][1]
    outside = [-1.5, np.nan, -np.inf] + [0.0] * (allowed == POSITIVE) + [np.inf] * (allowed == FINITE)
    for value in outside:
        with pytest.raises(ValueError) as error:
            function(**(plain_arguments(function) | {name: [1.0, value]}))
        assert str(error.value) == f"{name}[1] = {value:g} is outside the domain; allowed range {allowed}"


@pytest.mark.parametrize("function, name", ARGUMENTS)
@pytest.mark.parametrize("value", ["1", None, True, [[1], [1, 2]]], ids=repr)
def test_what_is_not_a_number_is_named(function, name, value):
    with pytest.raises(TypeError, match=f"^{name} = .* is not a "):
        function(**(plain_arguments(function) | {name: value}))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_shapes_that_do_not_broadcast_are_named(function):
    kwargs = plain_arguments(function)
    first, second = list(kwargs)[:2]
    with pytest.raises(ValueError, match="^shapes do not broadcast: ") as error:
        function(**(kwargs | {first: [1.0] * 2, second: [1.0] * 3}))
    assert f"{first} (2,)" in str(error.value) and f"{second} (3,)" in str(error.value)


@pytest.mark.parametrize("function", WITH_MODEL)
@pytest.mark.parametrize("value", [1, None, "no"])
def test_model_is_a_bool(function, value):
    with pytest.raises(TypeError, match="^exposed_writes = .* is not a bool"):
        function(**plain_arguments(function), exposed_writes=value)


@pytest.mark.parametrize("function", WITH_MODEL)
def test_exposed_writes_without_restart_are_the_default(function):
    kwargs = plain_arguments(function)
    assert function(**kwargs) == function(**kwargs, exposed_writes=True)
    assert function(**kwargs) != function(**kwargs, exposed_writes=False)
    del kwargs["restart_time"]
    assert function(**kwargs) == function(**kwargs, restart_time=0.0)
