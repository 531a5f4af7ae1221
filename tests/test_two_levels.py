"""lib.two_levels against its Markov chain in 50 digits, a search through all pairs, and simulation."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lib import intervals, overhead
from lib.intervals import kernel, young
from lib.simulate import two_levels as simulated
from lib.two_levels import first_order, optimal, slowdown
from tests import contract, reference

BOTH = pytest.mark.parametrize("exposed", [True, False], ids=["exposed", "protected"])
quick = settings(deadline=None, derandomize=True, max_examples=60)
powers = st.floats(-3, 1).map(lambda power: 10.0**power)
TIMES = ["memory_write", "storage_write", "light_mtbf", "heavy_mtbf", "light_restart", "heavy_restart"]
pairs = st.tuples(*[powers] * 6).map(lambda values: dict(zip(TIMES, values)))


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.fixture
def dice():
    return np.random.default_rng(19980601)


# --- the model as a Markov chain: one linear equation for the expected time from each state to the end


def equations(interval, segments, memory_write, storage_write, light_mtbf, heavy_mtbf, light_restart,
              heavy_restart, exposed, exp=np.exp, zero=0.0):
    """Return matrix and right side. State i < k: interval i begins; k: copy to storage; n + i: restart from
    memory to i; 2 n: restart from storage. Each stage ends by success, a light or a heavy failure."""
    rates = 1 / light_mtbf, 1 / heavy_mtbf
    rate, n = sum(rates), segments + 1
    heavy = 2 * n
    matrix = [[zero + (row == column) for column in range(heavy + 1)] for row in range(heavy + 1)]
    right = [zero] * (heavy + 1)

    def stage(state, length, following, after_light, hit, more=0):
        success = exp(-rate * length) if hit else zero + 1
        right[state] = (1 - success) / rate if hit else zero + length
        right[state] += success * more
        if following is not None:
            matrix[state][following] -= success
        matrix[state][after_light] -= (1 - success) * rates[0] / rate
        matrix[state][heavy] -= (1 - success) * rates[1] / rate

    inside, outside = (memory_write, 0) if exposed else (0, memory_write)
    for i in range(segments):
        stage(i, interval + inside, i + 1, n + i, True, outside)
    stage(segments, storage_write, None, n + segments, exposed)
    for i in range(n):
        stage(n + i, light_restart, i, n + i, exposed)
    stage(heavy, heavy_restart, 0, heavy, exposed)
    return matrix, right


def by_chain(interval, segments, exposed, *times):
    """The slowdown in 50 digits; the chain loses as many as the result has before the point."""
    with mp.workdps(1000):
        matrix, right = equations(mp.mpf(interval), segments, *map(mp.mpf, times), exposed, mp.exp, mp.mpf(0))
        return +(mp.lu_solve(mp.matrix(matrix), mp.matrix(right))[0] / (segments * mp.mpf(interval)))


@BOTH
@pytest.mark.parametrize("segments", [1, 2, 5])
def test_slowdown_solves_the_chain(segments, exposed, dice):
    ranges = np.array([(-4, 1), (-4, 1), (-4, 1), (0, 2), (0, 3), (-4, 1), (-4, 1)]).T
    for interval, *times in 10.0 ** dice.uniform(*ranges, (20, 7)):
        expected = by_chain(interval, segments, exposed, *times)
        got = slowdown(interval, segments, *times, exposed_writes=exposed)
        assert reference.relative(got, expected) < 1e-15 * max(5, mp.log(expected)), (interval, times)


def closed_form(interval, segments, exposed, *times):
    """The two theorems in 50 digits, for any number of segments; d-43 and d-46 derive them from the chain."""
    with mp.workdps(700):
        tau, k, d1, d2, m1, m2, r1, r2 = map(mp.mpf, (interval, segments, *times))
        m = 1 / (1 / m1 + 1 / m2)
        light, heavy = m / m1, m / m2
        if exposed:
            w = heavy / (light * mp.exp(-r1 / m) + heavy)
            stages = (1 + w * mp.expm1((tau + d1) / m)) ** k * (1 + w * mp.expm1(d2 / m))
            return +(m2 * (light + heavy * mp.exp(r2 / m)) * (stages - 1) / (k * tau))
        y = heavy * mp.expm1(tau / m)
        return +(((m2 + m2 * r1 / m1 + r2 + d1 / y) * ((1 + y) ** k - 1) + d2) / (k * tau))


@BOTH
def test_closed_form_solves_the_chain(exposed):
    for segments in (1, 4):
        times = 0.02, 0.5, 4.0, 9.0, 0.1, 1.0
        assert mp.almosteq(closed_form(1.4, segments, exposed, *times), by_chain(1.4, segments, exposed, *times), 1e-45)


@BOTH
def test_many_segments_and_long_intervals_lose_no_digits(exposed, dice):
    """Intervals of up to hundreds of MTBFs between ever rarer heavy failures, up to a million to a cycle."""
    compared = 0
    for _ in range(400):
        light = 10.0 ** dice.uniform(-3, 3)
        rarer = dice.choice([dice.uniform(-3, 3), dice.uniform(0, 200)]) * np.log(10.0)
        longest = max(rarer, 0.0) + dice.uniform(0, 30)
        interval, d1, d2, r1 = light * np.minimum(10.0 ** dice.uniform(-6, 2.5, 4), [longest, 10.0, 100.0, 100.0])
        heavy = light * np.exp(rarer)
        r2 = light * 10.0 ** dice.uniform(-6, 2.5 if exposed else 7)
        segments = int(10.0 ** dice.choice([dice.uniform(0, 1.5), dice.uniform(0, 6)]))
        case = d1, d2, light, heavy, r1, r2
        expected = closed_form(interval, segments, exposed, *case)
        if expected < 1e300:
            got = slowdown(interval, segments, *case, exposed_writes=exposed)
            assert reference.relative(got, expected) < 1e-15 * max(5, mp.log(expected)), (interval, segments, case)
            compared += 1
    assert compared > 250


def test_rounding_of_an_exponent_is_not_magnified():
    case = (24.93364470601496, 2.257238115704935e-06, 1.6285812254076992, 847512.0262131174,
            3.700888435200243e-05, 4670173.3050034195)
    expected = closed_form(24.770228174731454, 52, False, *case)
    got = slowdown(24.770228174731454, 52, *case, exposed_writes=False)
    assert reference.relative(got, expected) < 5e-14 < 1e-15 * mp.log(expected)


@BOTH
def test_slowdown_solves_a_long_chain(exposed):
    times = 0.02, 0.5, 4.0, 100.0, 0.1, 1.0
    matrix, right = map(np.array, equations(0.4, 60, *times, exposed))
    expected = np.linalg.solve(matrix, right)[0] / (60 * 0.4)
    assert slowdown(0.4, 60, *times, exposed_writes=exposed) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("times, expected", [((1.5e308,) * 4, 1.0), ((1.5e306, 1.5e308, 1.5e306, 1.5e308), 100.0),
                                             ((1.0, 1.5e308, np.inf, 1.5e308), 1.0)])
def test_segments_where_an_interval_overflows(times, expected):
    assert first_order(*times)[1] == pytest.approx(expected, rel=1e-15)


@BOTH
@pytest.mark.parametrize("heavy_mtbf", [1e8, 1e14, 1e30, 1e300])
def test_rare_heavy_failures_lose_no_digits(heavy_mtbf, exposed):
    times = 0.02, 0.5, 4.0, heavy_mtbf, 0.1, 1.0
    expected = by_chain(0.4, 3, exposed, *times)
    assert reference.relative(slowdown(0.4, 3, *times, exposed_writes=exposed), expected) < 2e-15


@BOTH
def test_slowdown_is_the_mean_of_simulated_runs(exposed):
    every, work, writes, restarts = 8, 8 * 40.0, (0.02, 0.3), (0.05, 0.4)
    gaps = stats.expon(scale=4.0), stats.expon(scale=40.0)
    sample = simulated(work, 0.4, every, writes, gaps, restarts, exposed_writes=exposed, runs=4000, seed=1998)
    exact = slowdown(0.4, every, *writes, 4.0, 40.0, *restarts, exposed_writes=exposed)
    assert sample.slowdown_error < 1e-3 * exact
    assert abs(sample.slowdown - exact) < 3 * sample.slowdown_error


# --- limits


@BOTH
@quick
@given(powers, powers, powers, powers, powers)
def test_one_kind_of_failure_and_one_segment_is_one_level(exposed, interval, d1, d2, mtbf, restart):
    one = overhead.slowdown(interval, d1 + d2, mtbf, restart, exposed_writes=exposed)
    got = slowdown(interval, 1, d1, d2, np.inf, mtbf, 7.0, restart, exposed_writes=exposed)
    if one < 1e290:
        assert got == pytest.approx(one, rel=1e-11)


@BOTH
@quick
@given(powers, st.integers(1, 50), powers, powers, powers)
def test_without_heavy_failures_only_the_copies_remain(exposed, interval, segments, d1, mtbf, restart):
    """Every interval is one of one level; a copy takes its time, and longer where failures strike it."""
    one = overhead.slowdown(interval, d1, mtbf, restart, exposed_writes=exposed)
    got = slowdown(interval, segments, d1, 0.0, mtbf, np.inf, restart, 9.0, exposed_writes=exposed)
    assert got == pytest.approx(one, rel=1e-11)
    copied = slowdown(interval, segments, d1, 0.3, mtbf, np.inf, 0.0, 9.0, exposed_writes=exposed)
    bare = slowdown(interval, segments, d1, 0.0, mtbf, np.inf, 0.0, 9.0, exposed_writes=exposed)
    copy = mtbf * np.expm1(0.3 / mtbf) if exposed else 0.3
    if copied < 1e290:
        assert copied == pytest.approx(bare + copy / (segments * interval), rel=1e-11)


@BOTH
def test_slowdown_without_failures_is_writes_over_work(exposed):
    assert slowdown(2.0, 4, 1.0, 2.0, np.inf, np.inf, 5.0, 5.0, exposed_writes=exposed) == 1.75


@BOTH
def test_slowdown_at_its_ends(exposed):
    def at(interval, d1=0.0, d2=0.0, light=4.0, heavy=12.0, **more):
        return slowdown(interval, 2, d1, d2, light, heavy, exposed_writes=exposed, **more)

    assert at(0.0) == 1.0
    assert at(0.0, d1=1.0) == at(0.0, d2=1.0) == at(np.inf) == at(np.inf, heavy=np.inf) == np.inf
    assert at(np.inf, d1=1.0, light=np.inf, heavy=np.inf) == 1.0
    assert at(1.0, heavy_restart=1e308) > 1e300
    assert at(1.0, heavy=np.inf, heavy_restart=1e308) == at(1.0, heavy=np.inf)
    assert at(1e300, light=1e-300) == at(1.0, light=1e-300) == np.inf
    assert at(1e-300, light=1e-300, heavy=1e-300) == at(1.0, light=1.0, heavy=1.0)


@BOTH
@quick
@given(pairs, powers, st.integers(1, 30), st.floats(1.001, 5.0))
def test_everything_worse_costs_more(exposed, times, interval, segments, factor):
    """Where restarts from storage take no less time; else a heavy failure can be the better one."""
    times["heavy_restart"] += times["light_restart"]
    base = slowdown(interval, segments, **times, exposed_writes=exposed)
    for name in TIMES if base < 1e3 else []:
        worse = times[name] / factor if name.endswith("mtbf") else times[name] * factor
        assert slowdown(interval, segments, **times | {name: worse}, exposed_writes=exposed) > base
    scaled = {name: 4.0 * value for name, value in times.items()}  # a power of two: no rounding
    assert slowdown(4.0 * interval, segments, **scaled, exposed_writes=exposed) == base


# --- the first-order pair


def test_first_order_is_young_for_each_kind():
    interval, segments = first_order(0.02, 0.5, 4.0, 100.0)
    assert interval == young(0.02, 4.0) and interval * segments == pytest.approx(young(0.5, 100.0), rel=1e-15)


def test_first_order_never_writes_more_often_to_storage_than_to_memory():
    interval, segments = first_order(0.5, 0.02, 4.0, 4.0)
    assert segments == 1.0 and interval == pytest.approx(young(0.52, 2.0), rel=1e-15)
    interval, segments = first_order(0.5, 0.02, np.inf, 4.0)
    assert segments == 1.0 and interval == pytest.approx(young(0.52, 4.0), rel=1e-15)
    assert first_order(0.5, 0.0, 4.0, 4.0)[1] == 1.0


@BOTH
@quick
@given(pairs)
def test_first_order_is_the_limit_of_the_exact_pair(exposed, times):
    """Both writes a million times shorter: the exact pair is the first-order pair to a few per mille."""
    d1, d2, m1, m2 = (times[name] for name in TIMES[:4])
    d1, d2 = 1e-7 * d1 * m1 / 10, 1e-7 * d2 * m2 / 10
    interval, segments = first_order(d1, d2, m1, m2)
    exact_interval, exact_segments, _ = optimal(d1, d2, m1, m2, exposed_writes=exposed)
    assert abs(exact_segments - segments) <= 1.0 + 0.01 * segments
    if segments > 20 or segments == 1.0 == exact_segments:
        assert exact_interval == pytest.approx(interval, rel=0.03)


# --- the exact pair


@BOTH
@quick
@given(pairs)
def test_no_pair_is_better(exposed, times):
    interval, segments, least = optimal(**times, exposed_writes=exposed)
    if least < 1e100:
        assert least == slowdown(interval, segments, **times, exposed_writes=exposed)
        others = np.unique(np.round(segments * np.geomspace(0.2, 5.0, 60)))
        counts = np.union1d(others[others >= 1], np.arange(1, 40)) if segments < 1e4 else others
        around = interval * np.exp(np.linspace(-2, 2, 801))
        costs = slowdown(around, counts[:, None], **times, exposed_writes=exposed)
        assert costs.min() >= least * (1 - 1e-12)


@BOTH
@pytest.mark.parametrize("memory_write", [20.0, 60.0, 500.0])
@pytest.mark.parametrize("storage_write", [1e2, 1e6, 1e9])
@pytest.mark.parametrize("heavy", [0.4, 0.55, 0.65])
def test_no_pair_is_better_where_there_are_two_minima(memory_write, storage_write, heavy, exposed):
    times = memory_write, storage_write, 1 / (1 - heavy), 1 / heavy
    interval, segments, least = optimal(*times, exposed_writes=exposed)
    costs = slowdown(np.linspace(0.05, 30, 3000), np.arange(1, 60)[:, None], *times, exposed_writes=exposed)
    assert costs.min() >= least * (1 - 1e-12)


@BOTH
@quick
@given(pairs)
def test_slope_vanishes_at_the_interval(exposed, times):
    """In 50 digits the slowdown falls just before the interval and rises just behind it."""
    interval, segments, least = optimal(**times, exposed_writes=exposed)
    if segments <= 6 and least < 1e20:
        before, at, behind = (
            by_chain(interval * (1 + step), int(segments), exposed, *times.values())
            for step in (-1e-9, 0, 1e-9)
        )
        assert at < before and at < behind


@quick
@given(pairs)
def test_exposed_pair_by_the_kernel(times):
    """Theorem D-47: the interval of the real pair does not depend on storage; the kernel gives k."""
    d1, d2, m1, m2, r1, _ = times.values()
    interval, segments, least = optimal(**times)
    if not 1.5 < segments < 1e6:
        return
    m, heavy = m1 * m2 / (m1 + m2), m1 / (m1 + m2)
    w = heavy / (heavy + (1 - heavy) * np.exp(-r1 / m))

    def stage(tau):
        return mp.log1p(w * mp.expm1((tau + d1) / m))

    tau = mp.findroot(lambda t: mp.diff(stage, t) * t - stage(t), interval)
    growth = w * mp.expm1(d2 / m)
    real = kernel(float(growth / (1 + growth))) / float(stage(tau))
    assert abs(real - segments) < 1
    assert interval == pytest.approx(float(tau), rel=1 / segments)


@quick
@given(pairs, powers)
def test_restart_from_storage_does_not_move_the_exposed_pair(times, other):
    assert optimal(**times)[:2] == optimal(**times | {"heavy_restart": other})[:2]


@BOTH
def test_one_level_where_two_do_not_pay(exposed):
    interval, segments, least = optimal(0.5, 0.0, 4.0, 4.0, exposed_writes=exposed)
    assert segments == 1.0
    interval, segments, least = optimal(0.3, 0.2, np.inf, 4.0, 9.0, 1.0, exposed_writes=exposed)
    assert segments == 1.0
    assert least == pytest.approx(overhead.optimal_slowdown(0.5, 4.0, 1.0, exposed_writes=exposed), rel=1e-13)


@BOTH
def test_long_writes_have_a_best_pair_too(exposed):
    """Where a write takes hundreds of MTBFs the bracket still holds the interval."""
    for d1, d2 in ((300.0, 1e-3), (1e-6, 300.0), (300.0, 300.0), (1e-12, 1e-9)):
        for heavy in (1e-6, 1.0, 1e6):
            pair = optimal(d1, d2, 1.0, heavy, exposed_writes=exposed)
            assert all(v > 0 for v in pair[:2])
            if np.isfinite(pair[2]):
                near = pair[0] * np.array([0.99, 1.01])
                assert np.all(slowdown(near, pair[1], d1, d2, 1.0, heavy, exposed_writes=exposed) > pair[2])


@BOTH
def test_very_rare_heavy_failures_leave_the_interval_of_one_level(exposed):
    interval, segments, least = optimal(0.02, 0.5, 4.0, 1e14, 0.5, 9.0, exposed_writes=exposed)
    assert interval == pytest.approx(intervals.optimal(0.02, 4.0, 0.5, exposed_writes=exposed), rel=1e-6)
    one = overhead.optimal_slowdown(0.02, 4.0, 0.5, exposed_writes=exposed)
    assert 1.0 < least / one < 1 + 1e-6
    # Young's interval for the wall time that a cycle takes, the copy repeated where failures strike it.
    copy = 4.0 * np.exp(0.5 / 4.0) * np.expm1(0.5 / 4.0) if exposed else 0.5
    computing = one if exposed else 4.0 * np.expm1(interval / 4.0) / interval
    assert segments * interval == pytest.approx(young(copy, 1e14) / (one * computing) ** 0.5, rel=1e-5)


@BOTH
def test_times_twenty_orders_of_magnitude_apart_have_a_best_pair(exposed, dice):
    interval, segments, _ = optimal(*10.0 ** dice.uniform(-10, 10, (6, 500)), exposed_writes=exposed)
    assert np.all(np.isfinite(interval) & (interval > 0.0) & (segments >= 1.0))


@BOTH
def test_times_too_far_apart_are_refused(exposed):
    with pytest.raises(ValueError, match="too many orders of magnitude apart"):
        optimal(1e-302, 1.0, 1e-300, 1e10, exposed_writes=exposed)


# --- arguments


def first_order_interval(**keywords):
    return first_order(**keywords)[0]


def optimal_interval(**keywords):
    return optimal(**keywords)[0]


def optimal_segments(**keywords):
    return optimal(**keywords)[1]


FINITE, POSITIVE, BOUNDED = "[0, inf)", "(0, inf]", "(0, inf)"
RANGES = {"interval": "[0, inf]", "segments": "whole numbers in [1, inf)", "storage_write": FINITE,
          "light_mtbf": POSITIVE, "light_restart": FINITE, "heavy_restart": FINITE}
MODEL = {"memory_write": 0.02, "storage_write": 0.5, "light_mtbf": 4.0, "heavy_mtbf": 100.0}
RESTARTS = {"light_restart": 0.1, "heavy_restart": 1.0}
COST = [(slowdown, {"interval": 0.4, "segments": 25} | MODEL | RESTARTS)]
BEST = MODEL | RESTARTS
PAIR = [(first_order_interval, MODEL), (optimal_interval, BEST), (optimal_segments, BEST)]
REFUSED = contract.refused_values(COST, RANGES | {"memory_write": FINITE, "heavy_mtbf": POSITIVE})
REFUSED += contract.refused_values(PAIR, RANGES | {"memory_write": BOUNDED, "heavy_mtbf": BOUNDED})
CASES = COST + PAIR


@pytest.mark.parametrize("function, keywords, name, value, allowed", REFUSED)
def test_number_outside_its_range_is_named(function, keywords, name, value, allowed):
    contract.assert_refused(function, keywords, name, value, allowed)


@pytest.mark.parametrize("function, keywords, name, value", contract.refused_types(CASES))
def test_what_is_not_a_number_is_named(function, keywords, name, value):
    contract.assert_type_refused(function, keywords, name, value)


@pytest.mark.parametrize("function, keywords, first, second", contract.pairs(CASES))
def test_shapes_that_do_not_broadcast_are_named(function, keywords, first, second):
    contract.assert_shapes_refused(function, keywords, first, second)


@pytest.mark.parametrize("function, keywords", CASES)
def test_scalars_give_floats_and_arrays_arrays(function, keywords):
    contract.assert_broadcasts(function, keywords)


@pytest.mark.parametrize("function", [slowdown, optimal])
@pytest.mark.parametrize("value", [1, None, "no"])
def test_model_is_a_bool(function, value):
    keywords = MODEL | ({"interval": 0.4, "segments": 25} if function is slowdown else {})
    with pytest.raises(TypeError, match="^exposed_writes = .* is not a bool"):
        function(**keywords, exposed_writes=value)


@BOTH
def test_arrays_are_the_loop(exposed, dice):
    times = 10.0 ** dice.uniform(-2, 1, (6, 20))
    whole = optimal(*times, exposed_writes=exposed)
    for i, column in enumerate(times.T):
        assert tuple(part[i] for part in whole) == optimal(*column, exposed_writes=exposed)
