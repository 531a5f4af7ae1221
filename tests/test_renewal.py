"""lib.renewal against closed forms, 50-digit sums and simulation."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lib import intervals, overhead
from lib.renewal import best_interval, slowdown
from lib.simulate import simulate

pytestmark = pytest.mark.filterwarnings("error")
mpmath.mp.dps = 50
BOTH = pytest.mark.parametrize("exposed", [True, False])
OTHERS = stats.lognorm(1.2), stats.uniform(1.0, 5.0)
times = st.floats(1e-4, 20.0)


def of_mean(mean, shape):
    return stats.weibull_min(shape, scale=mean / stats.weibull_min(shape).mean())


@settings(deadline=None, derandomize=True, max_examples=60)
@given(times, st.just(0.0) | times, st.just(0.0) | times, st.booleans())
def test_exponential_gaps_give_the_closed_form(tau, delta, restart, exposed):
    expected = overhead.slowdown(tau, delta, 4.0, restart, exposed_writes=exposed)
    got = slowdown(tau, delta, stats.expon(scale=4.0), restart, exposed_writes=exposed)
    assert got == pytest.approx(expected, rel=1e-9)


def reference(tau, delta, restart, mean, terms, exposed):
    """Evaluate the theorem; `terms(start, step)` is the sum of P(X >= start + n step) in 50 digits."""
    if exposed:
        return mean / (tau * terms(restart, tau + delta))
    return (mean + restart) / (tau * terms(mpmath.mpf(0), tau)) + delta / tau


@BOTH
@pytest.mark.parametrize("tau", [3.0, 0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("alpha", [1.2, 2.0, 3.5])
def test_heavy_tails_give_the_zeta_function(tau, alpha, exposed):
    # P(X >= x) = (1 + x)^-alpha
    def terms(start, step):
        return step**-alpha * mpmath.zeta(alpha, 1 + (1 + start) / step)

    tau, delta, restart, alpha = map(mpmath.mpf, (tau, 0.001, 0.25, alpha))
    expected = reference(tau, delta, restart, 1 / (alpha - 1), terms, exposed)
    gaps = stats.lomax(float(alpha))
    got = slowdown(float(tau), float(delta), gaps, float(restart), exposed_writes=exposed)
    assert got == pytest.approx(float(expected), rel=1e-9)


@BOTH
@pytest.mark.parametrize("shape", [0.5, 0.8, 2.0])
def test_weibull_gaps_give_the_sum(shape, exposed):
    def terms(start, step):
        total, n = mpmath.mpf(0), 0
        while True:
            n += 1
            term = mpmath.exp(-(((start + n * step) / 3) ** mpmath.mpf(shape)))
            total += term
            if term < mpmath.mpf("1e-25"):
                return total

    tau, delta, restart = map(mpmath.mpf, (0.7, 0.1, 0.3))
    expected = reference(tau, delta, restart, 3 * mpmath.gamma(1 + 1 / mpmath.mpf(shape)), terms, exposed)
    gaps = stats.weibull_min(shape, scale=3.0)
    got = slowdown(0.7, 0.1, gaps, 0.3, exposed_writes=exposed)
    assert got == pytest.approx(float(expected), rel=1e-12)


# --- more intervals in a gap than are summed one by one


def summed(gaps, start, step):
    """The sum of P(X >= start + n step), term by term."""
    total, terms, numbers = 0.0, np.ones(1), np.arange(1.0, 10**6 + 1.0)
    with np.errstate(all="ignore"):
        while terms[-1] > 1e-19 * total:
            terms = gaps.sf(start + step * numbers)
            total, numbers = total + np.sum(terms), numbers + numbers.size
    return total


BINS = stats.rv_histogram(np.histogram([0.2, 0.3, 0.3, 0.9, 1.0, 1.1, 1.2, 2.5], bins=7))()
#: Densities that are infinite at an end, have a kink, are narrow, or begin late.
MANY = dict(
    uniform=stats.uniform(0.0, 2.0), later=stats.uniform(1.0, 5.0), arcsine=stats.arcsine(),
    beta=stats.beta(0.1, 0.1), later_beta=stats.beta(0.1, 0.1, loc=1.0), at_end=stats.beta(2.0, 0.02),
    narrow=stats.weibull_min(500.0), one_length=stats.weibull_min(1e5), regular=stats.weibull_min(20.0),
    exponential=stats.expon(), triangle=stats.triang(0.3), trapezoid=stats.trapezoid(0.2, 0.5),
    power=stats.powerlaw(50.0), cut_short=stats.truncexpon(30.0), log_uniform=stats.loguniform(1e-3, 5.0),
    cut_off=stats.truncnorm(0.0, 3.0, loc=0.5, scale=0.1), gamma=stats.gamma(5.0),
    bathtub=stats.johnsonsb(1.0, 0.3),
)


@pytest.mark.parametrize("name, share", [*((name, share) for name in MANY for share in (1e-4, 1e-5)),
                                         ("uniform", 1e-6), ("narrow", 1e-6), ("beta", 3e-5)])
def test_many_intervals_in_a_gap(name, share):
    """Intervals of a share of the mean: few more than are summed one by one, or many times as many."""
    gaps = MANY[name]
    step = share * gaps.mean()
    for restart in (0.0, 0.3 * gaps.mean()):
        expected = gaps.mean() / (0.9 * step * summed(gaps, restart, step))
        assert slowdown(0.9 * step, 0.1 * step, gaps, restart) == pytest.approx(expected, rel=1e-9)
    expected = 1.3 * gaps.mean() / (step * summed(gaps, 0.0, step)) + 0.1
    got = slowdown(step, 0.1 * step, gaps, 0.3 * gaps.mean(), exposed_writes=False)
    assert got == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("share", [6e-5, 3e-5, 1e-6])
def test_a_density_that_jumps(share):
    step = share * BINS.mean()
    expected = BINS.mean() / (0.9 * step * summed(BINS, 0.0, step))
    assert slowdown(0.9 * step, 0.1 * step, BINS) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [1e-4, 1e-6, 1e-9, 1e-12])
def test_uniform_gaps_in_closed_form(share):
    """Where the longest gap is k intervals, a gap completes (k - 1)/2; where it is k + 1/2, k^2/(2 k + 1)."""
    k = int(1 / share)
    for longest, terms in (k, (k - 1) / 2), (k + 0.5, k * k / (2 * k + 1)):
        expected = longest / 2 / terms
        assert slowdown(1.0, 0.0, stats.uniform(0.0, float(longest))) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("tau", [3.0, 1e-3, 1e-6])
@pytest.mark.parametrize("alpha", [1.1, 1.2, 1.5])
def test_tails_with_hardly_a_mean_give_the_zeta_function(alpha, tau):
    power, step = mpmath.mpf(alpha), mpmath.mpf(tau)
    expected = 1 / (power - 1) / (step * step**-power * mpmath.zeta(power, 1 + 1 / step))
    assert slowdown(tau, 0.0, stats.lomax(alpha)) == pytest.approx(float(expected), rel=1e-9)


def test_restarts_far_beyond_the_mean():
    """Exponential gaps do not remember: after any restart time the same number of intervals follows."""
    expected = overhead.slowdown(1e-5, 1e-6, 1.0, 300.0)
    assert slowdown(1e-5, 1e-6, stats.expon(), 300.0) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gaps", [*MANY.values(), stats.lomax(1.1), stats.expon(scale=1e-200),
                                  stats.weibull_min(0.7, scale=1e200), stats.uniform(1e5, 1e-3)])
@BOTH
def test_the_slowdown_is_a_number_for_every_interval(gaps, exposed):
    intervals_ = gaps.mean() * 10.0 ** np.array([-12.0, -11.0, -10.0, -9.0, -8.5, -1.0, 1.0, 100.0])
    costs = slowdown(intervals_, 0.0, gaps, exposed_writes=exposed)
    assert np.all(costs >= 1.0 - 1e-8) and costs[:5] == pytest.approx(np.ones(5), rel=1e-8)


@BOTH
def test_best_interval_is_as_close_as_stated(exposed):
    dice = np.random.default_rng(11)
    for _ in range(40):
        mean, power, restart = 10.0 ** dice.uniform(-3, 3), dice.uniform(-10, 1), 10.0 ** dice.uniform(-3, 1)
        delta, restart = mean * 10.0**power, mean * restart * (dice.random() < 0.5)
        expected = intervals.optimal(delta, mean, restart, exposed_writes=exposed)
        got = best_interval(delta, stats.expon(scale=mean), restart, exposed_writes=exposed)
        allowed = max(5e-6, 5e-8 * ((mean + restart) / delta) ** 0.25)
        assert got == pytest.approx(expected, rel=allowed), (delta, mean, restart)


# --- other properties


def test_uniform_gaps_by_hand():
    gaps = stats.uniform(0.0, 10.0)  # P(X >= x) = 1 - x/10: after a restart of 1, steps of 3 leave .6 + .3
    assert slowdown(2.0, 1.0, gaps, 1.0) == pytest.approx(5.0 / (2.0 * 0.9))
    assert slowdown(4.0, 1.0, gaps, 1.0, exposed_writes=False) == pytest.approx(6.0 / (4.0 * 0.8) + 0.25)
    assert slowdown(11.0, 1.0, gaps) == np.inf


@BOTH
@pytest.mark.parametrize("gaps", [of_mean(4.0, 0.6), of_mean(4.0, 2.0), *OTHERS])
def test_long_runs_agree(gaps, exposed):
    sample = simulate(1e5, 0.4, 0.05, gaps, 0.2, exposed_writes=exposed, runs=100, seed=3)
    expected = slowdown(0.4, 0.05, gaps, 0.2, exposed_writes=exposed)
    assert sample.slowdown_error < 0.001 * expected
    assert abs(sample.slowdown - expected) < 4.0 * sample.slowdown_error


@BOTH
@pytest.mark.parametrize("delta", [1e-3, 0.02, 1.0, 10.0])
def test_best_interval_of_exponential_gaps_is_the_optimum(delta, exposed):
    expected = intervals.optimal(delta, 4.0, 0.5, exposed_writes=exposed)
    got = best_interval(delta, stats.expon(scale=4.0), 0.5, exposed_writes=exposed)
    assert got == pytest.approx(expected, rel=1e-6)


@BOTH
@pytest.mark.parametrize("gaps", [of_mean(4.0, 0.5), of_mean(4.0, 2.0), *OTHERS])
def test_no_other_interval_is_better(gaps, exposed):
    best = best_interval(0.02, gaps, 0.1, exposed_writes=exposed)
    others = best * np.concatenate([np.geomspace(0.05, 20.0, 301), [0.999, 1.001]])
    costs = slowdown(others, 0.02, gaps, 0.1, exposed_writes=exposed)
    assert slowdown(best, 0.02, gaps, 0.1, exposed_writes=exposed) <= costs.min() * (1.0 + 1e-12)


def test_units_do_not_matter():
    hours, minutes = (best_interval(0.02 * u, of_mean(4.0 * u, 0.7), 0.1 * u) for u in (1.0, 60.0))
    assert minutes == pytest.approx(60.0 * hours, rel=1e-6)


def test_no_restart_time_is_the_default():
    gaps = of_mean(4.0, 0.7)
    assert slowdown(0.4, 0.02, gaps) == slowdown(0.4, 0.02, gaps, 0.0)
    assert best_interval(0.02, gaps) == best_interval(0.02, gaps, 0.0)


def test_shapes():
    gaps = stats.expon(scale=4.0)
    assert isinstance(slowdown(0.4, 0.02, gaps), float) and isinstance(best_interval(0.02, gaps), float)
    assert slowdown(np.ones((2, 1)), np.ones(3), gaps).shape == (2, 3)
    assert best_interval(np.array([0.02, 0.0]), gaps, np.ones((2, 1))).shape == (2, 2)
    assert best_interval(0.0, gaps) == 0.0
    assert slowdown(np.ones((0, 2)), 1.0, gaps).shape == best_interval(np.ones((0, 2)), gaps).shape == (0, 2)


@pytest.mark.parametrize("arguments, error, text", [
    ((0.0, 0.1), ValueError, "interval = 0"),
    ((np.inf, 0.1), ValueError, "interval = inf"),
    ((1.0, -0.1), ValueError, "write_time = -0.1"),
    ((1.0, np.inf), ValueError, "write_time = inf"),
    ((1.0, "x"), TypeError, "write_time = 'x'"),
    ((1.0, 0.1, stats.expon(), np.nan), ValueError, "restart_time = nan"),
    ((1.0, 0.1, stats.expon(), np.inf), ValueError, "restart_time = inf"),
    (([1.0, 2.0], [1.0, 2.0, 3.0]), ValueError, r"interval \(2,\), write_time \(3,\)"),
    ((1.0, 0.1, 4.0), TypeError, "gaps = 4.0"),
    ((1.0, 0.1, lambda rng, size: 1.0), TypeError, "gaps = "),
    ((1.0, 0.1, stats.poisson(4)), TypeError, r"^gaps = poisson\(4\) is discrete; allowed: a frozen cont"),
    ((1.0, 0.1, stats.geom(p=0.5)), TypeError, r"^gaps = geom\(p=0\.5\) is discrete; "),
    ((1.0, 0.1, stats.expon), TypeError, "^gaps = expon is not frozen; allowed: a frozen continuous SciPy dist"),
    ((1.0, 0.1, stats.weibull_min), TypeError, "^gaps = weibull_min is not frozen; allowed: .*expon.scale=4"),
    ((1.0, 0.1, stats.poisson), TypeError, "^gaps = poisson is not frozen; "),
    ((1.0, 0.1, np.ones(3)), TypeError, r"^gaps = array\(\[1\., 1\., 1\.\]\) is not a frozen SciPy dist"),
    ((1.0, 0.1, stats.expon([1, 2])), ValueError, r"^gaps = expon\(\[1, 2\]\) has the shape \(2,\); allowed: a"),
    ((1.0, 0.1, stats.expon(scale=[[4.0]])), ValueError, r"^gaps = expon\(scale=\[\[4\.0\]\]\) has the shape"),
    ((1.0, 0.1, stats.weibull_min(-1.0)), ValueError, r"^gaps begins at nan; allowed range \[0, inf\)"),
    ((1.0, 0.1, stats.expon(-5e-324)), ValueError, r"^gaps begins at -5e-324; allowed range \[0, inf\)"),
    ((1.0, 0.1, stats.norm(10.0)), ValueError, "gaps begins at -inf"),
    ((1.0, 0.1, stats.lomax(0.9)), ValueError, "gaps has the mean inf"),
])
def test_bad_input_is_named(arguments, error, text):
    arguments = (*arguments, stats.expon())[:max(3, len(arguments))]
    with pytest.raises(error, match=text):
        slowdown(*arguments)


@pytest.mark.parametrize("arguments, options, error, text", [
    ((-1.0, stats.expon()), {}, ValueError, "write_time = -1"),
    ((np.inf, stats.expon()), {}, ValueError, "write_time = inf"),
    ((1.0, stats.expon(), np.inf), {}, ValueError, "restart_time = inf"),
    ((1.0, None), {}, TypeError, "gaps = None"),
    ((1.0, stats.expon()), {"exposed_writes": "yes"}, TypeError, "exposed_writes = 'yes'"),
    ((1.0, stats.uniform(0.0, 1.0), 2.0), {}, ValueError, "gaps: no interval"),
    ((1.0, of_mean(4.0, 0.04)), {}, ValueError, "gaps: no interval"),  # half of the gaps are below 1e-28
])
def test_bad_input_of_best_interval_is_named(arguments, options, error, text):
    with pytest.raises(error, match=text):
        best_interval(*arguments, **options)


def test_text_says_where_no_interval_is_best():
    start = intervals.optimal(1.0, 0.5, 2.0)
    with pytest.raises(ValueError) as error:
        best_interval(1.0, stats.uniform(0.0, 1.0), 2.0)
    assert str(error.value) == f"gaps: no interval between {start / 100.0!r} and {start * 100.0!r} is best"
