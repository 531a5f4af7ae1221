"""lib.availability against 50-digit arithmetic, its limits, its symmetries and its error texts."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.availability import downtime, nines, stacked
from tests import contract, reference

quick = settings(deadline=None, derandomize=True, max_examples=200)
shares = st.floats(0.0, 1.0)
counts = st.integers(1, 30)
SMALLEST = np.finfo(float).tiny
NEXT_TO_ONE = 1.0 - 2.0**-53


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.fixture
def dice():
    return np.random.default_rng(19751988)


def many_shares(dice, count):
    """Numbers in [0, 1]: uniform, close to 0 on all scales, close to 1 on all scales, and the ends."""
    small, close = 10.0 ** dice.uniform(-300, 0, count), 1.0 - 10.0 ** dice.uniform(-16, 0, count)
    pool = np.concatenate([dice.random(count), small, close, [0.0, 5e-324, 0.5, NEXT_TO_ONE, 1.0]])
    return dice.permutation(pool)


def assert_close(got, expected):
    for g, e in zip(got, expected, strict=True):
        assert reference.relative(g, e) < 1e-14 if e >= SMALLEST else g <= SMALLEST, (g, mp.nstr(e, 20))


# --- stacking


def either(availability, replicas, common_cause):
    """From the events: the system is up unless the common outage or all own outages happen."""
    with mp.workdps(800):  # 1 - q for q next to one, on all scales of float64
        a, b = mp.mpf(availability), mp.mpf(common_cause)
        common = b * (1 - a)
        own = 1 - a / (1 - common) if common < 1 else mp.mpf(1)
        return +((1 - common) * (1 - own ** int(replicas)))


def test_stacked_is_right_to_14_digits(dice):
    a, b = many_shares(dice, 400), many_shares(dice, 400)
    k = np.floor(10.0 ** dice.uniform(0, 3, a.size))
    assert_close(stacked(a, k, b), [either(*row) for row in zip(a, k, b)])


def test_stacked_is_right_for_every_pair_of_extremes():
    ends = [0.0, 5e-324, 1e-300, 1e-17, 1e-3, 0.5, 1 - 1e-3, NEXT_TO_ONE, 1.0]
    for k in (1, 2, 5, 1000):
        for b in ends:
            assert_close(stacked(ends, k, b), [either(a, k, b) for a in ends])


@quick
@given(shares, shares)
def test_one_replica_is_itself_whatever_is_common(availability, common_cause):
    assert stacked(availability, 1, common_cause) == availability


@quick
@given(shares, counts)
def test_independent_replicas_follow_the_formula_of_document_b(availability, replicas):
    rounding = 2.0**-52 * (replicas + 1)  # of 1 - A, which the power multiplies
    assert stacked(availability, replicas) == pytest.approx(1 - (1 - availability) ** replicas, abs=rounding)
    assert stacked(availability, replicas) == stacked(availability, replicas, common_cause=0.0)


@quick
@given(shares, counts)
def test_replicas_that_only_fail_together_gain_nothing(availability, replicas):
    assert stacked(availability, replicas, 1.0) == pytest.approx(availability, rel=1e-15)


@quick
@given(shares, counts, shares, shares)
def test_stacked_moves_the_right_way(a, k, b, further):
    value = stacked(a, k, b)
    little = 1 + 1e-15
    assert a <= value * little <= 1.0 * little
    assert stacked(a, k + 1, b) * little >= value
    assert stacked(a + (1 - a) * further, k, b) * little >= value
    assert stacked(a, k, b + (1 - b) * further) <= value * little
    assert value <= 1 - b * (1 - a) + 1e-15  # no number of replicas passes the common cause


def test_any_number_of_replicas_stops_at_the_common_cause():
    assert stacked(0.99, 10**9, 0.1) == 1 - 0.1 * (1 - 0.99)
    assert stacked(0.01, 10**300) == 1.0


def test_nothing_up_stays_down_and_everything_up_stays_up():
    assert stacked(0.0, [1, 2, 50], [[0.0], [0.3], [1.0]]).tolist() == [[0.0] * 3] * 3
    assert stacked(1.0, [1, 2, 50], [[0.0], [0.3], [1.0]]).tolist() == [[1.0] * 3] * 3


@pytest.mark.parametrize("a, b, k", [(0.9, 0.3, 3), (0.5, 0.1, 2), (0.2, 0.8, 4)])
def test_stacked_is_the_share_of_time_that_some_replica_is_up(a, b, k, dice):
    """Theorem D-34 by drawing the two kinds of outage, and one replica alone as a check of the drawing."""
    draws = 200000
    common = dice.random((draws, 1)) < b * (1 - a)
    own = dice.random((draws, k)) > a / (1 - b * (1 - a))
    down = common | own
    assert np.mean(down[:, 0]) == pytest.approx(1 - a, abs=4 * np.sqrt(a * (1 - a) / draws))
    expected = stacked(a, k, b)
    error = 4 * np.sqrt(expected * (1 - expected) / draws)
    assert 1 - np.mean(down.all(axis=1)) == pytest.approx(expected, abs=error)


@quick
@given(st.floats(0.9, 1.0), st.integers(2, 5), shares)
def test_rare_events_give_the_handbooks_form(availability, replicas, common_cause):
    q = 1 - availability
    handbook = 1 - (common_cause * q + ((1 - common_cause) * q) ** replicas)
    difference = handbook - stacked(availability, replicas, common_cause)
    overlap = (replicas - 1) * common_cause * q * ((1 - common_cause) * q) ** replicas
    assert -1e-15 <= difference <= 1.7 * overlap + 1e-15


def test_rounding_keeps_probabilities_in_range(dice):
    """A common share and an availability next to one, where a quotient above one would give NaN."""
    a, b = 1 - dice.integers(0, 40, (2, 20000)) * 2.0**-53
    assert np.all(stacked(a, 2, b) <= 1.0) and np.all(stacked(a, 2, b) >= a)
    assert np.all(stacked(a * 2.0**-30, 2, b) >= a * 2.0**-30 * (1 - 1e-15))


def test_stacked_rounds_to_one_where_float64_ends():
    assert stacked(0.99, 9) == 1.0 and stacked(0.99, 7) < 1.0


# --- downtime and nines


def test_downtime_is_right_to_14_digits(dice):
    a = many_shares(dice, 300)
    period = 10.0 ** dice.uniform(-280, 300, a.size)
    assert_close(downtime(a, period), [(1 - mp.mpf(x)) * mp.mpf(p) for x, p in zip(a, period)])


def test_downtime_counts_a_year_of_hours():
    assert downtime(0.99) == downtime(0.99, 8760.0) == pytest.approx(87.6, rel=1e-14)
    assert downtime([0.0, 1.0]).tolist() == [8760.0, 0.0]
    assert downtime(0.5, 0.0) == 0.0
    assert downtime(NEXT_TO_ONE, 1e-300) == pytest.approx(2.0**-53 * 1e-300, rel=1e-6)  # a subnormal number


@quick
@given(shares, st.floats(0, 1e9), st.floats(1e-3, 1e3))
def test_downtime_scales_with_the_period(availability, period, unit):
    scaled = downtime(availability, period * unit)
    assert scaled == pytest.approx(downtime(availability, period) * unit, rel=1e-15, abs=1e-300)


def exact_nines(availability):
    with mp.workdps(400):
        return -mp.log10(1 - mp.mpf(availability))


def test_nines_are_right_to_14_digits(dice):
    a = many_shares(dice, 1000)
    a = a[(a > 0.0) & (a < 1.0)]
    assert_close(nines(a), [exact_nines(x) for x in a])


def test_nines_at_their_ends():
    assert nines([0.0, 1.0]).tolist() == [0.0, np.inf]
    assert not np.signbit(nines(0.0))
    assert nines(NEXT_TO_ONE) == pytest.approx(53 * np.log10(2), rel=1e-15)


@quick
@given(st.floats(0.0, 15.0), st.floats(1e-6, 1.0))
def test_nines_count_the_digits(count, more):
    assert nines(1 - 10.0**-count) == pytest.approx(count, abs=1e-15 * 10**count)
    assert nines(1 - 10.0 ** -(count + more)) >= nines(1 - 10.0**-count)


@quick
@given(st.floats(0.001, 0.9), st.integers(1, 5))
def test_independent_replicas_multiply_the_nines(availability, replicas):
    expected = replicas * nines(availability)
    assert nines(stacked(availability, replicas)) == pytest.approx(expected, abs=1e-15 * 10**expected)


# --- arguments


RANGES = {
    "availability": "[0, 1]",
    "replicas": "whole numbers in [1, inf)",
    "common_cause": "[0, 1]",
    "period": "[0, inf)",
}
CASES = [
    (stacked, {"availability": 0.99, "replicas": 3, "common_cause": 0.25}),
    (downtime, {"availability": 0.99, "period": 720.0}),
    (nines, {"availability": 0.99}),
]


@pytest.mark.parametrize("function, keywords, name, value, allowed", contract.refused_values(CASES, RANGES))
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


@quick
@given(st.lists(shares, max_size=5), st.lists(counts, max_size=4), shares)
def test_array_equals_loop(availability, replicas, common_cause):
    got = stacked(np.reshape(availability, (-1, 1)), np.array(replicas, dtype=int), common_cause)
    loop = [[stacked(a, k, common_cause) for k in replicas] for a in availability]
    np.testing.assert_array_equal(got, np.reshape(loop, got.shape))
    np.testing.assert_array_equal(nines(availability), [nines(a) for a in availability])
    np.testing.assert_array_equal(downtime(availability, 7.0), [downtime(a, 7.0) for a in availability])
