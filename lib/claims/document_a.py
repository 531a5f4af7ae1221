"""Claims of document A, sections A1 to A6: what is computed from what."""

from __future__ import annotations

import sympy as sp
from scipy import optimize, special

from lib import failures, intervals, overhead, replication
from lib.claims import dimensions
from lib.claims.evidence import Checks, External, Outcome, Readings, Value
from lib.claims.printed import compact
from lib.claims.registry import claim
from lib.claims.sources import inputs, table

HOUR, DAY = 3600.0, 86400.0
MILLION = 1e6


def one(value, **facts):
    """Outcome of a claim that is one number."""
    return Outcome(Value(value), facts=facts)


# --- A1: introduction


def minutes_between_failures(gpus):
    return 60 * failures.cluster_mtbf(inputs["gpu_mttf"], gpus)


@claim("A-01")
def failures_of_100k_gpus():
    return one(minutes_between_failures(inputs["cluster_100k"]))


@claim("A-02")
def failures_of_1m_gpus():
    return one(minutes_between_failures(inputs["cluster_1m"]))


@claim("A-03")
def gpu_mttf_in_years():
    return one(inputs["gpu_mttf"] / inputs["year"])


@claim("A-50")
def gpu_mttf_from_the_llama_log():
    """GPU-hours of the Llama training over its unexpected interruptions: all of them, and the GPUs' own.

    The printed unit is ten thousand hours: the copy's numeral counts in them, and has one digit.
    """
    rows = table("llama3_interruptions")
    every = sum(int(row["count"]) for row in rows)
    own = sum(int(row["count"]) for row in rows if row["category"] == "GPU")
    hours = inputs["llama_gpus"] * inputs["llama_days"] * 24
    by_all, low, high = failures.mttf_interval(every, hours)
    by_gpu = failures.mttf_interval(own, hours)[0]
    readings = {
        "any unexpected interruption": Value(by_all / 1e4),
        "failures of the GPU itself": Value(by_gpu / 1e4),
    }
    return Outcome(
        Readings(readings),
        value=by_gpu / 1e4,
        facts=dict(
            every=every,
            own=own,
            by_all=by_all,
            by_gpu=by_gpu,
            low=low,
            high=high,
            mtbf=failures.cluster_mtbf(by_gpu, inputs["llama_gpus"]),
            all_mtbf=llama_mtbf() / HOUR,
        ),
    )


# --- A2: storage checkpoints


def llama_mtbf():
    """MTBF of the Llama cluster in seconds."""
    return HOUR * failures.cluster_mtbf(inputs["gpu_mttf"], inputs["llama_gpus"])


def llama_interval():
    return intervals.young(inputs["write_time"], llama_mtbf())


def llama_loss():
    return overhead.first_order_loss(llama_interval(), inputs["write_time"], llama_mtbf())


@claim("A-04")
def failures_of_the_llama_cluster():
    return one(llama_mtbf() / HOUR)


@claim("A-05")
def first_order_loss():
    """One write per interval, and per failure the mean of a position that is uniform in the interval."""
    t, c, rate, x = sp.symbols("t c rate x", positive=True)
    redone = sp.integrate(x / t, (x, 0, t))
    residual = sp.simplify(c / t + rate * redone - (c / t + rate * t / 2))
    exact = (sp.exp(x) - 1 - x) / x
    return Outcome(
        Checks({"loss": residual, "first order of the exact rework": sp.limit(exact / x, x, 0) - sp.S.Half})
    )


@claim("A-06")
def first_order_optimum():
    t, c, rate = sp.symbols("t c rate", positive=True)
    loss = c / t + rate * t / 2
    (best,) = sp.solve(sp.diff(loss, t), t)
    return Outcome(
        Checks(
            {
                "stationary point": sp.simplify(best - sp.sqrt(2 * c / rate)),
                "minimum": bool(sp.diff(loss, t, 2).is_positive),
            }
        )
    )


@claim("A-07")
def llama_interval_in_minutes():
    text = intervals.young(inputs["write_time_text"], llama_mtbf()) / 60
    return one(llama_interval() / 60, text=text)


@claim("A-08")
def llama_loss_in_percent():
    loss = llama_loss()
    return one(100 * loss, of_wall=100 * loss / (1 + loss))


@claim("A-51")
def llama_loss_with_recovery():
    """The loss with the recovery time left out, as the model has it, and put in."""
    wait = inputs["restart_text"] * 60 / llama_mtbf()
    whole = llama_loss() + wait
    readings = {
        "writes and redone work": Value(100 * llama_loss()),
        "with the recovery time": Value(100 * whole),
    }
    return Outcome(
        Readings(readings),
        value=100 * whole,
        facts=dict(
            wait=100 * wait,
            whole=100 * whole,
            model=100 * llama_loss(),
            mfu_low=100 * whole * inputs["mfu_low"],
            mfu_high=100 * whole * inputs["mfu_high"],
        ),
    )


@claim("A-09")
def llama_loss_in_mfu():
    low, high = (100 * llama_loss() * mfu for mfu in (inputs["mfu_low"], inputs["mfu_high"]))
    return Outcome(Value(low, high), text=f"{low:.2f} to {high:.2f}")


def storage_limit(write_time):
    """Millions of GPUs at which failures come as fast as checkpoints complete."""
    return replication.gpu_limit(inputs["gpu_mttf"] * HOUR, write_time) / MILLION


@claim("A-10")
def gpus_that_fail_once_per_write():
    with_program = storage_limit(inputs["write_time"])
    return one(
        storage_limit(inputs["write_time_text"]),
        with_program=with_program,
        off=100 * (with_program * MILLION / inputs["storage_limit"] - 1),
    )


def share_where_half_is_lost(slowdown):
    """Write time over MTBF at which the slowdown of the best interval is two."""
    return optimize.brentq(lambda share: slowdown(share) - 2.0, 1e-6, 2.0, xtol=1e-14)


def gpus_where_half_is_lost(slowdown):
    """The same as millions of GPUs, with the printed write time."""
    return share_where_half_is_lost(slowdown) * storage_limit(inputs["write_time_text"])


def protected_slowdown(share):
    return overhead.optimal_slowdown(share, 1.0, exposed_writes=False)


def exposed_slowdown(share):
    return overhead.optimal_slowdown(share, 1.0)


def first_order_slowdown(share):
    return 1 + overhead.first_order_loss(intervals.young(share, 1.0), share, 1.0)


@claim("A-11")
def gpus_that_lose_half_their_time():
    """Lost time overtakes useful time where the slowdown at the best interval is two."""
    begins = gpus_where_half_is_lost(protected_slowdown)
    printed = inputs["storage_limit"] / MILLION
    share = printed / storage_limit(inputs["write_time_text"])
    return one(
        begins,
        first_order=gpus_where_half_is_lost(first_order_slowdown),
        exposed=gpus_where_half_is_lost(exposed_slowdown),
        factor=printed / begins,
        lost=100 * (1 - 1 / protected_slowdown(share)),
        exposed_lost=100 * (1 - 1 / exposed_slowdown(share)),
    )


def bytes_per_parameter():
    return inputs["optimizer_values"] * inputs["bytes_per_value"]


def llama_state():
    """Bytes of the whole training state."""
    return inputs["llama_parameters"] * bytes_per_parameter()


@claim("A-12")
def write_time_of_the_state():
    write = llama_state() / inputs["storage_bandwidth"]
    rounded_state = inputs["write_time_text"] * inputs["storage_bandwidth"] / 1e12
    text_interval = intervals.young(inputs["write_time_text"], llama_mtbf())
    return one(
        write,
        state=llama_state() / 1e12,
        rounded_state=rounded_state,
        loss=100 * llama_loss(),
        text_loss=200 * inputs["write_time_text"] / text_interval,
    )


@claim("A-13")
def recovery_from_storage():
    reads = inputs["data_parallel_ranks"] * llama_state() / inputs["storage_bandwidth"]
    return one(reads / 60)


# --- A3: checkpoints in GPU memory


@claim("A-14")
def memory_left():
    return one(inputs["gpu_memory"] - inputs["gpu_checkpoint"])


def memory_over_copies(gpus, days):
    """Memory of a cluster over the memory for all copies of the model that it trains in `days`."""
    parameters = replication.compute_optimal_parameters(gpus, inputs["peak_flops"], inputs["mfu"], days * DAY)
    return gpus * inputs["gpu_memory"] * 1e9 / (inputs["copies"] * bytes_per_parameter() * parameters)


@claim("A-15")
def memory_always_suffices():
    """Both scalings, at a fixed training time (more GPUs) and with a fixed cluster (more time)."""
    days, gpus = inputs["llama_days"], inputs["llama_gpus"]
    least = memory_over_copies(1, days) ** -2
    longest = days * memory_over_copies(gpus, days) ** 2
    readings = {
        "a fixed training time and a large cluster": memory_over_copies(gpus, days) > 1,
        "a fixed training time and a cluster of any size": memory_over_copies(1, days) > 1,
        "a fixed cluster and a growing model": memory_over_copies(gpus, 2 * longest) > 1,
    }
    return Outcome(
        Readings(readings),
        facts=dict(ratio=memory_over_copies(gpus, days), least=least, years=longest * 24 / inputs["year"]),
    )


@claim("A-16")
def failure_within_a_step():
    x = sp.Symbol("x", positive=True)
    ratio = sp.limit((1 - sp.exp(-x)) / x, x, 0)
    at = inputs["step_time"] / HOUR / inputs["node_mttf_text"]
    error = at / failures.failure_probability(at, 1.0) - 1
    return Outcome(
        Checks({"limit of the ratio": ratio - 1, "error at the example": error < at}), facts=dict(error=error)
    )


@claim("A-17")
def losses_of_all_copies():
    """Steps times groups times the chance that all members of a group fail in one step, at a small rate."""
    T, t, N, M, rate = sp.symbols("T t N M rate", positive=True)
    exact = (T / t) * (N / M) * (1 - sp.exp(-rate * t)) ** M
    printed = (T / t) * (N / M) * (rate * t) ** M
    ratio = sp.powsimp(sp.simplify(exact / printed), force=True)
    limits = {
        f"{copies} copies": sp.limit(ratio.subs({M: copies, t: 1}), rate, 0) - 1 for copies in (1, 2, 3, 4)
    }
    return Outcome(Checks(limits))


def trainings_per_loss(copies, mttf_h=None, members=None):
    """Trainings among which one loses all copies of some state."""
    losses = replication.expected_losses(
        inputs["training_days"] * DAY,
        inputs["step_time"],
        members or inputs["example_gpus"],
        copies,
        1 / ((mttf_h or inputs["node_mttf_text"]) * HOUR),
    )
    return 1 / losses


def loss_facts(copies, printed):
    """What the printed number of trainings would take: the same factor for any number of copies.

    A recovery window w instead of the step s costs m (w/s)^(m-1) for rare failures (Theorem D-14); where that
    is the factor, the printed number would be right.
    """
    right = trainings_per_loss(copies)
    factor = right / printed
    return dict(
        factor=factor,
        window=inputs["step_time"] * (factor / copies) ** (1 / (copies - 1)),
        days=inputs["training_days"] * factor,
        scientific=f"{right:.1e}".replace("e+", "e"),
    )


@claim("A-18")
def trainings_per_loss_of_two_copies():
    return one(trainings_per_loss(2), **loss_facts(2, inputs["losses_printed_2"]))


@claim("A-19")
def trainings_per_loss_of_three_copies():
    return one(trainings_per_loss(3), **loss_facts(3, inputs["losses_printed_3"]))


@claim("A-20")
def node_rate():
    mttf = failures.series_mtbf([inputs["gpus_per_node"]], [inputs["gpu_mttf"]])
    hourly = 1 / failures.cluster_mtbf(inputs["gpu_mttf"], inputs["cluster_1m"])
    return Outcome(
        Value(1 / mttf),
        value=1 / mttf,
        text=f"1/{mttf:.0f}",
        facts=dict(
            mttf=mttf,
            implied=inputs["gpus_per_node"] * inputs["node_mttf_text"],
            hourly=hourly,
            by_hourly=inputs["nodes_1m"] / hourly,
            two=trainings_per_loss(2, mttf),
            two_text=trainings_per_loss(2),
            three=trainings_per_loss(3, mttf),
            three_text=trainings_per_loss(3),
        ),
    )


@claim("A-21")
def safety_grows_with_copies():
    """By the printed formula each copy divides the losses by the same factor, but for a factor (M + 1)/M."""
    M, p, c = sp.symbols("M p c", positive=True)
    losses = c * p**M / M
    ratio = sp.simplify(losses.subs(M, M + 1) / losses)
    per_copy = [trainings_per_loss(m + 1) / trainings_per_loss(m) for m in (2, 3)]
    least = inputs["node_mttf_text"] * HOUR / inputs["step_time"]
    return Outcome(
        Checks(
            {
                "limit of the ratio": sp.limit(ratio, M, sp.oo) - p,
                "each copy gains at least the limit": all(gain > least for gain in per_copy),
            }
        ),
        facts=dict(third=per_copy[0], fourth=per_copy[1]),
    )


def memory_copy_time():
    return replication.copy_time(inputs["gpu_checkpoint"] * 1e9, inputs["copies"], inputs["link_bits"] / 8)


def memory_limit():
    """Millions of GPUs at which failures come as fast as copies in memory complete."""
    return replication.gpu_limit(inputs["gpu_mttf"] * HOUR, memory_copy_time()) / MILLION


@claim("A-22")
def time_to_copy():
    return one(memory_copy_time())


@claim("A-23")
def gpus_that_fail_once_per_copy():
    return one(memory_limit())


@claim("A-24")
def memory_against_storage():
    return one(inputs["write_time_text"] / memory_copy_time())


@claim("A-52")
def checkpoint_memory_of_a_gpu():
    """The reported size, beside an even share of the state of A-12."""
    even = llama_state() / inputs["llama_gpus"]
    seconds = replication.copy_time(even, inputs["copies"], inputs["link_bits"] / 8)
    limit = replication.gpu_limit(inputs["gpu_mttf"] * HOUR, seconds) / MILLION
    return Outcome(
        External(),
        facts=dict(
            even=even / 1e9,
            times=inputs["gpu_checkpoint"] * 1e9 / even,
            limit=limit,
            limit_text=memory_limit(),
        ),
    )


@claim("A-55")
def groups_that_can_be_lost():
    """Pairs of nodes whose failure loses a group of two GPUs, for two ways to place the copies."""
    gpus, size = inputs["example_gpus"], inputs["gpus_per_node"]
    groups, nodes = gpus / 2, int(gpus / size)
    # Each node sends half of its copies to the next nodes and takes the other half from those before it.
    spread = {
        frozenset((n, (n + step) % nodes)) for n in range(nodes) for step in range(1, int(size / 2) + 1)
    }
    readings = {
        "copies spread over many nodes": len(spread) == groups,
        "whole nodes copied to whole nodes": nodes / 2 == groups,
    }
    return Outcome(
        Readings(readings),
        text=f"{len(spread)} or {nodes / 2}",
        facts=dict(
            spread=len(spread),
            paired=nodes / 2,
            paired_losses=trainings_per_loss(2, members=nodes),
            spread_losses=trainings_per_loss(2),
        ),
    )


# --- A4: models that grow with the cluster


@claim("A-25")
def replicated_bytes():
    return one(inputs["copies"] * bytes_per_parameter())


@claim("A-26")
def compute_optimal_training():
    N, k, r = sp.symbols("N k r", positive=True)
    compute = (k * N * (r * N)).subs(
        {
            k: sp.Integer(int(inputs["flop_per_parameter_token"])),
            r: sp.Integer(int(inputs["tokens_per_parameter"])),
        }
    )
    return Outcome(Checks({"compute": sp.expand(compute - 120 * N**2)}))


def parameters(gpus, seconds):
    return replication.compute_optimal_parameters(gpus, inputs["peak_flops"], inputs["mfu"], seconds)


@claim("A-27")
def coefficient_of_parameters():
    """The printed formula is the right one for a training of one second."""
    return one(parameters(1, 1.0), restored=parameters(1, inputs["llama_days"] * DAY))


def unequal(equation, **facts):
    """Outcome of a claim that is an equation, by the dimensions of its sides."""
    text = f"left {equation.left}, right {equation.right}"
    facts |= dict(left=equation.left, right=equation.right)
    return Outcome(Checks({"same dimension": equation.holds}), text=text, facts=facts)


@claim("A-28")
def formula_of_parameters():
    """What the left side needs that the right side does not have, and the size of a known cluster's model."""
    gpus, seconds = inputs["llama_gpus"], inputs["llama_days"] * DAY
    return unequal(
        dimensions.EQUATIONS["A4 parameters"],
        as_printed=parameters(gpus, 1.0) / 1e9,
        restored=parameters(gpus, seconds) / 1e9,
        real=inputs["llama_parameters"] / 1e9,
    )


@claim("A-48")
def coefficient_carries_a_unit():
    low, high = (parameters(1, days * DAY) for days in (inputs["training_days"], inputs["long_training"]))
    return unequal(dimensions.EQUATIONS["A4 coefficient"], low=low, high=high)


def growing_limit(alpha, seconds, start=1):
    """GPUs at which failures come as fast as copies complete, for a model trained in `seconds`.

    Bandwidth grows in proportion up to `start` GPUs and with their power `alpha` beyond.
    """
    return replication.scaled_gpu_limit(
        inputs["gpu_mttf"] * HOUR,
        inputs["gpu_bandwidth"] * start ** (1 - alpha),
        alpha,
        inputs["copies"],
        inputs["optimizer_values"],
        inputs["bytes_per_value"],
        inputs["peak_flops"],
        inputs["mfu"],
        seconds,
    )


def growing_limit_as_printed(alpha):
    """The same by the printed condition with its rounded coefficient."""
    state = inputs["copies"] * bytes_per_parameter() * inputs["parameter_coefficient"]
    return (inputs["gpu_mttf"] * HOUR * inputs["gpu_bandwidth"] / state) ** (1 / (1.5 - alpha))


@claim("A-49")
def condition_carries_a_unit():
    second, restored = growing_limit(0.5, 1.0), growing_limit(0.5, inputs["llama_days"] * DAY)
    return unequal(dimensions.EQUATIONS["A4 condition with numbers"], second=second, restored=restored)


def growing_limit_outcome(alpha, **facts):
    seconds = inputs["llama_days"] * DAY
    restored = growing_limit(alpha, seconds)
    readings = {
        "the printed formula, a training of one second": Value(growing_limit_as_printed(alpha)),
        "the training time put in": Value(restored),
    }
    return Outcome(
        Readings(readings),
        value=restored,
        facts=dict(
            as_printed=growing_limit_as_printed(alpha),
            unrounded=growing_limit(alpha, 1.0),
            restored=restored,
            factor=growing_limit(alpha, 1.0) / restored,
            **facts,
        ),
    )


@claim("A-29")
def limit_with_linear_bandwidth():
    return growing_limit_outcome(1.0)


@claim("A-30")
def limit_with_square_root_bandwidth():
    long = growing_limit(0.5, inputs["long_training"] * DAY)
    return growing_limit_outcome(
        0.5,
        millions=growing_limit(0.5, inputs["llama_days"] * DAY) / MILLION,
        long=long / MILLION,
        storage=inputs["storage_limit"] / MILLION,
    )


@claim("A-31")
def no_limit_for_either_scaling():
    """No practical limit would mean: above the cluster size that the document calls decisive for storage.

    The readings are where the square root starts: at one GPU, as printed, or at a cluster of today's size.
    """
    seconds, decisive = inputs["llama_days"] * DAY, inputs["storage_limit"]
    linear = growing_limit(1.0, seconds)
    root, anchored = (growing_limit(0.5, seconds, start) for start in (1, inputs["llama_gpus"]))
    share = share_where_half_is_lost(protected_slowdown)
    readings = {
        "both laws, the square root from one GPU on": linear > decisive and root > decisive,
        "both laws, the square root from today's sizes on": linear > decisive and anchored > decisive,
    }
    return Outcome(
        Readings(readings),
        text=f"{compact(linear)} and {compact(root)} or {compact(anchored)} GPUs",
        facts=dict(
            linear=linear,
            root=root / MILLION,
            anchored=anchored / MILLION,
            decisive=decisive / MILLION,
            # Copy time over MTBF is (GPUs / limit)^(3/2 - alpha), hence the GPUs at a given share of it.
            half=root * share / MILLION,
        ),
    )


# --- A5: spares


@claim("A-32")
def node_failures_per_hour():
    return one(1 / failures.cluster_mtbf(inputs["gpu_mttf"], inputs["cluster_1m"]))


def mean_pool(days=1.0):
    rate = 1 / failures.cluster_mtbf(inputs["gpu_mttf"], inputs["cluster_1m"])
    return failures.spare_pool(rate, days * inputs["replacement_time"])


@claim("A-33")
def spare_nodes():
    return one(mean_pool())


@claim("A-34")
def spare_share():
    share = 100 * mean_pool() / inputs["nodes_1m"]
    return one(share, longest=1 / share, printed_days=1 / inputs["spare_share_text"])


@claim("A-35")
def impact_of_slow_replacement():
    """Two readings of the impact, each for a few and several days: the pool, or the nodes it leaves missing.

    A pool sized for the mean of one day leaves what further days keep out.
    """
    share = 100 * mean_pool() / inputs["nodes_1m"]
    few, several = inputs["few"], inputs["several"]
    pool = {f"the pool's share, {days:.0f} days": Value(share * days) for days in (few, several)}
    missing = {f"the nodes missing, {days:.0f} days": Value(share * (days - 1)) for days in (few, several)}
    return Outcome(
        Readings(pool | missing),
        value=share * (several - 1),
        text=f"{share * (several - 1):.2f} % missing, or a pool of {share * several:.2f}",
        facts=dict(
            few=few,
            several=several,
            at_few=share * few,
            at_several=share * several,
            missing=share * (several - 1),
            nodes=mean_pool() * (several - 1),
            longest=1 / share,
            longest_missing=1 + 1 / share,
            daily=share,
        ),
    )


@claim("A-54")
def spare_pool_suffices():
    """The mean need, and how often the need stays within the pool."""
    mean, coverage = mean_pool(), inputs["pool_coverage"]
    suffices = special.pdtr(mean, mean)
    enough = failures.spare_pool(mean / inputs["replacement_time"], inputs["replacement_time"], coverage)
    readings = {"the mean need": Value(mean), "the need nearly always": bool(suffices >= coverage)}
    return Outcome(
        Readings(readings),
        value=enough,
        facts=dict(
            short=100 * (1 - suffices),
            enough=enough,
            coverage=100 * coverage,
            share=100 * enough / inputs["nodes_1m"],
        ),
    )


@claim("A-53")
def planned_updates_per_day():
    return one(inputs["llama_planned"] / inputs["llama_days"])


# --- A6: conclusion


@claim("A-36")
def storage_limit_repeated():
    return gpus_that_fail_once_per_write()


@claim("A-37")
def memory_limit_repeated():
    return one(memory_limit(), speedup=memory_limit() / storage_limit(inputs["write_time_text"]))
