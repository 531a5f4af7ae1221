"""Two levels of checkpoints: frequent ones in memory, rarer ones in storage.

Every interval ends with a checkpoint in memory. After every k-th one it is copied to storage. A *light*
failure leaves the copy in memory intact and costs the time since it. A *heavy* failure destroys it, and
the run goes back to storage. Both kinds are exponential and independent of each other. The two models of
writes are those of `lib.intervals`; `lib.simulate.two_levels` draws what is computed here.

Inside this module times are in units of the MTBF of any failure, M = 1/(1/M_1 + 1/M_2), and rho stands
for the odds that a failure does not lead back to storage.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import elementwise

from lib._checks import plain, real, together, whole
from lib._exact import exponent
from lib.intervals import _flag, _kernel, _young
from lib.overhead import _exp, _growth, _ratio

_GRID = 64  # points among which the local minima over tau are told apart


def first_order(memory_write, storage_write, light_mtbf, heavy_mtbf):
    r"""Return the first-order pair: Young's interval for each kind of failure.

    .. math:: \tau = \sqrt{2 \delta_1 M_1}, \qquad k \tau = \sqrt{2 \delta_2 M_2}

    Parameters
    ----------
    memory_write : float or array_like, time unit of `light_mtbf`
        Time delta_1 to write one checkpoint to memory, finite, > 0.
    storage_write : float or array_like, time unit of `light_mtbf`
        Time delta_2 to copy one checkpoint to storage, finite, >= 0.
    light_mtbf : float or array_like, any time unit
        Mean time M_1 between failures that leave the copy in memory intact, > 0; may be inf.
    heavy_mtbf : float or array_like, time unit of `light_mtbf`
        Mean time M_2 between failures that destroy it, finite, > 0.

    Returns
    -------
    interval : float or ndarray, time unit of `light_mtbf`
        Compute time tau between checkpoints, broadcast shape.
    segments : float or ndarray, [dimensionless]
        Number k >= 1 of checkpoints in memory to one in storage, not rounded.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-47 of chapters/beyond/one_kernel; without the condition k >= 1 it is Theorem D-17 of
    chapters/scaling/spares. Valid where both writes and both intervals are far below both MTBFs. Where
    the formula gives k < 1, one level is better: k is 1 and the interval Young's for both writes and
    all failures.

    Examples
    --------
    >>> interval, segments = first_order(0.02, 0.5, 4.0, 100.0)
    >>> interval, round(segments, 9)
    (0.4, 25.0)

    References
    ----------
    Young (1974), A first order approximation to the optimum checkpoint interval,
    doi:10.1145/361147.361115.
    """
    d1, d2, m1, m2, _, _ = _pair_times(memory_write, storage_write, light_mtbf, heavy_mtbf)
    with np.errstate(all="ignore"):
        tau, tau_2, (m, _, _) = _young(d1, m1), _young(d2, m2), _merge(m1, m2)
        interval = np.where(tau_2 >= tau, tau, _young(d1 + d2, m))
        ratio = np.where(np.isinf(tau_2), np.sqrt(d2 / d1) * np.sqrt(m2 / m1), tau_2 / tau)
        return plain(interval), plain(np.maximum(ratio, 1.0))


def slowdown(interval, segments, memory_write, storage_write, light_mtbf, heavy_mtbf, light_restart=0.0,
             heavy_restart=0.0, *, exposed_writes=True):
    r"""Return the expected wall time per unit of useful time with two levels of checkpoints.

    .. math::
        \text{exposed: } \frac{H}{k \tau} \left[ \left(1 + w (e^{(\tau + \delta_1)/M} - 1)\right)^k
        \left(1 + w (e^{\delta_2/M} - 1)\right) - 1 \right]

        H = M_2 \left(\phi_1 + \phi_2 e^{R_2/M}\right), \quad w = \phi_2 / (\phi_1 e^{-R_1/M} + \phi_2)

        \text{protected: } \frac{1}{k \tau} \left[ H \left( (1 + \phi_2 y)^k - 1 \right) + \delta_2 \right],
        \quad y = e^{\tau/M} - 1

        H = M_2 + M_2 R_1 / M_1 + R_2 + \delta_1 / (\phi_2 y)

        1/M = 1/M_1 + 1/M_2, \quad \phi_i = M / M_i

    Parameters
    ----------
    interval : float or array_like, time unit of `light_mtbf`
        Compute time tau between checkpoints, in [0, inf].
    segments : int or array_like, [dimensionless]
        Number k of checkpoints in memory to one in storage, >= 1.
    memory_write : float or array_like, time unit of `light_mtbf`
        Time delta_1 to write one checkpoint to memory, finite, >= 0.
    storage_write : float or array_like, time unit of `light_mtbf`
        Time delta_2 to copy one checkpoint to storage, finite, >= 0.
    light_mtbf : float or array_like, any time unit
        Mean time M_1 between failures that leave the copy in memory intact, > 0; may be inf.
    heavy_mtbf : float or array_like, time unit of `light_mtbf`
        Mean time M_2 between failures that destroy it, > 0; may be inf.
    light_restart : float or array_like, time unit of `light_mtbf`
        Time R_1 to restart from memory, finite, >= 0.
    heavy_restart : float or array_like, time unit of `light_mtbf`
        Time R_2 to restart from storage, finite, >= 0.
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
        Where an argument is NaN or outside its range, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-43 (exposed writes) and D-46 (protected writes) of chapters/beyond/one_kernel. Valid for
    exponential times between failures, and for a run of whole cycles of k intervals. A light failure
    during the copy to storage costs the copy only. Without light failures and with k = 1 it is
    `lib.overhead.slowdown` at the sum of the write times. The relative error is below 1e-15 times the
    larger of 5 and the logarithm of the result.

    Examples
    --------
    >>> round(slowdown(0.4, 25, 0.02, 0.5, 4.0, 100.0), 6)
    1.230266
    >>> round(slowdown(0.4, 25, 0.02, 0.5, 4.0, 100.0, 0.1, 1.0, exposed_writes=False), 6)
    1.250348

    References
    ----------
    Vaidya (1998), A case for two-level recovery schemes, doi:10.1109/12.689645.
    """
    exposed = _flag(exposed_writes)
    times = together(
        interval=real("interval", interval),
        segments=whole("segments", segments),
        memory_write=real("memory_write", memory_write, open_high=True),
        storage_write=real("storage_write", storage_write, open_high=True),
        light_mtbf=real("light_mtbf", light_mtbf, open_low=True),
        heavy_mtbf=real("heavy_mtbf", heavy_mtbf, open_low=True),
        light_restart=real("light_restart", light_restart, open_high=True),
        heavy_restart=real("heavy_restart", heavy_restart, open_high=True),
    )
    with np.errstate(all="ignore"):
        return plain(_slowdown(*times, exposed))


def optimal(memory_write, storage_write, light_mtbf, heavy_mtbf, light_restart=0.0, heavy_restart=0.0, *,
            exposed_writes=True):
    r"""Return the interval and the whole number of segments of least slowdown, and that slowdown.

    .. math:: \min_{\tau > 0,\; k \in \{1, 2, \dots\}} \text{slowdown}(\tau, k)

    Parameters
    ----------
    memory_write : float or array_like, time unit of `light_mtbf`
        Time delta_1 to write one checkpoint to memory, finite, > 0.
    storage_write : float or array_like, time unit of `light_mtbf`
        Time delta_2 to copy one checkpoint to storage, finite, >= 0.
    light_mtbf : float or array_like, any time unit
        Mean time M_1 between failures that leave the copy in memory intact, > 0; may be inf.
    heavy_mtbf : float or array_like, time unit of `light_mtbf`
        Mean time M_2 between failures that destroy it, finite, > 0.
    light_restart : float or array_like, time unit of `light_mtbf`
        Time R_1 to restart from memory, finite, >= 0.
    heavy_restart : float or array_like, time unit of `light_mtbf`
        Time R_2 to restart from storage, finite, >= 0. With exposed writes it does not move the optimum.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.

    Returns
    -------
    interval : float or ndarray, time unit of `light_mtbf`
        Compute time tau between checkpoints, broadcast shape.
    segments : float or ndarray, [dimensionless]
        Whole number k >= 1 of checkpoints in memory to one in storage.
    slowdown : float or ndarray, [dimensionless]
        Wall time over useful time there.

    Raises
    ------
    TypeError
        Where a time is not made of real numbers, or `exposed_writes` is not a bool.
    ValueError
        Where an argument is NaN or outside its range, the shapes do not broadcast, or the times are too
        many orders of magnitude apart, which takes more than 20.

    Notes
    -----
    Theorem D-47 of chapters/beyond/one_kernel. With exposed writes and real k, tau does not depend on
    the write to storage, k follows from the kernel, and the best whole k is one of the two next to the
    real one. With protected writes there can be two local minima where a write to memory takes tens of
    MTBFs; both are followed. Held against a grid of all pairs in the tests. Valid where `slowdown` is.

    Examples
    --------
    >>> interval, segments, least = optimal(0.02, 0.5, 4.0, 100.0)
    >>> round(interval, 6), segments, round(least, 6)
    (0.389464, 23.0, 1.229532)

    References
    ----------
    Di, Robert, Vivien, Cappello (2017), Toward an optimal online checkpoint solution under a two-level
    HPC checkpoint model, doi:10.1109/TPDS.2016.2546248.
    """
    exposed = _flag(exposed_writes)
    times = _pair_times(memory_write, storage_write, light_mtbf, heavy_mtbf, light_restart, heavy_restart)
    d1, d2, m1, m2, r1, r2 = times
    with np.errstate(all="ignore"):
        m, light, heavy = _merge(m1, m2)
        model = (_Exposed if exposed else _Protected)(light, heavy, d1 / m, d2 / m, r1 / m, r2 / m)
        below = np.floor(_real_segments(model))
        segments = np.maximum(np.stack([np.ones_like(m), *below, *(below + 1.0)]), 1.0)
        interval = m * _root(model.rise, np.zeros_like(m), model.end, (segments, *model.args))
        cost = _slowdown(interval, segments, *times, exposed)
        least = np.argmin(cost, axis=0, keepdims=True)
        best = [np.take_along_axis(a, least, axis=0)[0] for a in (interval, segments, cost)]
    if np.isnan(best).any():
        raise ValueError("no best pair found: the times are too many orders of magnitude apart")
    return tuple(map(plain, best))


def _slowdown(tau, k, d1, d2, m1, m2, r1, r2, exposed):
    """Evaluate `slowdown` for checked arrays, as a product of factors that are all at least 1.

    Exponents have twice the working precision: their rounding would be magnified k times.
    """
    _, light, heavy = _merge(m1, m2)
    copy, write = _ratio(d2 / k, tau), _ratio(d1, tau)
    s = _exponent([tau], m1, m2)
    if not exposed:
        t = heavy * _rise(*s)
        cycles = _growth(k * np.log1p(t), 0.0) * _shrink(t)  # intervals completed, over k
        restarts = 1.0 + r1 / m1 + r2 / m2
        return (restarts * _growth(*s) + write) * cycles + copy
    s1, s2, first, second = (_exponent(t, m1, m2) for t in ([tau, d1], [d2], [r1], [r2]))
    back = 1.0 / (heavy + light / _exp(*first))  # w / phi_2
    restarts = light + np.where(heavy > 0.0, heavy * _exp(*second), 0.0)
    t1, t2 = heavy * back * _rise(*s1), heavy * back * _rise(*s2)
    copy = np.where(copy > 0.0, copy * _growth(*s2) * _shrink(t2), 0.0)
    stages = (1.0 + write) * _growth(*s1) * _shrink(t1) + copy
    return restarts * back * _growth(k * np.log1p(t1) + np.log1p(t2), 0.0) * stages


def _exponent(times, m1, m2):
    """Return `high`, `low` with high + low = sum(times) (1/m1 + 1/m2) to about 100 bits."""
    high, low = exponent(times, m1)
    both, rest = exponent(times, m2, high)
    return both, np.where(both < np.inf, low + rest, 0.0)


def _rise(high, low):
    """Return exp(high + low) - 1."""
    return np.expm1(high) + np.where(low != 0.0, low * np.exp(high), 0.0)


class _Exposed:
    """The optimum with exposed writes: roots of functions of tau, with the end of a bracket for each.

    `rise` has the sign of the slowdown's derivative for k segments, `real_rise` that for the best real
    k. The chance that a failure leads back to storage is w = 1/(1 + rho).
    """

    def __init__(self, light, heavy, d1, d2, r1, r2):
        rho = light / heavy * np.exp(-r1)
        u = _kernel(-np.expm1(-d2) / (1.0 + rho * np.exp(-d2)))
        self.args = rho, d1, _log_mean(d2, rho), u
        self.end = 2.0 + np.log1p(rho)
        self.real_end = np.log1p((1.0 + rho) * np.expm1(u)) - d1  # k < 1 beyond it

    @staticmethod
    def rise(tau, k, rho, d1, log_b, u):
        return k * tau * _slope(tau + d1, rho) + np.expm1(-(k * _log_mean(tau + d1, rho) + log_b))

    @staticmethod
    def real_rise(tau, rho, d1, log_b, u):
        return tau * _slope(tau + d1, rho) - _log_mean(tau + d1, rho)

    @staticmethod
    def segments(tau, rho, d1, log_b, u):
        return u / _log_mean(tau + d1, rho)


class _Protected:
    """The same with protected writes, where w is phi_2 and c the factor M_2 + M_2 R_1/M_1 + R_2."""

    def __init__(self, light, heavy, d1, d2, r1, r2):
        rho, c = light / heavy, (1.0 + light * r1 + heavy * r2) / heavy
        self.args = rho, d1, d2, c
        self.end = 4.0 + np.log1p(rho) + np.log1p((d1 + d2) / c)
        self.real_end = np.log1p((1.0 + rho) * (np.e * (1.0 + d2 / c) - 1.0))  # k < 1 beyond it

    @staticmethod
    def rise(tau, k, rho, d1, d2, c):
        t, stage, slope = np.expm1(tau) / (1.0 + rho), _log_mean(tau, rho), tau * _slope(tau, rho)
        kept = -np.expm1(-k * stage) / k
        cycles, growth = _over_or_one(kept, t), _over_or_one(tau, -np.expm1(-tau))
        written = growth * (1.0 / (1.0 + t) - cycles) - cycles
        return c * (slope - kept) + d1 * written - d2 / k * np.exp(-k * stage)

    @staticmethod
    def real_rise(tau, rho, d1, d2, c):
        t = np.expm1(tau) / (1.0 + rho)
        u = _Protected._share(t, d1, d2, c)
        growth, damping = _over_or_one(tau, -np.expm1(-tau)), _over_or_one(-np.expm1(-u), u)
        elasticity = _over_or_one(tau * _slope(tau, rho), _log_mean(tau, rho))
        return elasticity - 1.0 - growth * damping * d1 / (d1 + c * t)

    @staticmethod
    def segments(tau, rho, d1, d2, c):
        return _Protected._share(np.expm1(tau) / (1.0 + rho), d1, d2, c) / _log_mean(tau, rho)

    @staticmethod
    def _share(t, d1, d2, c):
        return _kernel(d2 * t / (d1 + c * t))


def _real_segments(model):
    """Return the real k of the first and of the last local minimum, 1 where there is none with k >= 1.

    The two differ only with protected writes, where a checkpoint in memory takes tens of MTBFs.
    """
    end = np.maximum(model.real_end, 0.0)
    shares = np.linspace(0.0, 1.0, _GRID + 1)
    taus = np.multiply.outer(shares, end)
    rises = model.real_rise(taus, *model.args) > 0.0
    minima = rises[1:] & ~rises[:-1]
    found = []
    for place in (np.argmax(minima, axis=0), _GRID - 1 - np.argmax(minima[::-1], axis=0)):
        tau = _root(model.real_rise, shares[place] * end, shares[place + 1] * end, model.args)
        found.append(np.where(np.isnan(tau), 1.0, model.segments(tau, *model.args)))
    return np.stack(found)


def _root(rise, low, high, args):
    """Return where `rise` crosses zero between `low` and `high`, NaN where it does not."""
    found = elementwise.find_root(rise, (low, high), args=args)
    return np.where(found.success, found.x, np.nan)


def _log_mean(s, rho):
    """Return log(1 - w + w exp(s)) with w = 1/(1 + rho); for large s in a form that does not overflow."""
    far = s + np.log1p(rho * np.exp(-s)) - np.log1p(rho)
    return np.where(s < 700.0, np.log1p(np.expm1(s) / (1.0 + rho)), far)


def _slope(s, rho):
    """Return the derivative of `_log_mean` in s."""
    return 1.0 / (1.0 + rho * np.exp(-s))


def _shrink(t):
    """Return log(1 + t)/t, which is 1 at 0; an infinite t has made another factor infinite."""
    return np.where((t > 0.0) & (t < np.inf), np.log1p(t) / t, 1.0)


def _over(time, m):
    """Return time / m, and 0 where m is infinite."""
    return np.where(np.isinf(m), 0.0, time / m)


def _over_or_one(a, b):
    """Return a/b, and 1 for 0/0."""
    return np.where(b > 0.0, a / b, 1.0)


def _merge(m1, m2):
    """Return the MTBF of any failure and the shares of light and of heavy ones."""
    low, high = np.minimum(m1, m2), np.maximum(m1, m2)
    odds = _over(low, high)
    frequent, rare = 1.0 / (1.0 + odds), odds / (1.0 + odds)
    light_first = m1 <= m2
    return low * frequent, np.where(light_first, frequent, rare), np.where(light_first, rare, frequent)


def _pair_times(memory_write, storage_write, light_mtbf, heavy_mtbf, light_restart=0.0, heavy_restart=0.0):
    """Check the times of which a best pair exists and broadcast them."""
    return together(
        memory_write=real("memory_write", memory_write, open_low=True, open_high=True),
        storage_write=real("storage_write", storage_write, open_high=True),
        light_mtbf=real("light_mtbf", light_mtbf, open_low=True),
        heavy_mtbf=real("heavy_mtbf", heavy_mtbf, open_low=True, open_high=True),
        light_restart=real("light_restart", light_restart, open_high=True),
        heavy_restart=real("heavy_restart", heavy_restart, open_high=True),
    )
