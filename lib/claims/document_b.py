"""Claims of document B, sections B1 to B5: what is computed from what."""

from __future__ import annotations

import sympy as sp
from scipy import optimize

from lib import availability, failures, fitting, intervals, overhead
from lib.claims.evidence import Cell, Checks, External, Outcome, Readings, Table, Value
from lib.claims.printed import ROUNDS, agreement, ends, number
from lib.claims.registry import claim
from lib.claims.sources import inputs, table

HOUR, DAY_HOURS = 3600.0, 24.0
GB = 1e9


def one(value, **facts):
    """Outcome of a claim that is one number."""
    return Outcome(Value(value), facts=facts)


def cells(outcome_cells, **facts):
    """Outcome of a claim that is a table, with the cells that do not round to the printed ones."""
    evidence = Table(tuple(outcome_cells))
    places = [cell.place for cell in evidence.failing()]
    facts |= dict(cells=len(evidence.cells), failing=len(places), places=", ".join(places))
    return Outcome(evidence, facts=facts)


# --- B1: failure probability


def component(name, column):
    (row,) = [row for row in table("components") if row["component"] == name]
    return float(row[column])


def printed_mttf(name):
    return component(name, "mttf_h")


def node_mtbf(mttf=printed_mttf):
    """MTBF in hours of a node of GPUs, network cards and power supplies, from the MTTF of each kind."""
    counts = [inputs["node_gpus"], inputs["node_nics"], inputs["node_psus"]]
    return failures.series_mtbf(counts, [mttf(name) for name in ("GPU", "NIC", "PSU")])


def cluster_mtbf(gpus):
    """MTBF in hours of a cluster of such nodes."""
    return failures.cluster_mtbf(node_mtbf(), gpus / inputs["node_gpus"])


def fleet_mtbf():
    return cluster_mtbf(inputs["fleet_gpus"])


@claim("B-01")
def failure_in_a_month():
    return one(100 * failures.failure_probability(inputs["job_days"] * DAY_HOURS, fleet_mtbf()))


@claim("B-02")
def gpu_mttf_in_years():
    return one(component("GPU", "mttf_h") / inputs["year"])


@claim("B-03")
def mttf_from_fit():
    """The mean of an exponential life whose rate is FIT failures in 1e9 hours."""
    t, fit = sp.symbols("t FIT", positive=True)
    rate = fit / sp.Integer(10) ** 9
    mean = sp.integrate(t * rate * sp.exp(-rate * t), (t, 0, sp.oo))
    return Outcome(Checks({"mean life": sp.simplify(mean - sp.Integer(10) ** 9 / fit)}))


@claim("B-04")
def node_of_three_kinds():
    return one(node_mtbf())


@claim("B-05")
def fleet():
    return one(fleet_mtbf())


@claim("B-06")
def day_without_a_failure():
    mtbf = cluster_mtbf(inputs["small_gpus"])
    free = 1 - failures.failure_probability(DAY_HOURS, mtbf)
    return Outcome(
        Checks({"the mean is at least a day": mtbf >= DAY_HOURS, "likely": free > 0.5}),
        value=mtbf / DAY_HOURS,
        facts=dict(days=mtbf / DAY_HOURS, free=100 * free),
    )


@claim("B-07")
def failures_in_a_shift():
    """Expected failures, rounded to a whole number, against the least number called a few or several."""
    short, long = (inputs[name] / fleet_mtbf() for name in ("shift", "long_shift"))
    few, several = inputs["few"], inputs["several"]
    readings = {
        f"{least:.0f} failures in a shift of {hours:.0f} h": round(mean) >= least
        for least in (few, several)
        for hours, mean in ((inputs["shift"], short), (inputs["long_shift"], long))
    }
    none = 1 - failures.failure_probability(inputs["shift"], fleet_mtbf())
    return Outcome(
        Readings(readings),
        value=short,
        facts=dict(short=short, long=long, none=100 * none, gpus=several / short * inputs["fleet_gpus"]),
    )


@claim("B-08")
def failure_in_a_job():
    x, T, mtbf = sp.symbols("x T M", positive=True)
    chance = sp.integrate(sp.exp(-x / mtbf) / mtbf, (x, 0, T))
    return Outcome(Checks({"probability": sp.simplify(chance - (1 - sp.exp(-T / mtbf)))}))


def chance(gpus, days):
    """Probability in percent of at least one failure."""
    return 100 * failures.failure_probability(days * DAY_HOURS, cluster_mtbf(gpus))


def gpu_days(percent):
    """GPUs times days at which the probability of a failure reaches `percent`."""
    return optimize.brentq(lambda x: chance(8e6, x / 8e6) - percent, 1.0, 1e6, xtol=1e-9)


@claim("B-09")
def failure_is_certain():
    thousands = 1000 * inputs["several"]
    day, fleet = chance(thousands, 1), chance(inputs["fleet_gpus"], 1)
    sizes = (1000 * inputs["few"], thousands, inputs["fleet_gpus"])
    return Outcome(
        Readings({f"{gpus:,.0f} GPUs for a day": Value(chance(gpus, 1)) for gpus in sizes}),
        value=day,
        facts=dict(
            thousands=thousands,
            day=day,
            fleet=fleet,
            gpus=gpu_days(99.5),
            days=gpu_days(99.5) / thousands,
            none=100 / (100 - day),
        ),
    )


@claim("B-10")
def infant_mortality():
    """For comparison, Titan's failures per GPU-hour in the first and second ninety days of a GPU's life."""
    first, second = (
        (int(row["dbe"]) + int(row["otb"]), float(row["gpu_hours"])) for row in table("titan_by_age")[:2]
    )
    ratio, low, high = fitting.rate_ratio(*first, *second)
    return Outcome(External(), facts=dict(ratio=ratio, low=low, high=high))


@claim("B-11")
def table_of_cluster_mtbf():
    found = []
    for row in table("cluster_mtbf"):
        gpus = int(row["gpus"])
        hours = cluster_mtbf(gpus)
        found += [
            Cell(f"{gpus} nodes", row["nodes"], gpus / inputs["node_gpus"]),
            Cell(f"{gpus} mtbf", row["mtbf"], hours * {"h": 1, "min": 60}[row["unit"]]),
            Cell(f"{gpus} failures per day", row["failures_per_day"], DAY_HOURS / hours),
        ]
    return cells(found)


@claim("B-12")
def table_of_failure_probability():
    return cells(
        Cell(f"{row['gpus']} {hours} h", row[f"p_{hours}h"], chance(int(row["gpus"]), hours / DAY_HOURS))
        for row in table("failure_probability")
        for hours in (24, 168, 720)
    )


@claim("B-13")
def table_of_components():
    found = []
    for row in table("components"):
        mttf = failures.mttf_from_fit(float(row["fit"]))
        found += [
            Cell(f"{row['component']} MTTF", row["mttf_h"], mttf),
            Cell(f"{row['component']} years", row["mttf_years"], float(row["mttf_h"]) / inputs["year"]),
        ]
    nic = component("NIC", "fit")
    exact = failures.fit_from_mttf(component("NIC", "mttf_h"))
    by_fit = node_mtbf(lambda name: failures.mttf_from_fit(component(name, "fit")))
    return cells(found, nic=nic, exact=exact, node=f"{node_mtbf():.2f}", node_by_fit=f"{by_fit:.2f}")


# --- B2: checkpoints


@claim("B-14")
def young_interval():
    """The minimum of the first-order loss, and the leading term of the exact optimum."""
    tau, delta, M, u = sp.symbols("tau delta M u", positive=True)
    (best,) = sp.solve(sp.diff(delta / tau + tau / (2 * M), tau), tau)
    exact_share = -(u + sp.log(1 - u))
    return Outcome(
        Checks(
            {
                "first-order optimum": sp.simplify(best - sp.sqrt(2 * delta * M)),
                "leading term": sp.limit(u**2 / (2 * exact_share), u, 0) - 1,
            }
        )
    )


@claim("B-15")
def interval_between_the_two_times():
    """With x = delta/M the interval over M is sqrt(2 x): above x and below 1 for x in (0, 1/2)."""
    x = sp.Symbol("x", positive=True)
    equal_write, equal_mtbf = sp.solve(sp.sqrt(2 * x) - x, x), sp.solve(sp.sqrt(2 * x) - 1, x)
    bound = min(equal_write + equal_mtbf)
    write, mtbf = write_time(), fleet_mtbf() * HOUR
    return Outcome(
        Checks(
            {
                "no crossing below the bound": bound == sp.S.Half,
                "right below it": all(
                    r < sp.sqrt(2 * r) < 1 for r in (sp.Rational(1, 100), sp.Rational(49, 100))
                ),
                "at the example": write < intervals.optimal(write, mtbf) < mtbf,
            }
        ),
        facts=dict(bound=float(bound), example=write / mtbf),
    )


@claim("B-16")
def bytes_per_parameter():
    return one(state_bytes())


def state_bytes():
    """Bytes of persistent state per parameter: weights, master weights, two moments."""
    return inputs["weight_bytes"] + inputs["master_bytes"] + 2 * inputs["moment_bytes"]


def write_time(parameters=None):
    """Write time in seconds of a model's checkpoint."""
    return (parameters or inputs["model_parameters"]) * state_bytes() / inputs["write_bandwidth"]


def interval(gpus=None):
    """Young's interval in seconds for the example model."""
    return intervals.young(write_time(), cluster_mtbf(gpus or inputs["fleet_gpus"]) * HOUR)


@claim("B-17")
def checkpoint_size():
    return one(inputs["model_parameters"] * state_bytes() / GB)


@claim("B-18")
def checkpoint_write_time():
    return one(write_time())


@claim("B-19")
def interval_of_the_fleet():
    return one(interval() / 60)


@claim("B-20")
def checkpoint_overhead():
    return one(100 * write_time() / interval(), of_wall=100 * write_time() / (interval() + write_time()))


@claim("B-21")
def interval_of_twice_the_fleet():
    return one(interval(inputs["double_fleet_gpus"]) / 60)


@claim("B-22")
def table_of_checkpoint_sizes():
    found = []
    for row in table("checkpoint_sizes"):
        parameters = float(row["parameters"])
        found += [
            Cell(f"{row['model']} size", row["size_gb"], parameters * state_bytes() / GB),
            Cell(f"{row['model']} write time", row["write_time_s"], write_time(parameters)),
        ]
    return cells(found)


@claim("B-59")
def interval_needs_two_inputs():
    """The exact optimum with and without a restart time, for exposed and protected writes."""
    write, mtbf, restart = write_time(), fleet_mtbf() * HOUR, restart_time()
    moved = {
        exposed: intervals.optimal(write, mtbf, restart, exposed_writes=exposed)
        / intervals.optimal(write, mtbf, exposed_writes=exposed)
        - 1
        for exposed in (True, False)
    }
    long = intervals.optimal(write, mtbf, mtbf, exposed_writes=False)
    return Outcome(
        Readings({"exposed writes": moved[True] == 0, "protected writes": moved[False] == 0}),
        facts=dict(
            moved=100 * abs(moved[False]),
            restart=restart,
            long=100 * abs(long / intervals.optimal(write, mtbf, exposed_writes=False) - 1),
        ),
    )


# --- B3: recovery


def phase(name):
    """A phase of recovery in seconds, as the table prints it."""
    (row,) = [row for row in table("recovery") if row["phase"] == name]
    return float(row["published"]) * {"s": 1, "min": 60}[row["unit"]]


def restart_time():
    return phase("detect") + phase("reschedule") + phase("reload")


def recovery(gpus=None):
    """Seconds that one failure costs."""
    return overhead.recovery_time(phase("detect"), phase("reschedule"), phase("reload"), interval(gpus))


@claim("B-23")
def recovery_is_a_sum():
    """A definition, so nothing to derive: the library's sum has these four terms, replay half an interval."""
    phases = dict(detect=phase("detect"), reschedule=phase("reschedule"), reload=phase("reload"))
    whole = overhead.recovery_time(**phases, interval=interval())
    by_hand = sum(phases.values()) + interval() / 2
    return Outcome(Checks({"sum": abs(whole / by_hand - 1) < 1e-12}), facts=dict(minutes=by_hand / 60))


@claim("B-24")
def replay_dominates():
    """Mean work lost in an interval that a failure has cut short, and its share of the recovery."""
    tau, M, x, s = sp.symbols("tau M x s", positive=True)
    density = sp.exp(-x / M) / M
    lost = sp.integrate(x * density, (x, 0, tau)) / sp.integrate(density, (x, 0, tau))
    limit = sp.limit(sp.simplify((lost / tau).subs(tau, s * M)), s, 0)
    share = interval() / 2 / recovery()
    # Half of Young's interval equals the restart time where the MTBF is (2 R)^2 / (2 delta).
    equal = (2 * restart_time()) ** 2 / (2 * write_time())
    exact = float((lost / 60).subs({tau: interval(), M: fleet_mtbf() * HOUR}))
    return Outcome(
        Checks({"half an interval": limit - sp.S.Half, "more than half of the recovery": share > 0.5}),
        value=interval() / 2 / 60,
        text=f"{interval() / 120:.1f} min, {100 * share:.0f} % of the recovery",
        facts=dict(share=100 * share, gpus=inputs["node_gpus"] * node_mtbf() * HOUR / equal, exact=exact),
    )


@claim("B-25")
def recovery_overhead():
    return one(100 * recovery() / (fleet_mtbf() * HOUR))


@claim("B-26")
def table_of_recovery():
    printed = {row["phase"]: row for row in table("recovery")}
    return cells(
        [
            Cell("reload", printed["reload"]["published"], write_time()),
            Cell("replay", printed["replay"]["published"], interval() / 2 / 60),
            Cell("total", printed["total"]["published"], recovery() / 60),
        ]
    )


@claim("B-27")
def published_overhead():
    model = first_order_overhead()
    return Outcome(External(), facts=dict(model=model, exact=exact_overhead(inputs["fleet_gpus"])))


@claim("B-28")
def wall_time_of_a_month():
    """Overhead added to the useful time, and taken from the wall time as the goodput ratio has it."""
    low, high, days = inputs["overhead_low"], inputs["overhead_high"], inputs["job_days"]
    useful, wall = Value(days * (1 + low), days * (1 + high)), Value(days / (1 - low), days / (1 - high))
    return Outcome(
        Readings({"share of useful time": useful, "share of wall time": wall}),
        text=f"{useful.in_words('33')} or {wall.in_words('33')}",
        facts=dict(
            useful_high=useful.values[1],
            wall_low=wall.values[0],
            wall_high=wall.values[1],
            late=wall.values[1] - useful.values[1],
        ),
    )


def first_order_overhead():
    """Percent of useful time: the writes, and the recovery per failure."""
    return 100 * (write_time() / interval() + recovery() / (fleet_mtbf() * HOUR))


def exact_overhead(gpus, exposed=True):
    """Percent of useful time by the exact model at its best interval."""
    mtbf = cluster_mtbf(gpus) * HOUR
    return 100 * (overhead.optimal_slowdown(write_time(), mtbf, restart_time(), exposed_writes=exposed) - 1)


def gpus_at_overhead(percent):
    """GPUs (a multiple of a node) at which the exact overhead is `percent`."""
    nodes = optimize.brentq(lambda n: exact_overhead(round(n) * 8) - percent, 10, 2e4, xtol=0.5)
    return round(nodes) * 8


@claim("B-29")
def model_explains_the_published_overhead():
    """The comparison is the report's own: the document prints both sides and does not compare them."""
    model, low, high = first_order_overhead(), 100 * inputs["overhead_low"], 100 * inputs["overhead_high"]
    return Outcome(
        Checks({"within the published range": low <= model <= high}),
        value=model,
        text=f"{model:.1f} %",
        facts=dict(
            model=model,
            exact=exact_overhead(inputs["fleet_gpus"]),
            least=100 * model / high,
            most=100 * model / low,
            of_wall=100 * model / (100 + model),
            gpus=gpus_at_overhead(low),
            rest_low=low - model,
            rest_high=high - model,
        ),
    )


@claim("B-30")
def speedup_of_doubling():
    """Fixed work: twice the machines over the ratio of the slowdowns, for both models."""
    half, full = inputs["half_fleet_gpus"], inputs["fleet_gpus"]
    speedups = [2 * (100 + exact_overhead(half, e)) / (100 + exact_overhead(full, e)) for e in (True, False)]
    return Outcome(Value(*speedups), value=speedups[0])


@claim("B-31")
def more_gpus_can_take_longer():
    """The largest useful cluster: finite with exposed writes, none with protected ones."""
    nodes = {
        e: overhead.largest_useful_cluster(write_time(), node_mtbf() * HOUR, restart_time(), exposed_writes=e)
        for e in (True, False)
    }
    bare = overhead.largest_useful_cluster(write_time(), node_mtbf() * HOUR)
    gpus = inputs["node_gpus"] * nodes[True]
    mtbf = node_mtbf() * HOUR / nodes[True]
    useful = 100 / overhead.optimal_slowdown(write_time(), mtbf, restart_time())
    return Outcome(
        Readings(
            {"exposed writes": nodes[True] < float("inf"), "protected writes": nodes[False] < float("inf")}
        ),
        value=gpus,
        text=f"{gpus:,.0f} GPUs",
        facts=dict(
            gpus=gpus,
            times=gpus / inputs["fleet_gpus"],
            useful=useful,
            mtbf=mtbf / 60,
            bare=inputs["node_gpus"] * bare,
        ),
    )


# --- B4: strategies


@claim("B-32")
def availability_of_replicas():
    """Sum over all states with at least one replica up, for one to five replicas."""
    A = sp.Symbol("A", positive=True)
    states = {
        k: sum(sp.binomial(k, up) * A**up * (1 - A) ** (k - up) for up in range(1, k + 1))
        for k in range(1, 6)
    }
    return Outcome(
        Checks({f"{k} replicas": sp.expand(total - (1 - (1 - A) ** k)) for k, total in states.items()})
    )


def stacked(replicas, common_cause=0.0):
    return availability.stacked(inputs["replica_availability"], replicas, common_cause)


@claim("B-33")
def two_replicas():
    return one(100 * stacked(2))


@claim("B-34")
def downtime_of_one():
    return one(
        availability.downtime(inputs["replica_availability"], inputs["year"]),
        gain=availability.downtime(stacked(1)) / availability.downtime(stacked(2)),
    )


@claim("B-35")
def downtime_of_two():
    return one(availability.downtime(stacked(2), inputs["year"]))


def replicas_beyond_one():
    """The numbers of replicas that the table of availability lists beside a single one."""
    return [int(row["replicas"]) for row in table("availability") if int(row["replicas"]) > 1]


@claim("B-36")
def cost_of_redundancy():
    """Every replica does the whole work: by the table of replicas, and by the overhead printed elsewhere."""
    (row,) = [row for row in table("strategies") if row["criterion"] == "resource overhead"]
    low, high = (1 + number(end) / 100 for end in ends(row["redundancy"]))
    replicas = replicas_beyond_one()
    readings = {"replicas": Value(*replicas), "overhead": Value(low, high)}
    return Outcome(Readings(readings), text=" to ".join(map(str, replicas)))


@claim("B-37")
def table_of_availability():
    found = []
    for row in table("availability"):
        share = stacked(int(row["replicas"]))
        down = availability.downtime(share, inputs["year"]) * {"h": 1, "min": 60}[row["unit"]]
        found += [
            Cell(f"{row['replicas']} availability", row["availability"], 100 * share),
            Cell(f"{row['replicas']} nines", row["nines"], availability.nines(share)),
            Cell(f"{row['replicas']} downtime", row["downtime"], down),
        ]
    return cells(found)


def elastic_overhead(group):
    """Percent of useful time at the fleet where a failure takes `group` nodes out (Theorem D-35).

    The state is copied in memory, at no cost, after every step.
    """
    out = group * inputs["replacement_time"] / node_mtbf()
    pause = phase("detect") + 2 * inputs["reform_time"]
    mtbf = fleet_mtbf() * HOUR
    slow = overhead.slowdown(inputs["step_time"], 0.0, mtbf, pause / (1 + out), exposed_writes=False)
    return 100 * ((1 + out) * slow - 1)


@claim("B-38")
def table_of_strategies():
    """The cells that a model here can compute: the overheads of the three strategies."""
    (row,) = [row for row in table("strategies") if row["criterion"] == "resource overhead"]
    low, high = map(number, ends(row["checkpoint_restart"]))
    elastic_low, elastic_high = map(number, ends(row["elastic"]))
    group = inputs["llama_gpus"] / inputs["gpus_per_node"] / inputs["data_parallel_ranks"]
    by_node, by_group = elastic_overhead(1), elastic_overhead(group)
    gpus = [int(r["gpus"]) for r in table("cluster_mtbf")]
    smallest, largest = exact_overhead(min(gpus)), exact_overhead(max(gpus))
    fleet = exact_overhead(inputs["fleet_gpus"])
    replicas = replicas_beyond_one()
    readings = {
        "overhead of redundancy": agreement(row["redundancy"], [100 * (k - 1) for k in replicas]) == ROUNDS,
        "overhead of restarting at the reference fleet": low <= fleet <= high,
        "overhead of restarting at every size of the MTBF table": low <= smallest and largest <= high,
        "overhead of restarting as published": low <= 100 * inputs["overhead_low"]
        and 100 * inputs["overhead_high"] <= high,
        "overhead of elastic training where a failure takes a node": elastic_low <= by_node <= elastic_high,
        "overhead of elastic training where it takes a group": elastic_low <= by_group <= elastic_high,
    }
    return Outcome(
        Readings(readings),
        value=fleet,
        text=f"{fleet:.1f} % at the reference fleet",
        facts=dict(
            fleet=fleet,
            smallest=smallest,
            largest=largest,
            min_gpus=min(gpus),
            max_gpus=max(gpus),
            low=low,
            high=high,
            from_gpus=gpus_at_overhead(low),
            to_gpus=gpus_at_overhead(high),
            group=group,
            by_node=by_node,
            by_group=by_group,
            elastic_low=elastic_low,
            elastic_high=elastic_high,
        ),
    )


def gain(common_cause, replicas=2):
    """Downtime of one replica over that of several."""
    return (1 - stacked(1)) / (1 - stacked(replicas, common_cause))


@claim("B-39")
def correlated_failures():
    """A gain of one is no gain: with every failure common, and with a share of them."""
    beta = inputs["common_cause"]
    readings = {"every failure common": gain(1.0) < 1 + 1e-9, "a tenth of them common": gain(beta) < 1 + 1e-9}
    return Outcome(
        Readings(readings),
        value=gain(beta),
        text=f"gain {gain(beta):.1f} of {gain(0.0):.0f}",
        facts=dict(
            beta=100 * beta,
            independent=gain(0.0),
            shared=gain(beta),
            bound=1 / beta,
            third=gain(beta, 3),
            hours=availability.downtime(stacked(2, beta), inputs["year"]),
        ),
    )


# --- B5: summary


@claim("B-40")
def failure_in_days():
    """Several thousand GPUs for several days, read as two of each and as three."""
    few, several = (chance(1000 * inputs[word], inputs[word]) for word in ("few", "several"))
    readings = {"two thousand for two days": Value(few), "three thousand for three days": Value(several)}
    return Outcome(
        Readings(readings),
        value=several,
        text=f"{few:.1f} to {several:.1f}",
        facts=dict(
            gpu_days=gpu_days(99),
            low=few,
            high=several,
            thousands_few=1000 * inputs["few"],
            thousands=1000 * inputs["several"],
            passing=100 / (100 - few),
        ),
    )
