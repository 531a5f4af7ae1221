"""What counts of failures say: whether one rate explains them, and which gaps lie between them.

Two kinds of records are read. Counts with exposures: failures seen in groups such as quarters, parts or
ages, each watched for a known time. Binned gaps: how many times between failures fell into each of
several bins. Nothing here needs the single events.
"""

from __future__ import annotations

import reprlib

import numpy as np
from scipy import optimize, special

from lib._checks import plain, real, together, whole

_SHAPES = (0.02, 50.0)  # where a shape is looked for
_GRID = 40  # steps of 22 % between them
_MOST = 1e12  # failures or gaps counted: with more, intervals and statistics lose their digits


def rate_ratio(failures, exposure, other_failures, other_exposure, confidence=0.95):
    r"""Return the ratio of two failure rates, with its exact confidence interval.

    .. math::

        \hat r = \frac{n_1/T_1}{n_2/T_2}, \qquad
        \left[\frac{T_2}{T_1} \frac{p_-}{1 - p_-},\; \frac{T_2}{T_1} \frac{p_+}{1 - p_+}\right],
        \qquad I_{p_-}(n_1, n_2 + 1) = \frac\alpha2, \quad I_{p_+}(n_1 + 1, n_2) = 1 - \frac\alpha2

    with I the regularised incomplete beta function and alpha = 1 - confidence.

    Parameters
    ----------
    failures : int or array_like, [dimensionless]
        Failures counted, whole numbers in [0, 1e12].
    exposure : float or array_like, any time unit
        Time for which they were counted (device-hours), in (0, inf).
    other_failures : int or array_like, [dimensionless]
        Failures counted in the group to compare with, whole numbers in [0, 1e12].
    other_exposure : float or array_like, time unit of `exposure`
        Time for which those were counted, in (0, inf).
    confidence : float or array_like, [dimensionless]
        Probability with which the interval covers the true ratio, at least; in (0, 1).

    Returns
    -------
    estimate, low, high : float or ndarray, [dimensionless]
        The ratio of the first rate to the other and the ends of the central two-sided interval. Without
        a failure in the other group the estimate and `high` are infinite.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range, neither group has a failure, or the shapes do not
        broadcast.

    Notes
    -----
    Clopper and Pearson's interval for the share of all failures that the first group has: exact, because
    that share does not depend on the rates' common level (Theorem D-50 of chapters/beyond/real_failures).
    Valid for one constant rate in each group, with failures that do not come together.

    Examples
    --------
    30 failures in 1000 h after 12 in the 1000 h before:

    >>> [round(value, 2) for value in rate_ratio(30, 1000.0, 12, 1000.0)]
    [2.5, 1.24, 5.36]

    References
    ----------
    Clopper, Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the
    binomial, doi:10.1093/biomet/26.4.404.
    """
    n, time, other, other_time, confidence = together(
        failures=whole("failures", failures, 0, _MOST),
        exposure=real("exposure", exposure, open_low=True, open_high=True),
        other_failures=whole("other_failures", other_failures, 0, _MOST),
        other_exposure=real("other_exposure", other_exposure, open_low=True, open_high=True),
        confidence=real("confidence", confidence, high=1.0, open_low=True, open_high=True),
    )
    if np.any((n == 0.0) & (other == 0.0)):
        raise ValueError("failures = 0 with other_failures = 0 leaves the ratio undefined; "
                         "allowed: at least one failure in one of the two")
    tail = (1.0 - confidence) / 2.0
    with np.errstate(all="ignore"):
        # The ratio of the times in two parts: alone it may overflow to meet a 0, or the other way round.
        (above, i), (below, j) = np.frexp(other_time), np.frexp(time)
        scale = above / below
        found = scale * (n / other), scale * _odds(n, other + 1.0, tail), scale / _odds(other, n + 1.0, tail)
        return tuple(plain(np.ldexp(value, i - j)) for value in found)


def constant_rate_test(failures, exposure):
    r"""Return how strongly counts speak against one rate for all groups: a likelihood-ratio test.

    .. math:: G = 2 \sum_i n_i \ln\frac{n_i}{\hat\lambda T_i}, \qquad
        \hat\lambda = \frac{\sum_i n_i}{\sum_i T_i}, \qquad p = P(\chi^2_{k - 1} \ge G)

    Parameters
    ----------
    failures : int or array_like, [dimensionless]
        Failures counted in each group, whole numbers in [0, 1e12]; groups run along the last axis, at
        least two.
    exposure : float or array_like, any time unit
        Time for which each group was watched (device-hours), in (0, inf); broadcasts against `failures`.

    Returns
    -------
    statistic, freedom, p_value : float or ndarray, [dimensionless]
        G, its degrees of freedom (groups less one), and the probability of a G at least as large if one
        rate holds; 0 where that is below 1e-308.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range, there are fewer than two groups, or the shapes do not
        broadcast.

    Notes
    -----
    Theorem D-50 of chapters/beyond/real_failures. The chi-squared probability is a limit for many
    failures; it is good where a group expects five or more. A small p-value says that the rate differs
    between groups or that failures come together; the counts alone cannot tell the two apart. Rounding
    moves G by some 1e-16 times the number of failures. G may be inf where a group with failures has
    less than about 1e-308 of the time.

    Examples
    --------
    >>> statistic, freedom, p_value = constant_rate_test([12, 30], [1000.0, 1000.0])
    >>> round(statistic, 2), freedom, round(p_value, 4)
    (7.97, 1.0, 0.0048)

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio for testing composite hypotheses,
    doi:10.1214/aoms/1177732360.
    """
    n, time = together(
        failures=np.atleast_1d(whole("failures", failures, 0, _MOST)),
        exposure=np.atleast_1d(real("exposure", exposure, open_low=True, open_high=True)),
    )
    if n.shape[-1] < 2:
        raise ValueError(f"failures has {n.shape[-1]} group along its last axis; allowed: at least two")
    with np.errstate(all="ignore"):
        time = np.ldexp(time, -np.frexp(np.max(time, axis=-1, keepdims=True))[1])  # so that no sum overflows
        share = time / np.sum(time, axis=-1, keepdims=True)
        expected = np.sum(n, axis=-1, keepdims=True) * share
        return _tested(_deviance(n, expected), np.full(n.shape[:-1], n.shape[-1] - 1.0))


def goodness_of_fit(counts, expected, fitted=0, smallest=5.0):
    r"""Return how far counts in bins are from what a distribution lets expect: a G test.

    .. math:: G = 2 \sum_i \left(n_i \ln\frac{n_i}{e_i} - n_i + e_i\right), \qquad
        p = P(\chi^2_{m - 1 - f} \ge G)

    Parameters
    ----------
    counts : int or array_like, shape (bins,), [dimensionless]
        Counts in neighbouring bins, whole numbers in [0, 1e12].
    expected : float or array_like, shape (bins,), [dimensionless]
        Expected counts, finite, >= 0.
    fitted : int, [dimensionless]
        Number f of parameters that were estimated from the same counts, from 0.
    smallest : float, [dimensionless]
        Neighbouring bins are joined, from the first on, until each of the m that remain expects at least
        this many; finite, > 0.

    Returns
    -------
    statistic, freedom, p_value : float, [dimensionless]
        G, its degrees of freedom, and the probability of a G at least as large if the distribution
        holds; 0 where that is below 1e-308.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range, the shapes are not one-dimensional and equal, or too few
        joined bins remain.

    Notes
    -----
    The statistic of Theorem D-50 of chapters/beyond/real_failures. Where the expected counts do not add
    up to the counted ones, the difference counts as part of the misfit.

    Examples
    --------
    >>> statistic, freedom, p_value = goodness_of_fit([60, 22, 14, 4], [63.2, 23.3, 8.6, 4.9], fitted=1)
    >>> round(statistic, 2), freedom, round(p_value, 2)
    (1.6, 1.0, 0.21)

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio for testing composite hypotheses,
    doi:10.1214/aoms/1177732360.
    """
    n = whole("counts", counts, 0, _MOST)
    e = real("expected", expected, open_high=True)
    fitted = float(_single("fitted", whole("fitted", fitted, low=0)))
    smallest = float(_single("smallest", real("smallest", smallest, open_low=True, open_high=True)))
    if n.ndim != 1 or n.shape != e.shape:
        raise ValueError(f"counts has the shape {n.shape} and expected {e.shape}; allowed: one axis, equal")
    starts = _joined(e, smallest)
    freedom = len(starts) - 1.0 - fitted
    if freedom < 1.0:
        raise ValueError(f"expected leaves {len(starts)} bins of at least {smallest:g}; "
                         f"allowed: at least {fitted + 2:g} with fitted = {fitted:g}")
    n, e = np.add.reduceat(n, starts), np.add.reduceat(e, starts)
    return _tested(_deviance(n, e), freedom)


def weibull_log_likelihood(edges, counts, shape, scale):
    r"""Return the logarithm of the probability of binned gaps under a Weibull distribution.

    .. math:: \ell = \sum_i n_i \ln\frac{S(a_i) - S(b_i)}{S(a_1)}, \qquad S(t) = e^{-(t/\theta)^k}

    Parameters
    ----------
    edges : array_like, shape (bins + 1,), any time unit
        Edges of the bins, rising, in [0, inf]; the last may be inf. Gaps below the first edge were not
        recorded or left out.
    counts : array_like, shape (bins,), [dimensionless]
        Gaps in each bin from a_i to b_i, whole numbers in [0, 1e12], at least one in all.
    shape : float or array_like, [dimensionless]
        Shape k, in (0, inf); 1 is the exponential distribution.
    scale : float or array_like, time unit of `edges`
        Scale theta, in (0, inf).

    Returns
    -------
    float or ndarray, [dimensionless]
        The log-likelihood without the multinomial constant, broadcast shape of `shape` and `scale`; -inf
        where a counted bin has no probability.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where `edges` does not rise, `counts` does not have one number for each bin, an argument is
        outside its range, or the shapes of `shape` and `scale` do not broadcast.

    Notes
    -----
    Valid for independent gaps of one distribution. Theorem D-51 of chapters/beyond/real_failures.

    Examples
    --------
    >>> round(weibull_log_likelihood([0, 1, 2, 4], [50, 30, 20], 1.0, 1.5), 3)
    -110.414

    References
    ----------
    Lindsey (1998), A study of interval censoring in parametric regression models,
    doi:10.1023/A:1009681919084.
    """
    edges, counts = _binned(edges, counts)
    shape, scale = together(
        shape=real("shape", shape, open_low=True, open_high=True),
        scale=real("scale", scale, open_low=True, open_high=True),
    )
    with np.errstate(all="ignore"):
        hazard = (edges / scale[..., None]) ** shape[..., None]
        low, high = hazard[..., :-1], hazard[..., 1:]
        terms = counts * (hazard[..., :1] - low + np.log(-np.expm1(low - high)))
        return plain(np.sum(np.where(counts > 0.0, np.where(np.isnan(terms), -np.inf, terms), 0.0), axis=-1))


def weibull_fit(edges, counts, shape=None):
    r"""Return the Weibull distribution under which binned gaps are most likely.

    .. math:: (\hat k, \hat\theta) = \arg\max_{k, \theta} \; \ell(k, \theta)

    with the log-likelihood of `weibull_log_likelihood`.

    Parameters
    ----------
    edges : array_like, shape (bins + 1,), any time unit
        Edges of the bins, rising, in [0, inf]; the last may be inf. Gaps below the first edge were not
        recorded or left out.
    counts : array_like, shape (bins,), [dimensionless]
        Gaps in each bin, whole numbers in [0, 1e12], at least one in all.
    shape : float, [dimensionless], optional
        A shape to keep, in [0.02, 50]; 1 fits the exponential distribution. Without it the shape is
        fitted too.

    Returns
    -------
    shape : float, [dimensionless]
        The shape k: below 1 a failure makes another one soon more likely than later.
    scale : float, time unit of `edges`
        The scale theta; the mean gap is theta Gamma(1 + 1/k).

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where `edges` does not rise, `counts` does not have one number for each bin, an argument is
        outside its range, all gaps lie in the first bin or beyond the last finite edge, or no shape
        inside [0.02, 50] is best.

    Notes
    -----
    For a given shape there is one best scale (Theorem D-51 of chapters/beyond/real_failures), found
    between bounds by Brent's method; the shape is found on a grid of 22 % steps and refined likewise.
    Relative accuracy of the shape 1e-7. Valid for independent gaps of one distribution: a rate that
    changes over the record lowers the shape even if the gaps are exponential at each moment.

    Examples
    --------
    >>> shape, scale = weibull_fit([0, 1, 2, 4, 8], [63, 23, 12, 2])
    >>> round(shape, 3), round(scale, 3)
    (0.994, 1.008)
    >>> round(weibull_fit([0, 1, 2, 4, 8], [63, 23, 12, 2], shape=1.0)[1], 3)
    1.012

    References
    ----------
    Lindsey (1998), A study of interval censoring in parametric regression models,
    doi:10.1023/A:1009681919084.
    """
    gaps = _Gaps(*_binned(edges, counts))
    kept = gaps.best_shape() if shape is None else _kept(shape)
    scale = gaps.best_scale(kept)
    if not 0.0 < scale < np.inf:
        raise ValueError(f"shape = {kept!r} takes powers of `edges` beyond float64; allowed: a smaller shape")
    return kept, scale


def weibull_shape_interval(edges, counts, confidence=0.95):
    r"""Return the shapes that binned gaps allow: the profile-likelihood confidence interval.

    .. math:: \left\{k : 2 \left[\ell(\hat k, \hat\theta) - \max_\theta \ell(k, \theta)\right]
        \le \chi^2_{1;\, \text{confidence}}\right\}

    Parameters
    ----------
    edges : array_like, shape (bins + 1,), any time unit
        Edges of the bins, rising, in [0, inf]; the last may be inf. Gaps below the first edge were not
        recorded or left out.
    counts : array_like, shape (bins,), [dimensionless]
        Gaps in each bin, whole numbers in [0, 1e12], at least one in all.
    confidence : float, [dimensionless]
        Probability with which the interval covers the true shape, in the limit of many gaps; in (0, 1).

    Returns
    -------
    low, high : float, [dimensionless]
        The ends of the interval; 0 or inf where it is wider than [0.02, 50] on that side.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        As `weibull_fit`, or where `confidence` is outside its range.

    Notes
    -----
    The scale is the best one for each shape (Theorem D-51 of chapters/beyond/real_failures). The width
    counts the scatter of independent gaps of one distribution and nothing else.

    Examples
    --------
    >>> low, high = weibull_shape_interval([0, 1, 2, 4, 8], [63, 23, 12, 2])
    >>> round(low, 2), round(high, 2)
    (0.75, 1.27)

    References
    ----------
    Venzon, Moolgavkar (1988), A method for computing profile-likelihood-based confidence intervals,
    doi:10.2307/2347496.
    """
    gaps = _Gaps(*_binned(edges, counts))
    confidence = real("confidence", confidence, high=1.0, open_low=True, open_high=True)
    drop = 0.5 * float(special.chdtri(1.0, 1.0 - _single("confidence", confidence)))
    best = gaps.best_shape()
    low, high = (gaps.shape_at(gaps.profile(best) - drop, best, end) for end in _SHAPES)
    return (0.0 if low is None else low), (np.inf if high is None else high)


def weibull_shape_test(edges, counts, shape=1.0):
    r"""Return how strongly binned gaps speak against one shape: a likelihood-ratio test.

    .. math:: D = 2 \left[\ell(\hat k, \hat\theta) - \max_\theta \ell(k_0, \theta)\right], \qquad
        p = P(\chi^2_1 \ge D)

    Parameters
    ----------
    edges : array_like, shape (bins + 1,), any time unit
        Edges of the bins, rising, in [0, inf]; the last may be inf. Gaps below the first edge were not
        recorded or left out.
    counts : array_like, shape (bins,), [dimensionless]
        Gaps in each bin, whole numbers in [0, 1e12], at least one in all.
    shape : float, [dimensionless]
        The shape k_0 to test, in [0.02, 50]; 1 tests the exponential distribution.

    Returns
    -------
    statistic, p_value : float, [dimensionless]
        D, and the probability of a D at least as large if the shape holds; 0 where that is below 1e-308.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        As `weibull_fit`.

    Notes
    -----
    Theorem D-51 of chapters/beyond/real_failures gives the scale under each shape; the chi-squared
    probability is a limit for many gaps. A small p-value speaks against independent gaps with this shape;
    a rate that changes over the record has the same effect as another shape.

    Examples
    --------
    >>> statistic, p_value = weibull_shape_test([0, 1, 2, 4, 8], [70, 15, 10, 5])
    >>> round(statistic, 2), round(p_value, 4)
    (6.49, 0.0108)

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio for testing composite hypotheses,
    doi:10.1214/aoms/1177732360.
    """
    gaps = _Gaps(*_binned(edges, counts))
    kept = _kept(shape)
    statistic = max(2.0 * (gaps.profile(gaps.best_shape()) - gaps.profile(kept)), 0.0)
    return statistic, float(special.chdtrc(1.0, statistic))


class _Gaps:
    """The bins that hold gaps, with edges in units of the last one, so that no power of them overflows."""

    def __init__(self, edges, counts):
        used = np.flatnonzero(counts)
        if used[-1] == 0 or edges[used[0] + 1] == np.inf:
            raise ValueError("counts has all its gaps in the first bin or beyond the last finite edge; "
                             "allowed: gaps in another bin")
        self.edges, self.counts = edges, counts
        self.unit = edges[used[-1] + 1] if edges[used[-1] + 1] < np.inf else edges[used[-1]]
        self.first, self.number = edges[0] / self.unit, counts[used]
        self.low, self.high = edges[used] / self.unit, edges[used + 1] / self.unit

    def best_scale(self, shape):
        """Return the best scale for a shape; NaN where the powers of the edges vanish.

        The log-likelihood is concave in rho = scale**-shape. Its slope falls through zero between two
        bounds: all gaps in the middle of their bins, in powers, and all at the lower edges.
        """
        with np.errstate(all="ignore"):
            start, width = (edge**shape - below**shape for edge, below in
                            ((self.low, self.first), (self.high, self.low)))
            finite = np.isfinite(width)
            width, number = width[finite], self.number[finite]
            past, inside = np.dot(self.number, start), np.dot(number, width)
            # A little more than the bounds of the theorem, which can agree to all digits.
            bounds = 0.999 * np.sum(number) / (past + 0.5 * inside), 1.001 * np.sum(number) / past
            if not 0.0 < bounds[0] < bounds[1] < np.inf:
                return np.nan
            rho = optimize.brentq(lambda rho: np.dot(number, 1.0 / special.exprel(rho * width)) / rho - past,
                                  *bounds, xtol=1e-300, rtol=1e-14)
            return float(self.unit * rho ** (-1.0 / shape))

    def profile(self, shape):
        """Return the log-likelihood of a shape with its best scale."""
        scale = self.best_scale(shape)
        known = np.isfinite(scale) and scale > 0.0
        return weibull_log_likelihood(self.edges, self.counts, shape, scale) if known else -np.inf

    def best_shape(self):
        grid = np.geomspace(*_SHAPES, _GRID)
        heights = [self.profile(shape) for shape in grid]
        top = int(np.argmax(heights))
        if max(heights[0], heights[-1]) > heights[top] - 1e-6:
            raise ValueError("counts is as likely under a shape of 0.02 or 50 as under any other; "
                             "allowed: counts with one best shape between")
        found = optimize.minimize_scalar(lambda log: -self.profile(np.exp(log)), method="bounded",
                                         bounds=np.log(grid[[top - 1, top + 1]]), options={"xatol": 1e-9})
        return float(np.exp(found.x))

    def shape_at(self, level, best, end):
        """Return the shape between the best one and `end` where the profile falls to `level`, if it does."""
        if self.profile(end) > level:
            return None
        return float(optimize.brentq(lambda shape: max(self.profile(shape) - level, -99.0),  # no -inf
                                     best, end, xtol=1e-10))


def _binned(edges, counts):
    """Check edges and counts of bins and return them as arrays."""
    edges, counts = real("edges", edges), whole("counts", counts, 0, _MOST)
    if edges.ndim != 1 or edges.size < 3 or np.any(np.diff(edges[:-1]) <= 0.0) or edges[-1] <= edges[-2]:
        raise ValueError(f"edges = {reprlib.repr(edges.tolist())} does not rise; allowed: at least three "
                         "rising numbers on one axis")
    if counts.shape != (edges.size - 1,):
        raise ValueError(f"counts has the shape {counts.shape}; "
                         f"allowed: ({edges.size - 1},), one for each bin")
    if not np.any(counts):
        raise ValueError("counts has no gap; allowed: at least one")
    return edges, counts


def _kept(shape):
    return float(_single("shape", real("shape", shape, *_SHAPES)))


def _single(name, array):
    if array.ndim:
        raise ValueError(f"{name} has the shape {array.shape}; allowed: a single number")
    return array


def _joined(expected, smallest):
    """Return where joined bins start, each with at least `smallest` expected; what is left joins the last."""
    starts, held = [0], 0.0
    for i, value in enumerate(expected):
        if held >= smallest:
            starts.append(i)
            held = 0.0
        held += value
    return starts if held >= smallest or len(starts) == 1 else starts[:-1]


def _deviance(counts, expected):
    return 2.0 * np.sum(special.kl_div(counts, expected), axis=-1)


def _tested(statistic, freedom):
    return plain(statistic), plain(freedom), plain(special.chdtrc(freedom, statistic))


def _odds(a, b, tail):
    """Return x/(1 - x) where the regularised incomplete beta function I_x(a, b) is `tail`."""
    return np.where(a > 0.0, special.betaincinv(a, b, tail) / special.betainccinv(b, a, tail), 0.0)
