"""Claims of document B, section B7: a flipped bit in FP16 and what one attention head makes of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp
from scipy import special

from lib import corruption
from lib.claims.evidence import Checks, Outcome, Readings
from lib.claims.registry import claim
from lib.claims.sources import inputs

FORMAT, TOP_BIT, FACTOR = "float16", 14, 2.0**16
WORDS = np.arange(2**16)
STAYS_NORMAL = ["scaled up", "scaled down"]
ROW, COLUMN, TOKENS, WIDTH, SEED = 3, 5, 8, 16, 1
HEADS, HEADS_SEED = 200, 2021  # the random heads of the chapter


def per_cent(part, whole=2**16):
    return 100 * float(part) / whole


@claim("B-48")
def value_of_a_word():
    """The printed formula against the standard's value, for every word."""
    sign, exponent, mantissa = corruption.fields(WORDS, FORMAT)
    printed = (-1.0) ** sign * 2.0 ** (exponent - 15.0) * (1 + mantissa / 1024)
    right = printed == corruption.decode(WORDS, FORMAT)
    normal = (exponent > 0) & (exponent < 31)
    return Outcome(
        Readings({"normal numbers": bool(right[normal].all()), "all words": bool(right.all())}),
        text=f"{right.sum():,} of {len(WORDS):,} words",
        facts=dict(
            right=int(right.sum()),
            words=len(WORDS),
            share=per_cent(right.sum()),
            lowest=int((exponent == 0).sum()),
            highest=int((exponent == 31).sum()),
            zero=float(printed[0]),
        ),
    )


@claim("B-49")
def factor_of_a_flip():
    """The factor that flipping the top exponent bit has, for every word."""
    factor = np.abs(corruption.flip_factor(WORDS, TOP_BIT, format=FORMAT))
    up, down = factor == FACTOR, factor == 1 / FACTOR
    kinds = corruption.flip_kind(WORDS, TOP_BIT, format=FORMAT)
    lost = kinds == "to infinity or NaN"
    scaled = up | down
    before = np.abs(corruption.decode(WORDS[lost & (WORDS < 2**15)], FORMAT))
    low, high = float(before.min()), float(np.ceil(before.max()))
    return Outcome(
        Readings(
            {
                "a normal number that stays normal": bool(scaled[np.isin(kinds, STAYS_NORMAL)].all()),
                "any word": bool(scaled.all()),
            }
        ),
        text=f"{scaled.sum():,} of {len(WORDS):,} words",
        facts=dict(
            share=per_cent(scaled.sum()),
            lost=int(lost.sum()),
            low=low,
            high=high,
            leaving=normal_share(low, high),
            enlarged=normal_share(2.0**-14, low),
        ),
    )


def normal_share(low, high):
    """Per cent of standard normal numbers with a magnitude between two bounds."""
    return 100 * float(special.erf(high / np.sqrt(2)) - special.erf(low / np.sqrt(2)))


@claim("B-56")
def both_signs_of_the_exponent():
    """2^16 and 2^-16 against the one printed number."""
    readings = {"exponent 16": sp.Integer(2) ** 16 == 65536, "exponent -16": sp.Integer(2) ** -16 == 65536}
    factor = np.abs(corruption.flip_factor(WORDS, TOP_BIT, format=FORMAT))
    up, down = (factor == FACTOR).sum(), (factor == 1 / FACTOR).sum()
    return Outcome(
        Readings(readings),
        facts=dict(
            down=float(1 / FACTOR),
            least=float(np.abs(corruption.decode(WORDS[factor == 1 / FACTOR], FORMAT)).min()),
            share_down=per_cent(down, up + down),
        ),
    )


@claim("B-50")
def scores_are_linear():
    """Two tokens and two dimensions: every element symbolic."""
    names = ("q", "dq", "k")
    Q, dQ, K = (sp.Matrix(2, 2, lambda i, j, n=n: sp.Symbol(f"{n}{i}{j}")) for n in names)
    root = sp.sqrt(2)
    residual = ((Q + dQ) * K.T / root - (Q * K.T / root + dQ * K.T / root)).expand()
    one_row = dQ.copy()
    one_row[1, :] = sp.zeros(1, 2)
    return Outcome(Checks({"sum": residual.norm(), "one row only": (one_row * K.T)[1, :].norm()}))


# --- One attention head with random tokens and weights


def weights(ranks=None):
    """Input and weights of a head, or of the same head on several ranks with their own tokens."""
    rng = np.random.default_rng(SEED)
    matrices = [rng.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH) for _ in range(3)]
    shape = (TOKENS, WIDTH) if ranks is None else (ranks, TOKENS, WIDTH)
    return rng.standard_normal(shape), *matrices


def head(fault=None, precision="float64"):
    return corruption.attention(*weights(), fault=fault, precision=precision)


def row_fault(factor=FACTOR):
    return corruption.Fault("q", ROW, factor=factor)


def element_fault(factor=FACTOR):
    return corruption.Fault("q", (ROW, COLUMN), factor=factor)


def growth(fault):
    """The perturbation of the struck row over its clean scores, one number per key."""
    clean = head().scores[ROW]
    return (head(fault).scores[ROW] - clean) / clean


@claim("B-51")
def perturbation_of_a_row():
    """The printed ratio holds within a hundredth for each key, or it does not."""
    row, element = growth(row_fault()), growth(element_fault())
    readings = {
        "the whole row of Q scaled": bool(np.allclose(row, FACTOR, rtol=0.01)),
        "one element of Q flipped": bool(np.allclose(element, FACTOR, rtol=0.01)),
    }
    return Outcome(
        Readings(readings),
        facts=dict(
            row=float(row.mean()),
            low=float(element.min()),
            high=float(element.max()),
            keys=TOKENS,
            opposite=int((element < 0).sum()),
        ),
    )


def largest_share(fault):
    return float(head(fault).probabilities[ROW].max())


def flipped(place):
    """The head in emulated float16 after a flip of the top bit of one element of Q."""
    return head(corruption.Fault("q", place, bit=TOP_BIT), "float16")


def fates():
    """What each flip of the top bit of Q does to its row: NaN, one position with 99.9 %, or neither."""
    rows = [flipped(place).probabilities[place[0]] for place in np.ndindex(TOKENS, WIDTH)]
    broken = sum(bool(np.isnan(row).any()) for row in rows)
    collapsed = sum(bool(row.max() > 0.999) for row in rows)
    return dict(flips=len(rows), broken=broken, collapsed=collapsed, neither=len(rows) - broken - collapsed)


@claim("B-52")
def collapse_of_the_softmax():
    """The largest probability of the struck row: factor up, factor down, and equal keys."""
    x, w_q, w_k, w_v = weights()
    alike = corruption.attention(np.broadcast_to(x[:1], x.shape), w_q, w_k, w_v, fault=element_fault())
    clean, up, down = (largest_share(f) for f in (None, element_fault(), element_fault(1 / FACTOR)))
    readings = {
        "a flip up, keys that differ": up > 0.999,
        "a flip down": down > 0.999,
        "keys alike": float(alike.probabilities[ROW].max()) > 0.999,
    }
    return Outcome(
        Readings(readings),
        value=up,
        text=f"{up:.3f} after a flip up, {down:.3f} after a flip down",
        facts=dict(clean=clean, down=down, alike=float(alike.probabilities[ROW].max()), **fates()),
    )


@claim("B-57")
def position_of_the_peak():
    """No key is corrupted: the struck query's sign and the healthy keys choose the peak."""
    struck = head(element_fault())
    winner = int(struck.probabilities[ROW].argmax())
    keys, query = head().k[:, COLUMN], head().q[ROW, COLUMN]
    by_keys = int(np.argmax(np.sign(query) * keys))
    other = int(head(element_fault(-FACTOR)).probabilities[ROW].argmax())
    same_keys = bool(np.array_equal(struck.k, head().k))
    return Outcome(
        Checks({"a key is corrupted": not same_keys, "the peak stays with the sign turned": winner == other}),
        text="no key is corrupted",
        facts=dict(by_keys=by_keys == winner, winner=winner, other=other),
    )


@cache
def random_heads():
    """Heads with their own tokens, weights and upstream gradients."""
    rng = np.random.default_rng(HEADS_SEED)
    x = rng.standard_normal((HEADS, TOKENS, WIDTH))
    matrices = rng.standard_normal((3, HEADS, WIDTH, WIDTH)) / np.sqrt(WIDTH)
    return x, matrices, rng.standard_normal((HEADS, TOKENS, WIDTH))


@cache  # the clean norms are asked for with every factor
def query_gradients(factor):
    """Norms of the gradient for W_Q by head, with one row of Q scaled: the row's share, and the whole."""
    x, matrices, upstream = random_heads()
    alone = np.zeros_like(upstream)
    alone[:, 0] = upstream[:, 0]
    forward = corruption.attention(x, *matrices, fault=corruption.Fault("q", 0, factor=factor))
    found = (corruption.attention_gradients(forward, g).w_q for g in (alone, upstream))
    return tuple(np.linalg.norm(w_q, axis=(-2, -1)) for w_q in found)


def over_clean(factor):
    """The same over the clean norms: the row's share, and the whole."""
    return tuple(struck / clean for struck, clean in zip(query_gradients(factor), query_gradients(1.0)))


def nan_gradient(x, upstream):
    """Gradient for W_Q in emulated float16 after a flip of an element between 1 and 2 has left the format."""
    _, *matrices = weights()
    size = np.abs(corruption.attention(x, *matrices, precision="float16").q)
    place = tuple(int(i) for i in np.argwhere((size >= 1) & (size < 2))[0])
    struck = corruption.attention(
        x, *matrices, fault=corruption.Fault("q", place, bit=TOP_BIT), precision="float16"
    )
    return corruption.attention_gradients(struck, upstream).w_q


@claim("B-53")
def gradient_at_saturation():
    """Median norms over a growing corruption: they would have to grow. Outside the format they are NaN."""
    mild = 16.0
    small_share, small_whole = (np.median(norm) for norm in over_clean(mild))
    share, whole = over_clean(FACTOR)
    most = max(over_clean(2.0**power)[1].max() for power in range(17))
    broken = nan_gradient(weights()[0], np.ones((TOKENS, WIDTH)))
    return Outcome(
        Checks(
            {
                "the struck row's share grows with the corruption": np.median(share) > 1,
                "the whole gradient grows with the corruption": np.median(whole) > 1,
            }
        ),
        value=float(np.median(whole)),
        text=f"struck row's share {np.median(share):.1g}, whole {np.median(whole):.2f} of the clean norm",
        facts=dict(
            heads=HEADS,
            ratio=float(np.median(share)),
            small=float(small_share),
            small_whole=float(small_whole),
            at_small=mild,
            whole=float(np.median(whole)),
            least=float(whole.min()),
            most=float(most),
            nan=bool(np.isnan(broken).any()),
            **fates(),
        ),
    )


@claim("B-58")
def factor_in_the_gradient():
    """Slope of log norm over log factor: 1 for a multiplier proportional to the corruption."""
    least, most = 2.0, 64.0
    (small, _), (large, whole) = over_clean(least), over_clean(most)
    rest = float(np.median(large) / np.median(small))
    slope = float(np.log(rest) / np.log(most / least))
    return Outcome(
        Checks({"proportional to the corruption": abs(slope - 1) < 0.1}),
        value=slope,
        text=f"exponent {slope:.1f}",
        facts=dict(
            heads=HEADS,
            least=least,
            most=most,
            rest=rest,
            divisor=2**-slope,
            whole=float(np.median(whole)),
        ),
    )


@claim("B-54")
def spread_by_averaging():
    """One struck rank among all: the averaged gradient with a NaN in it, and with a finite corruption."""
    ranks = int(inputs["data_parallel_ranks"])
    x, w_q, w_k, w_v = weights(ranks)
    upstream = np.random.default_rng(SEED + 1).standard_normal((ranks, TOKENS, WIDTH))
    clean = corruption.attention_gradients(corruption.attention(x, w_q, w_k, w_v), upstream).w_q
    struck = clean.copy()
    struck[0] = corruption.attention_gradients(
        corruption.attention(x[0], w_q, w_k, w_v, fault=element_fault()), upstream[0]
    ).w_q
    broken = clean.copy()
    broken[0] = nan_gradient(x[0], upstream[0])
    scatter = np.linalg.norm(clean.std(axis=0, ddof=1) / np.sqrt(ranks))
    change = np.linalg.norm(struck.mean(axis=0) - clean.mean(axis=0))
    return Outcome(
        Readings(
            {
                "a gradient that is not a number": bool(np.isnan(broken.mean(axis=0)).any()),
                "a finite gradient": bool(change > scatter),
            }
        ),
        text=f"{100 * change / scatter:.0f} % of the sampling noise",
        facts=dict(change=100 * float(change / scatter), ranks=ranks),
    )
