"""Checkpoint intervals: how long to compute between two checkpoints.

An interval is compute time; the write that ends it is not included. Two models differ in what a
failure can hit. *Protected writes*: no failure strikes during a write or a restart. *Exposed
writes*: failures strike during both. One function, `kernel`, gives the exact optimum of both.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from lib._checks import plain, real, together

_BLOCK = 2**15  # elements computed at once: a dozen temporaries of this size fit in the cache
_SPLIT = 2.0  # below, the residual is a Taylor sum; above, a logarithm

# (u - 1) e^u + 1 is the integral of t e^t from 0 to u, hence u^2 times the sum of u^k / (k! (k + 2)).
# The sum's 22 terms are all positive and reach full precision for u <= 1.3, where x <= _SPLIT.
_TAYLOR = tuple(1.0 / (factorial(k) * (k + 2)) for k in range(22))


def kernel(x):
    r"""Return the optimal interval in units of the MTBF, for both models.

    .. math:: u = 1 + W_0\left(\frac{x - 1}{e}\right), \qquad (u - 1)\,e^u = x - 1

    Parameters
    ----------
    x : float or array_like, shape (...), [dimensionless]
        The model's argument, in [0, inf]: write time / (MTBF + restart time) with protected writes,
        1 - exp(-write time / MTBF) with exposed writes.

    Returns
    -------
    float or ndarray
        u in [0, inf], shape of `x` [dimensionless].

    Raises
    ------
    TypeError
        Where `x` is not made of real numbers.
    ValueError
        Where an element of `x` is negative or NaN.

    Notes
    -----
    Theorem D-40 of chapters/beyond/one_kernel. Valid for every x >= 0; u is 0 at 0, 1 at 1 and grows
    as log(x / log(x)). Within 4 units in the last place everywhere: x is never turned into
    (x - 1)/e, whose rounding loses half of the digits of W_0 near its branch point at x = 0.
    Large arrays are computed in blocks of 32768 elements.

    Examples
    --------
    >>> kernel(1.0)
    1.0
    >>> round(kernel(0.02), 6)  # a write of 2 % of the MTBF
    0.187774

    References
    ----------
    Corless, Gonnet, Hare, Jeffrey, Knuth (1996), On the Lambert W function, doi:10.1007/BF02124750.
    Fritsch, Shafer, Crowley (1973), Algorithm 443, doi:10.1145/361952.361970.
    Iacono, Boyd (2017), New approximations to the principal real-valued branch of the Lambert
    W-function, doi:10.1007/s10444-017-9530-3.
    """
    return plain(_kernel(real("x", x)))


def young(write_time, mtbf):
    r"""Return Young's first-order checkpoint interval.

    .. math:: \tau = \sqrt{2 \delta M}

    Parameters
    ----------
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.

    Returns
    -------
    float or ndarray
        Compute time tau between checkpoints, broadcast shape, time unit of `mtbf`.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorems D-01 (first-order optimum) and D-02 (its flatness) of chapters/scaling/background.
    It is the first term of both exact optima, for a write time far below the MTBF. An infinite
    MTBF gives an infinite interval, a write time of 0 an interval of 0.

    Examples
    --------
    >>> young(0.02, 4.0)
    0.4

    References
    ----------
    Young (1974), A first order approximation to the optimum checkpoint interval,
    doi:10.1145/361147.361115.
    """
    delta, m, _ = _times(write_time, mtbf)
    with np.errstate(all="ignore"):
        tau = _geometric(delta, m)
    return plain(np.where(np.isinf(m), np.inf, tau))


def daly(write_time, mtbf):
    r"""Return Daly's higher-order checkpoint interval, as published in 2006.

    .. math:: \tau = \sqrt{2 \delta M} \left[1 + \frac13 \left(\frac{\delta}{2M}\right)^{1/2}
        + \frac19 \left(\frac{\delta}{2M}\right)\right] - \delta
        \quad (\delta < 2M), \qquad \tau = M \quad (\delta \ge 2M)

    Parameters
    ----------
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.

    Returns
    -------
    float or ndarray
        Compute time tau between checkpoints, broadcast shape, time unit of `mtbf`.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-22 of chapters/foundations/daly: the first three terms of the series (D-21) of the
    exact optimum with exposed writes. At a write time of 2 M the formula jumps from 8/9 M to M.

    Examples
    --------
    >>> round(daly(0.02, 4.0), 6)
    0.386778
    >>> daly(10.0, 4.0)
    4.0

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    delta, m, _ = _times(write_time, mtbf)
    with np.errstate(all="ignore"):
        # With s = sqrt(delta / 2M) the published terms are the square sqrt(2 delta M) (1 - s/3)^2,
        # which has no difference of large terms.
        s = np.sqrt(0.5 * (delta / m))
        tau = np.where(s < 1.0, _geometric(delta, m) * (1.0 - s / 3.0) ** 2, m)
    return plain(np.where(np.isinf(m), np.inf, tau))


def optimal(write_time, mtbf, restart_time=0.0, *, exposed_writes=True):
    r"""Return the exact optimal checkpoint interval.

    .. math:: \tau = M \left[1 + W_0\left(\frac{x - 1}{e}\right)\right], \qquad
        x = 1 - e^{-\delta/M} \text{ (exposed)}, \quad x = \frac{\delta}{M + R} \text{ (protected)}

    Parameters
    ----------
    write_time : float or array_like, time unit of `mtbf`
        Time delta to write one checkpoint, finite, >= 0.
    mtbf : float or array_like, any time unit
        Mean time M between failures of the whole system, > 0; may be inf.
    restart_time : float or array_like, time unit of `mtbf`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0. It does
        not move the optimum with exposed writes.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    float or ndarray
        Compute time tau between checkpoints, broadcast shape, time unit of `mtbf`.

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where a time is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-04 (protected writes), with its limits D-05 for short and D-06 for long writes, of
    chapters/scaling/general_model; Theorem D-20 (exposed writes), with its series D-21, of
    chapters/foundations/daly; Theorem D-40 (one function for both) of chapters/beyond/one_kernel.
    Valid for exponential times between failures. Within 4 units in the last place. An infinite MTBF
    gives an infinite interval, a write time of 0 an interval of 0.

    Examples
    --------
    >>> round(optimal(0.02, 4.0), 6)
    0.386779
    >>> round(optimal(0.02, 4.0, exposed_writes=False), 6)
    0.387248

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    delta, m, r = _times(write_time, mtbf, restart_time)
    with np.errstate(all="ignore"):
        u = _share(delta, m, r, exposed)
        short = _geometric(delta, m) if exposed else _geometric(delta, m) * (np.sqrt(m) / np.sqrt(m + r))
        # Where u^2 is far below the last place, Young's form is exact and cannot underflow.
        tau = np.where(u < 1e-20, short, m * u)
    return plain(np.where(np.isinf(m), np.inf, tau))


def _share(delta, m, r, exposed):
    """Return u, the optimal interval in units of the MTBF, from checked arrays."""
    with np.errstate(all="ignore"):
        if exposed:
            return _kernel(-np.expm1(-delta / m))
        x = delta / (m + r)
        u = _kernel(x)
        # The quotient can overflow where u is still of order 1000: u + log(u - 1) = log(x - 1) then
        # contracts by 1/u with every pass, and the 1 in x - 1 no longer counts.
        log_x = np.log(delta) - np.log(m + r)
        far = log_x
        for _ in range(6):
            far = log_x - np.log(far - 1.0)
        return np.where(np.isinf(x), far, u)


def _kernel(x):
    """Evaluate `kernel` for a float64 array of elements in [0, inf], block by block."""
    result = np.empty(np.shape(x))
    source, target = np.ravel(x), result.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, source.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            target[block] = _block(source[block])
    return result


def _block(x):
    u = x.copy()  # right at 0 and inf
    near = (x > 0.0) & (x <= _SPLIT)
    far = (x > _SPLIT) & (x < np.inf)
    u[near] = _near(x[near])
    u[far] = _far(x[far])
    return u


def _guess(x):
    """Iacono and Boyd's closed form: relative error at most 0.02 for all x in (0, 1.8e308)."""
    root = np.sqrt(x)
    return 2.036 * np.log1p((1.14956131 * root - _C * np.log1p(root)) / (1.0 + _C * np.log1p(root)))


_C = 0.4549574


def _near(x):
    """Two Halley steps for u^2 S(u) = x, all in relative terms so that a tiny x cannot underflow."""
    u = _guess(x)
    for _ in range(2):
        total = np.full_like(u, _TAYLOR[-1])
        for coefficient in _TAYLOR[-2::-1]:
            total *= u
            total += coefficient
        step = (total - x / u / u) * np.exp(-u)  # the Newton step over u
        u -= u * (step / (1.0 - 0.5 * step * (1.0 + u)))
    return u


def _far(x):
    """Two steps of Fritsch, Shafer and Crowley for log((x - 1)/(u - 1)) = u."""
    u = _guess(x)
    for _ in range(2):
        w = u - 1.0
        rest = np.log((x - 1.0) / w) - u
        q = 2.0 * u * (u + rest * (2.0 / 3.0))
        u += w * (rest / u) * ((q - rest) / (q - 2.0 * rest))
    return u


def _geometric(delta, m):
    """Return sqrt(2 delta m) without forming a product that could overflow or underflow."""
    return np.sqrt(2.0) * (np.sqrt(delta) * np.sqrt(m))


def _times(write_time, mtbf, restart_time=0.0, **others):
    """Check the times that the models share and broadcast them, after the already checked `others`."""
    return together(
        **others,
        write_time=real("write_time", write_time, open_high=True),
        mtbf=real("mtbf", mtbf, open_low=True),
        restart_time=real("restart_time", restart_time, open_high=True),
    )


def _flag(exposed_writes):
    if not isinstance(exposed_writes, (bool, np.bool_)):
        raise TypeError(f"exposed_writes = {exposed_writes!r} is not a bool; allowed: True or False")
    return bool(exposed_writes)
