"""The two models in 50-digit arithmetic, from their definitions: what the tests hold lib against."""

import mpmath as mp
import numpy as np

mp.mp.dps = 50


def kernel(x):
    """1 + W0((x - 1)/e); the digits that 1 + W0 loses close to the branch point are added first."""
    x = mp.mpf(x)
    if x == 0:
        return x
    with mp.workdps(mp.mp.dps + 10 + max(0, -int(mp.log10(x)))):
        u = 1 + mp.re(mp.lambertw((x - 1) / mp.e))
    return +u


def share(write_time, mtbf, restart_time=0.0, exposed=True):
    """The optimal interval over the MTBF."""
    delta, m, r = map(mp.mpf, (write_time, mtbf, restart_time))
    return kernel(-mp.expm1(-delta / m) if exposed else delta / (m + r))


def optimal(write_time, mtbf, restart_time=0.0, exposed=True):
    return mp.mpf(mtbf) * share(write_time, mtbf, restart_time, exposed)


def slowdown(interval, write_time, mtbf, restart_time=0.0, exposed=True):
    tau, delta, m, r = map(mp.mpf, (interval, write_time, mtbf, restart_time))
    if exposed:
        return m * mp.exp(r / m) * mp.expm1((tau + delta) / m) / tau
    return ((m + r) * mp.expm1(tau / m) + delta) / tau


def optimal_slowdown(write_time, mtbf, restart_time=0.0, exposed=True):
    return slowdown(optimal(write_time, mtbf, restart_time, exposed), write_time, mtbf, restart_time, exposed)


def ulps(got, expected):
    """Return the error of `got` in units in the last place of `expected`."""
    return float(abs(mp.mpf(float(got)) - expected) / mp.mpf(float(np.spacing(abs(float(expected))))))


def relative(got, expected):
    return float(abs(mp.mpf(float(got)) / expected - 1))
