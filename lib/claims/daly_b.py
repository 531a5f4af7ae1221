"""Claims of document B on Daly's interval, section B6, and on what it assumes of failures (B-61, section B2)."""

from __future__ import annotations

import numpy as np
import sympy as sp

from lib import fitting, intervals, overhead
from lib.claims.document_b import HOUR, fleet_mtbf, write_time
from lib.claims.evidence import Checks, Outcome, Readings, Value
from lib.claims.registry import claim
from lib.claims.sources import inputs, table

tau, delta, M, s, e = sp.symbols("tau delta M s epsilon", positive=True)

exact_time = M * (sp.exp((tau + delta) / M) - 1)
printed_loss = delta + tau**2 / (2 * M) + delta * tau / M
printed_quadratic = tau**2 + 2 * delta * tau - 2 * delta * M - delta**2 / 3
printed_root = sp.sqrt(2 * delta * M + delta**2 / 3) - delta
daly_2006 = sp.sqrt(2 * delta * M) * (1 + sp.sqrt(delta / (2 * M)) / 3 + delta / (2 * M) / 9) - delta


def in_epsilon(interval, order):
    """Series of an interval over M in epsilon = sqrt(2 delta/M), the small parameter of every expansion."""
    return sp.series(sp.simplify((interval / M).subs(delta, e**2 * M / 2)), e, 0, order + 1).removeO()


def written(expression):
    """An expression in plain signs, for a sentence."""
    names = {
        "tau": "τ",
        "delta": "δ",
        "epsilon": "ε",
        "sqrt": "√",
        "**2": "²",
        "**3": "³",
        "**4": "⁴",
        "*": " ",
    }
    text = sp.sstr(expression, order="rev-lex")
    for sign, shown in names.items():
        text = text.replace(sign, shown)
    return text


@claim("B-41")
def expected_time():
    """Renewal: an attempt of tau + delta either passes or is lost and begun again."""
    E, x = sp.Symbol("E"), sp.Symbol("x", positive=True)
    attempt = tau + delta
    lost = sp.integrate(x * sp.exp(-x / M) / M, (x, 0, attempt))
    passing = sp.exp(-attempt / M)
    solved = sp.solve(sp.Eq(E, lost + (1 - passing) * E + passing * attempt), E)[0]
    return Outcome(Checks({"renewal equation": sp.simplify(solved - exact_time)}))


def expanded_loss(order):
    """The lost time with the exponential expanded to an order in (tau + delta)/M."""
    terms = sum((s**k / sp.factorial(k) for k in range(1, order + 1)), sp.Integer(0))
    return sp.expand(M * terms.subs(s, (tau + delta) / M) - tau)


@claim("B-42")
def expansion_of_the_loss():
    """What the second order holds beyond the printed terms, and what the printed ones lack in epsilon^3."""
    second = sp.expand(expanded_loss(2) - printed_loss)
    # With delta = e^2 M/2 and tau = e M every term has a power of e: its size at the optimum.
    third = expanded_loss(3).subs({delta: e**2 * M / 2, tau: e * M}).expand()
    printed = printed_loss.subs({delta: e**2 * M / 2, tau: e * M}).expand()
    write, mtbf = inputs["write_share"], 1.0
    best = intervals.optimal(write, mtbf)
    at = {tau: best, delta: write, M: mtbf}
    return Outcome(
        Checks({"second order": second}),
        text=f"difference {written(second)}",
        facts=dict(
            missing=written(second),
            kept=written(printed.coeff(e, 3) / M),
            due=written(third.coeff(e, 3) / M),
            exact=100 * (overhead.slowdown(best, write, mtbf) - 1),
            printed_loss=100 * float((printed_loss / tau).subs(at)),
            share=100 * write,
        ),
    )


@claim("B-43")
def quadratic_of_the_optimum():
    """The derivative of the printed loss over tau, cleared of its denominator."""
    slope = sp.diff(printed_loss / tau, tau)
    cleared = sp.expand(slope * 2 * M * tau**2)
    difference = sp.expand(printed_quadratic - cleared)
    (best,) = sp.solve(cleared, tau)
    full = sp.expand(sp.diff(expanded_loss(2) / tau, tau) * 2 * M * tau**2)
    share = inputs["write_share"]
    young, optimum = intervals.young(share, 1.0), intervals.optimal(share, 1.0)
    return Outcome(
        Checks({"quadratic": difference}),
        text=f"difference {written(difference)}",
        facts=dict(
            difference=written(difference),
            right=written(cleared),
            best=written(best),
            full=written(full),
            over=100 * (young / optimum - 1),
            share=100 * share,
        ),
    )


@claim("B-44")
def root_of_the_quadratic():
    """The printed root put into the printed quadratic, and the quadratic's own root."""
    left = sp.expand(printed_quadratic.subs(tau, printed_root))
    (own,) = [root for root in sp.solve(printed_quadratic, tau) if root.subs({delta: 1, M: 1}) > 0]
    share = inputs["write_share"]
    at = {delta: share, M: 1}
    printed, right, best = float(printed_root.subs(at)), float(own.subs(at)), intervals.optimal(share, 1.0)
    return Outcome(
        Checks({"value of the quadratic": left}),
        text=f"quadratic at the root: {written(left)}",
        facts=dict(
            left=written(left),
            printed_value=printed,
            own=right,
            best=best,
            short=100 * (1 - printed / best),
            own_short=100 * (1 - right / best),
            share=100 * share,
        ),
    )


@claim("B-45")
def attribution_to_daly():
    """Both formulas as series in epsilon; Daly's agrees with the exact optimum to the third term."""
    difference = sp.expand(in_epsilon(printed_root, 3) - in_epsilon(daly_2006, 3))
    share = inputs["write_share"]
    daly, best = intervals.daly(share, 1.0), intervals.optimal(share, 1.0)
    printed = float(printed_root.subs({delta: share, M: 1}))
    return Outcome(
        Checks({"series": difference}),
        text=f"difference {written(difference)}",
        facts=dict(
            printed_second=written(in_epsilon(printed_root, 2).coeff(e, 2) * e**2),
            daly_second=written(in_epsilon(daly_2006, 2).coeff(e, 2) * e**2),
            short=100 * (1 - printed / best),
            daly_off=100 * abs(daly / best - 1),
            share=100 * share,
        ),
    )


@claim("B-46")
def excess_of_young():
    """Young's interval over the printed formula and over the exact optimum."""
    share = inputs["write_share"]
    young, best = intervals.young(share, 1.0), intervals.optimal(share, 1.0)
    over_printed = 100 * (young / float(printed_root.subs({delta: share, M: 1})) - 1)
    over_best = 100 * (young / best - 1)
    waste = 100 * (overhead.slowdown(young, share, 1.0) / overhead.slowdown(best, share, 1.0) - 1)
    printed_waste = 100 * (
        overhead.slowdown(float(printed_root.subs({delta: share, M: 1})), share, 1.0)
        / overhead.slowdown(best, share, 1.0)
        - 1
    )
    readings = {
        "against the printed formula": Value(over_printed),
        "against the exact optimum": Value(over_best),
    }
    return Outcome(
        Readings(readings),
        value=over_best,
        facts=dict(
            over_printed=over_printed,
            over_best=over_best,
            waste=waste,
            printed_waste=printed_waste,
            share=100 * share,
        ),
    )


@claim("B-47")
def excess_of_young_grows():
    """Exposed: (Young/optimum)^2 = -2 (u + log(1 - u))/u^2, all of whose coefficients are positive."""
    square = sp.series(-2 * (s + sp.log(1 - s)) / s**2, s, 0, 8).removeO()
    shares = np.logspace(-6, 3, 400)
    growing = {}
    for name, exposed in (("exposed writes", True), ("protected writes", False)):
        excess = intervals.young(shares, 1.0) / intervals.optimal(shares, 1.0, exposed_writes=exposed)
        growing[name] = bool(np.all(np.diff(excess) > 0))
    return Outcome(
        Checks(
            {"coefficients": all(square.coeff(s, k) == sp.Rational(2, k + 2) for k in range(8)), **growing}
        )
    )


@claim("B-60")
def reason_of_the_excess():
    """Where the third-order loss comes from, and Young's excess with and without failures in writes."""
    u = sp.Symbol("u", positive=True)
    # The optimum gives epsilon^2/2 as a function of u = tau/M: -u - log(1 - u) and 1 + (u - 1) e^u.
    squares = {"exposed": -2 * (u + sp.log(1 - u)), "protected": 2 * (1 + (u - 1) * sp.exp(u))}
    lead = {name: sp.series(square / u**2, u, 0, 2).removeO().coeff(u, 1) for name, square in squares.items()}
    # The loss is failed attempts times the mean loss of one; attempts beyond the first add their own term.
    failed, lost = sp.exp(s) - 1, 1 - s / (sp.exp(s) - 1)
    total = sp.series(failed * lost, s, 0, 4).removeO().coeff(s, 3)
    again = sp.Rational(1, 2) * sp.series(lost, s, 0, 2).removeO().coeff(s, 1)
    share = inputs["write_share"]
    young = intervals.young(share, 1.0)
    over = {
        exposed: 100 * (young / intervals.optimal(share, 1.0, exposed_writes=exposed) - 1)
        for exposed in (True, False)
    }
    return Outcome(
        Readings(
            {
                "several failures": again > total / 2,
                "because of the write": lead["exposed"] != lead["protected"],
            }
        ),
        text=f"{over[False]:.1f} % of {over[True]:.1f} % remain",
        facts=dict(
            exposed=over[True],
            protected=over[False],
            part=100 * over[False] / over[True],
            again=100 * float(again / total),
            early=100 * float((again - total) / total),
            share=100 * share,
        ),
    )


@claim("B-61")
def assumptions_in_production():
    """Titan's quarters and gaps against one exponential distribution; the example's write against the MTBF."""
    quarters = table("titan_by_quarter")
    counts = [float(row["dbe"]) + float(row["otb"]) for row in quarters]
    hours = [float(row["gpu_hours"]) for row in quarters]
    rates = np.divide(counts, hours)
    rates = rates[rates > 0]  # the first quarter has a few days and no failure
    G, freedom, p_rate = fitting.constant_rate_test(counts, hours)
    bins = table("titan_gap_histogram")
    edges = [0.0, *(float(row["gap_to_h"]) for row in bins)]
    shape = fitting.weibull_shape_test(edges, [float(row["all_2014_2019"]) for row in bins])[1]
    share = write_time() / (fleet_mtbf() * HOUR)
    return Outcome(
        Readings(
            {
                "one rate": p_rate > 0.05,
                "exponential gaps": shape > 0.05,
                "short writes": share < 0.01,
            }
        ),
        facts=dict(factor=rates.max() / rates.min(), G=G, freedom=freedom, share=100 * share),
    )


@claim("B-55")
def order_of_the_expansion():
    """The printed expansion of the exponential is called second-order."""
    printed = 1 + s + s**2 / 2 + s**3 / 6
    series = sp.series(sp.exp(s), s, 0, 6).removeO()
    order = next(k for k in range(6) if (series - printed).coeff(s, k + 1) != 0)
    share = inputs["write_share"]
    best = intervals.optimal(share, 1.0)
    over = {k: 100 * (optimum_of_order(k, share) / best - 1) for k in (2, 3)}
    return Outcome(Value(order), facts=dict(order=order, second=over[2], third=over[3], share=100 * share))


def optimum_of_order(order, share):
    """Interval over M that minimises the loss expanded to an order."""
    slope = sp.diff(expanded_loss(order).subs({delta: share, M: 1}) / tau, tau)
    return max(
        float(sp.re(root))
        for root in sp.Poly(sp.numer(sp.together(slope)), tau).nroots()
        if abs(sp.im(root)) < 1e-9
    )
