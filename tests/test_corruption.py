"""`lib.corruption` against complex steps, 50 digits, SymPy, scalar loops in float16, and its own theorems."""

import warnings

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lib import corruption, floats
from lib.corruption import TENSORS, Attention, Fault, attention, attention_gradients, softmax

quiet = settings(deadline=None, derandomize=True, max_examples=50)
HALVES = ["float16", "float16 throughout"]
WEIGHTS = ("w_q", "w_k", "w_v")


def head(seed, n=4, d=3, d_k=2, d_v=5, stack=()):
    """Random input, weights and upstream gradient."""
    rng = np.random.default_rng(seed)
    shapes = {"x": (n, d), "w_q": (d, d_k), "w_k": (d, d_k), "w_v": (d, d_v)}
    given = {name: rng.normal(size=stack + shape) for name, shape in shapes.items()}
    return given, rng.normal(size=stack + (n, d_v))


def norm(array):
    return np.sqrt((array**2).sum(axis=(-2, -1)))


heads = st.builds(
    head, st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)
)


@st.composite
def faults(draw, given, tensors=TENSORS, bits=st.integers(0, 15), factors=st.floats(-9, 9)):
    """A fault in any place that the tensors of `given` have."""
    clean = attention(**given)
    tensor = draw(st.sampled_from(tensors))
    rows, columns = getattr(clean, tensor).shape
    row = draw(st.integers(0, rows - 1))
    index = draw(st.sampled_from([row, (row, draw(st.integers(0, columns - 1)))]))
    if draw(st.booleans()):
        return Fault(tensor, index, bit=draw(bits))
    return Fault(tensor, index, factor=draw(factors))


# --- float64: the forward pass and its exact gradient ---


def plain_loss(t, upstream, added=None):
    """Sum(G O) written as it is usually written; also for complex tensors, with constants added."""

    def stored(name, tensor):
        return tensor + (added or {}).get(name, 0.0)

    x, w_q, w_k, w_v = (stored(name, t[name]) for name in ("x", *WEIGHTS))
    q, k, v = stored("q", x @ w_q), stored("k", x @ w_k), stored("v", x @ w_v)
    scores = q @ k.T / np.sqrt(q.shape[1])
    powers = np.exp(scores - scores.real.max(axis=1, keepdims=True))
    return (upstream * (powers / powers.sum(axis=1, keepdims=True) @ v)).sum()


def additions(given, fault):
    """What the fault adds to its tensor, and nothing else."""
    clean, struck = attention(**given), attention(**given, fault=fault)
    return {fault.tensor: getattr(struck, fault.tensor) - getattr(clean, fault.tensor)}


@quiet
@given(heads)
def test_forward_is_the_textbook_formula(case):
    given, upstream = case
    clean = attention(**given)
    assert np.allclose((upstream * clean.output).sum(), plain_loss(given, upstream), rtol=1e-12, atol=1e-12)
    assert np.allclose(clean.probabilities.sum(axis=-1), 1, rtol=1e-15)
    for name in given:
        assert np.array_equal(getattr(clean, name), given[name])


@quiet
@given(st.data(), heads)
def test_gradient_is_that_of_a_complex_step_with_and_without_fault(data, case):
    given, upstream = case
    fault = data.draw(st.none() | faults(given, bits=st.sampled_from([0, 5, 9, 10, 11, 15])))
    found = attention_gradients(attention(**given, fault=fault), upstream)
    added = additions(given, fault) if fault else {}
    for name in ("x", *WEIGHTS):
        direction = np.random.default_rng(7).normal(size=given[name].shape)
        stepped = {**given, name: given[name] + 1e-30j * direction}
        slope = plain_loss(stepped, upstream, added).imag / 1e-30
        gradient = getattr(found, name)
        size = norm(gradient) * norm(direction) + abs(slope)
        assert abs((gradient * direction).sum() - slope) <= 1e-11 * size + 1e-13


def digits_loss(t, upstream, added):
    """Sum(G O) in mpmath, by loops over scalars."""

    def product(a, b):
        return [[mpmath.fdot(row, column) for column in zip(*b)] for row in a]

    def stored(name, rows):
        extra = added.get(name)
        return rows if extra is None else [[a + e for a, e in zip(r, s)] for r, s in zip(rows, extra)]

    x, w_q, w_k, w_v = (stored(name, t[name]) for name in ("x", *WEIGHTS))
    q, k, v = (stored(name, product(x, w)) for name, w in (("q", w_q), ("k", w_k), ("v", w_v)))
    total = mpmath.mpf(0)
    for query, arriving in zip(q, upstream):
        scores = [mpmath.fdot(query, key) / mpmath.sqrt(len(query)) for key in k]
        powers = [mpmath.exp(s) for s in scores]
        output = [mpmath.fdot(powers, column) / mpmath.fsum(powers) for column in zip(*v)]
        total += mpmath.fdot(arriving, output)
    return total


def to_digits(array):
    return [[mpmath.mpf(float(a)) for a in row] for row in array]


@pytest.mark.parametrize(
    "fault",
    [
        None,
        Fault("q", (1, 0), factor=40.0),
        Fault("k", 0, factor=-3.0),
        Fault("v", (2, 1), bit=15),
        Fault("x", 1, factor=5.0),
        Fault("w_q", (0, 1), bit=10),
    ],
)
def test_gradient_is_that_of_finite_differences_in_50_digits(fault):
    given, upstream = head(11, n=3, d=2, d_k=2, d_v=2)
    found = attention_gradients(attention(**given, fault=fault), upstream)
    with mpmath.workdps(50):
        digits = {name: to_digits(a) for name, a in given.items()}
        added = {n: to_digits(a) for n, a in additions(given, fault).items()} if fault else {}
        step, upward = mpmath.mpf(10) ** -15, to_digits(upstream)
        for name in ("x", *WEIGHTS):
            for i, j in np.ndindex(given[name].shape):
                ends = []
                for sign in (1, -1):
                    moved = {n: [list(row) for row in rows] for n, rows in digits.items()}
                    moved[name][i][j] += sign * step
                    ends.append(digits_loss(moved, upward, added))
                expected = float((ends[0] - ends[1]) / (2 * step))
                assert getattr(found, name)[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_gradient_is_sympys_on_a_head_of_two_tokens():
    x = sympy.Matrix(2, 2, sympy.symbols("x:4"))
    w = {name: sympy.Matrix(2, 1, sympy.symbols(f"{name}_:2")) for name in WEIGHTS}
    g = sympy.Matrix(2, 1, sympy.symbols("g:2"))
    scores = (x * w["w_q"]) * (x * w["w_k"]).T  # sqrt(d_k) = 1
    powers = scores.applyfunc(sympy.exp)
    output = sympy.Matrix([[(powers.row(i) * (x * w["w_v"]))[0] / sum(powers.row(i))] for i in range(2)])
    loss = g.dot(output)
    given, upstream = head(5, n=2, d=2, d_k=1, d_v=1)
    symbols = [*x, *w["w_q"], *w["w_k"], *w["w_v"], *g]
    numbers = np.concatenate([given["x"], *(given[n] for n in WEIGHTS), upstream], axis=None)
    values = dict(zip(symbols, map(sympy.Rational, numbers)))
    found = attention_gradients(attention(**given), upstream)
    for name, matrix in {"x": x, **w}.items():
        expected = [float(sympy.diff(loss, s).subs(values).evalf(40)) for s in matrix]
        assert np.allclose(getattr(found, name).ravel(), expected, rtol=1e-13, atol=0)


def test_squared_error_enters_through_its_own_upstream_gradient():
    given, target = head(3)

    def loss(w_v):
        return 0.5 * ((attention(**{**given, "w_v": w_v}).output - target) ** 2).sum()

    clean = attention(**given)
    gradient = attention_gradients(clean, clean.output - target).w_v
    for i, j in np.ndindex(gradient.shape):
        step = np.zeros_like(gradient)
        step[i, j] = 1e-3
        slope = (loss(given["w_v"] + step) - loss(given["w_v"] - step)) / 2e-3  # exact: quadratic in w_v
        assert gradient[i, j] == pytest.approx(slope, rel=1e-9, abs=1e-11)


@quiet
@given(st.data(), heads)
def test_inner_gradients_are_linked_by_the_chain_rule(data, case):
    given, upstream = case
    fault = data.draw(faults(given, bits=st.integers(0, 11)))
    struck = attention(**given, fault=fault)
    found, root = attention_gradients(struck, upstream), np.sqrt(struck.q.shape[1])
    same = {"rtol": 1e-10, "atol": 1e-10}
    assert np.allclose(found.v, struck.probabilities.T @ upstream, **same)
    assert np.allclose(found.probabilities, upstream @ struck.v.T, **same)
    jacobians = [np.diag(p) - np.outer(p, p) for p in struck.probabilities]
    assert np.allclose(found.scores, [j @ d for j, d in zip(jacobians, found.probabilities)], **same)
    assert np.allclose(found.q, found.scores @ struck.k / root, **same)
    assert np.allclose(found.k, found.scores.T @ struck.q / root, **same)


@pytest.mark.parametrize("precision", corruption.PRECISIONS)
@pytest.mark.parametrize("tensor", TENSORS)
def test_stacked_heads_equal_a_loop_over_heads(precision, tensor):
    given, upstream = head(2, stack=(2, 3))
    fault = Fault(tensor, (1, 0), bit=14)
    struck = attention(**given, fault=fault, precision=precision)
    found = attention_gradients(struck, upstream)
    for at in np.ndindex(2, 3):
        alone = attention(**{n: a[at] for n, a in given.items()}, fault=fault, precision=precision)
        expected = attention_gradients(alone, upstream[at])
        for record, single in ((struck, alone), (found, expected)):
            for name, value in vars(single).items():
                if name != "precision":
                    assert np.array_equal(getattr(record, name)[at], value, equal_nan=True)


def test_weights_are_shared_by_stacked_inputs():
    given, upstream = head(2, stack=(3,))
    shared = {"x": given["x"], **{n: given[n][0] for n in WEIGHTS}}
    found = attention_gradients(attention(**shared), upstream)
    alone = attention_gradients(attention(shared["x"][2], *(shared[n] for n in WEIGHTS)), upstream[2])
    assert found.w_q.shape == (3, 3, 2)
    assert np.array_equal(found.w_q[2], alone.w_q)


def test_upstream_broadcasts():
    given, _ = head(4)
    clean = attention(**given)
    ones = attention_gradients(clean, np.ones_like(clean.output))
    assert np.array_equal(attention_gradients(clean, 1).w_v, ones.w_v)


# --- the emulation of float16 ---


def scalar_head(given, upstream, fault, precision):
    """Forward and backward pass by loops over NumPy scalars, each rounded as documented."""
    half, wide = np.float16, (np.float32 if precision == "float16" else np.float16)

    def strike(name, rows):
        if fault and fault.tensor == name:
            i = fault.index[0]
            for j in range(len(rows[0])) if len(fault.index) == 1 else fault.index[1:]:
                if fault.bit is not None:
                    rows[i][j] = floats.flip_bit(rows[i][j], fault.bit)
                else:
                    rows[i][j] = half(float(rows[i][j]) * fault.factor)
        return rows

    def sum_of(terms):
        total = terms[0]
        for term in terms[1:]:
            total = wide(total + term)
        return total

    def product(a, b):
        wide_sums = [[sum_of([wide(p) * wide(r) for p, r in zip(row, col)]) for col in zip(*b)] for row in a]
        return wide_sums

    def keep(rows):
        return [[half(a) for a in row] for row in rows]

    def turn(rows):
        return [list(column) for column in zip(*rows)]

    x, w_q, w_k, w_v = (strike(n, keep(given[n])) for n in ("x", *WEIGHTS))
    q, k, v = (strike(n, keep(product(x, w))) for n, w in (("q", w_q), ("k", w_k), ("v", w_v)))
    root = wide(np.sqrt(len(q[0])))
    scores = keep([[wide(a) / root for a in row] for row in keep(product(q, turn(k)))])
    probabilities = []
    for row in scores:
        shifted = [wide(wide(a) - max(map(wide, row))) for a in row]
        powers = [wide(np.exp(float(a))) for a in shifted]
        probabilities.append([half(a / sum_of(powers)) for a in powers])
    output = keep(product(probabilities, v))
    g = keep(upstream)
    d_v, d_p = keep(product(turn(probabilities), g)), keep(product(g, turn(v)))
    d_s = []
    for p_row, d_row in zip(probabilities, d_p):
        mean = sum_of([wide(d) * wide(p) for d, p in zip(d_row, p_row)])
        d_s.append([half(wide(p) * wide(wide(d) - mean)) for d, p in zip(d_row, p_row)])
    d_z = keep([[wide(a) / root for a in row] for row in d_s])
    d_q, d_k = keep(product(d_z, k)), keep(product(turn(d_z), q))
    parts = [product(d, turn(w)) for d, w in ((d_q, w_q), (d_k, w_k), (d_v, w_v))]
    d_x = [[half(wide(wide(a + b) + c)) for a, b, c in zip(*rows)] for rows in zip(*parts)]
    forward = {"q": q, "k": k, "v": v, "scores": scores, "probabilities": probabilities, "output": output}
    backward = {n: keep(product(turn(x), d)) for n, d in (("w_q", d_q), ("w_k", d_k), ("w_v", d_v))}
    backward |= {"x": d_x, "q": d_q, "k": d_k, "v": d_v, "scores": d_s, "probabilities": d_p}
    return forward, backward


@quiet
@pytest.mark.parametrize("precision", HALVES)
@given(st.data(), heads)
def test_emulated_float16_is_a_loop_over_float16_scalars(precision, data, case):
    given, upstream = case
    fault = data.draw(st.none() | faults(given, factors=st.sampled_from([2.0**8, -(2.0**16), 0.1])))
    struck = attention(**given, fault=fault, precision=precision)
    found = attention_gradients(struck, upstream)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The loop has no definite maximum of a row with NaN; NumPy's is NaN, and so is the row.
        assume(not np.isnan(struck.scores).any())
        forward, backward = scalar_head(given, upstream, fault, precision)
    for record, expected in ((struck, forward), (found, backward)):
        for name, rows in expected.items():
            assert np.array_equal(getattr(record, name), np.array(rows, np.float64), equal_nan=True), name


@pytest.mark.parametrize("precision", HALVES)
def test_every_stored_tensor_is_representable_in_float16(precision):
    given, upstream = head(9)
    clean = attention(**given, precision=precision)
    found = attention_gradients(clean, upstream)
    for record in (clean, found):
        for name, value in vars(record).items():
            if name != "precision":
                assert value.dtype == np.float64
                assert np.array_equal(value.astype(np.float16), value), name


def test_float16_divides_and_multiplies_in_float32():
    """One result in some thousands is another if a float64 is rounded to float16, not a float32."""
    words = np.arange(0x0800, 0x0C00, dtype=np.uint16).view(np.float16)
    one = np.ones_like(words)
    w_q, w_k = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    found = attention(np.stack([words, one], axis=1), w_q, w_k, w_k, precision="float16")  # Q K^T: the words
    quotient = (words.astype(np.float32) / np.float32(np.sqrt(2.0))).astype(np.float16)
    assert np.array_equal(found.scores[:, 0], quotient)

    given, upstream = head(6, n=128)
    forward = attention(**given, precision="float16")
    found = attention_gradients(forward, upstream)
    p, arriving = forward.probabilities.astype(np.float32), found.probabilities.astype(np.float32)
    product = p * (arriving - np.cumsum(arriving * p, axis=1)[:, -1:])
    assert np.array_equal(found.scores, product.astype(np.float16))


def test_emulated_float16_is_close_to_float64_and_closer_with_float32_sums():
    given, upstream = head(1, n=64, d=32, d_k=32, d_v=32)
    given = {n: a / np.sqrt(32) if n != "x" else a for n, a in given.items()}
    exact = attention_gradients(attention(**given), upstream)
    errors = []
    for precision in HALVES:
        found = attention_gradients(attention(**given, precision=precision), upstream)
        pairs = [(getattr(found, n), getattr(exact, n)) for n in WEIGHTS]
        errors.append([norm(a - b) / norm(b) for a, b in pairs])
    assert np.all(np.array(errors[0]) < 2e-3)
    assert np.all(np.array(errors[0]) < np.array(errors[1]))


def test_float16_stores_what_is_out_of_range_as_infinity():
    given, _ = head(1)
    given["x"][0, 0] = 70000.0
    assert np.isinf(attention(**given, precision="float16").x[0, 0])


def test_loss_scale_changes_nothing_in_float64_and_saves_small_gradients_in_float16():
    given, upstream = head(6)
    clean = attention(**given)
    plain, scaled = (attention_gradients(clean, upstream, loss_scale=s) for s in (1.0, 2.0**10))
    assert np.array_equal(plain.w_q, scaled.w_q) and np.array_equal(plain.scores, scaled.scores)
    half = attention(**given, precision="float16")
    small = upstream * 2.0**-30  # below half of the smallest float16 number
    exact = attention_gradients(clean, small).w_v
    assert np.all(attention_gradients(half, small).w_v == 0)
    saved = attention_gradients(half, small, loss_scale=2.0**24).w_v
    assert norm(saved - exact) < 1e-2 * norm(exact)
    lost = attention_gradients(half, upstream, loss_scale=2.0**20).w_v
    assert not np.isfinite(lost).all()


# --- faults ---


@quiet
@given(st.data(), heads)
def test_a_fault_changes_its_place_and_nothing_before_it(data, case):
    given, _ = case
    fault = data.draw(faults(given))
    clean, struck = attention(**given), attention(**given, fault=fault)
    before = np.array(getattr(clean, fault.tensor))
    place = fault.index if len(fault.index) == 2 else (fault.index[0], slice(None))
    if fault.bit is None:
        before[place] = before[place] * fault.factor
    else:
        before[place] = floats.flip_bit(before[place].astype(np.float16), fault.bit)
    assert np.array_equal(getattr(struck, fault.tensor), before, equal_nan=True)
    reads = {"q": {"x", "w_q"}, "k": {"x", "w_k"}, "v": {"x", "w_v"}}
    for name in TENSORS:
        if name != fault.tensor and fault.tensor not in reads.get(name, ()):
            assert np.array_equal(getattr(struck, name), getattr(clean, name))


def test_a_fault_does_not_change_the_callers_arrays():
    given, _ = head(1)
    copies = {n: a.copy() for n, a in given.items()}
    attention(**given, fault=Fault("x", 0, factor=2.0))
    assert all(np.array_equal(given[n], copies[n]) for n in given)


@quiet
@given(st.data(), heads)
def test_corrupted_score_row(data, case):
    """D-24: one flipped element adds its change times a column of K; the other rows stay as they were."""
    given, _ = case
    fault = data.draw(faults(given, tensors=("q",), bits=st.integers(0, 13)))
    clean, struck = attention(**given), attention(**given, fault=fault)
    change = (struck.q - clean.q) @ clean.k.T / np.sqrt(clean.q.shape[1])
    assert np.allclose(struck.scores, clean.scores + change, rtol=1e-9, atol=1e-9)
    others = np.arange(len(clean.q)) != fault.index[0]
    for name in ("scores", "probabilities", "output"):
        assert np.array_equal(getattr(struck, name)[others], getattr(clean, name)[others])


def test_a_row_scaled_by_a_power_of_two_scales_its_scores_and_one_element_does_not():
    given, _ = head(8)
    clean = attention(**given).scores
    row = attention(**given, fault=Fault("q", 1, factor=2.0**16)).scores
    assert np.array_equal(row[1], 2.0**16 * clean[1])
    element = attention(**given, fault=Fault("q", (1, 0), factor=2.0**16)).scores
    assert not np.allclose(element[1] / clean[1], 2.0**16, rtol=0.01)


def test_softmax_tends_to_one_position_and_to_a_share_where_scores_tie():
    """D-25: the limit is the indicator of the largest scores, divided by their number."""
    row = np.array([0.5, 0.25, 0.5, -3.0])
    for factor, rest in ((2.0**4, 0.02), (2.0**16, 0.0)):
        assert np.allclose(softmax(factor * row), [0.5, 0, 0.5, 0], atol=rest)
        assert np.allclose(softmax(factor * row[1:]), [0, 1, 0], atol=rest)
        assert np.allclose(softmax(-factor * row), [0, 0, 0, 1], atol=rest)


@quiet
@given(st.data(), heads, st.sampled_from([14, 13, 12, 11]))
def test_gradient_of_w_q_stays_bounded_whatever_a_flip_makes_of_q(data, case, bit):
    """D-26: |dW_Q| <= |X| |dP| |K| / (2 sqrt(d_k)), a bound in which Q does not occur."""
    given, upstream = case
    factors = st.floats(-(2.0**40), 2.0**40)
    fault = data.draw(faults(given, tensors=("q",), bits=st.just(bit), factors=factors))
    struck = attention(**given, fault=fault)
    assume(np.isfinite(struck.q).all())
    found = attention_gradients(struck, upstream)
    per_row = norm(found.scores[:, None]) <= 0.5 * norm(found.probabilities[:, None]) * (1 + 1e-12)
    assert per_row.all()
    sizes = np.linalg.norm(struck.x, 2) * norm(found.probabilities) * np.linalg.norm(struck.k, 2)
    bound = sizes / (2 * np.sqrt(struck.q.shape[1]))
    assert norm(found.w_q) <= bound * (1 + 1e-12)


def test_at_saturation_the_corrupted_row_contributes_nothing_to_w_q_and_w_k():
    """D-26: what remains is the clean gradient without the row."""
    given, upstream = head(8)
    clean = attention(**given)
    struck = attention(**given, fault=Fault("q", 1, factor=2.0**16))
    found, expected = attention_gradients(struck, upstream), attention_gradients(clean, upstream)
    assert np.all(found.scores[1] == 0)
    rest = expected.scores.copy()
    rest[1] = 0
    root = np.sqrt(clean.q.shape[1])
    assert np.allclose(found.w_q, clean.x.T @ rest @ clean.k / root, rtol=1e-12)
    assert np.allclose(found.w_k, clean.x.T @ rest.T @ clean.q / root, rtol=1e-12)


def test_a_near_tie_escapes_saturation_and_enlarges_w_k_but_not_w_q():
    """The exception: keys that agree along Q leave dS alive, and dK = dS^T Q reads the corrupted Q."""
    x, eye = np.array([[1.0, 0.0], [1.0, 1e-5]]), np.eye(2)
    upstream = np.array([[1.0, -2.0], [0.0, 0.0]])
    struck = attention(x, eye, eye, eye, fault=Fault("q", (0, 0), factor=2.0**16))
    assert np.array_equal(struck.probabilities[0], [0.5, 0.5])
    clean, found = (attention_gradients(a, upstream) for a in (attention(x, eye, eye, eye), struck))
    assert norm(found.w_k) == pytest.approx(2**16 * norm(clean.w_k), rel=1e-12)
    assert np.array_equal(found.w_q, clean.w_q)


def test_a_fault_in_v_multiplies_the_gradients_of_w_q_and_w_k_and_leaves_w_v():
    given, upstream = head(8)
    clean = attention_gradients(attention(**given), upstream)
    found = attention_gradients(attention(**given, fault=Fault("v", 1, factor=2.0**16)), upstream)
    assert np.array_equal(found.w_v, clean.w_v)
    assert norm(found.w_q) > 1000 * norm(clean.w_q) and norm(found.w_k) > 1000 * norm(clean.w_k)


@pytest.mark.parametrize("precision", corruption.PRECISIONS)
@pytest.mark.parametrize("value, after", [(1.0, np.inf), (1.5, np.nan)])
def test_an_infinite_or_nan_query_spoils_every_gradient(precision, value, after):
    eye = np.eye(2)
    x = np.array([[value, 0.25], [0.5, 0.75]])
    struck = attention(x, eye, eye, eye, fault=Fault("q", (0, 0), bit=14), precision=precision)
    assert np.array_equal(struck.q[0, 0], after, equal_nan=True)
    assert np.isnan(struck.output[0]).all() and np.isfinite(struck.output[1]).all()
    found = attention_gradients(struck, 1.0)
    assert not any(np.isfinite(getattr(found, name)).any() for name in WEIGHTS)


def test_products_that_overflow_float16_spoil_a_row_that_float64_merely_saturates():
    given, _ = head(8, d_k=1)
    fault = Fault("q", 1, factor=2.0**13)
    given["x"][:] = [[8.0, 0, 0], [4.0, 0, 0], [2.0, 0, 0], [1.0, 0, 0]]
    given["w_q"], given["w_k"] = np.ones((3, 1)), np.ones((3, 1))
    assert np.array_equal(attention(**given, fault=fault).probabilities[1], [1, 0, 0, 0])
    assert np.isnan(attention(**given, fault=fault, precision="float16").probabilities[1]).all()


# --- the softmax ---


@quiet
@given(st.lists(st.floats(-700, 700), min_size=1, max_size=8), st.floats(-1e4, 1e4))
def test_softmax_in_50_digits(row, offset):
    with mpmath.workdps(50):
        powers = [mpmath.exp(s) for s in row]
        expected = [float(p / mpmath.fsum(powers)) for p in powers]
    assert np.allclose(softmax(row), expected, rtol=1e-13, atol=1e-300)
    assert np.allclose(softmax(row, shift=False), expected, rtol=1e-13, atol=1e-300) or max(row) > 690
    moved = softmax(np.array(row) + offset)
    assert np.allclose(moved, softmax(row), rtol=1e-11, atol=1e-300)


def test_softmax_without_shift_overflows_and_underflows():
    assert np.array_equal(softmax([0.0, 709.7], shift=False).round(6), [0, 1])
    assert np.array_equal(softmax([0.0, 709.8], shift=False), [0, np.nan], equal_nan=True)
    assert np.isnan(softmax([-746.0, -747.0], shift=False)).all()
    assert np.isfinite(softmax([-746.0, -747.0])).all() and np.isfinite(softmax([0.0, 709.8])).all()
    given, _ = head(3)
    loud = {**given, "x": 1000 * given["x"]}
    assert np.isfinite(attention(**loud).output).all()
    assert not np.isfinite(attention(**loud, shift=False).output).all()
    half = {**given, "x": 10 * given["x"]}
    scores = attention(**half, precision="float16").scores
    assert 88.8 < scores.max() < 709
    assert not np.isfinite(attention(**half, precision="float16", shift=False).output).all()
    assert np.isfinite(attention(**half, shift=False).output).all()


def test_softmax_of_infinite_scores():
    assert np.isnan(softmax([0.0, np.inf])).all()
    assert np.array_equal(softmax([[0.0, -np.inf], [1.0, 1.0]]), [[1, 0], [0.5, 0.5]])


# --- edges and refusals ---


def test_no_warning_reaches_the_caller():
    given, upstream = head(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        softmax([0.0, 1e308, -1e308, np.inf], shift=False)
        for precision in corruption.PRECISIONS:
            for tensor in TENSORS:
                for fault in (Fault(tensor, 0, bit=14), Fault(tensor, 0, factor=1e300)):
                    struck = attention(**given, fault=fault, precision=precision, shift=False)
                    attention_gradients(struck, 1e300 * upstream, loss_scale=1e10)


def test_formats_and_flips_are_importable_from_here():
    for name in corruption.__all__:
        assert hasattr(corruption, name)
    assert corruption.flip_bit is floats.flip_bit and corruption.flip_table is floats.flip_table


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        (("s", 0, 1), ValueError, r"tensor = 's' is unknown; allowed: x, w_q, w_k, w_v, q, k, v"),
        (("q", -1, 1), ValueError, r"index = -1 "),
        (("q", (0, 0.5), 1), ValueError, r"index\[1\] = 0.5 "),
        (("q", "0", 1), TypeError, r"index = '0'"),
        (("q", (0, 1, 2), 1), ValueError, r"index = \(0, 1, 2\) .* allowed: row or \(row, column\)"),
        (("q", [[0, 1]], 1), ValueError, r"index = \[\[0, 1\]\]"),
        (("q", (), 1), ValueError, r"index = \(\)"),
        (("q", 0), ValueError, r"bit = None, factor = None; allowed: exactly one"),
        (("q", 0, 1, 2.0), ValueError, r"bit = 1, factor = 2.0; allowed: exactly one"),
        (("q", 0, 16), ValueError, r"bit = 16 .*\[0, 15\]"),
        (("q", 0, [1, 2]), ValueError, r"bit has shape \(2,\); allowed: a single number"),
        (("q", 0, "1"), TypeError, r"bit = '1'"),
        (("q", 0, None, np.inf), ValueError, r"factor = inf "),
        (("q", 0, None, [1.0, 2.0]), ValueError, r"factor has shape \(2,\)"),
        (("q", 0, None, "2"), TypeError, r"factor = '2'"),
    ],
)
def test_bad_faults_are_refused_by_name(arguments, error, text):
    with pytest.raises(error, match=text):
        Fault(*arguments)


def test_faults_are_stored_plainly():
    fault = Fault("x", np.array([1, 2]), bit=np.int64(3))
    assert fault == Fault("x", (1, 2), 3) and type(fault.bit) is int and type(fault.index[0]) is int
    assert type(Fault("x", 0, factor=np.float32(2)).factor) is float
    with pytest.raises(AttributeError):
        fault.bit = 4


@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"x": np.ones(3)}, ValueError, r"x has shape \(3,\)"),
        ({"x": np.ones((0, 3))}, ValueError, r"x has shape \(0, 3\)"),
        ({"x": np.full((4, 3), np.nan)}, ValueError, r"x\[0, 0\] = nan"),
        ({"w_k": np.full((3, 2), np.inf)}, ValueError, r"w_k\[0, 0\] = inf"),
        ({"w_v": "three"}, TypeError, r"w_v = 'three'"),
        ({"w_q": np.ones((4, 2))}, ValueError, r"w_q has shape \(4, 2\); allowed: .* columns, 3"),
        ({"w_k": np.ones((2, 2))}, ValueError, r"w_k has shape \(2, 2\); allowed: .* columns, 3"),
        ({"w_v": np.ones((4, 2))}, ValueError, r"w_v has shape \(4, 2\); allowed: .* columns, 3"),
        ({"w_k": np.ones((3, 3))}, ValueError, r"w_k has shape \(3, 3\); allowed: .* w_q, 2"),
        ({"x": np.ones((9, 4, 3)), "w_q": np.ones((4, 2))}, ValueError, r"w_q has shape .* columns, 3"),
        ({"w_q": np.ones((9, 3, 2)), "w_k": np.ones((3, 3))}, ValueError, r"w_k has shape .* w_q, 2"),
        (
            {"x": np.ones((2, 4, 3)), "w_v": np.ones((5, 3, 2))},
            ValueError,
            r"do not broadcast: x \(2, 4, 3\), w_q \(3, 2\), w_k \(3, 2\), w_v \(5, 3, 2\)",
        ),
        ({"fault": "q"}, TypeError, r"fault = 'q'; allowed: a Fault or None"),
        ({"fault": Fault("q", 4, bit=0)}, ValueError, r"index = \(4,\) .* inside q, shape \(4, 2\)"),
        ({"x": np.ones((9, 4, 3)), "fault": Fault("x", 4, bit=0)}, ValueError, r"inside x, shape \(4, 3\)"),
        ({"fault": Fault("q", (0, 2), bit=0)}, ValueError, r"index = \(0, 2\) .* inside q, shape \(4, 2\)"),
        ({"fault": Fault("w_v", (3, 0), bit=0)}, ValueError, r"inside w_v, shape \(3, 5\)"),
        ({"precision": "float32"}, ValueError, r"precision = 'float32' .*: float64, float16, float16 th"),
        ({"precision": ["float16"]}, ValueError, r"precision = \['float16'\]"),
    ],
)
def test_bad_heads_are_refused_by_name(changes, error, text):
    given, _ = head(1)
    with pytest.raises(error, match=text):
        attention(**{**given, **changes})


@pytest.mark.parametrize(
    "upstream, loss_scale, error, text",
    [
        (np.ones((4, 4)), 1.0, ValueError, r"upstream has shape \(4, 4\); allowed: broadcasts to \(4, 5\)"),
        (np.nan, 1.0, ValueError, r"upstream = nan"),
        (np.inf, 1.0, ValueError, r"upstream = inf"),
        (-np.inf, 1.0, ValueError, r"upstream = -inf"),
        ("one", 1.0, TypeError, r"upstream = 'one'"),
        (1.0, 0.0, ValueError, r"loss_scale = 0 "),
        (1.0, np.inf, ValueError, r"loss_scale = inf"),
        (1.0, [1.0, 2.0], ValueError, r"loss_scale has shape \(2,\)"),
        (1.0, "2", TypeError, r"loss_scale = '2'"),
    ],
)
def test_bad_gradients_are_refused_by_name(upstream, loss_scale, error, text):
    given, _ = head(1)
    with pytest.raises(error, match=text):
        attention_gradients(attention(**given), upstream, loss_scale=loss_scale)


def test_gradients_need_a_forward_pass():
    with pytest.raises(TypeError, match="forward = 3; allowed: what attention"):
        attention_gradients(3, 1.0)
    assert isinstance(attention(**head(1)[0]), Attention)


@pytest.mark.parametrize(
    "scores, error, text",
    [
        (1.0, ValueError, r"scores has shape \(\)"),
        (np.ones((2, 0)), ValueError, r"scores has shape \(2, 0\)"),
        ([0.0, np.nan], ValueError, r"scores\[1\] = nan"),
        (["a"], TypeError, r"scores = "),
    ],
)
def test_bad_scores_are_refused_by_name(scores, error, text):
    with pytest.raises(error, match=text):
        softmax(scores)


@pytest.mark.parametrize("shift", ["no", None, 0, 1, 1 + 2j, np.array([True, False]), [True]], ids=repr)
def test_shift_is_true_or_false(shift):
    eye = np.eye(2)
    for call in (lambda: softmax([0.0, 1.0], shift=shift), lambda: attention(eye, eye, eye, eye, shift=shift)):
        with pytest.raises(TypeError, match="^shift = .* is not a bool; allowed: True or False$"):
            call()


def test_masked_arrays_are_refused():
    eye, hidden = np.eye(2), np.ma.array(np.eye(2), mask=np.eye(2))
    for name in ("x", "w_q", "w_k", "w_v"):
        given = dict.fromkeys(("x", "w_q", "w_k", "w_v"), eye)
        with pytest.raises(TypeError, match=f"^{name} = .* is a masked array"):
            attention(**given | {name: hidden})
    with pytest.raises(TypeError, match="^scores = .* is a masked array"):
        softmax(hidden)
    with pytest.raises(TypeError, match="^upstream = .* is a masked array"):
        attention_gradients(attention(eye, eye, eye, eye), hidden)
