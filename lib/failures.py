"""How often things fail: component rates, the cascade to a cluster, jobs, intervals, spares.

Everything here rests on constant failure rates (exponential lifetimes), the flat part of a
component's life. Times of one call share one unit unless a name ends in ``_h``.
"""

from __future__ import annotations

import reprlib

import numpy as np
from scipy import special

from lib._checks import plain, real, together, whole

# SciPy 1.17 stops its series for the lower incomplete gamma function after 2000 terms. From about this
# shape on that is too early beyond 4.5 standard deviations, but there an expansion is exact.
_LARGE = 1e5
_LARGEST_MEAN = 1e15  # the pool is a whole number in float64
_NEVER = 2**12  # the power of two of an MTBF beyond float64


def mttf_from_fit(fit):
    r"""Return the MTTF in hours of a component whose failure rate is given in FIT.

    .. math:: \text{MTTF} = 10^9 / \text{FIT}

    Parameters
    ----------
    fit : float or array_like, [1/(1e9 h)]
        Failures per 1e9 device-hours, in [0, inf).

    Returns
    -------
    float or ndarray, [h]
        The MTTF; infinite for a rate of zero.

    Raises
    ------
    TypeError
        Where `fit` is not made of real numbers.
    ValueError
        Where `fit` is negative, infinite or NaN.

    Notes
    -----
    Valid while the failure rate is constant: neither infant mortality nor wear-out.
    Theorem D-30 of chapters/foundations/failure_probability.

    Examples
    --------
    >>> mttf_from_fit(20000)
    50000.0

    References
    ----------
    Barroso, Hölzle, Ranganathan (2019), The datacenter as a computer, 3rd edition,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    fit = real("fit", fit, open_high=True)
    with np.errstate(all="ignore"):
        return plain(1e9 / fit)


def fit_from_mttf(mttf_h):
    r"""Return the failure rate in FIT of a component whose MTTF is given in hours.

    .. math:: \text{FIT} = 10^9 / \text{MTTF}

    Parameters
    ----------
    mttf_h : float or array_like, [h]
        Mean time to failure, in (0, inf].

    Returns
    -------
    float or ndarray, [1/(1e9 h)]
        Failures per 1e9 device-hours; zero for an infinite MTTF.

    Raises
    ------
    TypeError
        Where `mttf_h` is not made of real numbers.
    ValueError
        Where `mttf_h` is zero, negative or NaN.

    Notes
    -----
    The inverse of `mttf_from_fit`, with the same domain of validity.
    Theorem D-30 of chapters/foundations/failure_probability.

    Examples
    --------
    >>> fit_from_mttf([50000.0, 150000.0])
    array([20000.        ,  6666.66666667])

    References
    ----------
    Barroso, Hölzle, Ranganathan (2019), The datacenter as a computer, 3rd edition,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    mttf_h = real("mttf_h", mttf_h, open_low=True)
    with np.errstate(all="ignore"):
        return plain(1e9 / mttf_h)


def series_mtbf(counts, mttfs):
    r"""Return the MTBF of a system that fails as soon as any one of its components does.

    .. math:: \frac{1}{\text{MTBF}} = \sum_i \frac{n_i}{\text{MTTF}_i}

    Parameters
    ----------
    counts : int or array_like, [dimensionless]
        Components of each kind, whole numbers; kinds run along the last axis. A kind may be
        absent (0), but not all of them.
    mttfs : float or array_like, any time unit
        MTTF of each kind, in (0, inf]; broadcasts against `counts`.

    Returns
    -------
    float or ndarray, time unit of `mttfs`
        The system's MTBF, without the last axis; infinite where nothing present ever fails, zero where
        it is too short for float64.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where a count is negative or not whole, all counts of a system are zero, an MTTF is
        zero, negative or NaN, or the shapes do not broadcast.

    Notes
    -----
    The minimum of independent exponential lifetimes is exponential and its rate is the sum of
    theirs; with a rate that changes over life or failures that come together this does not hold.
    Theorem D-30 of chapters/foundations/failure_probability.

    Examples
    --------
    A node of 8 GPUs, 2 network cards and 2 power supplies, in hours:

    >>> round(series_mtbf([8, 2, 2], [50000.0, 150000.0, 100000.0]), 1)
    5172.4

    References
    ----------
    Barroso, Hölzle, Ranganathan (2019), The datacenter as a computer, 3rd edition,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    counts = whole("counts", counts, low=0)
    mttfs = real("mttfs", mttfs, open_low=True)
    counts, mttfs = together(counts=np.atleast_1d(counts), mttfs=np.atleast_1d(mttfs))
    if not np.all(np.any(counts > 0, axis=-1)):
        raise ValueError(f"counts = {reprlib.repr(counts.tolist())} describes a system without components; "
                         "allowed: at least one positive count along the last axis")
    with np.errstate(all="ignore"):
        # The MTBF of each kind in units of the shortest, about: none of these vanishes, whatever the time unit.
        (mttf, i), (count, j) = np.frexp(mttfs), np.frexp(counts)
        of_kind = mttf / count
        unit = np.min(np.where(np.isinf(of_kind), _NEVER, i - j), axis=-1, keepdims=True)
        of_kind = np.ldexp(of_kind, i - j - unit)
        shortest = np.min(of_kind, axis=-1, keepdims=True)
        relative_rates = np.where(np.isinf(shortest), 1.0, shortest / of_kind)
        return plain(np.ldexp(shortest[..., 0] / np.sum(relative_rates, axis=-1), unit[..., 0]))


def cluster_mtbf(node_mtbf, nodes):
    r"""Return the MTBF of a cluster of equal nodes that fails as soon as any one node does.

    .. math:: \text{MTBF}_\text{cluster} = \text{MTBF}_\text{node} / N

    Parameters
    ----------
    node_mtbf : float or array_like, any time unit
        MTBF of one node, in (0, inf].
    nodes : int or array_like, [dimensionless]
        Number of nodes, whole numbers from 1.

    Returns
    -------
    float or ndarray, time unit of `node_mtbf`
        The cluster's MTBF.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where `node_mtbf` is zero, negative or NaN, `nodes` is not a whole number from 1, or the
        shapes do not broadcast.

    Notes
    -----
    Assumes that nodes fail independently at one constant rate; a shared cause (a switch, a rack's
    power) takes several nodes in one failure and leaves fewer, larger failures.
    Theorem D-30 of chapters/foundations/failure_probability.

    Examples
    --------
    >>> round(cluster_mtbf(5172.4, 1250), 2)
    4.14

    References
    ----------
    Kokolis et al. (2025), Revisiting reliability in large-scale machine learning research clusters,
    arXiv:2410.21680.
    """
    node_mtbf = real("node_mtbf", node_mtbf, open_low=True)
    nodes = whole("nodes", nodes)
    node_mtbf, nodes = together(node_mtbf=node_mtbf, nodes=nodes)
    with np.errstate(all="ignore"):
        return plain(node_mtbf / nodes)


def failure_probability(duration, mtbf):
    r"""Return the probability of at least one failure during a job.

    .. math:: \Pr(\ge 1) = 1 - e^{-T/\text{MTBF}}

    Parameters
    ----------
    duration : float or array_like, time unit of `mtbf`
        Length of the job, in [0, inf].
    mtbf : float or array_like, time unit of `duration`
        MTBF of what the job runs on, in (0, inf].

    Returns
    -------
    float or ndarray, [dimensionless]
        The probability, in [0, 1]; accurate to its last digits where it is small, too.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where `duration` is negative or NaN, `mtbf` is zero, negative or NaN, both are infinite,
        or the shapes do not broadcast.

    Notes
    -----
    Valid for a constant failure rate. New hardware fails more often in its first weeks.
    Theorem D-31 of chapters/foundations/failure_probability.

    Examples
    --------
    A day on 32 nodes whose MTBF is 161.6 h:

    >>> round(failure_probability(24.0, 161.6), 4)
    0.138

    References
    ----------
    Kokolis et al. (2025), Revisiting reliability in large-scale machine learning research clusters,
    arXiv:2410.21680.
    """
    duration = real("duration", duration)
    mtbf = real("mtbf", mtbf, open_low=True)
    duration, mtbf = together(duration=duration, mtbf=mtbf)
    if np.any(np.isinf(duration) & np.isinf(mtbf)):
        raise ValueError("duration = inf with mtbf = inf leaves the probability undefined; "
                         "allowed: at most one of the two infinite")
    with np.errstate(all="ignore"):
        return plain(-np.expm1(-(duration / mtbf)))


def mttf_interval(failures, exposure, confidence=0.95):
    r"""Return an MTTF estimated from observed failures, with its exact confidence interval.

    .. math::

        \widehat{\text{MTTF}} = \frac{T}{n}, \qquad
        \left[\frac{T}{Q^{-1}(n+1, \alpha/2)},\; \frac{T}{P^{-1}(n, \alpha/2)}\right],
        \qquad \alpha = 1 - \text{confidence}

    with P and Q the regularised incomplete gamma functions: half of a chi-squared quantile.

    Parameters
    ----------
    failures : int or array_like, [dimensionless]
        Failures counted, whole numbers from 0.
    exposure : float or array_like, any time unit
        Total time that all components together were watched (device-hours), in (0, inf).
    confidence : float or array_like, [dimensionless]
        Probability with which the interval covers the true MTTF, at least; in (0, 1).

    Returns
    -------
    estimate, low, high : float or ndarray, time unit of `exposure`
        The maximum-likelihood MTTF and the ends of the central two-sided interval. Without a
        failure the estimate and `high` are infinite and `low` stays finite.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where `failures` is not a whole number from 0, `exposure` or `confidence` is outside its
        range, or the shapes do not broadcast.

    Notes
    -----
    Garwood's interval: exact for a Poisson count, that is for one constant rate and an exposure that
    does not depend on the failures seen. It covers the true MTTF with at least the stated
    probability, and with more where few failures are expected, because a count is whole. It says
    nothing about a rate that drifts or components that differ. It rests on Theorem D-30 of
    chapters/foundations/failure_probability: the rates of all components add.

    Examples
    --------
    >>> estimate, low, high = mttf_interval(10, 500000.0)
    >>> round(estimate), round(low), round(high)
    (50000, 27188, 104267)
    >>> mttf_interval(0, 500000.0)[0]
    inf

    References
    ----------
    Garwood (1936), Fiducial limits for the Poisson distribution, doi:10.1093/biomet/28.3-4.437.
    """
    failures = whole("failures", failures, low=0)
    exposure = real("exposure", exposure, open_low=True, open_high=True)
    confidence = real("confidence", confidence, high=1.0, open_low=True, open_high=True)
    failures, exposure, confidence = together(failures=failures, exposure=exposure, confidence=confidence)
    tail = (1.0 - confidence) / 2.0
    with np.errstate(all="ignore"):
        normal = special.ndtri(tail)
        least = np.where(failures < _LARGE, special.gammaincinv(failures, tail),
                         failures + _gamma_excess(failures, normal))
        most = np.where(failures < _LARGE, special.gammainccinv(failures + 1.0, tail),
                        failures + 1.0 + _gamma_excess(failures + 1.0, -normal))
        high = np.where(failures > 0.0, exposure / least, np.inf)
        return plain(exposure / failures), plain(exposure / most), plain(high)


def spare_pool(failure_rate, replacement_time, coverage=None):
    r"""Return the mean number of spares in use, or the smallest pool that suffices with a given probability.

    .. math:: \lambda T, \qquad \min\{k : \Pr(X \le k) \ge \text{coverage}\},
        \quad X \sim \text{Poisson}(\lambda T)

    Parameters
    ----------
    failure_rate : float or array_like, per time unit of `replacement_time`
        Node failures of the whole cluster per unit of time, in [0, inf).
    replacement_time : float or array_like, any time unit
        Mean time until a failed node is replaced, in [0, inf).
    coverage : float or array_like, [dimensionless], optional
        Probability that the pool suffices at a random moment, in [0, 1).

    Returns
    -------
    float or ndarray, [dimensionless]
        Without `coverage` the mean number of nodes out for replacement; with it the pool's size,
        a whole number.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where `failure_rate` or `replacement_time` is negative, infinite or NaN, `coverage` is
        outside [0, 1), the mean exceeds 1e15 and `coverage` is given, or the shapes do not broadcast.

    Notes
    -----
    With failures at a constant rate and replacements that don't wait for each other, the number of
    nodes out is Poisson whatever the distribution of the replacement time. Failures that come in
    groups, or repairs that queue, need a larger pool. The size is the exact minimum for the mean as
    float64 has it, unless Pr(X <= k) and `coverage` agree to about 13 digits.
    Theorem D-13 of chapters/scaling/spares.

    Examples
    --------
    20 failures per hour, a day to replace each; then the pool that suffices 99.9 % of the time:

    >>> spare_pool(20.0, 24.0)
    480.0
    >>> spare_pool(20.0, 24.0, coverage=0.999)
    549.0

    References
    ----------
    Eick, Massey, Whitt (1993), The physics of the M_t/G/infinity queue, doi:10.1287/opre.41.4.731.
    """
    failure_rate = real("failure_rate", failure_rate, open_high=True)
    replacement_time = real("replacement_time", replacement_time, open_high=True)
    if coverage is None:
        rate, time = together(failure_rate=failure_rate, replacement_time=replacement_time)
        with np.errstate(all="ignore"):
            return plain(rate * time)
    coverage = real("coverage", coverage, high=1.0, open_high=True)
    rate, time, coverage = together(
        failure_rate=failure_rate, replacement_time=replacement_time, coverage=coverage)
    with np.errstate(all="ignore"):
        mean = rate * time
    if np.any(mean > _LARGEST_MEAN):
        raise ValueError(f"failure_rate * replacement_time = {np.max(mean):g} is outside the domain; "
                         f"allowed range [0, {_LARGEST_MEAN:g}] where coverage is given")
    return plain(_smallest_pool(mean, coverage))


def _smallest_pool(mean, coverage):
    r"""Bisection on whole numbers between -1, never enough, and a pool that always is.

    By Bernstein's inequality a Poisson variable exceeds m + 9 sqrt(m) + 40 with a probability below
    1e-16, less than any `coverage` below one leaves.
    """
    low = np.full(np.shape(mean), -1.0)
    high = np.ceil(mean + 9.0 * np.sqrt(mean) + 40.0)
    while np.any(high - low > 1.0):
        middle = np.floor((low + high) / 2.0)
        enough = (middle > low) & _suffices(middle, mean, coverage)
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return high


def _suffices(pool, mean, coverage):
    """Whether Pr(X <= pool) >= coverage, from the smaller of the two tails: the larger has no digits left."""
    with np.errstate(all="ignore"):
        by_head = special.gammaincc(pool + 1.0, mean) >= coverage
        by_tail = special.gammainc(pool + 1.0, mean) <= 1.0 - coverage
        # The tail's inequality solved for the mean, which is then a quantile of a gamma variable.
        by_mean = mean - (pool + 1.0) <= _gamma_excess(pool + 1.0, special.ndtri(1.0 - coverage))
    return np.where(coverage < 0.5, by_head, np.where(mean < _LARGE, by_tail, by_mean))


def _gamma_excess(shape, normal):
    """Quantile of a gamma variable minus its shape, where the normal distribution has the quantile `normal`.

    The Cornish-Fisher expansion (Fisher, Cornish 1960, doi:10.1080/00401706.1960.10489895). For shapes
    from 1e5 and normal quantiles up to 8.3 the first term left out is below 1e-10.
    """
    z, root = normal, shape**0.5
    return (z * root + (z**2 - 1.0) / 3.0
            + z * (z**2 - 7.0) / 36.0 / root
            - (3.0 * z**4 + 7.0 * z**2 - 16.0) / 810.0 / shape
            + z * (9.0 * z**4 + 256.0 * z**2 - 433.0) / 38880.0 / shape / root
            + (12.0 * z**6 - 243.0 * z**4 - 923.0 * z**2 + 1472.0) / 204120.0 / shape / shape)
