"""Checkpoints under any renewal process of failures: the long-run slowdown and the best interval.

The model is that of `lib.simulate`: each failure begins a new gap on the failure clock. The clock is
the wall clock with *exposed writes* and stands still in writes and restarts with *protected writes*.
Gaps are independent of each other, and so is what each completes. One sum over the distribution of
a gap therefore replaces a simulation.
"""

from __future__ import annotations

import reprlib

import numpy as np
from scipy import integrate, optimize, stats

from lib._checks import plain, real, together
from lib.intervals import _flag, optimal

_TERMS = 2**8, 2**11, 2**14  # terms of the sum: most tails end early, and an integral takes the rest
_ENDS = _TERMS[-1]  # terms summed where gaps begin and where they end: a density may be infinite there
# Where the integral is cut: at the gaps that these shares of all gaps exceed.
_SHARES = 1.0 - 1e-15, 1.0 - 1e-9, 0.999, 0.9, 0.5, 0.1, 1e-3, 1e-9, 1e-15
_ALLOWED = "allowed: a frozen continuous SciPy distribution, such as stats.expon(scale=4.0)"


def slowdown(interval, write_time, gaps, restart_time=0.0, *, exposed_writes=True):
    r"""Return the long-run wall time per unit of useful time under a renewal process of failures.

    .. math:: \frac{E[X]}{\tau \sum_{n \ge 1} P(X \ge R + n (\tau + \delta))} \text{ (exposed)}, \qquad
        \frac{E[X] + R}{\tau \sum_{n \ge 1} P(X \ge n \tau)} + \frac{\delta}{\tau} \text{ (protected)}

    Parameters
    ----------
    interval : float or array_like, time unit of `gaps`
        Compute time tau between checkpoints, finite, > 0.
    write_time : float or array_like, time unit of `gaps`
        Time delta to write one checkpoint, finite, >= 0.
    gaps : frozen continuous SciPy distribution, any time unit
        Time X between failures of the whole system, on [0, inf) with a finite mean > 0.
    restart_time : float or array_like, time unit of `gaps`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray
        Wall time over useful time, broadcast shape, in [1, inf] [dimensionless].

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, `exposed_writes` is not a bool, or `gaps` is not a
        distribution of SciPy, not frozen or not continuous.
    ValueError
        Where a time is NaN or outside its range, the shapes do not broadcast, `gaps` holds several
        distributions or negative gaps, or its mean is not in (0, inf).

    Notes
    -----
    Theorem D-44 of chapters/beyond/simulation, by renewal reward: the mean time from failure to failure
    over the mean useful time in it, which is tau times the mean number of complete intervals. It is
    exact in the limit of long work; a run with n failures differs by a share of order 1/n. With
    exponential gaps it is `lib.overhead.slowdown`, exact for every length. It is inf where no gap is
    long enough for an interval. Relative accuracy 1e-9, as far as `gaps.sf` and `gaps.mean` are right, for
    intervals from 1e-12 of the mean gap on and tails that fall faster than x^-1.1. A density that jumps
    inside its support, as that of a histogram does, leaves 1e-6 once a gap holds more than 16384 intervals.

    Examples
    --------
    >>> from scipy import stats
    >>> round(slowdown(0.4, 0.02, stats.expon(scale=4.0)), 6)
    1.107106
    >>> round(slowdown(0.4, 0.02, stats.weibull_min(0.7, scale=4.0)), 6)
    1.092647

    References
    ----------
    Ross (1996), Stochastic Processes, 2nd ed., section 3.6, ISBN 978-0-471-12062-9.
    Bougeret, Casanova, Rabie, Robert, Vivien (2011), Checkpointing strategies for parallel jobs,
    doi:10.1145/2063384.2063428.
    """
    exposed, mean = _flag(exposed_writes), _mean(gaps)
    tau, delta, restart = together(
        interval=real("interval", interval, open_low=True, open_high=True),
        write_time=real("write_time", write_time, open_high=True),
        restart_time=real("restart_time", restart_time, open_high=True),
    )
    with np.errstate(all="ignore"):
        if exposed:
            return plain(mean / (tau * _intervals_in_gap(gaps, restart, tau + delta)))
        return plain((mean + restart) / (tau * _intervals_in_gap(gaps, 0.0, tau)) + delta / tau)


def best_interval(write_time, gaps, restart_time=0.0, *, exposed_writes=True):
    r"""Return the interval of least long-run slowdown under a renewal process of failures.

    .. math:: \arg\min_\tau \; \text{slowdown}(\tau)

    Parameters
    ----------
    write_time : float or array_like, time unit of `gaps`
        Time delta to write one checkpoint, finite, >= 0.
    gaps : frozen continuous SciPy distribution, any time unit
        Time X between failures of the whole system, on [0, inf) with a finite mean > 0.
    restart_time : float or array_like, time unit of `gaps`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0. With
        gaps that are not exponential it moves the optimum in both models.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray
        Compute time tau between checkpoints, broadcast shape, time unit of `gaps`.

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, `exposed_writes` is not a bool, or `gaps` is not a
        distribution of SciPy, not frozen or not continuous.
    ValueError
        Where a time is NaN or outside its range, the shapes do not broadcast, `gaps` holds several
        distributions or negative gaps, its mean is not in (0, inf), or no interval within a factor of
        100 of the exponential optimum is best.

    Notes
    -----
    The least value of Theorem D-44 of chapters/beyond/simulation. Found on a grid of 8 % steps around
    `lib.intervals.optimal` for the same mean, then by Brent's method. The slowdown is flat there, so that
    its rounding moves the interval: by a relative 5e-6 at most, or 5e-8 ((E[X] + R) / delta)^(1/4) where
    that is more, which no slowdown shows. A slowdown with several narrow minima, which nearly regular
    gaps have, can hide one between grid points. A write time of 0 gives an interval of 0.

    Examples
    --------
    >>> from scipy import stats
    >>> round(best_interval(0.02, stats.expon(scale=4.0)), 5)  # lib.intervals.optimal(0.02, 4.0)
    0.38678
    >>> round(best_interval(0.02, stats.weibull_min(0.7, scale=4.0)), 5)
    0.45599

    References
    ----------
    Ross (1996), Stochastic Processes, 2nd ed., section 3.6, ISBN 978-0-471-12062-9.
    Bougeret, Casanova, Rabie, Robert, Vivien (2011), Checkpointing strategies for parallel jobs,
    doi:10.1145/2063384.2063428.
    """
    exposed, mean = _flag(exposed_writes), _mean(gaps)
    delta, restart = together(
        write_time=real("write_time", write_time, open_high=True),
        restart_time=real("restart_time", restart_time, open_high=True),
    )
    start = optimal(delta, mean, restart, exposed_writes=exposed)
    find = np.vectorize(lambda d, r, s: _best(d, gaps, r, exposed, s), otypes=[float])
    return plain(find(delta, restart, start))


def _best(delta, gaps, restart, exposed, start):
    if delta == 0.0:
        return 0.0

    def cost(log_interval):
        return slowdown(start * np.exp(log_interval), delta, gaps, restart, exposed_writes=exposed)

    grid = np.linspace(-np.log(100.0), np.log(100.0), 121)
    # An interval costs at least 1 + delta/tau. Where that exceeds the cost at the start it is not best.
    possible = (cost(0.0) - 1.0) * start * np.exp(grid) >= delta
    grid = grid[max(int(np.argmax(possible)) - 1, 0):]
    costs = cost(grid)
    least = int(np.argmin(costs))
    if least in (0, len(grid) - 1) or not np.isfinite(costs[least]):
        raise ValueError(f"gaps: no interval between {start / 100.0!r} and {start * 100.0!r} is best")
    bounds = grid[least - 1], grid[least + 1]
    found = optimize.minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return start * np.exp(found.x)


@np.vectorize(excluded=[0], otypes=[float])
def _intervals_in_gap(gaps, start, step):
    """Return the mean number of whole steps in a gap after `start`: the sum of P(X >= start + n step)."""
    total, summed = 0.0, 0
    for terms in _TERMS:
        total += _terms(gaps, start, step, summed, terms)
        summed = terms
        tail = float(gaps.sf(start + step * (terms + 0.5)))
        if tail <= 1e-18 * total:
            return total
    if tail == 1.0:  # all gaps are longer; up to where a share of 1e-17 is shorter, the terms are 1
        common = np.floor((float(gaps.ppf(1e-17)) - start) / step)
        if common > summed:
            total += common - summed + _terms(gaps, start, step, common, common + _ENDS)
            summed = common + _ENDS
    return total + _rest(gaps, start, step, summed)


def _terms(gaps, start, step, after, last):
    return float(np.sum(gaps.sf(start + step * np.arange(after + 1.0, last + 1.0))))


def _rest(gaps, start, step, after):
    """Return the sum of all terms behind number `after`: the last ones themselves, the others by an integral."""
    end = float(gaps.support()[1])
    last = np.floor((end - start) / step)
    if last <= after + _ENDS:
        return _terms(gaps, start, step, after, last)
    before, closing = np.inf, 0.0
    if last < 2.0**52:  # beyond, rounding knows no single step
        before, closing = last - _ENDS, _terms(gaps, start, step, last - _ENDS, last)
    low, high = start + step * (after + 0.5), min(start + step * (before + 0.5), end)
    return _area(gaps, low, high) / step + closing


def _area(gaps, low, high):
    """Return the integral of P(X >= x), cut at quantiles so that no steep fall stays unseen, in units of the mean."""
    cuts = gaps.isf(_SHARES)
    points = np.unique([low, *cuts[(cuts > low) & (cuts < high)], high])
    unit = float(gaps.mean())
    pieces = integrate.tanhsinh(lambda t: gaps.sf(unit * t), points[:-1] / unit, points[1:] / unit, rtol=1e-11)
    return unit * float(np.sum(pieces.integral))


def _mean(gaps):
    """Return the mean of gaps that a theorem can take, and refuse others by what is wrong with them."""
    shown = _shown(gaps)
    if isinstance(gaps, (stats.rv_continuous, stats.rv_discrete)):
        raise TypeError(f"gaps = {shown} is not frozen; {_ALLOWED}")
    kind = getattr(gaps, "dist", None)
    if isinstance(kind, stats.rv_discrete):
        raise TypeError(f"gaps = {shown} is discrete; {_ALLOWED}")
    if not isinstance(kind, stats.rv_continuous):
        raise TypeError(f"gaps = {shown} is not a frozen SciPy distribution; {_ALLOWED}")
    mean = gaps.mean()
    if np.ndim(mean):
        raise ValueError(f"gaps = {shown} has the shape {np.shape(mean)}; allowed: a single distribution")
    lowest = float(gaps.support()[0])
    if not lowest >= 0.0:
        raise ValueError(f"gaps begins at {lowest!r}; allowed range [0, inf)")
    if not 0.0 < mean < np.inf:
        raise ValueError(f"gaps has the mean {float(mean)!r}; allowed range (0, inf)")
    return float(mean)


def _shown(gaps):
    name = getattr(getattr(gaps, "dist", gaps), "name", None)
    if not isinstance(name, str):
        return reprlib.repr(gaps)
    values = [reprlib.repr(v) for v in getattr(gaps, "args", ())]
    named = [f"{key}={reprlib.repr(v)}" for key, v in getattr(gaps, "kwds", {}).items()]
    return name + (f"({', '.join(values + named)})" if hasattr(gaps, "dist") else "")
