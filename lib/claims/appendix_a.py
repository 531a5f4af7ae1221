"""Claims of document A, its appendix: the general model, its proofs and its program."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import sympy as sp
from scipy import special

from lib import failures, intervals, overhead
from lib.claims import dimensions
from lib.claims.document_a import HOUR, MILLION, llama_mtbf
from lib.claims.evidence import Checks, Outcome, Readings
from lib.claims.registry import claim
from lib.claims.sources import inputs

t, c, lam, x, w, d = sp.symbols("t c lambda x w d", positive=True)

# With w = W0(z) every statement about W0 is one about w: z = w e^w, and c*lambda = 1 + w e^(1 + w).
share_of_w = 1 + w * sp.exp(1 + w)


@claim("A-38")
def expected_time_to_failure():
    """g*lambda is a rate; the time is its reciprocal."""
    equation = dimensions.EQUATIONS["AA time to failure"]
    gpus = inputs["llama_gpus"]
    mtbf = failures.cluster_mtbf(inputs["gpu_mttf"], gpus)
    # At the first-order optimum sqrt(2 c M) equals M where c = M/2.
    equal = inputs["gpu_mttf"] * HOUR / (2 * inputs["write_time_text"]) / MILLION
    return Outcome(
        Checks({"same dimension": equation.holds}),
        value=mtbf,
        text=f"{mtbf:.2f} h",
        facts=dict(
            left=equation.left,
            right=equation.right,
            rate=1 / mtbf,
            mtbf=mtbf,
            equal=equal,
            large=1 / failures.cluster_mtbf(inputs["gpu_mttf"], inputs["cluster_1m"]),
            large_minutes=60 * failures.cluster_mtbf(inputs["gpu_mttf"], inputs["cluster_1m"]),
        ),
    )


def expected_time(attempt):
    """Expected time to get through `attempt` without a failure, starting over after each."""
    E = sp.Symbol("E")
    begun = sp.integrate(lam * sp.exp(-lam * x) * x, (x, 0, attempt))
    failing = 1 - sp.exp(-lam * attempt)
    return sp.solve(sp.Eq(E, begun + failing * E + sp.exp(-lam * attempt) * attempt), E)[0]


@claim("A-39")
def time_between_checkpoints():
    residual = expected_time(t) + c - ((sp.exp(lam * t) - 1) / lam + c)
    return Outcome(Checks({"renewal equation": sp.simplify(residual)}))


@claim("A-40")
def series_of_attempts():
    """The geometric series, the mean lost in a failed attempt, and their product."""
    q = sp.Symbol("q", positive=True)
    total = sp.summation(q**x, (x, 0, sp.oo)).args[0][0]
    lost = sp.integrate(lam * sp.exp(-lam * x) * x, (x, 0, t))
    printed_lost = 1 / lam - sp.exp(-lam * t) * (1 / lam + t)
    closed = total.subs(q, 1 - sp.exp(-lam * t)) * printed_lost + t + c
    return Outcome(
        Checks(
            {
                "mean lost": sp.simplify(lost - printed_lost),
                "closed form": sp.simplify(closed - ((sp.exp(lam * t) - 1) / lam + c)),
            }
        )
    )


@claim("A-41")
def total_time():
    printed = (sp.exp(lam * t) - 1) / (lam * t) + c / t
    return Outcome(Checks({"per useful time": sp.simplify((expected_time(t) + c) / t - printed)}))


@claim("A-42")
def optimum_by_lambert():
    """The derivative vanishes at t = (1 + w)/lambda, and the time is convex there."""
    slope = sp.diff((sp.exp(lam * t) - 1) / (lam * t) + c / t, t)
    bend = sp.simplify(sp.diff(slope, t).subs(c, sp.solve(slope, c)[0]))
    at_optimum = slope.subs({t: (1 + w) / lam, c: share_of_w / lam})
    return Outcome(
        Checks(
            {
                "stationary point": sp.simplify(at_optimum),
                "minimum": sp.simplify(bend - lam * sp.exp(lam * t) / t),
            }
        )
    )


@claim("A-43")
def expansion_at_the_branch_point():
    """Undetermined coefficients in w e^w = z with e z = d^2/2 - 1: SymPy's own series of W is wrong there."""
    a, b = sp.symbols("a b")
    guess = a * d + b * d**2
    equation = sp.series((guess - 1) * sp.exp(guess) - (d**2 / 2 - 1), d, 0, 4).removeO()
    found = sp.solve([equation.coeff(d, k) for k in (1, 2, 3)], [a, b], dict=True)
    positive = [s for s in found if s[a].is_positive]
    return Outcome(
        Checks({"one branch above -1": len(positive) == 1, "coefficient of delta": positive[0][a] - 1})
    )


@claim("A-44")
def optimum_for_short_writes():
    u = sp.Symbol("u", positive=True)
    return Outcome(
        Checks({"limit of the ratio": sp.limit(u / sp.sqrt(2 * (1 + (u - 1) * sp.exp(u))), u, 0) - 1})
    )


@claim("A-45")
def optimum_for_long_writes():
    """The remainder 1 + w - log X + log log X, with X = c*lambda, is a logarithm whose limit is zero."""
    log_x = 1 + w + sp.log(w + sp.exp(-1 - w))
    rest = sp.log(log_x / (w + sp.exp(-1 - w)))
    remainder = 1 + w - log_x + sp.log(log_x)
    return Outcome(
        Checks(
            {
                "logarithm of c*lambda": sp.simplify(sp.exp(log_x) - share_of_w),
                "remainder as one logarithm": sp.simplify(sp.expand_log(remainder - rest, force=True)),
                "limit of the remainder": sp.limit(rest, w, sp.oo),
            }
        )
    )


@claim("A-56")
def lambert_for_large_arguments():
    """W0 - log z + log log z with log z = w + log w."""
    return Outcome(Checks({"limit of the remainder": sp.limit(sp.log((w + sp.log(w)) / w), w, sp.oo)}))


def program_interval(share):
    """The program's optimum in units of the MTBF: scipy's W at the rounded argument."""
    return 1 + special.lambertw((share - 1) / np.e).real


def relative_error(share):
    """Relative error of the program's optimum against 50 digits; NaN where the program gives NaN."""
    with mpmath.workdps(50):
        exact = 1 + mpmath.lambertw((mpmath.mpf(share) - 1) / mpmath.e).real
        return float(abs(program_interval(share) / exact - 1))


@claim("A-46")
def program_for_any_input():
    """A fine grid of c*lambda: six digits are enough for a plan; the smallest values give none.

    Between powers of ten the rounding is worse than at them, so the grid has two thousand points a decade.
    """
    shares = np.logspace(-20, 4, 24 * 2000 + 1)
    errors = np.abs(program_interval(shares) / intervals.kernel(shares) - 1)
    good = errors < 1e-6
    worst = float(shares[np.nanargmax(errors)])
    llama = inputs["write_time"] / llama_mtbf()
    readings = {"the training of the example": relative_error(llama) < 1e-6, "any input": bool(good.all())}
    return Outcome(
        Readings(readings),
        facts=dict(
            llama=llama,
            digits=-math.log10(relative_error(llama)),
            wrong=_rounded_up(float(shares[~good].max())),
            lost=100 * relative_error(worst),
            worst=worst,
            nan=float(shares[np.isnan(errors)].max()),
        ),
    )


def _rounded_up(value):
    """One significant digit, for a bound that has to hold."""
    unit = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / unit) * unit


@claim("A-47")
def program_loss_is_a_fraction():
    """What the program returns for its example, beside the loss in percent that the text prints."""
    mtbf, write = llama_mtbf(), inputs["write_time"]
    interval = intervals.optimal(write, mtbf, exposed_writes=False)
    returned = overhead.slowdown(interval, write, mtbf, exposed_writes=False) - 1
    first_order = overhead.first_order_loss(intervals.young(write, mtbf), write, mtbf)
    close = 0.02
    readings = {
        "a fraction of useful time": abs(returned / first_order - 1) < close,
        "a percentage": abs(returned / (100 * first_order) - 1) < close,
    }
    return Outcome(
        Readings(readings),
        value=returned,
        text=f"{returned:.4f} of the useful time",
        facts=dict(returned=returned, percent=100 * returned, wall=100 * returned / (1 + returned)),
    )
