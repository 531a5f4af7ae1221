"""What checkpoints and failures cost: expected wall time per unit of useful time, and what follows from it.

The two models are those of `lib.intervals`: with *protected writes* no failure strikes during a
write or a restart, with *exposed writes* failures strike during both. Failures are exponential,
and the work since the last checkpoint is redone.
"""

from __future__ import annotations

import numpy as np

from lib._checks import plain, real, together
from lib._exact import exponent
from lib.intervals import _flag, _kernel, _over_sum, _share, _times


def first_order_loss(interval, write_time, mtbf):
    r"""Return the first-order share of time lost to writes and to redone work.

    .. math:: \frac{\delta}{\tau} + \frac{\tau}{2M}

    Parameters
    ----------
    interval : float or array_like, time unit of `mtbf`
        Compute time tau between checkpoints, in [0, inf].
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.

    Returns
    -------
    float or ndarray, [dimensionless]
        Lost time per useful time, broadcast shape.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorems D-01 (its optimum) and D-02 (its flatness) of chapters/scaling/background. Valid where
    delta << tau << M; the exact cost in both models is ``slowdown(...) - 1``.

    Examples
    --------
    >>> first_order_loss(0.4, 0.02, 4.0)
    0.1

    References
    ----------
    Young (1974), A first order approximation to the optimum checkpoint interval,
    doi:10.1145/361147.361115.
    """
    tau, delta, m, _ = _times(write_time, mtbf, interval=real("interval", interval))
    with np.errstate(all="ignore"):
        redone = np.where(tau > 1.0, 0.5 * tau / m, 0.5 * (tau / m))  # exact halves, no overflow
        return plain(_ratio(delta, tau) + np.where(np.isinf(m), 0.0, redone))


def slowdown(interval, write_time, mtbf, restart_time=0.0, *, exposed_writes=True):
    r"""Return the expected wall time per unit of useful time.

    .. math:: \frac{M e^{R/M} \left(e^{(\tau + \delta)/M} - 1\right)}{\tau} \text{ (exposed)}, \qquad
        \frac{(M + R) \left(e^{\tau/M} - 1\right) + \delta}{\tau} \text{ (protected)}

    Parameters
    ----------
    interval : float or array_like, time unit of `mtbf`
        Compute time tau between checkpoints, in [0, inf].
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.
    restart_time : float or array_like, time unit of `mtbf`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray, [dimensionless]
        Wall time over useful time, broadcast shape, in [1, inf].

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where a time is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-03 (sum over attempts) of chapters/scaling/general_model for protected writes, D-20 of
    chapters/foundations/daly for exposed writes. Valid for exponential times between failures. An
    interval of 0 costs inf, or the limit 1 + R/M (protected) or exp(R/M) (exposed) where the write
    time is 0 as well. An infinite MTBF leaves 1 + delta/tau.

    Examples
    --------
    >>> round(slowdown(0.4, 0.02, 4.0), 6)
    1.107106
    >>> round(slowdown(0.4, 0.02, 4.0, restart_time=0.1, exposed_writes=False), 6)
    1.128002

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    times = _times(write_time, mtbf, restart_time, interval=real("interval", interval))
    return plain(_slowdown(*times, exposed))


def optimal_slowdown(write_time, mtbf, restart_time=0.0, *, exposed_writes=True):
    r"""Return the expected wall time per unit of useful time at the optimal interval.

    .. math:: \frac{e^{R/M}}{1 - u} \text{ (exposed)}, \qquad
        \left(1 + \frac{R}{M}\right) e^u \text{ (protected)}, \qquad u = \tau/M

    Parameters
    ----------
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.
    restart_time : float or array_like, time unit of `mtbf`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray, [dimensionless]
        Wall time over useful time, broadcast shape, in [1, inf].

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where a time is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorems D-41 (exposed writes) and D-45 (protected writes) of chapters/beyond/one_kernel; another
    form for protected writes is Theorem D-36 of chapters/foundations/recovery. Valid for exponential
    times between failures. Within 4 units in the last place. An infinite MTBF gives 1.

    Examples
    --------
    >>> round(optimal_slowdown(0.02, 4.0), 6)
    1.107046
    >>> round(optimal_slowdown(0.02, 4.0, restart_time=0.1, exposed_writes=False), 6)
    1.127896

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    delta, m, r = _times(write_time, mtbf, restart_time)
    with np.errstate(all="ignore"):
        u = _share(delta, m, r, exposed)
        if exposed:
            # 1/(1 - u) loses the digits of 1 - u as u comes close to 1; it equals exp(u + delta/M).
            return plain(_exp(*exponent([delta, r], m, u)))
        # exp(u) would multiply the error of u by u. At the optimum it equals (expm1(u) + x)/u, whose
        # derivative in u vanishes there: the error of u no longer counts.
        growth = np.where(u > 0.0, np.expm1(u) / u, 1.0)
        write = delta / m / u
        write = np.where(np.isinf(write), delta / u / m, write)
        return plain((1.0 + r / m) * growth + np.where(u > 0.0, write, 0.0))


def recovery_time(detect, reschedule, reload, interval):
    r"""Return the expected time that one failure costs, from the failure to the point lost.

    .. math:: t_\text{detect} + t_\text{reschedule} + t_\text{reload} + \tau / 2

    Parameters
    ----------
    detect : float or array_like, any time unit
        Time until the failure is noticed, finite, >= 0.
    reschedule : float or array_like, time unit of `detect`
        Time until replacement hardware is ready, finite, >= 0.
    reload : float or array_like, time unit of `detect`
        Time to load the checkpoint and start, finite, >= 0.
    interval : float or array_like, time unit of `detect`
        Compute time tau between checkpoints, in [0, inf]; half of it is redone on average.

    Returns
    -------
    float or ndarray, time unit of `detect`
        Time lost per failure, broadcast shape.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    The mean of the redone work is half an interval where the interval is far below the MTBF, and less
    elsewhere (Theorem D-37 of chapters/foundations/recovery); `slowdown` has no such limit.

    Examples
    --------
    >>> recovery_time(1.0, 4.0, 5.0, 30.0)
    25.0

    References
    ----------
    Young (1974), A first order approximation to the optimum checkpoint interval,
    doi:10.1145/361147.361115.
    """
    detect, reschedule, reload, tau = together(
        detect=real("detect", detect, open_high=True),
        reschedule=real("reschedule", reschedule, open_high=True),
        reload=real("reload", reload, open_high=True),
        interval=real("interval", interval),
    )
    with np.errstate(all="ignore"):
        return plain(detect + reschedule + reload + 0.5 * tau)


def efficiency(interval, write_time, mtbf, restart_time=0.0, *, exposed_writes=True):
    r"""Return the share of wall time that is useful.

    .. math:: \text{efficiency} = 1 / \text{slowdown}

    Parameters
    ----------
    interval : float or array_like, time unit of `mtbf`
        Compute time tau between checkpoints, in [0, inf].
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.
    restart_time : float or array_like, time unit of `mtbf`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray, [dimensionless]
        Useful time over wall time, broadcast shape, in [0, 1].

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where a time is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Valid where `slowdown` is (Theorems D-03 and D-20). It is a long-run mean: a single run of a few
    intervals scatters around it.

    Examples
    --------
    >>> round(efficiency(0.4, 0.02, 4.0), 6)
    0.903256

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    times = _times(write_time, mtbf, restart_time, interval=real("interval", interval))
    return plain(1.0 / _slowdown(*times, exposed))


def goodput(rawput, interval, write_time, mtbf, restart_time=0.0, *, exposed_writes=True):
    r"""Return the useful throughput of a system that computes at `rawput` while nothing goes wrong.

    .. math:: \text{goodput} = \text{rawput} / \text{slowdown}

    Parameters
    ----------
    rawput : float or array_like, any unit of work per time
        Throughput without failures and checkpoints, finite, >= 0.
    interval : float or array_like, time unit of `mtbf`
        Compute time tau between checkpoints, in [0, inf].
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.
    restart_time : float or array_like, time unit of `mtbf`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray, unit of `rawput`
        Useful throughput, broadcast shape.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Valid where `slowdown` is (Theorems D-03 and D-20).

    Examples
    --------
    >>> round(goodput(400.0, 0.4, 0.02, 4.0), 3)  # 400 TFLOP/s while computing
    361.302

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    raw = real("rawput", rawput, open_high=True)
    raw, *times = _times(write_time, mtbf, restart_time, rawput=raw, interval=real("interval", interval))
    with np.errstate(all="ignore"):
        return plain(raw / _slowdown(*times, exposed))


def largest_useful_cluster(write_time, component_mtbf, restart_time=0.0, *, exposed_writes=True):
    r"""Return the number of components beyond which more of them make a fixed job slower.

    .. math:: g = \frac{\theta}{R + \delta/u}, \qquad u + \ln(1 - u) + \frac{\delta}{R + \delta/u} = 0

    Parameters
    ----------
    write_time : float or array_like, time unit of `component_mtbf`
        Time delta to write one checkpoint, finite, >= 0, the same for every number of components.
    component_mtbf : float or array_like, any time unit
        MTTF theta of one component, such as a GPU, > 0; g of them have the MTBF theta/g.
    restart_time : float or array_like, time unit of `component_mtbf`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray, [dimensionless]
        Number g of components, broadcast shape, in [0, inf], not rounded; inf where more components
        always help.

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where a time is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-33 of chapters/foundations/recovery (protected writes: D-36 there), and D-42 of
    chapters/beyond/one_kernel. Valid for a fixed amount of work that divides perfectly, at the optimal
    interval of each size. At the limit the optimal interval u M is delta / (1 - R/M): the write time,
    where R = 0, with delta/M = 1 + W_0(-2 e^-2)/2 = 0.797 and 20.3 % of the time useful. With a write
    time of 0 the limit is theta/R. With protected writes more components always help, whatever R: the
    wall time then falls towards a bound above 0 if R > 0.

    Examples
    --------
    >>> round(largest_useful_cluster(0.1, 50000.0))  # a write of 6 minutes, 50000 h per component
    398406
    >>> largest_useful_cluster(0.1, 50000.0, exposed_writes=False)
    inf

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    delta, m, r = together(
        write_time=real("write_time", write_time, open_high=True),
        component_mtbf=real("component_mtbf", component_mtbf, open_low=True),
        restart_time=real("restart_time", restart_time, open_high=True),
    )
    if not exposed:
        return plain(np.full(np.shape(m), np.inf))
    with np.errstate(all="ignore"):
        # Beyond R/delta = 1e40 only R counts, and y stays finite.
        ratio = np.where(r > 0.0, np.minimum(r / delta, 1e40), 0.0)
        # y = M/delta at the limit: y - 1/u(y) = R/delta. The left side is convex and the start is
        # exact for R = 0 and R >> delta, so that Newton's steps fall fast and monotonically.
        y = ratio + np.sqrt(0.5 * ratio) + 1.255
        for _ in range(4):
            u = _kernel(-np.expm1(-1.0 / y))
            slope = 1.0 - (1.0 - u) / (u * y) ** 2 / u
            y = y - (y - 1.0 / u - ratio) / slope
        u = _kernel(-np.expm1(-1.0 / y))
        return plain(np.where(np.isinf(m), np.inf, _over_sum(m, r, delta / u)))


def _slowdown(tau, delta, m, r, exposed):
    """Evaluate `slowdown` for checked arrays; no factor or term overflows unless the result does."""
    with np.errstate(all="ignore"):
        write = _ratio(delta, tau)
        if not exposed:
            return (1.0 + r / m) * _growth(*exponent([tau], m)) + write
        return _exp(*exponent([r], m)) * _growth(*exponent([tau, delta], m)) * (1.0 + write)


def _ratio(a, b):
    """Return a/b, and 0 for 0/0."""
    return np.where(a > 0.0, a / b, 0.0)


def _exp(high, low):
    return np.exp(high) * (1.0 + low)


def _growth(high, low):
    """Return expm1(t)/t at t = high + low, which is 1 at 0."""
    half = 0.5 * np.minimum(high, 1500.0)  # exp(t) overflows where exp(t)/t does not: two factors
    growth = np.expm1(half) / half * (0.5 * np.expm1(half) + 1.0)
    return np.where(half > 0.0, growth, 1.0) * (1.0 + low)
