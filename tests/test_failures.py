"""lib.failures against 50-digit arithmetic, its limits, its symmetries and its error texts."""

import warnings
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from lib import failures
from lib.failures import (
    cluster_mtbf,
    failure_probability,
    fit_from_mttf,
    mttf_from_fit,
    mttf_interval,
    series_mtbf,
    spare_pool,
)
from tests import contract, reference

quick = settings(deadline=None, derandomize=True, max_examples=100)
times = st.floats(-4, 6).map(lambda power: 10.0**power)
levels = st.floats(0.01, 0.9999)
SMALLEST, LARGEST = np.finfo(float).tiny, np.finfo(float).max
NEXT_TO_ONE = 1.0 - 2.0**-53


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.fixture
def dice():
    return np.random.default_rng(19381936)


def assert_close(got, expected, limit=1e-14):
    """Each value within `limit` of its reference where that is a normal number, the right limit beyond."""
    normal = 0
    for g, e in zip(got, expected, strict=True):
        if SMALLEST <= e <= LARGEST:
            assert reference.relative(g, e) < limit, (g, mp.nstr(e, 20))
            normal += 1
        else:
            assert (g > LARGEST * (1 - 1e-14)) if e > LARGEST else (g <= SMALLEST)
    assert normal > 0.5 * len(got)


# --- rates and the cascade


def test_fit_and_mttf_are_right_to_14_digits(dice):
    numbers = 10.0 ** dice.uniform(-307, 307, 500)
    expected = [mp.mpf(10) ** 9 / mp.mpf(v) for v in numbers]
    assert_close(mttf_from_fit(numbers), expected)
    assert_close(fit_from_mttf(numbers), expected)


@quick
@given(times)
def test_fit_and_mttf_are_inverse(mttf):
    assert mttf_from_fit(fit_from_mttf(mttf)) == pytest.approx(mttf, rel=1e-15)


def test_ends_of_fit_and_mttf():
    assert mttf_from_fit(0.0) == np.inf and mttf_from_fit(-0.0) == np.inf
    assert fit_from_mttf(np.inf) == 0.0
    assert fit_from_mttf(5e-324) == np.inf  # beyond float64


@pytest.mark.parametrize("low, high", [(0, 8), (-300, 300)])
@pytest.mark.parametrize("kinds", [1, 2, 5, 40])
def test_series_mtbf_is_right_to_14_digits(low, high, kinds, dice):
    counts = np.floor(10.0 ** dice.uniform(0, 6, (100, kinds))) * (dice.random((100, kinds)) < 0.8)
    counts[:, 0] = 1.0
    mttfs = 10.0 ** dice.uniform(low, high, (100, kinds))
    expected = [1 / mp.fsum(mp.mpf(n) / mp.mpf(m) for n, m in zip(*row)) for row in zip(counts, mttfs)]
    assert_close(series_mtbf(counts, mttfs), expected)


def test_series_mtbf_neither_overflows_nor_vanishes():
    assert series_mtbf([1, 1], [1e-300, 1e300]) == 1e-300
    assert series_mtbf([1, 1], [LARGEST, LARGEST]) == LARGEST / 2
    assert series_mtbf([1e300, 1], [1e300, np.inf]) == 1.0
    assert series_mtbf([1e9, 1e9], [1e-300, 1e-300]) == pytest.approx(5e-310, rel=1e-12)  # rates of 1e309


def test_series_mtbf_of_the_nodes_of_document_b():
    node = series_mtbf([8, 2, 2], [50000.0, 150000.0, 100000.0])
    rate = Fraction(8, 50000) + Fraction(2, 150000) + Fraction(2, 100000)
    assert node == pytest.approx(float(1 / rate), rel=1e-15)


def test_series_mtbf_works_along_the_last_axis():
    assert type(series_mtbf(8, 50000.0)) is float and series_mtbf(8, 50000.0) == 6250.0
    assert series_mtbf([[8], [4]], 50000.0).tolist() == [6250.0, 12500.0]
    both = series_mtbf([[8, 2], [8, 0]], [50000.0, 150000.0])
    assert both.tolist() == [series_mtbf([8, 2], [50000.0, 150000.0]), 6250.0]
    assert series_mtbf(np.ones((4, 1, 3)), np.ones((5, 3))).shape == (4, 5)
    assert series_mtbf(np.ones((0, 3)), np.ones(3)).shape == (0,)


def test_absent_and_everlasting_components_do_not_count():
    assert series_mtbf([8, 0, 3], [50000.0, 1.0, np.inf]) == 6250.0
    assert series_mtbf([8, 1], np.inf) == np.inf
    assert series_mtbf([0, 1], [1.0, np.inf]) == np.inf


@pytest.mark.parametrize("counts", [0, [0, 0], [[1, 2], [0, 0]], np.empty((3, 0))])
def test_system_without_components_is_refused(counts):
    with pytest.raises(ValueError, match=r"^counts = .* describes a system without components; allowed: at"):
        series_mtbf(counts, 50000.0)


def test_text_shows_the_counts_without_a_component():
    with pytest.raises(ValueError, match=r"^counts = \[\[1\.0, 2\.0\], \[0\.0, 0\.0\]\] describes"):
        series_mtbf([[1, 2], [0, 0]], 50000.0)


@quick
@given(st.lists(st.tuples(st.integers(1, 1000), times), min_size=1, max_size=6), times)
def test_more_components_fail_sooner(kinds, further):
    counts, mttfs = map(list, zip(*kinds))
    alone = series_mtbf(counts, mttfs)
    assert series_mtbf(counts + [1], mttfs + [further]) < alone * (1 + 1e-15)
    assert series_mtbf([2 * n for n in counts], mttfs) == pytest.approx(alone / 2, rel=1e-15)
    assert alone <= min(m / n for n, m in kinds) * (1 + 1e-15)


@quick
@given(times, st.integers(1, 10**6))
def test_a_cluster_is_a_series_of_nodes(node, nodes):
    assert cluster_mtbf(node, nodes) == series_mtbf([nodes], [node])


def test_cluster_mtbf_is_right_to_14_digits(dice):
    node, nodes = 10.0 ** dice.uniform(-300, 300, 500), np.floor(10.0 ** dice.uniform(0, 300, 500))
    assert_close(cluster_mtbf(node, nodes), [mp.mpf(a) / mp.mpf(b) for a, b in zip(node, nodes)])
    assert cluster_mtbf(np.inf, 7) == np.inf


def test_minimum_of_lifetimes_has_the_mtbf(dice):
    """Theorem D-30 by drawing: the first failure among 8 + 2 + 2 components, 40 000 times."""
    counts, mttfs = np.array([8, 2, 2]), np.array([5.0, 15.0, 10.0])
    first = dice.exponential(np.repeat(mttfs, counts), (40000, 12)).min(axis=1)
    assert first.mean() == pytest.approx(series_mtbf(counts, mttfs), rel=4 / 200)  # four standard errors


# --- probability of a failure


@pytest.mark.parametrize("low, high", [(-300, 300), (-6, 2)])
def test_failure_probability_is_right_to_14_digits(low, high, dice):
    mtbf = 10.0 ** dice.uniform(-3, 3, 1000)
    duration = mtbf * 10.0 ** dice.uniform(low, high, 1000)
    expected = [-mp.expm1(-mp.mpf(t) / mp.mpf(m)) for t, m in zip(duration, mtbf)]
    assert_close(failure_probability(duration, mtbf), expected)


def test_failure_probability_at_its_ends():
    assert failure_probability([0.0, np.inf], 3.0).tolist() == [0.0, 1.0]
    assert failure_probability([0.0, 5.0], np.inf).tolist() == [0.0, 0.0]
    assert not np.signbit(failure_probability(0.0, 3.0))
    assert failure_probability(1e300, 1e-300) == 1.0 and failure_probability(1e-300, 1e300) == 0.0


def test_infinite_job_on_an_everlasting_system_is_refused():
    with pytest.raises(ValueError, match="^duration = inf with mtbf = inf leaves .* undefined; allowed: at"):
        failure_probability([1.0, np.inf], np.inf)


@quick
@given(times, times, st.floats(1e-6, 10))
def test_longer_jobs_and_shorter_mtbfs_fail_more_often(duration, mtbf, step):
    p = failure_probability(duration, mtbf)
    assert 0.0 <= p <= min(1.0, duration / mtbf)
    assert failure_probability(duration * (1 + step), mtbf) >= p
    assert failure_probability(duration, mtbf * (1 + step)) <= p


@quick
@given(times, times, times)
def test_jobs_one_after_another_survive_independently(first, second, mtbf):
    a, b = failure_probability([first, second], mtbf)
    assert failure_probability(first + second, mtbf) == pytest.approx(a + b - a * b, rel=1e-14)


# --- interval of an MTTF


def lower_tail(shape, x):
    """P(shape, x) to 30 digits, by quadrature where mpmath's series would take forever; x near shape."""
    if shape <= 2e5:
        return mp.gammainc(shape, 0, x, regularized=True)
    steps = [x - j * mp.sqrt(shape) / 2 for j in range(30)][::-1]  # fifteen standard deviations
    scale = mp.loggamma(shape)
    return mp.quad(lambda t: mp.exp((shape - 1) * mp.log(t) - t - scale), steps)


def upper_tail(shape, x):
    if shape <= 2e5:
        return mp.gammainc(shape, x, mp.inf, regularized=True)
    steps = [x + j * mp.sqrt(shape) / 2 for j in range(30)]
    scale = mp.loggamma(shape)
    return mp.quad(lambda t: mp.exp((shape - 1) * mp.log(t) - t - scale), steps)


def error_of_quantile(tail, shape, x, probability):
    """Relative error of `x` as the solution of tail(shape, x) = probability, by one Newton step."""
    shape, x = mp.mpf(shape), mp.mpf(x)
    logarithmic_slope = mp.exp(shape * mp.log(x) - x - mp.loggamma(shape))
    return float(abs((tail(shape, x) - probability) / logarithmic_slope))


CONFIDENCES = [1e-3, 0.5, 0.8, 0.95, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-14, NEXT_TO_ONE]


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("failures", [1, 2, 3, 7, 20, 199, 200, 201, 466, 3000, 99998, 99999, 100000, 100001])
def test_interval_ends_are_right_to_14_digits(failures, confidence):
    assert_garwood(failures, confidence)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6, NEXT_TO_ONE])
@pytest.mark.parametrize("failures", [3e5, 1e6, 1e8, 1e12])
def test_interval_ends_are_right_for_large_counts(failures, confidence):
    assert_garwood(failures, confidence)


def assert_garwood(failures, confidence):
    estimate, low, high = mttf_interval(failures, 3.0 * failures, confidence)
    assert estimate == 3.0
    tail = (1 - mp.mpf(confidence)) / 2
    exposure = 3 * mp.mpf(failures)
    assert error_of_quantile(upper_tail, failures + 1, exposure / mp.mpf(low), tail) < 1e-14
    assert error_of_quantile(lower_tail, failures, exposure / mp.mpf(high), tail) < 1e-14


@pytest.mark.parametrize("normal", ["-1.3", "-0.6", "0.4", "1.1"])
def test_expansion_is_right_to_its_last_term(normal):
    """In 50 digits it misses the quantile by the order of shape^(-5/2); every number in it counts."""
    shape, z = mp.mpf(10) ** 7, mp.mpf(normal)
    x = first = shape + failures._gamma_excess(shape, z)
    for _ in range(3):
        density = mp.exp((shape - 1) * mp.log(x) - x - mp.loggamma(shape))
        x -= (lower_tail(shape, x) - mp.ncdf(z)) / density
    assert 0 < abs(x - first) < mp.mpf("0.01") * shape**-2.5


def test_interval_between_the_two_methods_has_no_seam():
    """The ends change as smoothly around 100 000 failures, where the method changes, as elsewhere."""
    counts = np.arange(99990.0, 100011.0)
    for end in mttf_interval(counts, counts, NEXT_TO_ONE)[1:]:
        assert np.abs(np.diff(end, 3)).max() < 1e-14


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_no_failure_leaves_a_lower_limit(confidence):
    """With no failure the limit is closed: T / ln(2/alpha)."""
    estimate, low, high = mttf_interval(0, 5000.0, confidence)
    assert estimate == high == np.inf
    assert reference.relative(low, 5000 / -mp.log((1 - mp.mpf(confidence)) / 2)) < 1e-14


def test_interval_of_huge_counts_closes():
    for failures in (1e17, 1e100, LARGEST):
        assert mttf_interval(failures, failures)[0] == 1.0
        assert mttf_interval(failures, failures)[1] <= 1.0 <= mttf_interval(failures, failures)[2]
    assert mttf_interval(1e100, 1e100) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("mean", [0.3, 2.0, 11.5, 60.0])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_interval_covers_the_truth_at_least_as_often_as_it_says(mean, confidence):
    """Exact coverage, summed over all counts that can matter."""
    counts = np.arange(0, 400)
    _, low, high = mttf_interval(counts, 1.0, confidence)
    weights = [mp.exp(n * mp.log(mean) - mean - mp.loggamma(n + 1)) for n in counts.tolist()]
    covering = (low <= 1 / mean) & (1 / mean <= high)
    covered = mp.fsum(w for w, c in zip(weights, covering) if c)
    assert confidence <= covered < 1
    for missing in (low > 1 / mean, high < 1 / mean):
        assert mp.fsum(w for w, m in zip(weights, missing) if m) <= (1 - confidence) / 2


@quick
@given(st.integers(0, 10**6), times, st.floats(0.01, 0.98), st.floats(1e-4, 1e-2))
def test_interval_holds_the_estimate_and_grows_with_confidence(failures, exposure, confidence, step):
    estimate, low, high = mttf_interval(failures, exposure, confidence)
    _, lower, higher = mttf_interval(failures, exposure, confidence + step)
    assert lower < low < high and (high < higher or high == higher == np.inf)
    # The median of a gamma variable lies below its mean, so that low confidence may leave the estimate out.
    assert confidence < 0.5 or low < estimate <= high


@quick
@given(st.integers(0, 10**6), times, times, levels)
def test_interval_scales_with_the_exposure(failures, exposure, unit, confidence):
    scaled = [value * unit for value in mttf_interval(failures, exposure, confidence)]
    assert mttf_interval(failures, exposure * unit, confidence) == pytest.approx(scaled, rel=1e-14)


def test_interval_broadcasts_to_three_arrays():
    failures, confidence = np.array([[0], [3], [200000]]), np.array([0.5, 0.95])
    got = mttf_interval(failures, 1000.0, confidence)
    loop = [[mttf_interval(n, 1000.0, c) for c in confidence] for n in failures[:, 0]]
    np.testing.assert_array_equal(np.stack(got, axis=-1), loop)
    assert all(type(v) is float for v in mttf_interval(3, 1000.0))
    assert mttf_interval(3, 1000.0) == mttf_interval(3, 1000.0, confidence=0.95)


# --- spares


def test_mean_of_the_pool_is_a_product():
    assert spare_pool(20.0, 24.0) == 480.0
    assert spare_pool([0.0, 1e300], [1.0, 1e300]).tolist() == [0.0, np.inf]
    assert spare_pool(1e-300, 1e300) == pytest.approx(1.0)


def poisson(mean, count):
    """Pr(X <= k) for k = 0, 1, ... as exact-term sums."""
    term = total = mp.exp(-mp.mpf(mean))
    for k in range(1, count + 1):
        yield total
        term *= mp.mpf(mean) / k
        total += term


COVERAGES = [1e-300, 1e-9, 0.01, 0.3, 0.4999, 0.5, 0.5001, 0.9, 0.999, 1 - 1e-6, 1 - 1e-12, NEXT_TO_ONE]


@pytest.mark.parametrize("mean", [0.0, 1e-300, 1e-9, 0.02, 0.7, 1.0, 13.25, 480.0, 3210.5])
def test_pool_is_the_smallest_by_summing_terms(mean):
    heads = list(poisson(mean, int(mean + 12 * np.sqrt(mean) + 60)))
    expected = [next(k for k, head in enumerate(heads) if head >= coverage) for coverage in COVERAGES]
    assert spare_pool(mean, 1.0, COVERAGES).tolist() == expected


def assert_smallest(mean, coverage):
    """Pr(X > k) <= 1 - coverage < Pr(X > k - 1), or by the head where that is the smaller one."""
    pool = spare_pool(mean, 1.0, coverage)
    assert pool == np.floor(pool)
    k, m, c = mp.mpf(pool), mp.mpf(mean), mp.mpf(coverage)
    if coverage < 0.5:
        assert upper_tail(k + 1, m) >= c and (k == 0 or upper_tail(k, m) < c)
    else:
        assert lower_tail(k + 1, m) <= 1 - c and (k == 0 or lower_tail(k, m) > 1 - c)


@pytest.mark.parametrize("coverage", [0.01, 0.3, 0.5, 0.999, 1 - 1e-6, 1 - 1e-12, NEXT_TO_ONE])
def test_pool_is_the_smallest_over_the_whole_range(coverage, dice):
    for mean in 10.0 ** np.concatenate([dice.uniform(3, 5.3, 12), [4.999, 5.001]]):
        assert_smallest(mean, coverage)


@pytest.mark.parametrize("coverage", [0.01, 0.3, 0.5, 0.999, 1 - 1e-6, NEXT_TO_ONE])
@pytest.mark.parametrize("mean", [1e5, 1e6, 1234567.875, 1e9, 1e15])
def test_pool_is_the_smallest_for_large_means(mean, coverage):
    assert_smallest(mean, coverage)


@pytest.mark.parametrize("coverage", [0.999, NEXT_TO_ONE])
def test_pool_grows_at_the_right_mean(coverage):
    """Means a thousandth of a node on both sides of the one from which a pool of 120 000 is too small."""
    normal = special.ndtri(1.0 - coverage)
    edge = 120001.0 + failures._gamma_excess(120001.0, normal)
    assert spare_pool([edge - 1e-3, edge + 1e-3], 1.0, coverage).tolist() == [120000.0, 120001.0]
    assert_smallest(edge - 1e-3, coverage)
    assert_smallest(edge + 1e-3, coverage)


@pytest.mark.parametrize("coverage", [0.3, 0.999, 1 - 1e-9, NEXT_TO_ONE])
@pytest.mark.parametrize("pool", [300, 5000, 120000, 1000000])
def test_pool_changes_at_the_mean_where_it_no_longer_suffices(pool, coverage):
    """A ten-thousandth of a spare off the mean where Pr(X <= pool) is the coverage, found in 50 digits."""
    missing = 1 - mp.mpf(coverage)
    mean = mp.mpf(pool) + 1 - mp.sqrt(2 * pool) * mp.erfinv(1 - 2 * missing)
    for _ in range(60):
        slope = mp.exp(pool * mp.log(mean) - mean - mp.loggamma(pool + 1))
        step = (lower_tail(mp.mpf(pool) + 1, mean) - missing) / slope
        mean -= max(min(step, mp.sqrt(mean) / 4), -mp.sqrt(mean) / 4)
        if abs(step) < mp.mpf(10) ** -12:
            break
    assert spare_pool(float(mean) - 1e-4, 1.0, coverage) == pool
    assert spare_pool(float(mean) + 1e-4, 1.0, coverage) == pool + 1


@pytest.mark.parametrize("coverage", [1e-300, 1e-100, 1e-15])
@pytest.mark.parametrize("mean", [900.0, 99999.5, 1e6])
def test_pool_is_the_smallest_for_tiny_coverage(mean, coverage):
    """mpmath's own series is fast on this side, far below the mean."""
    pool, c = spare_pool(mean, 1.0, coverage), mp.mpf(coverage)
    assert mp.gammainc(pool + 1, mean, mp.inf, regularized=True) >= c
    assert mp.gammainc(pool, mean, mp.inf, regularized=True) < c


def test_pool_suffices_as_often_as_it_says(dice):
    """Theorem D-13 by drawing: replacement times are uniform here, which leaves the pool Poisson."""
    rate, slowest, horizon = 2.0, 12.0, 200000.0
    starts = np.cumsum(dice.exponential(1 / rate, int(1.05 * rate * horizon)))
    ends = np.sort(starts + dice.uniform(0.0, slowest, starts.size))
    moments = np.arange(100.0, horizon, 4 * slowest)  # far enough apart to be independent
    out = np.searchsorted(starts, moments) - np.searchsorted(ends, moments)
    mean = spare_pool(rate, slowest / 2)
    assert out.mean() == pytest.approx(mean, abs=4 * np.sqrt(mean / moments.size))
    for coverage in (0.5, 0.9, 0.99):
        pool = spare_pool(rate, slowest / 2, coverage)
        error = 4 * np.sqrt(coverage * (1 - coverage) / moments.size)
        assert np.mean(out <= pool) > coverage - error
        assert np.mean(out <= pool - 1) < coverage + error


def test_pool_at_its_ends():
    assert spare_pool(0.0, 24.0, NEXT_TO_ONE) == 0.0
    assert spare_pool([1e-9, 20.0, 1e6], 24.0, 0.0).tolist() == [0.0, 0.0, 0.0]


@quick
@given(st.floats(0, 1e7), times, levels, st.floats(1e-6, 0.5))
def test_pool_grows_with_rate_time_and_coverage(mean, time, coverage, step):
    rate = mean / time
    pool = spare_pool(rate, time, coverage)
    assert spare_pool(rate * (1 + step), time, coverage) >= pool
    assert spare_pool(rate, time, coverage + (1 - coverage) * step) >= pool
    assert pool >= 0 and pool == int(pool)
    assert coverage < 0.5 or pool >= np.floor(spare_pool(rate, time)) - 1  # the median is near the mean


@quick
@given(st.floats(0, 1e7), st.integers(-40, 40), levels)
def test_pool_does_not_depend_on_the_unit_of_time(mean, power, coverage):
    assert spare_pool(mean * 2.0**power, 2.0**-power, coverage) == spare_pool(mean, 1.0, coverage)


def test_pool_of_arrays_is_the_loop(dice):
    rate, time = 10.0 ** dice.uniform(-2, 4, (5, 1)), 10.0 ** dice.uniform(-1, 3, 4)
    coverage = dice.random((2, 1, 1))
    got = spare_pool(rate, time, coverage)
    loop = [[[spare_pool(r, t, c) for t in time] for r in rate[:, 0]] for c in coverage[:, 0, 0]]
    np.testing.assert_array_equal(got, loop)


def test_pool_beyond_float64_is_refused():
    with pytest.raises(ValueError, match=r"^failure_rate \* replacement_time = 2e\+15 is outside the domain; "
                                         r"allowed range \[0, 1e\+15\] where coverage is given$"):
        spare_pool([1.0, 2e15], 1.0, 0.5)
    with pytest.raises(ValueError, match=r"^failure_rate \* replacement_time = inf "):
        spare_pool(1e300, 1e300, 0.5)


# --- arguments


RANGES = {
    "fit": "[0, inf)",
    "mttf_h": "(0, inf]",
    "counts": "whole numbers in [0, inf)",
    "mttfs": "(0, inf]",
    "node_mtbf": "(0, inf]",
    "nodes": "whole numbers in [1, inf)",
    "duration": "[0, inf]",
    "mtbf": "(0, inf]",
    "failures": "whole numbers in [0, inf)",
    "exposure": "(0, inf)",
    "confidence": "(0, 1)",
    "failure_rate": "[0, inf)",
    "replacement_time": "[0, inf)",
    "coverage": "[0, 1)",
}
PLAIN = [
    (mttf_from_fit, {"fit": 20000.0}),
    (fit_from_mttf, {"mttf_h": 50000.0}),
    (cluster_mtbf, {"node_mtbf": 5000.0, "nodes": 125}),
    (failure_probability, {"duration": 24.0, "mtbf": 100.0}),
    (spare_pool, {"failure_rate": 20.0, "replacement_time": 24.0}),
    (spare_pool, {"failure_rate": 20.0, "replacement_time": 24.0, "coverage": 0.99}),
    (spare_pool, {"failure_rate": 2e5, "replacement_time": 24.0, "coverage": 0.01}),
]
CASES = PLAIN + [
    (series_mtbf, {"counts": 8, "mttfs": 50000.0}),
    (mttf_interval, {"failures": 10, "exposure": 5e5, "confidence": 0.9}),
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


@pytest.mark.parametrize("function, keywords", PLAIN)
def test_scalars_give_floats_and_arrays_arrays(function, keywords):
    contract.assert_broadcasts(function, keywords)


# --- the ends of float64


@pytest.mark.parametrize("counts, mttfs, expected", [
    ([10**6], [1e-320], 0.0), ([1, 2], 5e-324, 0.0), ([1], [5e-324], 5e-324), ([2, 0], [1e-323, 1e-300], 5e-324),
    ([10**300], [1e-20], 1e-320), ([1e308, 1e308], [1e308, 1e308], 0.5), ([1e308, 1], [1e308, 1e-308], 1e-308),
    ([4, 0], [np.inf, 5e-324], np.inf), ([1, 1e308], [1e308, np.inf], 1e308),
])
def test_mtbf_at_the_ends_of_float64(counts, mttfs, expected):
    assert series_mtbf(counts, mttfs) == pytest.approx(expected, rel=1e-15, abs=0)


def test_masked_counts_are_refused():
    with pytest.raises(TypeError, match="^counts = .* is a masked array"):
        series_mtbf(np.ma.array([8, 2], mask=[0, 1]), [1.0, 2.0])
