"""The SymPy symbols of the report: one name, one meaning, as the notation page lists them.

Every symbol is a positive real number unless its comment says otherwise.
"""

import sympy as sp

tau = sp.Symbol("tau", positive=True)        # checkpoint interval: compute time between checkpoints
delta = sp.Symbol("delta", positive=True)    # write time of one checkpoint
M = sp.Symbol("M", positive=True)            # mean time between failures of the whole system
R = sp.Symbol("R", nonnegative=True)         # restart time: detect + reschedule + reload
lam = sp.Symbol("lambda", positive=True)     # failure rate of the whole system, 1/M
theta = sp.Symbol("theta", positive=True)    # mean time to failure of one GPU
g = sp.Symbol("g", positive=True)            # number of GPUs
n = sp.Symbol("n", positive=True, integer=True)   # a whole number of things: attempts, copies, replicas
x = sp.Symbol("x", nonnegative=True)         # argument of the kernel
u = sp.Symbol("u", nonnegative=True)         # optimal interval in units of M, the kernel's value
epsilon = sp.Symbol("epsilon", positive=True)     # sqrt(2 delta / M), the small parameter
