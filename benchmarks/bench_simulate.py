"""Speed of lib.simulate: failures per second against SimPy, and against drawing the gaps alone.

SimPy is not among the report's dependencies. To compare with it, run this script by a Python that has
it: python -m venv /tmp/bench && /tmp/bench/bin/pip install numpy scipy simpy, then
/tmp/bench/bin/python benchmarks/bench_simulate.py
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))
from lib.simulate import simulate, two_levels  # noqa: E402

try:
    import simpy
except ImportError:
    simpy = None

# A run with about ten checkpoints between two failures; all times in hours.
INTERVAL, WRITE, RESTART, MTBF = 0.4, 0.02, 0.1, 4.0
GAPS = stats.expon(scale=MTBF)
EVERY, COPY, RESTART_FROM_STORAGE, HEAVY_MTBF = 10, 0.1, 0.5, 40.0
HEAVY_GAPS = stats.expon(scale=HEAVY_MTBF)


def best_time(function, repeats=5):
    """Return the shortest CPU time of some calls, and what the last returned."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def ours(work, runs):
    seconds, sample = best_time(lambda: simulate(work, INTERVAL, WRITE, GAPS, RESTART, runs=runs))
    return sample.failures.sum() / seconds, sample.slowdown


def ours_two_levels(work, runs):
    gaps, times, restarts = (GAPS, HEAVY_GAPS), (WRITE, COPY), (RESTART, RESTART_FROM_STORAGE)
    seconds, sample = best_time(lambda: two_levels(work, INTERVAL, EVERY, times, gaps, restarts, runs=runs))
    return sample.failures.sum() / seconds, sample.slowdown


def drawing(count, draw):
    rng = np.random.default_rng(0)
    return count / best_time(lambda: draw(rng, count))[0]


# --- the same models in SimPy


def interrupting(env, job, kind, mtbf, rng, counts):
    while job.is_alive:
        yield env.timeout(rng.exponential(mtbf))
        if job.is_alive:
            counts[kind] += 1
            job.interrupt(kind)


def restarting(env, failure, restarts):
    """Restart until a restart is not struck; return whether the copy in memory was lost."""
    lost = False
    while True:
        lost = lost or failure.cause == 1
        try:
            yield env.timeout(restarts[lost])
            return lost
        except simpy.Interrupt as again:
            failure = again


def one_level_job(env, count):
    done = 0
    while done < count:
        try:
            yield env.timeout(INTERVAL)
            yield env.timeout(WRITE)
            done += 1
        except simpy.Interrupt as failure:
            yield from restarting(env, failure, [RESTART])


def two_level_job(env, count):
    in_memory = in_storage = 0
    while in_storage < count:
        try:
            if in_memory > in_storage and (in_memory % EVERY == 0 or in_memory == count):
                yield env.timeout(COPY)
                in_storage = in_memory
            else:
                yield env.timeout(INTERVAL)
                yield env.timeout(WRITE)
                in_memory += 1
        except simpy.Interrupt as failure:
            lost = yield from restarting(env, failure, [RESTART, RESTART_FROM_STORAGE])
            in_memory = in_storage if lost else in_memory


def one_level_by_jumps(env, count, rng, counts):
    """One event to a failure: what a gap completes is counted by division, as lib.simulate does."""
    cycle, restart = INTERVAL + WRITE, 0.0
    while True:
        gap = rng.exponential(MTBF)
        if gap >= restart + count * cycle:
            yield env.timeout(restart + count * cycle)
            return
        yield env.timeout(gap)
        count -= max(gap - restart, 0.0) // cycle
        restart = RESTART
        counts[0] += 1


def with_simpy(job, mtbfs, work):
    def run():
        env, rng, counts = simpy.Environment(), np.random.default_rng(0), [0, 0]
        if job is one_level_by_jumps:
            process = env.process(job(env, round(work / INTERVAL), rng, counts))
        else:
            process = env.process(job(env, round(work / INTERVAL)))
            for kind, mtbf in enumerate(mtbfs):
                env.process(interrupting(env, process, kind, mtbf, rng, counts))
        env.run(process)
        return sum(counts), env.now / work

    seconds, (failures, slowdown) = best_time(run, repeats=3)
    return failures / seconds, slowdown


def line(name, rate, slowdown):
    print(f"  {name:<34} {rate:12.4g} failures/s   slowdown {slowdown:.3f}")


def main():
    print("drawing exponential gaps")
    bare = drawing(10**6, lambda rng, size: rng.exponential(MTBF, size))
    scipy_ = drawing(10**6, lambda rng, size: GAPS.rvs(size=size, random_state=rng))
    print(f"  {'NumPy':<34} {bare:12.4g} gaps/s\n  {'SciPy frozen distribution':<34} {scipy_:12.4g} gaps/s")
    print("lib.simulate")
    one, two = ours(4000.0, 1000), ours_two_levels(4000.0, 1000)
    line("one level, 1000 runs of 1100", *one)
    line("one level, 1000 runs of 110", *ours(400.0, 1000))
    line("one level, 10000 runs of 11", *ours(40.0, 10_000))
    line("one level, 4 runs of 570000", *ours(2e6, 4))
    line("two levels, 1000 runs of 1400", *two)
    print(f"ratio: cost of one level / drawing alone (NumPy) = {bare / one[0]:.2f} (target: at most 5)")
    print(f"ratio: cost of one level / drawing alone (SciPy) = {scipy_ / one[0]:.2f} (target: at most 5)")
    print(f"ratio: cost of two levels / drawing alone (NumPy) = {bare / two[0]:.1f}")
    if simpy is None:
        print("SimPy: not installed, not compared. To compare, pip install numpy scipy simpy into another")
        print("  environment and run this script by its Python.")
        return
    print("SimPy")
    by_phase = with_simpy(one_level_job, [MTBF], 4e4)
    by_jump = with_simpy(one_level_by_jumps, [MTBF], 4e5)
    by_phase_two = with_simpy(two_level_job, [MTBF, HEAVY_MTBF], 4e4)
    line("one level, an event to a phase", *by_phase)
    line("one level, an event to a failure", *by_jump)
    line("two levels, an event to a phase", *by_phase_two)
    for name, mine, other in (
        ("one level / SimPy, an event to a phase", one, by_phase),
        ("one level / SimPy, an event to a failure", one, by_jump),
        ("two levels / SimPy, an event to a phase", two, by_phase_two),
    ):
        print(f"ratio: {name} = {mine[0] / other[0]:.0f} (target: at least 50)")


if __name__ == "__main__":
    main()
