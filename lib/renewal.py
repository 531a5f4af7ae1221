"""Checkpoints under any renewal process of failures: the long-run slowdown and the best interval.

The model is that of `lib.simulate`: each failure begins a new gap on the failure clock. The clock is
the wall clock with *exposed writes* and stands still in writes and restarts with *protected writes*.
Gaps are independent of each other, and so is what each completes. One sum over the distribution of
a gap therefore replaces a simulation.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate, optimize

from lib._checks import plain, real, together
from lib.intervals import _flag, optimal

_TERMS = 2**8, 2**11, 2**14  # terms of the sum: most tails end early, and an integral takes the rest


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
        frozen distribution.
    ValueError
        Where a time is NaN or outside its range, the shapes do not broadcast, or the mean of `gaps`
        is not in (0, inf).

    Notes
    -----
    Theorem D-44 of chapters/beyond/simulation, by renewal reward: the mean time from failure to failure
    over the mean useful time in it, which is tau times the mean number of complete intervals. It is
    exact in the limit of long work; a run with n failures differs by a share of order 1/n. With
    exponential gaps it is `lib.overhead.slowdown`, exact for every length. It is inf where no gap is
    long enough for an interval. Relative accuracy 1e-9.

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
        frozen distribution.
    ValueError
        Where a time is NaN or outside its range, the shapes do not broadcast, the mean of `gaps` is
        not in (0, inf), or no interval within a factor of 100 of the exponential optimum is best.

    Notes
    -----
    The least value of Theorem D-44 of chapters/beyond/simulation. Found on a grid of 8 % steps around
    `lib.intervals.optimal` for the same mean, then by Brent's method to a relative 1e-6. A slowdown with several narrow minima, which nearly regular gaps have,
    can hide one between grid points. A write time of 0 gives an interval of 0.

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
        total += float(np.sum(gaps.sf(start + step * np.arange(summed + 1.0, terms + 1.0))))
        edge, summed = start + step * (terms + 0.5), terms
        tail = float(gaps.sf(edge))
        if tail <= 1e-18 * total:
            return total
    # The rest of the sum is an integral by the midpoint rule, taken in units of the tail's half-life.
    unit = float(gaps.isf(0.5 * tail)) - edge
    area = integrate.tanhsinh(lambda t: gaps.sf(edge + unit * t), 0.0, np.inf, rtol=1e-10).integral
    return total + float(area) * unit / step


def _mean(gaps):
    if not all(callable(getattr(gaps, name, None)) for name in ("sf", "isf", "mean", "support")):
        raise TypeError(f"gaps = {gaps!r} is not a frozen SciPy distribution")
    lowest = float(gaps.support()[0])
    if not lowest >= 0.0:
        raise ValueError(f"gaps begins at {lowest!r}; allowed range [0, inf)")
    mean = float(gaps.mean())
    if not 0.0 < mean < np.inf:
        raise ValueError(f"gaps has the mean {mean!r}; allowed range (0, inf)")
    return mean
