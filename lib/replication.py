"""Copies of the training state in other GPUs' memory: how often all are lost, what they cost.

Times of one call share one unit. Bandwidths and FLOP rates are per second, and so are the times
that meet them.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

import numpy as np

from lib._checks import plain, real, together, whole

_DECIMALS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
_BEYOND = Decimal(1000)  # exp(1000) is infinite in float64, exp(-1000) zero


def expected_losses(duration, step_time, gpus, copies, node_failure_rate):
    r"""Return the expected number of times that a training loses all copies of some state.

    .. math:: F = \frac{T}{s} \cdot \frac{g}{m} \cdot \left(1 - e^{-\lambda_\text{node} s}\right)^m

    Parameters
    ----------
    duration : float or array_like, time unit of `step_time`
        Length T of the training, in [0, inf).
    step_time : float or array_like, any time unit
        Time s of one training step, within which a lost copy is made good; in (0, inf).
    gpus : int or array_like, [dimensionless]
        GPUs g that hold copies, whole numbers from 1; m of them form a group.
    copies : int or array_like, [dimensionless]
        Copies m of a state, whole numbers from 1, at most g; each in a GPU of another node, so that no
        node's failure takes two.
    node_failure_rate : float or array_like, per time unit of `step_time`
        Failure rate lambda_node of one node, in [0, inf).

    Returns
    -------
    float or ndarray, [dimensionless]
        Expected group losses per training; below about 0.1 also the probability of one.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range, `copies` exceeds `gpus`, or the shapes do not broadcast.

    Notes
    -----
    Theorem D-10 of chapters/scaling/gpu_memory. A group of m members is lost when the nodes of all fail
    within the same step; members, groups and steps are independent. One failure that takes several
    members at once (a rack, a switch) breaks this and soon dominates. Failures on both sides of the
    end of a step are not counted. With x = lambda_node s, document A replaces 1 - exp(-x) by x, which
    overestimates the losses by a factor of about 1 + m x / 2. The number of groups g/m is used as it
    is, even where it is not whole. Computed in 60-digit decimals, some 10 microseconds per element.

    Examples
    --------
    60 days of 10 s steps, 1000 members, a node failure in 8000 h; how many trainings see one loss:

    >>> losses = expected_losses(60 * 86400, 10.0, 1000, [2, 3], 1 / (8000 * 3600))
    >>> [f"{1 / x:.4g}" for x in losses]
    ['3.2e+04', '1.382e+11']

    References
    ----------
    Erben, Erdil (2024), Hardware failures won't limit AI scaling,
    https://epoch.ai/blog/hardware-failures-wont-limit-ai-scaling.
    """
    duration = real("duration", duration, open_high=True)
    step_time = real("step_time", step_time, open_low=True, open_high=True)
    gpus = whole("gpus", gpus)
    copies = whole("copies", copies)
    node_failure_rate = real("node_failure_rate", node_failure_rate, open_high=True)
    arrays = dict(duration=duration, step_time=step_time, gpus=gpus, copies=copies,
                  node_failure_rate=node_failure_rate)
    _, _, members, group, _ = together(**arrays)
    if np.any(group > members):
        some, few = group[group > members][0], members[group > members][0]
        raise ValueError(f"copies = {some:.17g} with gpus = {few:.17g} is outside the domain; "
                         "allowed: at most as many copies as GPUs")
    return _decimally(_losses, **arrays)


def copy_time(state_bytes, copies, bandwidth):
    r"""Return the time to send one GPU's state to all the peers that keep a copy of it.

    .. math:: \frac{m \cdot \text{bytes of the state}}{B}

    Parameters
    ----------
    state_bytes : float or array_like, [bytes]
        State of one GPU, in [0, inf).
    copies : int or array_like, [dimensionless]
        Number m of copies sent, whole numbers from 1.
    bandwidth : float or array_like, [bytes/s]
        Bandwidth B with which one GPU sends, in (0, inf].

    Returns
    -------
    float or ndarray, [s]
        The time for all copies.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range or the shapes do not broadcast.

    Notes
    -----
    Part of Theorem D-11 of chapters/scaling/gpu_memory. Every copy crosses the sender's link once,
    and nothing else uses the link meanwhile: training traffic on the same network lengthens it.

    Examples
    --------
    4 GB to four peers at 400 Gb/s:

    >>> copy_time(4e9, 4, 400e9 / 8)
    0.32

    References
    ----------
    Erben, Erdil (2024), Hardware failures won't limit AI scaling,
    https://epoch.ai/blog/hardware-failures-wont-limit-ai-scaling.
    """
    state_bytes = real("state_bytes", state_bytes, open_high=True)
    copies = whole("copies", copies)
    bandwidth = real("bandwidth", bandwidth, open_low=True)
    state_bytes, copies, bandwidth = together(state_bytes=state_bytes, copies=copies, bandwidth=bandwidth)
    with np.errstate(all="ignore"):
        return plain(np.ldexp(*_quotient([state_bytes, copies], bandwidth)))


def gpu_limit(gpu_mttf, copy_time):
    r"""Return the GPUs at which failures come as fast as copies complete, for a model of fixed size.

    .. math:: g = \frac{\theta}{t}

    Parameters
    ----------
    gpu_mttf : float or array_like, time unit of `copy_time`
        MTTF theta of one GPU, in (0, inf].
    copy_time : float or array_like, time unit of `gpu_mttf`
        Time t for one checkpoint, be it copies to peers or a write to storage, in [0, inf).

    Returns
    -------
    float or ndarray, [dimensionless]
        The number of GPUs; infinite where copies take no time or GPUs never fail.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range or the shapes do not broadcast.

    Notes
    -----
    Theorem D-11 of chapters/scaling/gpu_memory. Holds where the copy time does not depend on the
    number of GPUs. At this size the cluster's MTBF equals the copy time, which is a scale, not a
    threshold: `lib.overhead.largest_useful_cluster` says where more machines stop helping.

    Examples
    --------
    >>> gpu_limit(50000 * 3600, 0.32)
    562500000.0

    References
    ----------
    Erben, Erdil (2024), Hardware failures won't limit AI scaling,
    https://epoch.ai/blog/hardware-failures-wont-limit-ai-scaling.
    """
    gpu_mttf = real("gpu_mttf", gpu_mttf, open_low=True)
    copy_time = real("copy_time", copy_time, open_high=True)
    gpu_mttf, copy_time = together(gpu_mttf=gpu_mttf, copy_time=copy_time)
    with np.errstate(all="ignore"):
        return plain(gpu_mttf / copy_time)


def compute_optimal_parameters(gpus, peak_flops, mfu, duration):
    r"""Return the parameters of the model that a cluster trains compute-optimally in a given time.

    .. math:: P = \sqrt{\frac{g \cdot C_\text{peak} \cdot \text{MFU} \cdot T}{120}}

    Parameters
    ----------
    gpus : int or array_like, [dimensionless]
        Number g of GPUs, whole numbers from 1.
    peak_flops : float or array_like, [FLOP/s]
        Peak speed of one GPU, in (0, inf).
    mfu : float or array_like, [dimensionless]
        Model FLOP utilisation, in (0, 1].
    duration : float or array_like, [s]
        Length T of the training, in (0, inf).

    Returns
    -------
    float or ndarray, [dimensionless]
        Number P of parameters.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range or the shapes do not broadcast.

    Notes
    -----
    Part of Theorem D-12 of chapters/scaling/model_size. Training on D tokens takes 6 P D operations,
    and the optimum has D = 20 P: together 120 P^2. Document A leaves T out, so that its number of
    parameters is that of a training of one second. For large clusters the rule is extrapolated far
    beyond the models that it was fitted to.

    Examples
    --------
    One GPU of 989 TFLOP/s at half its peak, for a second and for 90 days:

    >>> [f"{compute_optimal_parameters(1, 989e12, 0.5, t):.3g}" for t in (1.0, 90 * 86400.0)]
    ['2.03e+06', '5.66e+09']

    References
    ----------
    Hoffmann et al. (2022), Training compute-optimal large language models, arXiv:2203.15556.
    """
    gpus = whole("gpus", gpus)
    peak_flops = real("peak_flops", peak_flops, open_low=True, open_high=True)
    mfu = real("mfu", mfu, high=1.0, open_low=True)
    duration = real("duration", duration, open_low=True, open_high=True)
    gpus, peak_flops, mfu, duration = together(gpus=gpus, peak_flops=peak_flops, mfu=mfu, duration=duration)
    mantissa, exponent = _quotient([gpus, peak_flops, mfu, duration], 120.0)
    odd = exponent % 2  # an even exponent halves exactly
    with np.errstate(all="ignore"):
        return plain(np.ldexp(np.sqrt(np.ldexp(mantissa, odd)), (exponent - odd) // 2))


def scaled_gpu_limit(gpu_mttf, bandwidth, alpha, copies, values_per_parameter, bytes_per_value,
                     peak_flops, mfu, duration):
    r"""Return the GPUs at which failures come as fast as copies complete, for a model that grows with them.

    .. math::

        \frac{\theta}{g} = \frac{m v b P(g)}{B g^\alpha} \quad\Longrightarrow\quad
        g = \left(\frac{\theta B}{m v b} \sqrt{\frac{120}{C_\text{peak} \cdot \text{MFU} \cdot T}}
            \right)^{1/(3/2-\alpha)}

    Parameters
    ----------
    gpu_mttf : float or array_like, [s]
        MTTF theta of one GPU, in (0, inf].
    bandwidth : float or array_like, [bytes/s]
        Bandwidth B of one GPU, in (0, inf]; g of them move B g^alpha together.
    alpha : float or array_like, [dimensionless]
        Exponent of the cluster's bandwidth in the number of GPUs, in [0, 1.5).
    copies : int or array_like, [dimensionless]
        Copies m of the whole state, whole numbers from 1.
    values_per_parameter : float or array_like, [dimensionless]
        Values of optimizer state v per parameter, in (0, inf).
    bytes_per_value : float or array_like, [bytes]
        Bytes b per value, in (0, inf).
    peak_flops : float or array_like, [FLOP/s]
        Peak speed of one GPU, in (0, inf).
    mfu : float or array_like, [dimensionless]
        Model FLOP utilisation, in (0, 1].
    duration : float or array_like, [s]
        Length T of the training, in (0, inf).

    Returns
    -------
    float or ndarray, [dimensionless]
        The number of GPUs; infinite for an infinite MTTF or bandwidth.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range or the shapes do not broadcast.

    Notes
    -----
    Theorem D-12 of chapters/scaling/model_size, with P(g) of `compute_optimal_parameters`. Below the
    limit copies complete faster than failures come. At alpha = 1.5 both scale alike, so that no
    size is a limit (or every one is). A limit below one means that not even one GPU keeps up. Document
    A's figures are those of a training of one second. The exponent magnifies rounding: the value
    is computed in 60-digit decimals, some 70 microseconds per element.

    Examples
    --------
    Document A's case, a training of one second, and then the same with 90 days:

    >>> case = dict(gpu_mttf=50000 * 3600.0, bandwidth=50e9, copies=4, values_per_parameter=3,
    ...             bytes_per_value=4, peak_flops=989e12, mfu=0.5)
    >>> [f"{n:.2g}" for n in scaled_gpu_limit(alpha=[1.0, 0.5], duration=1.0, **case)]
    ['8.5e+21', '9.2e+10']
    >>> [f"{n:.2g}" for n in scaled_gpu_limit(alpha=[1.0, 0.5], duration=90 * 86400.0, **case)]
    ['1.1e+15', '3.3e+07']

    References
    ----------
    Erben, Erdil (2024), Hardware failures won't limit AI scaling,
    https://epoch.ai/blog/hardware-failures-wont-limit-ai-scaling.
    Hoffmann et al. (2022), Training compute-optimal large language models, arXiv:2203.15556.
    """
    inside = dict(open_low=True, open_high=True)
    return _decimally(
        _scaled_limit,
        gpu_mttf=real("gpu_mttf", gpu_mttf, open_low=True),
        bandwidth=real("bandwidth", bandwidth, open_low=True),
        alpha=real("alpha", alpha, high=1.5, open_high=True),
        copies=whole("copies", copies),
        values_per_parameter=real("values_per_parameter", values_per_parameter, **inside),
        bytes_per_value=real("bytes_per_value", bytes_per_value, **inside),
        peak_flops=real("peak_flops", peak_flops, **inside),
        mfu=real("mfu", mfu, high=1.0, open_low=True),
        duration=real("duration", duration, **inside),
    )


def _losses(duration, step_time, gpus, copies, rate):
    x = rate * step_time
    # 60 digits cover the cancellation down to 1e-20; below, x itself has twenty digits right.
    failing = 1 - (-x).exp() if x > Decimal("1e-20") else x
    return duration / step_time * gpus / copies * failing**copies


def _scaled_limit(mttf, bandwidth, alpha, copies, values, size, peak, mfu, duration):
    crossing = mttf * bandwidth / (copies * values * size) * (120 / (peak * mfu * duration)).sqrt()
    logarithm = crossing.ln() / (Decimal("1.5") - alpha)
    return max(min(logarithm, _BEYOND), -_BEYOND).exp()


def _decimally(formula, **arrays):
    """Evaluate `formula` element by element in decimals: a power magnifies the rounding of float64."""

    def one(*numbers):
        return float(formula(*map(Decimal, numbers)))

    with localcontext(_DECIMALS), np.errstate(all="ignore"):
        return plain(np.vectorize(one, otypes=[float])(*together(**arrays)))


def _quotient(factors, divisor):
    """Mantissa and exponent of a product over a divisor: no part of it leaves the range of float64."""
    mantissa, exponent = np.frexp(divisor)
    mantissa, exponent = 1.0 / mantissa, -exponent
    for m, e in map(np.frexp, factors):
        mantissa, exponent = mantissa * m, exponent + e
    return mantissa, exponent
