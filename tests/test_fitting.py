"""lib.fitting against 50-digit arithmetic, brute force, simulated records, SciPy and lifelines."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from lib.failures import mttf_interval
from lib.fitting import (
    constant_rate_test,
    goodness_of_fit,
    rate_ratio,
    weibull_fit,
    weibull_log_likelihood,
    weibull_shape_interval,
    weibull_shape_test,
)
from tests import contract, reference

quick = settings(deadline=None, derandomize=True, max_examples=60)
LOG_EDGES = np.concatenate([[0.0], np.geomspace(0.01, 100.0, 25), [np.inf]])
EDGES, COUNTS = [0.0, 1.0, 2.0, 4.0, 8.0], [63, 23, 12, 2]


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.fixture
def dice():
    return np.random.default_rng(19381936)


# --- the ratio of two rates


@pytest.mark.parametrize("n, other", [(1, 1), (30, 12), (0, 5), (5, 0), (796, 25), (500, 1500)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_ends_of_the_ratio_solve_their_equations_in_50_digits(n, other, confidence):
    estimate, low, high = rate_ratio(n, 3.0, other, 7.0, confidence)
    assert estimate == (pytest.approx(n / other * 7 / 3, rel=1e-15) if other else np.inf)
    tail = (1 - mp.mpf(confidence)) / 2
    odds = [mp.mpf(end) * 3 / 7 for end in (low, high) if 0 < end < np.inf]
    sides = [(n, other + 1, 0)] * (n > 0) + [(n + 1, other, 1)] * (other > 0)
    assert len(odds) == len(sides) and (low == 0) == (n == 0) and (high == np.inf) == (other == 0)
    for value, (a, b, upper) in zip(odds, sides):
        reached = mp.betainc(a, b, 0, value / (1 + value), regularized=True)
        assert reference.relative(1 - reached if upper else reached, tail) < 1e-9


def test_the_ratio_has_the_limits_of_the_binomial_share(dice):
    for n, other in dice.integers(0, 60, (30, 2)) + [[1, 0]]:
        share = stats.binomtest(int(n), int(n + other)).proportion_ci(0.9, method="exact")
        low, high = rate_ratio(n, 2.0, other, 5.0, 0.9)[1:]
        assert low == pytest.approx(2.5 * share.low / (1 - share.low), rel=1e-9)
        assert other == 0 or high == pytest.approx(2.5 * share.high / (1 - share.high), rel=1e-9)


def test_the_ratio_covers_the_truth_as_often_as_it_says():
    """Exact coverage: every pair of counts within reach, weighted by its probability."""
    n, other = np.meshgrid(np.arange(40), np.arange(60), indexing="ij")
    weight = stats.poisson.pmf(n, 6.0) * stats.poisson.pmf(other, 18.0)
    some = (n > 0) | (other > 0)
    _, low, high = rate_ratio(n[some], 2.0, other[some], 3.0, 0.9)
    covered = np.sum(weight[some] * ((low <= 0.5) & (0.5 <= high)))
    assert np.sum(weight) > 1 - 1e-9 and 0.9 <= covered < 0.95


@quick
@given(st.integers(0, 500), st.integers(1, 500), st.floats(1e-3, 1e3), st.floats(0.1, 0.99))
def test_the_ratio_turned_round(n, other, exposure, confidence):
    estimate, low, high = rate_ratio(n, exposure, other, 1.0, confidence)
    back = rate_ratio(other, 1.0, n, exposure, confidence)
    assert low <= estimate <= high
    assert back[1] == pytest.approx(1 / high, rel=1e-12)
    assert n == 0 or back[::2] == pytest.approx((1 / estimate, 1 / low), rel=1e-12)


def test_the_ratio_to_a_well_known_rate_has_the_limits_of_one_count():
    low, high = rate_ratio(7, 3.0, 10**9, 10**9)[1:]
    _, shortest, longest = mttf_interval(7, 3.0)
    assert (low, high) == pytest.approx((1 / longest, 1 / shortest), rel=1e-4)


def test_two_groups_without_failure_have_no_ratio():
    with pytest.raises(ValueError, match="^failures = 0 with other_failures = 0 .*; allowed: at least one"):
        rate_ratio([3, 0], 1.0, [1, 0], 1.0)


# --- one rate for all groups


@pytest.mark.parametrize("counts, times", [([12, 30], [1, 1]), ([0, 3, 9], [2, 5, 1]), ([0, 0, 0], [1, 2, 3]),
                                           ([796, 7, 53, 0], [3.9, 4.1, 4.1, 0.05])])
def test_constant_rate_in_50_digits(counts, times):
    total, time = mp.mpf(sum(counts)), mp.fsum(map(mp.mpf, times))
    expected = 2 * mp.fsum(n * mp.log(n * time / (total * mp.mpf(t))) for n, t in zip(counts, times) if n)
    statistic, freedom, p_value = constant_rate_test(counts, times)
    assert statistic == pytest.approx(float(expected), rel=1e-12, abs=1e-12) and freedom == len(counts) - 1
    tail = mp.gammainc(mp.mpf(freedom) / 2, expected / 2, mp.inf, regularized=True)
    assert p_value == pytest.approx(float(tail), rel=1e-9)


def test_constant_rate_is_twice_the_gain_of_the_likelihood():
    counts, times = np.array([3, 9, 4, 0]), np.array([5.0, 6.0, 1.0, 2.0])

    def height(rates):
        return np.sum(stats.poisson.logpmf(counts, rates * times))

    one = optimize.minimize_scalar(lambda rate: -height(rate), bounds=(1e-6, 10), method="bounded",
                                   options={"xatol": 1e-10})
    gain = height(counts / times) + one.fun
    assert constant_rate_test(counts, times)[0] == pytest.approx(2 * gain, rel=1e-10)
    assert one.x == pytest.approx(16 / 14, rel=1e-6)


def test_constant_rate_rejects_as_often_as_it_says(dice):
    times = np.array([1.0, 2.0, 2.0, 5.0, 0.5])
    p_values = constant_rate_test(dice.poisson(20.0 * times, (20000, 5)), times)[2]
    for level in (0.01, 0.05, 0.5):
        error = (level * (1 - level) / 20000) ** 0.5
        assert np.mean(p_values <= level) == pytest.approx(level, abs=4 * error)


def test_constant_rate_works_along_the_last_axis():
    both = constant_rate_test([[12, 30], [5, 5]], 1000.0)
    assert [v[0] for v in both] == list(constant_rate_test([12, 30], 1000.0))
    assert both[0][1] == 0.0 and both[2][1] == 1.0
    assert constant_rate_test(np.ones((4, 1, 3)), np.ones((5, 3)))[0].shape == (4, 5)
    assert all(type(v) is float for v in constant_rate_test([1, 2], 1.0))
    with pytest.raises(ValueError, match="^failures has 1 group along its last axis; allowed: at least two"):
        constant_rate_test(7, 1.0)


# --- goodness of fit


def test_goodness_of_fit_is_the_g_test_of_scipy(dice):
    counts = dice.multinomial(1000, np.full(8, 0.125))
    statistic, freedom, p_value = goodness_of_fit(counts, np.full(8, 125.0), fitted=2)
    other = stats.power_divergence(counts, 125.0, ddof=2, lambda_="log-likelihood")
    assert (statistic, freedom, p_value) == pytest.approx((other.statistic, 5, other.pvalue), rel=1e-11)


@pytest.mark.parametrize("expected, joined", [
    ([6, 7, 8, 9], [6, 7, 8, 9]),
    ([1, 2, 3, 8, 9], [6, 8, 9]),  # the first three
    ([4, 7, 8, 9], [11, 8, 9]),
    ([9, 8, 7, 3], [9, 8, 10]),  # what is left joins the last
    ([6, 7, 4, 4, 4, 0], [6, 7, 12]),
])
def test_bins_are_joined_until_each_expects_enough(expected, joined):
    counts = np.arange(1, len(expected) + 1)
    ends = np.searchsorted(np.cumsum(expected), np.cumsum(joined))
    together = np.diff(np.concatenate([[0], np.cumsum(counts)[ends]]))
    together[-1] += counts.sum() - together.sum()
    assert goodness_of_fit(counts, expected) == pytest.approx(goodness_of_fit(together, joined), rel=1e-12)


def test_goodness_of_fit_knows_its_limits():
    assert goodness_of_fit([10, 10, 10], [10, 10, 10])[::2] == (0.0, 1.0)
    assert goodness_of_fit([10, 0], [5, 5])[:2] == pytest.approx((20 * np.log(2), 1.0))
    assert goodness_of_fit([1, 2, 3], [5, 5, 5])[1] == 2.0  # bins of exactly the smallest stay apart
    assert goodness_of_fit([10, 10, 10], [10, 10, 20])[0] == pytest.approx(2 * (10 * np.log(0.5) + 10))
    with pytest.raises(ValueError, match="^expected leaves 2 bins of at least 5; allowed: at least 3 with"):
        goodness_of_fit([1, 2, 3], [6, 4, 4], fitted=1)
    for counts, expected in [([1, 2], [1, 2, 3]), ([[1, 2]], [[1, 2]]), (1, 1)]:
        with pytest.raises(ValueError, match="^counts has the shape .*; allowed: one axis, equal"):
            goodness_of_fit(counts, expected)
    for name in ("fitted", "smallest"):
        with pytest.raises(ValueError, match=rf"^{name} has the shape \(2,\); allowed: a single number"):
            goodness_of_fit([1, 2, 3], [6, 4, 4], **{name: [1, 1]})
    for changes, text in [({"smallest": np.inf}, "smallest = inf"), ({"smallest": 0.0}, "smallest = 0"),
                          ({"fitted": -1}, "fitted = -1"),
                          ({"counts": [1, -2, 3]}, r"counts\[1\] = -2"),
                          ({"expected": [6, 4, np.inf]}, r"expected\[2\] = inf")]:
        with pytest.raises(ValueError, match=f"^{text} is outside the domain"):
            goodness_of_fit(**{"counts": [1, 2, 3], "expected": [6, 4, 4]} | changes)


# --- binned gaps


def counted(gaps, edges):
    return np.histogram(gaps, np.where(np.isinf(edges), 1e300, edges))[0]


def reference_likelihood(edges, counts, shape, scale):
    """The definition in 50 digits."""
    works = [mp.exp(-((mp.mpf(float(t)) / mp.mpf(scale)) ** mp.mpf(shape))) for t in edges]
    return mp.fsum(int(n) * mp.log((a - b) / works[0]) for n, a, b in zip(counts, works, works[1:]) if n)


@pytest.mark.parametrize("edges", [LOG_EDGES, LOG_EDGES[3:], LOG_EDGES[:-1]])
@pytest.mark.parametrize("shape, scale", [(0.5, 3.0), (1.0, 10.0), (1.7, 20.0), (4.0, 50.0)])
def test_likelihood_in_50_digits(edges, shape, scale, dice):
    counts = dice.integers(0, 50, len(edges) - 1)
    got = weibull_log_likelihood(edges, counts, shape, scale)
    assert reference.relative(got, reference_likelihood(edges, counts, shape, scale)) < 1e-13


def test_likelihood_broadcasts_and_ends_at_minus_infinity():
    shapes, scales = np.array([[0.5], [1.0]]), np.array([1.0, 2.0, 3.0])
    got = weibull_log_likelihood(EDGES, COUNTS, shapes, scales)
    assert got.shape == (2, 3) and got[1, 2] == weibull_log_likelihood(EDGES, COUNTS, 1.0, 3.0)
    assert type(weibull_log_likelihood(EDGES, COUNTS, 1.0, 3.0)) is float
    assert weibull_log_likelihood(EDGES, COUNTS, 50.0, 1e-9) == -np.inf
    assert weibull_log_likelihood(EDGES, [0, 0, 0, 5], 50.0, 1e300) == -np.inf  # below the smallest float


@pytest.mark.parametrize("true", [0.5, 0.8, 1.0, 2.5])
def test_fit_against_brute_force(true, dice):
    """An independent likelihood, from SciPy's distribution, maximised without gradients or brackets."""
    counts = counted(10.0 * dice.weibull(true, 500), LOG_EDGES)
    used = counts > 0

    def height(logs):
        gaps = stats.weibull_min(np.exp(logs[0]), scale=np.exp(logs[1]))
        with np.errstate(all="ignore"):
            return -np.sum(counts[used] * np.log(np.diff(gaps.cdf(LOG_EDGES))[used]))

    found = optimize.minimize(height, [0.0, 2.0], method="Nelder-Mead",
                              options={"xatol": 1e-9, "fatol": 1e-11})
    assert weibull_fit(LOG_EDGES, counts) == pytest.approx(np.exp(found.x), rel=1e-6)
    one = optimize.minimize_scalar(lambda log: height([0.0, log]), bounds=(0, 5), method="bounded",
                                   options={"xatol": 1e-9})
    assert weibull_fit(LOG_EDGES, counts, 1.0) == (1.0, pytest.approx(np.exp(one.x), rel=1e-6))
    assert weibull_shape_test(LOG_EDGES, counts)[0] == pytest.approx(2 * (one.fun - found.fun), abs=1e-8)


@pytest.mark.parametrize("first", [0, 1, 6])
@pytest.mark.parametrize("true", [0.6, 1.0, 1.8])
def test_fit_against_lifelines(first, true, dice):
    lifelines = pytest.importorskip("lifelines")
    edges = LOG_EDGES[first:]
    counts = counted(10.0 * dice.weibull(true, 3000), edges)
    used = counts > 0
    low, high = edges[:-1][used], edges[1:][used]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        other = lifelines.WeibullFitter().fit_interval_censoring(
            low, high, weights=counts[used], entry=np.full(len(low), edges[0]) if first else None)
    shape, scale = weibull_fit(edges, counts)
    assert (shape, scale) == pytest.approx((other.rho_, other.lambda_), rel=2e-4)
    height = weibull_log_likelihood(edges, counts, shape, scale)
    assert height == pytest.approx(other.log_likelihood_, rel=1e-8)
    # Its interval is that of the normal approximation, ours that of the likelihood.
    width = 1.96 * other.summary.loc["rho_", "se(coef)"]
    ends = weibull_shape_interval(edges, counts)
    assert ends == pytest.approx((shape - width, shape + width), abs=0.1 * width)


@pytest.mark.parametrize("first", [0, 8])
@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
def test_fit_finds_what_was_drawn(shape, first, dice):
    """Gaps shorter than the first edge are left out, and the fit knows it."""
    edges = LOG_EDGES[first:]
    counts = counted(3.0 * dice.weibull(shape, 40000), edges)
    low, high = weibull_shape_interval(edges, counts, 0.9999)
    assert low < shape < high and high - low < 0.1
    found = weibull_fit(edges, counts)
    assert found == pytest.approx((shape, 3.0), rel=0.05)


def test_interval_covers_the_truth_as_often_as_it_says(dice):
    edges = [0.0, 0.5, 1.0, 2.0, 4.0, np.inf]
    covered = []
    for _ in range(150):
        low, high = weibull_shape_interval(edges, counted(1.5 * dice.weibull(0.8, 80), edges), 0.9)
        covered.append(low <= 0.8 <= high)
    assert np.mean(covered) == pytest.approx(0.9, abs=4 * (0.09 / 150) ** 0.5)


@pytest.mark.parametrize("counts", [[5, 3, 1, 0], [0, 4, 4, 4], [1, 0, 0, 1]])
@pytest.mark.parametrize("start, width", [(0.0, 2.0), (3.0, 0.25)])
def test_exponential_fit_of_equal_bins_is_that_of_a_geometric_variable(counts, start, width):
    edges = start + width * np.arange(5)
    steps = np.dot(counts, np.arange(4))
    scale = weibull_fit(edges, counts, 1.0)[1]
    assert scale == pytest.approx(width / np.log1p(sum(counts) / steps), rel=1e-12)


@quick
@given(st.lists(st.integers(0, 200), min_size=5, max_size=5).filter(lambda c: np.count_nonzero(c) > 3),
       st.floats(1e-6, 1e6), st.floats(0.1, 10.0))
def test_the_scale_is_the_best_and_follows_the_unit(counts, unit, shape):
    edges = np.array([0.1, 1.0, 2.0, 3.0, 6.0, np.inf])
    kept, scale = weibull_fit(edges * unit, counts, shape)
    assert kept == shape and scale / unit == pytest.approx(weibull_fit(edges, counts, shape)[1], rel=1e-10)
    best = weibull_log_likelihood(edges * unit, counts, shape, scale)
    others = scale * np.geomspace(0.5, 2, 101)
    assert best >= np.max(weibull_log_likelihood(edges * unit, counts, shape, others))


def test_the_likelihood_is_concave_in_the_power_of_the_scale(dice):
    """Theorem D-51: second differences in rho = scale**-shape."""
    for shape in (0.3, 1.0, 3.0):
        counts = dice.integers(0, 30, len(LOG_EDGES) - 1)
        rho = np.linspace(0.2, 5.0, 200) * weibull_fit(LOG_EDGES, counts, shape)[1] ** -shape
        heights = weibull_log_likelihood(LOG_EDGES, counts, shape, rho ** (-1 / shape))
        heights = heights[np.isfinite(heights)]
        assert len(heights) > 20 and np.all(np.diff(heights, 2) < 0)


def test_interval_and_test_agree():
    for confidence in (0.5, 0.95, 0.999):
        for end in weibull_shape_interval(EDGES, COUNTS, confidence):
            assert weibull_shape_test(EDGES, COUNTS, end)[1] == pytest.approx(1 - confidence, rel=1e-5)
    best, _ = weibull_fit(EDGES, COUNTS)
    assert weibull_shape_test(EDGES, COUNTS, best) == pytest.approx((0.0, 1.0), abs=1e-3)


def test_interval_that_nothing_bounds():
    assert weibull_shape_interval([0.0, 1.0, 2.0, 3.0, np.inf], [3, 1, 0, 1], 0.99999)[0] == 0.0
    assert weibull_shape_interval([0.0, 1.0, 1.5, 2.0, 3.0], [0, 1, 1, 1], 0.9999999)[1] == np.inf


# --- what is refused

RATIO = dict(failures=3, exposure=2.0, other_failures=4, other_exposure=5.0, confidence=0.9)
RATES = dict(failures=3, exposure=2.0)
LIKELIHOOD = dict(shape=1.5, scale=2.0)
RANGES = dict(failures="whole numbers in [0, 1e+12]", exposure="(0, inf)",
              other_failures="whole numbers in [0, 1e+12]", other_exposure="(0, inf)",
              confidence="(0, 1)", shape="(0, inf)", scale="(0, inf)")


def likelihood(shape, scale):
    return weibull_log_likelihood(EDGES, COUNTS, shape, scale)


CASES = [(rate_ratio, RATIO), (constant_rate_test, RATES), (likelihood, LIKELIHOOD)]


@pytest.mark.parametrize("function, keywords, name, value, allowed", contract.refused_values(CASES, RANGES))
def test_numbers_outside_the_range_are_refused(function, keywords, name, value, allowed):
    contract.assert_refused(function, keywords, name, value, allowed)


@pytest.mark.parametrize("function, keywords, name, value", contract.refused_types(CASES))
def test_what_is_not_a_number_is_refused(function, keywords, name, value):
    contract.assert_type_refused(function, keywords, name, value)


@pytest.mark.parametrize("function, keywords, first, second", contract.pairs(CASES))
def test_shapes_that_do_not_broadcast_are_refused(function, keywords, first, second):
    contract.assert_shapes_refused(function, keywords, first, second)


def test_scalars_and_arrays():
    contract.assert_broadcasts(likelihood, LIKELIHOOD)
    for place in range(3):
        contract.assert_broadcasts(lambda **keywords: rate_ratio(**keywords)[place], RATIO)


FITS = [weibull_fit, weibull_shape_interval, weibull_shape_test]
ON_BINS = [lambda edges, counts: weibull_log_likelihood(edges, counts, 1.0, 1.0), *FITS]


@pytest.mark.parametrize("function", ON_BINS)
@pytest.mark.parametrize("edges, counts, text", [
    ([0, 2, 1, 3], [1, 1, 1],
     r"^edges = \[0\.0, 2\.0, 1\.0, 3\.0\] does not rise; allowed: at least three rising"),
    ([0, 1, 1, 2], [1, 1, 1], "^edges = .* does not rise"),
    ([0, 1, np.inf, np.inf], [1, 1, 1], "^edges = .* does not rise"),
    ([0, 1], [1], "^edges = .* does not rise"),
    ([[0, 1, 2]], [1, 1], "^edges = .* does not rise"),
    ([-1, 1, 2], [1, 1], r"^edges\[0\] = -1 is outside the domain; allowed range \[0, inf\]"),
    ([0, 1, 2], [1, 0.5], r"^counts\[1\] = 0\.5 is outside the domain; allowed: whole numbers"),
    ([0, 1, 2], [1, 2, 3], r"^counts has the shape \(3,\); allowed: \(2,\), one for each bin"),
    ([0, 1, 2], [0, 0], "^counts has no gap; allowed: at least one"),
])
def test_bad_bins_are_refused(function, edges, counts, text):
    with pytest.raises(ValueError, match=text):
        function(edges, counts)


@pytest.mark.parametrize("function", FITS)
@pytest.mark.parametrize("counts", [[9, 0, 0, 0], [0, 0, 0, 9]])
def test_gaps_in_one_end_bin_are_refused(function, counts):
    with pytest.raises(ValueError, match="^counts has all its gaps in .* last finite edge; allowed: gaps"):
        function([0, 1, 2, 4, np.inf], counts)


@pytest.mark.parametrize("function", FITS)
@pytest.mark.parametrize("counts", [[0, 9, 0, 0], [5, 5, 0, 0], [5, 0, 0, 5]])
def test_counts_that_fix_no_shape_are_refused(function, counts):
    with pytest.raises(ValueError, match="^counts is as likely under a shape of 0.02 .*; allowed: counts"):
        function([0, 1, 2, 4, np.inf], counts)


def test_bad_shapes_and_confidences_are_refused():
    for shape in (0.0, 0.01, 51.0, np.nan):
        with pytest.raises(ValueError, match=r"^shape = .* is outside .*; allowed range \[0\.02, 50\]"):
            weibull_fit(EDGES, COUNTS, shape)
    with pytest.raises(ValueError, match=r"^shape has the shape \(2,\); allowed: a single number"):
        weibull_shape_test(EDGES, COUNTS, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"^confidence has the shape \(2,\); allowed: a single number"):
        weibull_shape_interval(EDGES, [9, 9, 9, 9], confidence=[0.5, 0.9])
    with pytest.raises(ValueError, match=r"^confidence = 1 is outside the domain; allowed range \(0, 1\)"):
        weibull_shape_interval(EDGES, COUNTS, 1.0)
    with pytest.raises(ValueError, match="^shape = 50.0 takes powers of `edges` beyond float64"):
        weibull_fit([0.0, 1e-20, 2e-20, 1.0, 2.0], [1, 1, 1, 0], 50.0)


# --- the ends of the domain


def test_the_ratio_of_many_failures_has_the_normal_interval():
    """For many failures the logarithm of the ratio is normal; what that leaves out falls with their root."""
    for n, error in (1e8, 1e-4), (1e10, 1e-5), (1e12, 1e-6):
        width = stats.norm.ppf(0.975) * np.sqrt(2.0 / n)
        estimate, low, high = rate_ratio(n, 1.0, n, 1.0)
        assert estimate == 1.0
        assert [high - 1.0, 1.0 - low] == pytest.approx([np.expm1(width), -np.expm1(-width)], rel=error)


@pytest.mark.parametrize("arguments, expected", [
    ((0, 1e-308, 5, 1e308), (0.0, 0.0, np.inf)), ((5, 1e308, 0, 1e-308), (np.inf, 0.0, np.inf)),
    ((0, 1e308, 5, 1e-308), (0.0, 0.0, 0.0)), ((5, 1e-308, 0, 1e308), (np.inf, np.inf, np.inf)),
])
def test_the_ratio_at_the_ends_of_float64(arguments, expected):
    assert rate_ratio(*arguments) == expected


def test_exposures_do_not_overflow():
    small, large = (constant_rate_test([12, 30], [t, t]) for t in (1.0, 1e308))
    assert large == small


@pytest.mark.parametrize("call", [
    lambda n: rate_ratio(n, 1.0, 3, 1.0), lambda n: constant_rate_test([n, n], 1.0),
    lambda n: rate_ratio(3, 1.0, n, 1.0), lambda n: goodness_of_fit([n, n], [9.0, 9.0]),
    lambda n: weibull_log_likelihood([0, 1, 2], [n, n], 1.0, 1.0), lambda n: weibull_fit([0, 1, 2], [n, n]),
])
@pytest.mark.parametrize("n", [1e12 + 1.0, 1e20, 1e308])
def test_more_failures_than_have_digits_are_refused(call, n):
    with pytest.raises(ValueError, match=r"; allowed: whole numbers in \[0, 1e\+12\]$"):
        call(n)


@pytest.mark.parametrize("name, call", [
    ("failures", lambda a: rate_ratio(a, 1.0, 3, 1.0)), ("exposure", lambda a: constant_rate_test([1, 2], a)),
    ("counts", lambda a: goodness_of_fit(a, [9.0, 9.0])), ("edges", lambda a: weibull_fit(a, [3])),
    ("counts", lambda a: weibull_fit([0, 1, 2], a)),
    ("shape", lambda a: weibull_log_likelihood([0, 1, 2], [3, 4], a, 1.0)),
])
def test_masked_arrays_are_refused(name, call):
    with pytest.raises(TypeError, match=f"^{name} = .* is a masked array"):
        call(np.ma.array([1.0, 2.0], mask=[0, 1]))
