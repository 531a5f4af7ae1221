"""Checkpoint intervals: how long to compute between two checkpoints.

An interval is compute time; the write that ends it is not included. Two models differ in what a
failure can hit. *Protected writes*: no failure strikes during a write or a restart. *Exposed
writes*: failures strike during both. One function, `kernel`, gives the exact optimum of both.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from lib._checks import flag, plain, real, together
from lib._exact import halves

_BLOCK = 2**15  # elements computed at once: the temporaries stay in the cache, memory stays bounded
_SPLIT = 2.0  # `_near` takes x up to here, `_far` the rest

# Padé approximant [4/4] of u/p, p = sqrt(2 x), from the series u = p - p^2/3 + 11 p^3/72 - 43 p^4/540 + ...
# that undetermined coefficients in (u - 1) e^u = p^2/2 - 1 give; the test derives it again.
_NUMERATOR = (1.0, 1.2217382422942498, 0.4481316384306592, 0.04812496893691184, 0.00043809273531329415)
_DENOMINATOR = (1.0, 1.555071575627583, 0.8137110525287425, 0.16141123646635266, 0.009252330665513842)

# (u - 1) e^u + 1 is the integral of t e^t from 0 to u, the sum of u^(k + 2) / (k! (k + 2)). So x is
# u^2/2 + u^3 T(u) with positive coefficients; 19 reach full precision up to u = 1.28, x = _SPLIT.
_TAYLOR = tuple(1.0 / (factorial(k) * (k + 2)) for k in range(1, 20))


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
    float or ndarray, [dimensionless]
        u in [0, inf], shape of `x`.

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
    (x - 1)/e, whose rounding loses the digits of 1 + W_0 near the branch point at x = 0.
    Arrays are computed in blocks of 32768 elements, so that working memory does not grow.

    Examples
    --------
    >>> kernel(1.0)
    1.0
    >>> round(kernel(0.02), 6)  # a write of 2 % of the MTBF
    0.187774

    References
    ----------
    Corless, Gonnet, Hare, Jeffrey, Knuth (1996), On the Lambert W function, doi:10.1007/BF02124750.
    Iacono, Boyd (2017), New approximations to the principal real-valued branch of the Lambert
    W-function, doi:10.1007/s10444-017-9530-3.
    """
    if not (isinstance(x, np.ndarray) and x.dtype == np.float64 and not isinstance(x, np.ma.MaskedArray)):
        return plain(_kernel(real("x", x)))
    try:
        return plain(_kernel(x, lambda block: real("x", block)))
    except ValueError:
        real("x", x)  # names the element's place in the whole array
        raise


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
    float or ndarray, time unit of `mtbf`
        Compute time tau between checkpoints, broadcast shape.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorems D-01 (first-order optimum) and D-02 (its flatness) of chapters/scaling/background. It is
    the limit of both exact optima for a write time far below the MTBF (Theorem D-05 of
    chapters/scaling/general_model), with protected writes for a restart time far below it too. An
    infinite MTBF gives an infinite interval, a write time of 0 an interval of 0.

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
        tau = _young(delta, m)
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
    float or ndarray, time unit of `mtbf`
        Compute time tau between checkpoints, broadcast shape.

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
        tau = np.where(delta < 2.0 * m, _young(delta, m) * (1.0 - s / 3.0) ** 2, m)
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
    float or ndarray, time unit of `mtbf`
        Compute time tau between checkpoints, broadcast shape.

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
        # Below 1e-150, where x may underflow, u is sqrt(2 x) to all digits.
        first = np.sqrt(2.0 * delta) * (m / np.hypot(np.sqrt(m), 0.0 if exposed else np.sqrt(r)))
        tau = np.where(u < 1e-150, first, m * u)
    return plain(np.where(np.isinf(m), np.inf, tau))


def _share(delta, m, r, exposed):
    """Return u, the optimal interval in units of the MTBF, from checked arrays."""
    if exposed:
        return _kernel(-np.expm1(-delta / m))
    x = _over_sum(delta, m, r)
    # x can overflow where u is still of order 1000. Then u + log(u - 1) = log(x - 1) = log(x), and
    # each pass divides the error by u.
    log_x = np.log(delta) - np.log(m + r)
    far = log_x
    for _ in range(6):
        far = log_x - np.log(far - 1.0)
    return np.where(np.isinf(x), far, _kernel(x))


def _over_sum(a, b, c):
    """Return a / (b + c), by halves where the sum overflows."""
    return np.where(np.isinf(b + c), 0.5 * a / (0.5 * b + 0.5 * c), a / (b + c))


def _kernel(x, check=np.asarray):
    """Evaluate `kernel` block by block, each block passed through `check`."""
    blocks = np.nditer([x, None], ["external_loop", "buffered", "zerosize_ok"], buffersize=_BLOCK)
    with blocks, np.errstate(all="ignore"):
        for source, target in blocks:
            target[...] = _block(check(source))
        return blocks.operands[1]


def _block(x):
    u = np.sqrt(2.0 * x)  # right where the series' second term, 2x/3, is lost in rounding, and at inf
    near = np.flatnonzero((x > 1e-35) & (x <= _SPLIT))  # indices: faster than masks
    far = np.flatnonzero((x > _SPLIT) & (x < np.inf))
    u[near] = _near(x[near])
    u[far] = _far(x[far])
    return u


def _near(x):
    """Solve u T(u) = (x - u^2/2)/u^2: one step of Halley's method from a guess right to 2e-6."""
    p = np.sqrt(2.0 * x)
    u, _ = halves(p * (_polynomial(_NUMERATOR, p) / _polynomial(_DENOMINATOR, p)))
    square = u * u  # exact, since u is half of a float: both sides are right to the last places
    newton = (u * _polynomial(_TAYLOR, u) - (x - 0.5 * square) / square) * np.exp(-u)
    return u - u * (newton / (1.0 - 0.5 * newton * (1.0 + u)))


def _far(x):
    """Solve log((x - 1)/(u - 1)) = u: no difference of large terms, no overflow."""
    root = np.sqrt(x)  # Iacono and Boyd's equation (20): relative error below 0.02 up to 1.8e308
    u = 2.036 * np.log((1.0 + 1.14956131 * root) / (1.0 + 0.4549574 * np.log1p(root)))
    for _ in range(2):  # Halley's method: errors 1e-2, 1e-8, 1e-24
        rest = np.log((x - 1.0) / (u - 1.0)) - u
        u = u + rest * (u - 1.0) / u / (1.0 - 0.5 * rest / (u * u))
    return u


def _polynomial(coefficients, x):
    """Horner's rule in place, lowest coefficient first."""
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= x
        total += coefficient
    return total


def _young(delta, m):
    """Return sqrt(2 delta m) without a product that could overflow or underflow."""
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
    return flag("exposed_writes", exposed_writes)
