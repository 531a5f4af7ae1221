"""The dimensions of every equation of both documents.

Each quantity has the dimension that its document gives it in words; each equation is entered as
printed. The two sides have to agree, sums and arguments of functions have to be consistent.
Counts (GPUs, parameters, tokens, copies) are dimensionless; operations (FLOP) and bytes are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul

import sympy as sp
from sympy.physics.units import Dimension
from sympy.physics.units.definitions.dimension_definitions import information, time
from sympy.physics.units.systems.si import dimsys_default

operation = Dimension("operation")
SYSTEM = dimsys_default.extend([operation])
NONE = Dimension(1)


class Inconsistent(ValueError):
    """A sum of unlike dimensions, or a function of something that has a dimension."""


@dataclass(frozen=True)
class Equation:
    """An equation as printed, with the dimension of each of its symbols.

    Attributes
    ----------
    section : str
        Where it stands, such as "A4".
    sides : tuple of sympy.Expr
        Left and right side; a chain of equalities has more than two.
    claim : str
        The claim that this equation is, where it fails.
    """

    section: str
    sides: tuple
    claim: str = ""

    @cached_property
    def dimensions(self):
        return tuple(_name_of(side) for side in self.sides)

    @property
    def left(self):
        return self.dimensions[0]

    @property
    def right(self):
        return self.dimensions[-1]

    @property
    def holds(self):
        return all(same(self.sides[0], side) for side in self.sides[1:])


def quantity(name, dimension=NONE):
    """A positive symbol that has a dimension."""
    symbol = sp.Symbol(name, positive=True)
    _dimension_of_symbol[symbol] = dimension
    return symbol


def dimension_of(expression):
    """Return the dimension of an expression in the symbols made by `quantity`.

    Raises
    ------
    Inconsistent
        Where a sum mixes dimensions, or an exponent or a function's argument has one.
    """
    expression = sp.sympify(expression)
    if expression.is_Symbol:
        return _dimension_of_symbol[expression]
    if expression.is_number:
        return NONE
    parts = [dimension_of(part) for part in expression.args]
    if expression.is_Add:
        if any(not _equal(parts[0], part) for part in parts[1:]):
            raise Inconsistent(f"{expression} adds unlike dimensions")
        return parts[0]
    if expression.is_Mul:
        return reduce(mul, parts)
    if expression.is_Pow and expression.exp.is_number:
        return parts[0] ** expression.exp
    if any(not _equal(part, NONE) for part in parts):
        raise Inconsistent(f"{expression} is a function of something that has a dimension")
    return NONE


def same(left, right):
    """Tell whether two expressions are each consistent and have the same dimension."""
    try:
        return _equal(dimension_of(left), dimension_of(right))
    except Inconsistent:
        return False


def failing():
    """Return the equations whose dimensions do not agree, by name."""
    return {name: equation for name, equation in EQUATIONS.items() if not equation.holds}


def _equal(one, other):
    return SYSTEM.equivalent_dims(one, other)


def _name_of(expression):
    """The dimension in words: "time", "operation/time", "1"."""
    powers = SYSTEM.get_dimensional_dependencies(dimension_of(expression))
    named = sp.Mul(*(sp.Symbol(str(base.name)) ** power for base, power in powers.items()))
    return str(named).replace("**", "^").replace("*", " ")


_dimension_of_symbol: dict = {}

_rate = 1 / time
_speed = operation / time
_bandwidth = information / time

# Document A
t, c, x = quantity("t", time), quantity("c", time), quantity("x", time)
g, lam = quantity("g"), quantity("lambda_gpu", _rate)
cluster_rate, f = quantity("lambda", _rate), quantity("f", _rate)
mttf = quantity("mttf", time)
lost = quantity("L")
t_train, t_step, node_rate = (
    quantity("t_train", time),
    quantity("t_step", time),
    quantity("lambda_node", _rate),
)
N_gpu, M_copies, losses = quantity("N_GPU"), quantity("M_copies"), quantity("F")
state, state_bits = quantity("4 GB", information), quantity("16 GB", information)
link, seconds = quantity("400 Gb/s", _bandwidth), quantity("0.32 s", time)
S_opt, N_param, N_optimizer = quantity("S_opt", information), quantity("N_param"), quantity("N_optimizer")
N_bytes = quantity("N_bytes", information)
B, alpha = quantity("50 GB/s", _bandwidth), quantity("alpha")
C, per_pair, tokens = quantity("C", operation), quantity("6 FLOP", operation), quantity("tokens")
C_peak, mfu = quantity("C_peak", _speed), quantity("MFU")
per_square = 20 * per_pair
# The printed 2e6 is this root, with the numbers put in: its dimension is what they carry.
coefficient = sp.sqrt(C_peak * mfu / per_square)
byte = quantity("byte", information)
E_T, T_between, X1 = quantity("E[T]", time), quantity("T", time), quantity("X_1", time)
z, small = quantity("z"), quantity("delta_W")
time_to_failure = quantity("expected time to failure", time)

# Document B
MTTF, FIT, device_hours = quantity("MTTF", time), quantity("FIT"), quantity("1e9 device-hours", time)
gpu_mttf, nic_mttf, psu_mttf = (quantity(n, time) for n in ("MTTF_gpu", "MTTF_nic", "MTTF_psu"))
n_gpu, n_nic, n_psu, N_nodes = (quantity(n) for n in ("n_gpu", "n_nic", "n_psu", "N_nodes"))
node, cluster = quantity("MTBF_node", time), quantity("MTBF_cluster", time)
T_job, MTBF = quantity("T_job", time), quantity("MTBF", time)
tau, T_write = quantity("tau", time), quantity("T_write", time)
size, P, per_parameter = quantity("size", information), quantity("P"), quantity("14 byte", information)
write_bandwidth = quantity("100 GB/s", _bandwidth)
recovery, detect, reschedule, reload, replay = (
    quantity(n, time) for n in ("T_recovery", "T_detect", "T_reschedule", "T_reload", "T_replay")
)
good, raw = quantity("useful steps", _rate), quantity("steps without failures", _rate)
useful, wall = quantity("T_useful", time), quantity("T_wall", time)
A, k = quantity("A"), quantity("k")
M, delta, E_total = quantity("M", time), quantity("delta", time), quantity("E[T_total]", time)
loss_share = quantity("W")
sign, e, m = quantity("s"), quantity("e"), quantity("m")
value, Q, dQ, K, d_k, S = (quantity(n) for n in ("x_16", "Q", "dQ", "K", "d_k", "S"))

_rework = sp.exp(-cluster_rate * t) * (1 / cluster_rate + t)
_optimum = (1 + sp.LambertW((c * cluster_rate - 1) / sp.E)) / cluster_rate

EQUATIONS = {
    "A2 loss": Equation("A2", (lost, c / t + g * lam * t / 2)),
    "A2 slope": Equation("A2", (lost / t, -c / t**2 + g * lam / 2)),
    "A2 optimum": Equation("A2", (t, sp.sqrt(2 * c / (g * lam)))),
    "A3 failure in a step": Equation("A3", (1 - sp.exp(-node_rate * t_step), node_rate * t_step)),
    "A3 losses": Equation(
        "A3", (losses, t_train / t_step * N_gpu / M_copies * (node_rate * t_step) ** M_copies)
    ),
    "A3 limit": Equation("A3", (mttf / N_gpu, M_copies * state / link, state_bits / B, seconds)),
    "A4 state": Equation("A4", (S_opt, N_param * N_optimizer * N_bytes)),
    "A4 condition": Equation("A4", (mttf / N_gpu, M_copies * S_opt / (B * N_gpu**alpha))),
    "A4 compute": Equation("A4", (C, per_pair * N_param * (20 * N_param))),
    "A4 parameters": Equation("A4", (N_param, sp.sqrt(N_gpu * C_peak * mfu / per_square)), claim="A-28"),
    "A4 coefficient": Equation("A4", (N_param, coefficient * sp.sqrt(N_gpu)), claim="A-48"),
    "A4 condition with numbers": Equation(
        "A4", (mttf / N_gpu, 48 * coefficient * sp.sqrt(N_gpu) * byte / (B * N_gpu**alpha)), claim="A-49"
    ),
    "AA time to failure": Equation("AA", (time_to_failure, g * lam), claim="A-38"),
    "AA attempts": Equation("AA", (T_between, X1 + t + c)),
    "AA expected time, series": Equation(
        "AA", (E_T, (1 - sp.exp(-cluster_rate * t)) * (1 / cluster_rate - _rework) + t + c)
    ),
    "AA expected time, closed": Equation(
        "AA",
        (
            E_T,
            sp.exp(cluster_rate * t) * (1 / cluster_rate - _rework) + t + c,
            (sp.exp(cluster_rate * t) - 1) / cluster_rate + c,
        ),
    ),
    "AA total time": Equation("AA", (E_T / t, (sp.exp(cluster_rate * t) - 1) / (cluster_rate * t) + c / t)),
    "AA optimum": Equation("AA", (t, _optimum)),
    "AA branch point": Equation("AA", (sp.LambertW(z), -1 + small, -1 + sp.sqrt(2 * (sp.E * z + 1)))),
    "AA optimum, short writes": Equation("AA", (_optimum, sp.sqrt(2 * c / cluster_rate))),
    "AA cluster rate": Equation("AA", (cluster_rate, f * g)),
    "AA optimum by GPUs": Equation("AA", (t, sp.sqrt(2 * c / (f * g)))),
    "AA large arguments": Equation("AA", (sp.LambertW(z), sp.log(z) - sp.log(sp.log(z)))),
    "AA optimum, long writes": Equation(
        "AA", (t, (sp.log(c * cluster_rate) - sp.log(sp.log(c * cluster_rate)) + 1) / cluster_rate)
    ),
    "AA program, simple optimum": Equation("AA", (t, (2 * c / (g * f)) ** sp.S.Half)),
    "AA program, simple loss": Equation("AA", (lost, c / t + g * f * t / 2)),
    "AA program, optimum": Equation("AA", (t, (1 + sp.LambertW((c * (g * f) - 1) / sp.E)) / (g * f))),
    "AA program, loss": Equation("AA", (lost, (sp.exp(g * f * t) - 1) / (g * f * t) + c / t - 1)),
    "B1 MTTF": Equation("B1", (MTTF, device_hours / FIT)),
    "B1 node": Equation("B1", (1 / node, n_gpu / gpu_mttf + n_nic / nic_mttf + n_psu / psu_mttf)),
    "B1 cluster": Equation("B1", (cluster, node / N_nodes)),
    "B1 job": Equation("B1", (quantity("Pr"), 1 - sp.exp(-T_job / MTBF))),
    "B2 interval": Equation("B2", (tau, sp.sqrt(2 * T_write * MTBF))),
    "B2 size": Equation("B2", (size, P * per_parameter)),
    "B2 write time": Equation("B2", (T_write, size / write_bandwidth)),
    "B2 overhead": Equation("B2", (loss_share, T_write / tau)),
    "B3 recovery": Equation("B3", (recovery, detect + reschedule + reload + replay)),
    "B3 goodput": Equation("B3", (quantity("goodput ratio"), good / raw, useful / wall)),
    "B4 availability": Equation("B4", (quantity("A_system"), 1 - (1 - A) ** k)),
    "B6 expected time": Equation("B6", (E_total, M * (sp.exp((tau + delta) / M) - 1))),
    "B6 exponential": Equation(
        "B6",
        (
            sp.exp((tau + delta) / M),
            1 + (tau + delta) / M + (tau + delta) ** 2 / (2 * M**2) + (tau + delta) ** 3 / (6 * M**3),
        ),
    ),
    "B6 lost time": Equation("B6", (E_total - tau, delta + tau**2 / (2 * M) + delta * tau / M)),
    # Zero has any dimension: the terms are held against the first of them.
    "B6 quadratic": Equation("B6", (tau**2, tau**2 + 2 * delta * tau - 2 * delta * M - delta**2 / 3)),
    "B6 root": Equation("B6", (tau, sp.sqrt(2 * delta * M + delta**2 / 3) - delta)),
    "B6 ratio": Equation("B6", (quantity("gamma"), T_write / MTBF, delta / M)),
    "B7 number": Equation("B7", (value, (-1) ** sign * 2 ** (e - 15) * (1 + m / 1024))),
    "B7 flip": Equation("B7", (value, (-1) ** sign * 2 ** (e + 16 - 15) * (1 + m / 1024), value * 2**16)),
    "B7 scores": Equation("B7", (S, Q * K / sp.sqrt(d_k))),
    "B7 corrupted scores": Equation("B7", (S, (Q + dQ) * K / sp.sqrt(d_k), S + dQ * K / sp.sqrt(d_k))),
    "B7 softmax": Equation("B7", (quantity("attention"), sp.exp(S + dQ * K / sp.sqrt(d_k)) - sp.exp(S))),
    "B7 gradient factor": Equation("B7", (quantity("multiplier"), dQ * 2**16)),
}
