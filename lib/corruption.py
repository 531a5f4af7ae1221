"""Silent data corruption in one attention head: a fault in one tensor, the result and its gradients.

Q = X W_Q, K = X W_K, V = X W_V, S = Q K^T / sqrt(d_k), P = softmax(S) by rows, O = P V.
The number formats and the flips themselves are in `lib.floats`; their functions are importable from here.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass

import numpy as np

from lib._checks import flag, real, whole
from lib.floats import (
    FORMATS,
    KINDS,
    FlipRow,
    Format,
    decode,
    fields,
    flip_bit,
    flip_factor,
    flip_kind,
    flip_table,
)

__all__ = [
    "FORMATS", "KINDS", "PRECISIONS", "TENSORS", "Attention", "Fault", "FlipRow", "Format", "Gradients",
    "attention", "attention_gradients", "decode", "fields", "flip_bit", "flip_factor", "flip_kind",
    "flip_table", "softmax",
]  # fmt: skip

#: Tensors that a fault can strike: the input, the weights and the three projections.
TENSORS = ("x", "w_q", "w_k", "w_v", "q", "k", "v")

#: For each precision: the type in which tensors are stored, and the type in which sums are accumulated.
PRECISIONS = {
    "float64": (np.float64, np.float64),
    "float16": (np.float16, np.float32),
    "float16 throughout": (np.float16, np.float16),
}


@dataclass(frozen=True)
class Fault:
    """A corruption of one element or one row of one stored tensor.

    Give either `bit` or `factor`.

    Parameters
    ----------
    tensor : str, [dimensionless]
        One of `TENSORS`.
    index : int or tuple of int, [dimensionless]
        Row, or row and column, counted from 0.
    bit : int, [dimensionless], optional
        Flip this bit of the float16 word of each struck number, 0 the lowest, in [0, 15].
    factor : float, [dimensionless], optional
        Multiply each struck number by this, finite.

    Raises
    ------
    TypeError
        Where an argument is not a number.
    ValueError
        Where the tensor is unknown, the index is not one or two whole numbers, the bit is outside
        [0, 15], the factor is not finite, or not exactly one of `bit` and `factor` is given.

    Notes
    -----
    With `bit`, the number is rounded to float16 before the flip, whatever the precision of the rest.
    The factor is a model, the flip what memory does: only a flip of exponent bit 14 that goes from a
    normal number to a normal number is the factor 2^16 or 2^-16.
    Theorem D-24 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> Fault("q", (3, 5), bit=14)
    Fault(tensor='q', index=(3, 5), bit=14, factor=None)
    >>> Fault("q", 3, factor=2.0**16).index
    (3,)

    References
    ----------
    Dixit et al. (2021), Silent data corruptions at scale, arXiv:2102.11245.
    """

    tensor: str
    index: int | tuple[int, ...]
    bit: int | None = None
    factor: float | None = None

    def __post_init__(self):
        if self.tensor not in TENSORS:
            raise ValueError(f"tensor = {self.tensor!r} is unknown; allowed: {', '.join(TENSORS)}")
        place = np.atleast_1d(whole("index", self.index, 0))
        if place.shape not in ((1,), (2,)):
            raise ValueError(f"index = {self.index!r} is no place in a matrix; allowed: row or (row, column)")
        object.__setattr__(self, "index", tuple(int(i) for i in place))
        if (self.bit is None) == (self.factor is None):
            raise ValueError(f"bit = {self.bit!r}, factor = {self.factor!r}; allowed: exactly one of the two")
        if self.bit is not None:
            object.__setattr__(self, "bit", int(_single("bit", whole("bit", self.bit, 0, 15))))
        else:
            object.__setattr__(self, "factor", _single("factor", _finite("factor", self.factor)))


@dataclass(frozen=True)
class Attention:
    """A forward pass: every tensor as it was stored, the corrupted one included.

    Attributes
    ----------
    x : ndarray
        Input, (..., n, d) [dimensionless].
    w_q : ndarray
        Weights of queries, (..., d, d_k) [dimensionless].
    w_k : ndarray
        Weights of keys, (..., d, d_k) [dimensionless].
    w_v : ndarray
        Weights of values, (..., d, d_v) [dimensionless].
    q : ndarray
        Queries Q, (..., n, d_k) [dimensionless].
    k : ndarray
        Keys K, (..., n, d_k) [dimensionless].
    v : ndarray
        Values V, (..., n, d_v) [dimensionless].
    scores : ndarray
        S, (..., n, n) [dimensionless].
    probabilities : ndarray
        P, (..., n, n) [dimensionless].
    output : ndarray
        O, (..., n, d_v) [dimensionless].
    precision : str
        A key of `PRECISIONS`.
    """

    x: np.ndarray
    w_q: np.ndarray
    w_k: np.ndarray
    w_v: np.ndarray
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    output: np.ndarray
    precision: str


@dataclass(frozen=True)
class Gradients:
    """Gradients of a loss, each of the shape of the tensor that it is named after.

    Attributes
    ----------
    w_q : ndarray
        With respect to the weights of queries [loss, as `upstream`].
    w_k : ndarray
        With respect to the weights of keys [loss, as `upstream`].
    w_v : ndarray
        With respect to the weights of values [loss, as `upstream`].
    x : ndarray
        With respect to the input: what layers below receive [loss, as `upstream`].
    q : ndarray
        With respect to the queries [loss, as `upstream`].
    k : ndarray
        With respect to the keys [loss, as `upstream`].
    v : ndarray
        With respect to the values [loss, as `upstream`].
    scores : ndarray
        With respect to S [loss, as `upstream`].
    probabilities : ndarray
        With respect to P [loss, as `upstream`].
    """

    w_q: np.ndarray
    w_k: np.ndarray
    w_v: np.ndarray
    x: np.ndarray
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray


def softmax(scores, *, shift=True):
    r"""Return the softmax of each row.

    .. math:: P_j = \frac{e^{S_j - c}}{\sum_k e^{S_k - c}}

    with c the row's maximum, or 0 without `shift`.

    Parameters
    ----------
    scores : array_like, shape (..., n), [dimensionless]
        Rows along the last axis; infinite scores are allowed, NaN is not.
    shift : bool, [dimensionless], optional
        Subtract the maximum first, as kernels do.

    Returns
    -------
    ndarray
        Probabilities in float64, of the shape of `scores` [dimensionless].

    Raises
    ------
    TypeError
        Where `scores` is not made of real numbers, or `shift` is not a bool.
    ValueError
        Where a score is NaN, or there is no row.

    Notes
    -----
    With the shift every row of finite scores has a finite result. Without it a score above 709.78
    overflows (88.72 in float32): its own probability is NaN, the others are 0. A row of scores that are
    all below -745.13 is 0/0, NaN throughout. A score of +infinity turns its whole row into NaN with the
    shift, because infinity - infinity is NaN; a score of -infinity beside a finite one is a mask.
    Theorem D-25 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> softmax([0.0, 65536.0]).tolist()
    [0.0, 1.0]
    >>> softmax([0.0, 65536.0], shift=False).tolist()
    [0.0, nan]

    References
    ----------
    Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.
    """
    rows, shift = real("scores", scores, -np.inf), flag("shift", shift)
    if rows.ndim == 0 or rows.size == 0:
        raise ValueError(f"scores has shape {rows.shape}; allowed: at least one row of at least one score")
    with np.errstate(all="ignore"):
        return _softmax(rows, np.float64, shift)


def attention(x, w_q, w_k, w_v, *, fault=None, precision="float64", shift=True):
    r"""Run one attention head forward, with an optional fault in one tensor.

    .. math:: O = \mathrm{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V, \qquad
              Q = X W_Q, \quad K = X W_K, \quad V = X W_V

    Parameters
    ----------
    x : array_like, shape (..., n, d), [dimensionless]
        Input of n tokens, finite.
    w_q, w_k : array_like, shape (..., d, d_k), [dimensionless]
        Weights of queries and keys, finite.
    w_v : array_like, shape (..., d, d_v), [dimensionless]
        Weights of values, finite.
    fault : Fault, [dimensionless], optional
        What is corrupted, in every stacked head alike.
    precision : str, [dimensionless], optional
        "float64"; "float16": every tensor is rounded to float16 where it is stored (inputs, Q, K, V,
        Q K^T, S, P, O), sums and the inside of the softmax are float32; "float16 throughout": each
        product, each partial sum and each step of the softmax is rounded to float16.
    shift : bool, [dimensionless], optional
        Subtract each row's maximum in the softmax.

    Returns
    -------
    Attention
        Every stored tensor, as float64 arrays [dimensionless].

    Raises
    ------
    TypeError
        Where an array is not made of real numbers, `fault` is not a `Fault` or `shift` is not a bool.
    ValueError
        Where an element is not finite, shapes do not fit, the fault's index is outside its tensor,
        or the precision is unknown.

    Notes
    -----
    The fault strikes a tensor once it is stored, so that everything computed from it reads the
    corrupted value. There is no mask, no dropout and no bias. Sums run from the first term to the last,
    which makes the emulation the same on every machine; a number beyond 65504 is stored as infinity.
    Theorems D-24 and D-25 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> eye = np.eye(2)
    >>> attention(eye, eye, eye, eye).probabilities.round(3).tolist()
    [[0.67, 0.33], [0.33, 0.67]]
    >>> struck = attention(eye, eye, eye, eye, fault=Fault("q", 0, factor=2.0**16))
    >>> struck.probabilities.round(3).tolist()
    [[1.0, 0.0], [0.33, 0.67]]

    References
    ----------
    Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.
    Dixit et al. (2021), Silent data corruptions at scale, arXiv:2102.11245.
    """
    given = {n: _matrices(n, a) for n, a in {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v}.items()}
    _check_shapes(given)
    store, wide = _types(precision)
    if fault is not None and not isinstance(fault, Fault):
        raise TypeError(f"fault = {reprlib.repr(fault)}; allowed: a Fault or None")
    shift = flag("shift", shift)

    def keep(name, tensor):
        stored = tensor.astype(store)
        return _strike(stored, fault) if fault is not None and fault.tensor == name else stored

    with np.errstate(all="ignore"):
        x, w_q, w_k, w_v = (keep(name, tensor) for name, tensor in given.items())
        q, k, v = (keep(n, _dot(x, w, wide)) for n, w in (("q", w_q), ("k", w_k), ("v", w_v)))
        products = keep("products", _dot(q, _turn(k), wide))
        scores = keep("scores", _scaled(products, q, wide))
        probabilities = keep("probabilities", _softmax(scores, wide, shift))
        output = keep("output", _dot(probabilities, v, wide))
    tensors = (x, w_q, w_k, w_v, q, k, v, scores, probabilities, output)
    return Attention(*(t.astype(np.float64) for t in tensors), precision)


def attention_gradients(forward, upstream, *, loss_scale=1.0):
    r"""Back-propagate through one attention head.

    .. math:: dV = P^T G, \quad dP = G V^T, \quad dS = P \circ (dP - \mathrm{rowsum}(dP \circ P)),

              dQ = \frac{dS \, K}{\sqrt{d_k}}, \quad dK = \frac{dS^T Q}{\sqrt{d_k}}, \quad
              dW_Q = X^T dQ, \quad dW_K = X^T dK, \quad dW_V = X^T dV,

              dX = dQ \, W_Q^T + dK \, W_K^T + dV \, W_V^T

    with G = dL/dO, and dA short for the gradient of the loss L with respect to A.

    Parameters
    ----------
    forward : Attention, [dimensionless]
        What `attention` returned; it also sets the precision.
    upstream : float or array_like, shape (..., n, d_v), [loss]
        Gradient G of the loss with respect to the output, finite; its shape broadcasts to the output's.
        For the loss sum(G O) it is G, for half the squared
        distance of O from a target T it is `forward.output - T`.
    loss_scale : float, [dimensionless], optional
        G is multiplied by this before the pass and the gradients are divided by it afterwards, in
        float64. Changes float16 only: it lifts small gradients out of underflow.

    Returns
    -------
    Gradients
        As float64 arrays [loss]; for stacked heads one gradient each.

    Raises
    ------
    TypeError
        Where `forward` is not an `Attention` or an argument is not made of real numbers.
    ValueError
        Where `upstream` is not finite or does not broadcast to the output, or `loss_scale` is not a
        single positive finite number.

    Notes
    -----
    The pass reads the tensors as stored, the corrupted one included. In float64 the result is the exact
    gradient of the loss with the corruption as a constant added to its tensor: back-propagation does
    not see where a value came from. With finite scores every row has
    :math:`\Vert dS \Vert \le \Vert dP \Vert / 2`, however large Q is, so dW_Q stays bounded;
    as the softmax of a row saturates, its dS tends to 0 unless its largest scores tie. dW_K reads the
    corrupted Q: where a near tie keeps dS alive it grows with Q.
    Theorem D-26 of chapters/foundations/silent_corruption.

    Examples
    --------
    >>> eye = np.eye(2)
    >>> clean = attention(eye, eye, eye, eye)
    >>> attention_gradients(clean, [[1.0, 0.0], [0.0, 0.0]]).w_q.round(3).tolist()
    [[0.156, -0.156], [0.0, 0.0]]
    >>> struck = attention(eye, eye, eye, eye, fault=Fault("q", 0, factor=2.0**16))
    >>> attention_gradients(struck, [[1.0, 0.0], [0.0, 0.0]]).w_q.tolist()
    [[0.0, 0.0], [0.0, 0.0]]

    References
    ----------
    Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.
    """
    if not isinstance(forward, Attention):
        raise TypeError(f"forward = {reprlib.repr(forward)}; allowed: what attention() returned")
    store, wide = _types(forward.precision)
    scale = _single("loss_scale", real("loss_scale", loss_scale, open_low=True, open_high=True))

    def keep(tensor):
        return tensor.astype(store)

    with np.errstate(all="ignore"):
        x, w_q, w_k, w_v = (keep(t) for t in (forward.x, forward.w_q, forward.w_k, forward.w_v))
        q, k, v, probabilities = (keep(t) for t in (forward.q, forward.k, forward.v, forward.probabilities))
        arriving = keep(scale * _upstream(upstream, forward.output.shape))
        d_v = keep(_dot(_turn(probabilities), arriving, wide))
        d_probabilities = keep(_dot(arriving, _turn(v), wide))
        d_scores = keep(_softmax_gradient(probabilities, d_probabilities, wide))
        d_products = keep(_scaled(d_scores, q, wide))
        d_q, d_k = keep(_dot(d_products, k, wide)), keep(_dot(_turn(d_products), q, wide))
        d_w_q, d_w_k, d_w_v = (keep(_dot(_turn(x), d, wide)) for d in (d_q, d_k, d_v))
        d_x = keep(_dot(d_q, _turn(w_q), wide) + _dot(d_k, _turn(w_k), wide) + _dot(d_v, _turn(w_v), wide))
        found = (d_w_q, d_w_k, d_w_v, d_x, d_q, d_k, d_v, d_scores, d_probabilities)
        return Gradients(*(t.astype(np.float64) / scale for t in found))


def _dot(a, b, wide):
    """Matrix product, each sum from the first term to the last in the type `wide`.

    Library products sum in an order that depends on the machine; a rounding to float16 would show it.
    """
    a, b = a.astype(wide), b.astype(wide)
    total = a[..., :, :1] * b[..., :1, :]
    for i in range(1, a.shape[-1]):
        total += a[..., :, i : i + 1] * b[..., i : i + 1, :]
    return total


def _turn(matrix):
    return np.swapaxes(matrix, -1, -2)


def _scaled(products, q, wide):
    return products.astype(wide) / wide(np.sqrt(q.shape[-1]))


def _softmax(scores, wide, shift):
    scores = scores.astype(wide)
    if shift:
        scores = scores - scores.max(axis=-1, keepdims=True)
    # Exponentials in float64 and then rounded: those of float32 differ between processors.
    powers = np.exp(scores.astype(np.float64)).astype(wide)
    return powers / _row_sum(powers, wide)


def _softmax_gradient(probabilities, arriving, wide):
    probabilities, arriving = probabilities.astype(wide), arriving.astype(wide)
    return probabilities * (arriving - _row_sum(arriving * probabilities, wide))


def _row_sum(rows, wide):
    return _dot(np.atleast_2d(rows), np.ones((rows.shape[-1], 1)), wide).reshape(*rows.shape[:-1], 1)


def _strike(tensor, fault):
    shape = tensor.shape[-2:]
    if any(i >= size for i, size in zip(fault.index, shape)):
        raise ValueError(f"index = {fault.index} of the fault; allowed: inside {fault.tensor}, shape {shape}")
    place = (..., *fault.index) if len(fault.index) == 2 else (..., *fault.index, slice(None))
    struck = tensor.copy()
    if fault.bit is not None:
        struck[place] = flip_bit(tensor[place].astype(np.float16), fault.bit)
    else:
        struck[place] = tensor[place].astype(np.float64) * fault.factor
    return struck


def _finite(name, value):
    return real(name, value, -np.inf, open_low=True, open_high=True)


def _single(name, array):
    if array.ndim:
        raise ValueError(f"{name} has shape {array.shape}; allowed: a single number")
    return float(array)


def _types(precision):
    if not isinstance(precision, str) or precision not in PRECISIONS:
        raise ValueError(f"precision = {precision!r} is unknown; allowed: {', '.join(PRECISIONS)}")
    return PRECISIONS[precision]


def _matrices(name, value):
    array = _finite(name, value)
    if array.ndim < 2 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: (..., rows, columns), not empty")
    return array


def _check_shapes(given):
    x, w_q, w_k, _ = given.values()
    for name, weights in list(given.items())[1:]:
        if weights.shape[-2] != x.shape[-1]:
            need = f"allowed: as many rows as x has columns, {x.shape[-1]}"
            raise ValueError(f"{name} has shape {weights.shape}; {need}")
    if w_k.shape[-1] != w_q.shape[-1]:
        raise ValueError(f"w_k has shape {w_k.shape}; allowed: as many columns as w_q, {w_q.shape[-1]}")
    try:
        np.broadcast_shapes(*(array.shape[:-2] for array in given.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in given.items())
        raise ValueError(f"shapes do not broadcast: {shapes}") from None


def _upstream(upstream, shape):
    array = _finite("upstream", upstream)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"upstream has shape {array.shape}; allowed: broadcasts to {shape}") from None
