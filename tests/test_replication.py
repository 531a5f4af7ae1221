"""lib.replication against 50-digit arithmetic, its limits, its symmetries and its error texts."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.replication import (
    compute_optimal_parameters,
    copy_time,
    expected_losses,
    gpu_limit,
    scaled_gpu_limit,
)
from tests import contract, reference

quick = settings(deadline=None, derandomize=True, max_examples=100)
times = st.floats(-4, 6).map(lambda power: 10.0**power)
SMALLEST, LARGEST = np.finfo(float).tiny, np.finfo(float).max

# 60 days of 10 s steps on 1000 members of 8000 h; the clusters of document A.
TRAINING = {"duration": 5.184e6, "step_time": 10.0, "gpus": 1000, "copies": 2, "node_failure_rate": 1 / 2.88e7}
CLUSTER = {
    "gpu_mttf": 1.8e8,
    "bandwidth": 50e9,
    "alpha": 0.5,
    "copies": 4,
    "values_per_parameter": 3,
    "bytes_per_value": 4,
    "peak_flops": 989e12,
    "mfu": 0.5,
    "duration": 7776000.0,
}


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.fixture
def dice():
    return np.random.default_rng(20241112)


def powers(dice, low, high, count):
    return 10.0 ** dice.uniform(low, high, count)


def assert_close(got, expected, share=0.5):
    """14 digits where the reference is a normal number, the right limit beyond; `share` of them are."""
    normal = 0
    for g, e in zip(got, expected, strict=True):
        if SMALLEST <= e <= LARGEST:
            assert reference.relative(g, e) < 1e-14, (g, mp.nstr(e, 20))
            normal += 1
        else:
            assert (g > LARGEST * (1 - 1e-14)) if e > LARGEST else (g <= SMALLEST)
    assert normal >= share * len(got)


# --- losing all copies


def losses(duration, step_time, gpus, copies, rate):
    with mp.workdps(80):
        t, s, g, m, r = map(mp.mpf, (duration, step_time, gpus, copies, rate))
        x = r * s
        failing = -mp.expm1(-x) if x > mp.mpf(10) ** -60 else x
        return t / s * (g / m) * mp.exp(m * mp.log(failing)) if x else mp.mpf(0)


def test_losses_are_right_to_14_digits(dice):
    count = 1000
    table = [powers(dice, 2, 9, count), powers(dice, -3, 4, count), np.floor(powers(dice, 0, 10, count)),
             dice.integers(1, 9, count).astype(float), powers(dice, -9, 1, count)]
    table[2] = np.maximum(table[2], table[3])  # at least one group
    assert_close(expected_losses(*table), [losses(*row) for row in zip(*table)], share=0.95)


@pytest.mark.parametrize("copies", [1.0, 2.0, 3.0, 50.0, 1e4, 1e9, 1e15])
def test_losses_are_right_wherever_they_are_representable(copies, dice):
    """Also where a power or a product on the way leaves float64, and where many copies magnify rounding."""
    count = 200
    per_step = powers(dice, -200 / copies, 0.5 + np.log10(1 + np.log(copies)), count)
    step_time = powers(dice, -100, 100, count)
    rate = per_step / step_time
    gpus = np.floor(copies * powers(dice, 0, 100, count))
    duration = step_time * powers(dice, 0, 150, count)
    got = expected_losses(duration, step_time, gpus, copies, rate)
    expected = [losses(*row, copies, r) for *row, r in zip(duration, step_time, gpus, rate)]
    assert_close(got, expected, share=0.1 if copies > 50 else 0.5)


def test_losses_where_rate_times_step_vanishes():
    assert expected_losses(1e300, 1e-200, 1, 1, 1e-200) == pytest.approx(1e100, rel=1e-14)
    assert expected_losses(1e-50, 1e-200, 10**300, 2, 1e-150) == pytest.approx(5e-251, rel=1e-14)


def test_losses_at_their_ends():
    assert expected_losses(**TRAINING | {"duration": 0.0}) == 0.0
    assert expected_losses(**TRAINING | {"node_failure_rate": 0.0}) == 0.0
    assert expected_losses(**TRAINING | {"node_failure_rate": 1e300}) == 5184000 / 10 * 1000 / 2  # every step
    assert expected_losses(**TRAINING | {"gpus": 10**6, "copies": 10**6}) == 0.0
    assert expected_losses(1e300, 1e-300, 1, 1, 1e300) == np.inf  # beyond float64


def test_losses_of_document_a():
    """The document's rate*step in place of the exact probability changes the eighth digit."""
    first_order = 5184000 / 10 * 1000 / 2 * (10 / 28800000) ** 2
    assert expected_losses(**TRAINING) == pytest.approx(first_order, rel=1e-6)
    assert expected_losses(**TRAINING) < first_order


def test_losses_come_as_often_as_computed(dice):
    """Theorem D-10 by drawing: groups of two and of three whose members fail in the same step."""
    rate, step, steps, groups = 0.5, 0.4, 2000, 300
    for copies in (2, 3):
        lifetimes = dice.exponential(1 / rate, (steps, groups, copies))
        lost = np.count_nonzero((lifetimes < step).all(axis=2))
        mean = expected_losses(steps * step, step, groups * copies, copies, rate)
        assert lost == pytest.approx(mean, abs=4 * np.sqrt(mean))


@quick
@given(times, times, st.integers(9, 10**9), st.integers(1, 8), times, st.floats(1e-3, 1))
def test_losses_grow_with_everything_but_copies(duration, step_time, gpus, copies, rate, factor):
    f = expected_losses(duration, step_time, gpus, copies, rate)
    assert expected_losses(duration * (1 + factor), step_time, gpus, copies, rate) >= f
    assert expected_losses(duration, step_time, 2 * gpus, copies, rate) >= f
    assert expected_losses(duration, step_time, gpus, copies, rate * (1 + factor)) >= f
    assert expected_losses(duration, step_time, gpus, copies + 1, rate) <= f


@quick
@given(times, times, st.integers(8, 10**9), st.integers(1, 8), times, times)
def test_losses_do_not_depend_on_the_unit_of_time(duration, step_time, gpus, copies, rate, unit):
    f = expected_losses(duration, step_time, gpus, copies, rate)
    scaled = expected_losses(duration * unit, step_time * unit, gpus, copies, rate / unit)
    assert scaled == pytest.approx(f, rel=2e-15 * (copies + 2), abs=0)


def test_more_copies_than_gpus_are_refused():
    for gpus, copies, text in [
        (1, 3, "copies = 3 with gpus = 1 is"),
        ([[4], [2]], [2, 3, 4], "copies = 3 with gpus = 2 is"),
        (10**16 - 2, 10**16, "copies = 10000000000000000 with gpus = 9999999999999998 is"),
    ]:
        with pytest.raises(ValueError) as error:
            expected_losses(**TRAINING | {"gpus": gpus, "copies": copies})
        assert str(error.value) == text + " outside the domain; allowed: at most as many copies as GPUs"


def test_groups_need_not_be_whole():
    """As many copies as GPUs are one group; a GPU too many is half of another."""
    pair = expected_losses(**TRAINING | {"gpus": 2})
    assert expected_losses(**TRAINING | {"gpus": [3, 1000]}) == pytest.approx([1.5 * pair, 500 * pair], rel=1e-14)


# --- copy time and the limit for a model of fixed size


@pytest.mark.parametrize("low, high", [(0, 15), (-300, 300)])
def test_copy_time_is_right_to_14_digits(low, high, dice):
    size, bandwidth = powers(dice, low, high, 1000), powers(dice, low, high, 1000)
    copies = np.floor(powers(dice, 0, max(2, high / 2), 1000))
    got = copy_time(size, copies, bandwidth)
    assert_close(got, [mp.mpf(s) * mp.mpf(m) / mp.mpf(b) for s, m, b in zip(size, copies, bandwidth)])


def test_copy_time_does_not_leave_float64_on_the_way():
    assert copy_time(1e300, 10**20, 1e300) == 1e20
    assert copy_time(1e-300, 10**300, 1e-300) == pytest.approx(1e300, rel=1e-15)
    assert copy_time(1e-20, 1e300, 1e-20) == 1e300


def test_copy_time_at_its_ends():
    assert copy_time(0.0, 4, 50e9) == 0.0
    assert copy_time(4e9, 4, np.inf) == 0.0
    assert copy_time(1e300, 4, 1e-300) == np.inf  # beyond float64


@quick
@given(times, st.integers(1, 100), times, times)
def test_copy_time_is_a_ratio(size, copies, bandwidth, unit):
    assert copy_time(size * unit, copies, bandwidth * unit) == pytest.approx(
        copies * copy_time(size, 1, bandwidth), rel=1e-14)


def test_gpu_limit_is_right_to_14_digits(dice):
    mttf, time = powers(dice, -300, 300, 1000), powers(dice, -300, 300, 1000)
    assert_close(gpu_limit(mttf, time), [mp.mpf(a) / mp.mpf(b) for a, b in zip(mttf, time)])


def test_gpu_limit_at_its_ends():
    assert gpu_limit([1.8e8, np.inf, np.inf], [0.0, 0.0, 0.32]).tolist() == [np.inf] * 3
    assert gpu_limit(1e300, 1e-300) == np.inf


def test_failures_meet_copies_at_the_limit_of_a_fixed_model():
    """Theorem D-11 with document A's example: the cluster's MTBF is the copy time."""
    time = copy_time(4e9, 4, 400e9 / 8)
    assert 50000 * 3600 / gpu_limit(50000 * 3600, time) == pytest.approx(time, rel=1e-15)


# --- compute-optimal size and the limit for a model that grows


@pytest.mark.parametrize("low, high", [(0, 10), (-300, 300)])
def test_parameters_are_right_to_14_digits(low, high, dice):
    count = 1000
    table = [np.floor(powers(dice, 0, high, count)), powers(dice, low, high, count),
             powers(dice, min(low, -3), 0, count), powers(dice, low, high, count)]
    expected = [mp.sqrt(mp.mpf(g) * mp.mpf(c) * mp.mpf(u) * mp.mpf(t) / 120) for g, c, u, t in zip(*table)]
    assert_close(compute_optimal_parameters(*table), expected, share=0.8)


@quick
@given(st.integers(1, 10**9), times, st.floats(1e-3, 1), times)
def test_parameters_use_up_the_compute(gpus, peak, mfu, duration):
    """120 P^2 is what the cluster computes; six operations, a parameter and twenty tokens at a time."""
    p = compute_optimal_parameters(gpus, peak, mfu, duration)
    assert 6 * p * (20 * p) == pytest.approx(gpus * peak * mfu * duration, rel=1e-14)


@quick
@given(st.integers(1, 10**9), times, st.floats(1e-3, 1), times, st.integers(-30, 30))
def test_parameters_do_not_depend_on_the_unit_of_time(gpus, peak, mfu, duration, power):
    other = compute_optimal_parameters(gpus, peak * 2.0**-power, mfu, duration * 2.0**power)
    assert other == compute_optimal_parameters(gpus, peak, mfu, duration)


def limit(mttf, bandwidth, alpha, copies, values, size, peak, mfu, duration):
    with mp.workdps(80):
        numbers = map(mp.mpf, (mttf, bandwidth, alpha, copies, values, size, peak, mfu, duration))
        q, b, a, m, v, w, c, u, t = numbers
        logarithm = mp.log(q * b / (m * v * w) * mp.sqrt(120 / (c * u * t))) / (mp.mpf(3) / 2 - a)
        return mp.exp(max(min(logarithm, 2000), -2000))


@pytest.mark.parametrize(
    "alphas",
    [(0.0, 1.0), (1.0, 1.4), (1.4, 1.5), (1.4999, 1.5), (1.5 - 1e-12, 1.5)],
    ids=["usual", "above 1", "near 1.5", "very near", "at the end"],
)
def test_limit_is_right_to_14_digits(alphas, dice):
    """The closer alpha is to 1.5, the closer to 1 the base is drawn, so that results are representable."""
    count = 200
    alpha = dice.uniform(*alphas, count)
    reach = np.clip((1.5 - alpha) * dice.uniform(-300, 300, count), -250, 250)
    table = {
        "bandwidth": powers(dice, 6, 15, count),
        "alpha": alpha,
        "copies": dice.integers(1, 9, count).astype(float),
        "values_per_parameter": powers(dice, 0, 2, count),
        "bytes_per_value": powers(dice, 0, 1, count),
        "peak_flops": powers(dice, 9, 18, count),
        "mfu": dice.uniform(0.01, 1, count),
        "duration": powers(dice, 0, 9, count),
    }
    state = table["copies"] * table["values_per_parameter"] * table["bytes_per_value"]
    second = np.sqrt(120 / (table["peak_flops"] * table["mfu"] * table["duration"]))
    mttf = 10.0**reach * state / (table["bandwidth"] * second)
    got = scaled_gpu_limit(mttf, **table)
    assert_close(got, [limit(*row) for row in zip(mttf, *table.values())], share=0.4)


def test_limit_is_right_over_the_whole_range_of_floats(dice):
    count = 500
    wide = [powers(dice, -300, 300, count) for _ in range(6)]
    copies, mfu = np.floor(powers(dice, 0, 300, count)), powers(dice, -300, 0, count)
    alpha = dice.uniform(0.0, 0.5, count)
    table = [wide[0], wide[1], alpha, copies, wide[2], wide[3], wide[4], mfu, wide[5]]
    assert_close(scaled_gpu_limit(*table), [limit(*row) for row in zip(*table)], share=0.3)


def test_limit_at_its_ends():
    assert scaled_gpu_limit(**CLUSTER | {"gpu_mttf": np.inf}) == np.inf
    assert scaled_gpu_limit(**CLUSTER | {"bandwidth": np.inf}) == np.inf
    assert scaled_gpu_limit(**CLUSTER | {"alpha": np.nextafter(1.5, 0)}) == np.inf  # beyond float64
    assert scaled_gpu_limit(**CLUSTER | {"alpha": np.nextafter(1.5, 0), "gpu_mttf": 1e-9}) == 0.0
    base = {"bandwidth": 1.0, "copies": 1, "values_per_parameter": 1.0, "bytes_per_value": 1.0}
    one = scaled_gpu_limit(gpu_mttf=1.0, peak_flops=120.0, mfu=1.0, duration=1.0, alpha=[0, 1.49], **base)
    assert one.tolist() == [1.0, 1.0]


@quick
@given(
    mttf=times, bandwidth=times, alpha=st.floats(0, 1.2), copies=st.integers(1, 8), values=st.floats(1, 10),
    size=st.floats(1, 8), peak=times, mfu=st.floats(0.01, 1), duration=times,
)
def test_failures_meet_copies_at_the_limit(mttf, bandwidth, alpha, copies, values, size, peak, mfu, duration):
    """Theorem D-12: both sides of its equation agree at the limit, in 50 digits."""
    g = mp.mpf(scaled_gpu_limit(mttf, bandwidth, alpha, copies, values, size, peak, mfu, duration))
    parameters = mp.sqrt(g * mp.mpf(peak) * mp.mpf(mfu) * mp.mpf(duration) / 120)
    state = mp.mpf(values) * mp.mpf(size) * parameters
    copying = copies * state / (mp.mpf(bandwidth) * g ** mp.mpf(alpha))
    assert abs(copying / (mp.mpf(mttf) / g) - 1) < 3e-14


@quick
@given(st.sampled_from(sorted(CLUSTER)), st.floats(1.01, 1.9))
def test_limit_moves_the_right_way(name, factor):
    grows = {"gpu_mttf", "bandwidth", "alpha"}
    value = CLUSTER[name] * (2 if name == "copies" else factor)
    changed = scaled_gpu_limit(**CLUSTER | {name: value})
    assert (changed > scaled_gpu_limit(**CLUSTER)) == (name in grows)


@quick
@given(times, st.floats(0, 1.2))
def test_limit_does_not_depend_on_the_unit_of_time(unit, alpha):
    case = CLUSTER | {"alpha": alpha}
    scaled = {"gpu_mttf": case["gpu_mttf"] * unit, "duration": case["duration"] * unit,
              "bandwidth": case["bandwidth"] / unit, "peak_flops": case["peak_flops"] / unit}
    assert scaled_gpu_limit(**case | scaled) == pytest.approx(scaled_gpu_limit(**case), rel=1e-14)


# --- arguments


RANGES = {
    "duration": "[0, inf)",
    "step_time": "(0, inf)",
    "gpus": "whole numbers in [1, inf)",
    "copies": "whole numbers in [1, inf)",
    "node_failure_rate": "[0, inf)",
    "state_bytes": "[0, inf)",
    "bandwidth": "(0, inf]",
    "gpu_mttf": "(0, inf]",
    "copy_time": "[0, inf)",
    "peak_flops": "(0, inf)",
    "mfu": "(0, 1]",
    "alpha": "[0, 1.5)",
    "values_per_parameter": "(0, inf)",
    "bytes_per_value": "(0, inf)",
}
COMPUTE = [
    (compute_optimal_parameters, {"gpus": 16384, "peak_flops": 989e12, "mfu": 0.4, "duration": 4e6}),
    (scaled_gpu_limit, CLUSTER),
]
REST = [
    (expected_losses, TRAINING),
    (copy_time, {"state_bytes": 4e9, "copies": 4, "bandwidth": 50e9}),
    (gpu_limit, {"gpu_mttf": 1.8e8, "copy_time": 0.32}),
]
CASES = REST + COMPUTE
REFUSED = contract.refused_values(REST, RANGES)
REFUSED += contract.refused_values(COMPUTE, RANGES | {"duration": "(0, inf)"})


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


@pytest.mark.parametrize("function, keywords", CASES)
def test_array_equals_loop(function, keywords, dice):
    """Two arguments at a time, one along each axis."""
    names = list(keywords)
    for first, second in zip(names, names[1:]):
        factors = {"mfu": [0.5, 1.0], "alpha": [0.1, 1.0]}
        rows = keywords[first] * np.array(factors.get(first, [1.0, 3.0, 7.0]))
        columns = keywords[second] * np.array(factors.get(second, [1.0, 2.0, 5.0, 9.0]))
        got = function(**keywords | {first: rows[:, None], second: columns})
        loop = [[function(**keywords | {first: r, second: c}) for c in columns] for r in rows]
        np.testing.assert_array_equal(got, loop)
