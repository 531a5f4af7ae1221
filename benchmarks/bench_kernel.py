"""Speed and accuracy of lib.intervals.kernel beside 1 + scipy.special.lambertw((x - 1)/e).

Prints ratios of times measured in the same run, and worst errors in units in the last place (ulp) of
50-digit values. Where lambertw gives NaN it is also slow: the last two ranges compare like with like.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import lambertw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lib.intervals import kernel  # noqa: E402
from tests import reference  # noqa: E402

POINTS, CHECKED, REPEATS = 10**6, 1000, 4
RANGES = ((-300, -17), (-17, -3), (-3, 3), (3, 300))  # powers of ten of x


def route(x):
    return 1.0 + lambertw((x - 1.0) / np.e).real


def main():
    dice = np.random.default_rng(2006)
    print(f"{POINTS} log-uniform points, best of {REPEATS} runs each; worst error of {CHECKED} points in ulp")
    print(f"{'x':>15} {'times as fast':>14} {'kernel':>8} {'lambertw':>9} {'lambertw NaN':>13}")
    for low, high in RANGES:
        x = 10.0 ** dice.uniform(low, high, POINTS)
        faster = seconds(route, x) / seconds(kernel, x)
        exact = [reference.kernel(v) for v in x[:CHECKED]]
        ours, theirs = errors(kernel, x[:CHECKED], exact), errors(route, x[:CHECKED], exact)
        lost = np.isnan(theirs)
        worst = "-" if lost.all() else f"{np.nanmax(theirs):.2g}"
        span = f"1e{low} to 1e{high}"
        print(f"{span:>15} {faster:>14.1f} {ours.max():>8.2f} {worst:>9} {lost.mean():>13.0%}")


def seconds(function, x):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function(x)
        times.append(time.perf_counter() - start)
    return min(times)


def errors(function, x, exact):
    """Return each point's error in ulp, NaN where the function gives NaN."""
    got = function(x)
    return np.array([np.nan if np.isnan(g) else reference.ulps(g, e) for g, e in zip(got, exact)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # those of the route
    main()
