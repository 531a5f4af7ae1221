"""lib.simulate against closed forms, against a simulation phase by phase, and for any executor."""

import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from lib import simulate as module
from lib.overhead import slowdown
from lib.simulate import Sample, simulate, two_levels

pytestmark = pytest.mark.filterwarnings("error")
MEAN_4 = stats.expon(scale=4.0)


# --- the same model, phase by phase and without any arithmetic that saves work


class Clock:
    """Wall time and, for each failure process, the time left to its next failure."""

    def __init__(self, *processes):
        self.processes = [iter(p) for p in processes]
        self.left = [next(p) for p in self.processes]
        self.wall, self.failures = 0, [0] * len(processes)

    def struck(self, length, exposed=True):
        """Let a phase pass; return the process whose failure ends it early, or None."""
        first = min(self.left)
        if not exposed or first >= length:
            self.wall += length
            if exposed:
                self.left = [t - length for t in self.left]
            return None
        which = self.left.index(first)
        self.wall += first
        self.left = [t - first for t in self.left]
        self.left[which] = next(self.processes[which])
        self.failures[which] += 1
        return which


def intervals_of(work, interval):
    whole, rest = divmod(work, interval)
    return [interval] * whole + [rest] * (rest > 0)


def by_phases(work, interval, write, gaps, restart, exposed):
    clock = Clock(gaps)
    todo = intervals_of(work, interval)
    while todo:
        if clock.struck(todo[0]) is None and clock.struck(write, exposed) is None:
            todo.pop(0)
        else:
            while clock.struck(restart, exposed) is not None:
                pass
    return clock.wall, clock.failures[0]


def by_phases_two_levels(work, interval, every, writes, gaps, restarts, exposed):
    clock = Clock(*gaps)
    todo = intervals_of(work, interval)
    in_memory = in_storage = 0
    while in_storage < len(todo):
        if in_memory > in_storage and (in_memory % every == 0 or in_memory == len(todo)):
            failure = clock.struck(writes[1], exposed)
            in_storage = in_memory if failure is None else in_storage
        else:
            failure = clock.struck(todo[in_memory])
            if failure is None:
                failure = clock.struck(writes[0], exposed)
            in_memory += failure is None
        lost = False
        while failure is not None:
            lost = lost or failure == 1
            failure = clock.struck(restarts[lost], exposed)
        in_memory = in_storage if lost else in_memory
    return clock.wall, clock.failures


class Rows:
    """A gap process that hands out the rows of a table, and no failures after it."""

    def __init__(self, table):
        self.table, self.given = np.array(table, float), 0

    def __call__(self, rng, size):
        out = np.full(size, np.inf)
        rows = self.table[self.given:self.given + size[0]]
        out[:len(rows)] = rows
        self.given += size[0]
        return out

    def column(self, run):
        yield from self.table[:, run]
        while True:
            yield np.inf


tables = st.lists(st.lists(st.integers(0, 25), min_size=2, max_size=2), min_size=1, max_size=30)
times = st.integers(0, 6)
# A unit that floats do not hold makes every sum round: which part is complete must not depend on it.
units = st.sampled_from([1.0, 0.1, 1.0 / 3.0])


def equal(got, expected, unit):
    return got == expected if unit == 1.0 else got == pytest.approx(expected * unit, rel=1e-9)


@settings(deadline=None, derandomize=True, max_examples=600)
@given(st.integers(1, 60), st.integers(1, 7), times, tables, times, st.booleans(), units)
@example(3, 1, 0, [[1, 1], [0, 2]], 0, True, 0.1)
@example(7, 3, 2, [[5, 12], [0, 5], [2, 7], [3, 3]], 2, True, 1.0)
@example(7, 4, 0, [[7, 7], *[[0, 0]] * 20], 0, True, 1.0)  # ends within its short last interval
def test_one_level_equals_the_simulation_by_phases(work, interval, write, table, restart, exposed, unit):
    gaps = Rows(np.multiply(table, unit))
    scaled = (unit * t for t in (work, interval, write))
    sample = simulate(*scaled, gaps, unit * restart, exposed_writes=exposed, runs=2)
    for run in range(2):
        wall, failures = by_phases(work, interval, write, Rows(table).column(run), restart, exposed)
        assert sample.failures[run] == failures
        assert equal(sample.wall_times[run], wall, unit)


@settings(deadline=None, derandomize=True, max_examples=600)
@given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 5), st.tuples(times, times), tables, tables,
       st.tuples(times, times), st.booleans(), units)
@example(8, 3, 2, (1, 5), [[9, 14], [6, 6]], [[30, 30]], (1, 4), True, 1.0)
@example(5, 1, 5, (0, 9), [[6, 7], [8, 0]], [[6, 7]], (2, 3), True, 1.0)
@example(9, 2, 2, (1, 1), [[4, 6], [8, 3]], [[4, 6]], (3, 0), True, 1.0)
def test_two_levels_equal_the_simulation_by_phases(work, interval, every, writes, light, heavy, restarts,
                                                   exposed, unit):
    gaps = [Rows(np.multiply(table, unit)) for table in (light, heavy)]
    times_ = unit * work, unit * interval, every, np.multiply(writes, unit), gaps, np.multiply(restarts, unit)
    sample = two_levels(*times_, exposed_writes=exposed, runs=2)
    for run in range(2):
        columns = Rows(light).column(run), Rows(heavy).column(run)
        wall, failures = by_phases_two_levels(work, interval, every, writes, columns, restarts, exposed)
        assert list(sample.failures[run]) == failures
        assert equal(sample.wall_times[run], wall, unit)


# --- closed forms


def agrees(sample, expected, share):
    assert sample.slowdown_error < share * expected
    assert abs(sample.slowdown - expected) < 4.0 * sample.slowdown_error


@pytest.mark.parametrize("exposed", [True, False])
@pytest.mark.parametrize("tau, delta, restart", [(0.4, 0.02, 0.0), (0.4, 0.02, 0.1), (3.0, 1.0, 2.0),
                                                 (0.01, 0.0, 0.5)])
def test_exponential_gaps_give_the_closed_form(exposed, tau, delta, restart):
    sample = simulate(4000.0, tau, delta, stats.expon(scale=4.0), restart, exposed_writes=exposed, seed=5)
    agrees(sample, slowdown(tau, delta, 4.0, restart, exposed_writes=exposed), 0.001)


@pytest.mark.parametrize("exposed", [True, False])
def test_a_short_last_interval_costs_its_own_share(exposed):
    options = {"restart_time": 1.0, "exposed_writes": exposed}
    sample = simulate(7.0, 3.0, 0.5, stats.expon(scale=4.0), runs=200_000, seed=2, **options)
    whole, rest = (slowdown(t, 0.5, 4.0, **options) for t in (3.0, 1.0))
    agrees(sample, (6.0 * whole + rest) / 7.0, 0.003)


def mean_of_a_storage_cycle(interval, every, writes, mtbfs, restarts, exposed):
    """Solve for the mean wall time from each state of one cycle with exponential failures of two kinds.

    The states are the segments of the cycle, the restart from memory into each, and that from storage.
    """
    rate = 1.0 / mtbfs[0] + 1.0 / mtbfs[1]
    heavy = 1.0 / mtbfs[1] / rate
    segments = [interval] * every + [0.0]
    pauses = [writes[0]] * every + [writes[1]]
    if exposed:
        segments, pauses = np.add(segments, pauses), np.zeros(every + 1)
    n = every + 1
    matrix, constant = np.eye(2 * n + 1), np.zeros(2 * n + 1)
    storage = 2 * n
    for i in range(n):
        through = np.exp(-rate * segments[i])
        constant[i] = (1.0 - through) / rate + through * pauses[i]
        if i + 1 < n:
            matrix[i, i + 1] -= through
        matrix[i, n + i] -= (1.0 - through) * (1.0 - heavy)
        matrix[i, storage] -= (1.0 - through) * heavy
    for state, target, length in [*((n + i, i, restarts[0]) for i in range(n)), (storage, 0, restarts[1])]:
        through = np.exp(-rate * length) if exposed else 1.0
        constant[state] = (1.0 - through) / rate if exposed else length
        matrix[state, target] -= through
        matrix[state, state] -= (1.0 - through) * (1.0 - heavy)
        matrix[state, storage] -= (1.0 - through) * heavy
    return np.linalg.solve(matrix, constant)[0]


@pytest.mark.parametrize("exposed", [True, False])
@pytest.mark.parametrize("every, restarts", [(1, (0.1, 0.1)), (5, (0.1, 1.0)), (8, (0.0, 0.0))])
def test_two_levels_of_exponential_gaps_give_the_exact_mean(exposed, every, restarts):
    writes, mtbfs = (0.02, 0.3), (4.0, 20.0)
    gaps = [stats.expon(scale=m) for m in mtbfs]
    options = {"exposed_writes": exposed, "seed": 11, "runs": 4000}
    sample = two_levels(0.4 * every * 100, 0.4, every, writes, gaps, restarts, **options)
    expected = mean_of_a_storage_cycle(0.4, every, writes, mtbfs, restarts, exposed)
    agrees(sample, expected / (0.4 * every), 0.002)


def no_failure(rng, size):
    return np.full(size, np.inf)


@pytest.mark.parametrize("exposed", [True, False])
def test_two_levels_without_heavy_failures_are_one_level(exposed):
    options = {"exposed_writes": exposed, "seed": 4, "runs": 2000}
    two = two_levels(400.0, 0.4, 7, (0.02, 0.0), (stats.expon(scale=4.0), no_failure), (0.1, 9.0), **options)
    assert not two.failures[:, 1].any()
    agrees(two, slowdown(0.4, 0.02, 4.0, 0.1, exposed_writes=exposed), 0.001)


def test_weibull_gaps_of_shape_one_are_exponential():
    weibull = simulate(100.0, 0.4, 0.02, stats.weibull_min(1.0, scale=4.0), 0.1, seed=1, runs=5000)
    exponential = simulate(100.0, 0.4, 0.02, stats.expon(scale=4.0), 0.1, seed=2, runs=5000)
    difference = abs(weibull.mean - exponential.mean)
    assert difference < 4.0 * np.hypot(weibull.standard_error, exponential.standard_error)
    assert stats.ks_2samp(weibull.wall_times, exponential.wall_times).pvalue > 0.001
    assert stats.ks_2samp(weibull.failures, exponential.failures).pvalue > 0.001


# --- results by hand


def every_4(rng, size):
    return np.full(size, 4.0)


def test_regular_failures_by_hand():
    # 2 intervals of 1.5 fit into 4, and again into the 3 after a restart: 4 failures, then 1 + 2 * 1.5.
    exposed = simulate(10.0, 1.0, 0.5, every_4, 1.0, runs=3)
    assert list(exposed.wall_times) == [20.0] * 3 and list(exposed.failures) == [4] * 3
    # 4 intervals to a gap: 10 + 10 * 0.5 + 2 restarts; nothing is redone.
    protected = simulate(10.0, 1.0, 0.5, every_4, 1.0, runs=3, exposed_writes=False)
    assert list(protected.wall_times) == [17.0] * 3 and list(protected.failures) == [2] * 3


@pytest.mark.parametrize("work, interval, writes", [
    (0.6, 0.2, 3), (1.1, 0.1, 11), (0.7, 0.1, 7), (1e6, 0.1, 10**7), (1.0, 0.3, 4),
    (2.0, np.inf, 1), (2.0, 5.0, 1),
])
def test_without_failures_the_writes_are_counted_right(work, interval, writes):
    for exposed in (True, False):
        sample = simulate(work, interval, 1.0, no_failure, 3.0, runs=2, exposed_writes=exposed)
        assert sample.wall_times == pytest.approx([work + writes] * 2, rel=1e-12)
        assert not sample.failures.any() and sample.standard_error == 0.0
        never = no_failure, no_failure
        sample = two_levels(work, interval, 2, (1.0, 1.0), never, runs=2, exposed_writes=exposed)
        assert sample.wall_times == pytest.approx([work + writes + -(-writes // 2)] * 2, rel=1e-12)


def test_a_sample_knows_its_errors_and_does_not_change():
    sample = Sample(2.0, np.array([3.0, 5.0, 7.0]), np.array([0, 1, 2]))
    assert (sample.mean, sample.slowdown) == (5.0, 2.5)
    assert sample.standard_error == pytest.approx(2.0 / np.sqrt(3.0))
    assert sample.slowdown_error == pytest.approx(1.0 / np.sqrt(3.0))
    with pytest.raises(FrozenInstanceError):
        sample.work = 3.0


def test_two_calls_share_their_gaps():
    short, long = (simulate(40.0, 0.4, 0.02, MEAN_4, r, exposed_writes=False, seed=8) for r in (0.0, 2.0))
    assert np.array_equal(short.failures, long.failures)
    assert long.wall_times - short.wall_times == pytest.approx(2.0 * short.failures)


# --- seeds, executors, progress

RUNS = 2 * module._BLOCK + 3
ONE = (40.0, 0.4, 0.02, MEAN_4, 0.1)
TWO = (40.0, 0.4, 5, (0.02, 0.1), (MEAN_4, stats.weibull_min(0.7, scale=20.0)), (0.1, 1.0))
BOTH = pytest.mark.parametrize("function, arguments", [(simulate, ONE), (two_levels, TWO)])


def same(a, b):
    return np.array_equal(a.wall_times, b.wall_times) and np.array_equal(a.failures, b.failures)


@BOTH
def test_a_seed_fixes_the_result(function, arguments):
    first = function(*arguments, runs=RUNS, seed=7)
    assert first.wall_times.shape == (RUNS,)
    assert len(np.unique(first.wall_times)) > 0.9 * RUNS  # blocks do not repeat each other
    assert same(first, function(*arguments, runs=RUNS, seed=7))
    assert not np.isin(first.wall_times, function(*arguments, runs=RUNS, seed=8).wall_times).all()
    large = function(*arguments, runs=2, seed=2**70)
    assert not same(large, function(*arguments, runs=2, seed=2**70 + 1))


@BOTH
def test_gaps_drawn_at_once_do_not_matter(function, arguments, monkeypatch):
    expected = function(*arguments, runs=RUNS, seed=7)
    monkeypatch.setattr(module, "_GAPS", 3 * module._BLOCK)
    got = function(*arguments, runs=RUNS, seed=7)
    assert np.array_equal(got.failures, expected.failures)
    assert got.wall_times == pytest.approx(expected.wall_times, rel=1e-13)  # sums in another order


@BOTH
def test_the_number_of_workers_does_not_matter(function, arguments):
    expected = function(*arguments, runs=RUNS, seed=7)
    for workers in (1, 2):
        with ThreadPoolExecutor(workers) as pool:
            assert same(expected, function(*arguments, runs=RUNS, seed=7, executor=pool))


def test_a_process_pool_is_an_executor():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for function, arguments in ((simulate, ONE), (two_levels, TWO)):
            expected = function(*arguments, runs=RUNS, seed=7)
            assert same(expected, function(*arguments, runs=RUNS, seed=7, executor=pool))


def test_a_dask_cluster_is_an_executor():
    distributed = pytest.importorskip("distributed")
    expected = simulate(*ONE, runs=RUNS, seed=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
        with distributed.Client(**options) as client:
            assert same(expected, simulate(*ONE, runs=RUNS, seed=7, executor=client.get_executor()))


@BOTH
def test_progress_ends_at_one(function, arguments):
    with ThreadPoolExecutor(2) as pool:
        for executor in (None, pool):
            seen = []
            function(*arguments, runs=RUNS, executor=executor, progress=seen.append)
            assert seen == sorted(seen) and len(seen) == 3 and seen[-1] == 1.0 and seen[0] > 0.0


def slow_then_bad(rng, size):
    time.sleep(0.01)
    return np.full(size, np.nan)


def test_an_error_in_a_worker_reaches_the_caller():
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match=r"gaps\[0, 0\] = nan"):
        simulate(1.0, 1.0, 1.0, slow_then_bad, executor=pool, runs=5000)


# --- bad input


def one(**changes):
    return simulate(**dict(work=1.0, interval=0.5, write_time=0.1, gaps=MEAN_4, runs=2) | changes)


def two(**changes):
    good = dict(work=1.0, interval=0.5, every=2, write_times=(0.1, 0.2), gaps=(MEAN_4, MEAN_4), runs=2)
    return two_levels(**good | changes)


SHARED = [
    ({"work": 0.0}, ValueError, r"work = 0 .*\(0, inf\)"),
    ({"work": np.inf}, ValueError, "work = inf"),
    ({"work": "long"}, TypeError, "work = 'long'"),
    ({"work": [1.0, 2.0]}, ValueError, r"work has the shape \(2,\)"),
    ({"interval": 0.0}, ValueError, "interval = 0"),
    ({"interval": np.nan}, ValueError, "interval = nan"),
    ({"interval": 1e-16}, ValueError, "interval = 1e-16"),
    ({"exposed_writes": 1}, TypeError, "exposed_writes = 1"),
    ({"runs": 1}, ValueError, r"runs = 1 .*\[2, inf\)"),
    ({"runs": 2.5}, ValueError, "runs = 2.5"),
    ({"seed": -1}, ValueError, "seed = -1"),
    ({"seed": None}, TypeError, "seed = None"),
    ({"executor": 4}, TypeError, "executor = 4"),
    ({"progress": True}, TypeError, "progress = True"),
    ({"max_failures": 0}, ValueError, "max_failures = 0"),
]


@pytest.mark.parametrize("call", [one, two])
@pytest.mark.parametrize("changes, error, text", SHARED)
def test_bad_input_is_named(call, changes, error, text):
    with pytest.raises(error, match=text):
        call(**changes)


@pytest.mark.parametrize("changes, error, text", [
    ({"write_time": -1.0}, ValueError, "write_time = -1"),
    ({"write_time": np.inf}, ValueError, "write_time = inf"),
    ({"restart_time": np.nan}, ValueError, "restart_time = nan"),
    ({"restart_time": True}, TypeError, "restart_time = True"),
    ({"gaps": 4.0}, TypeError, "gaps = 4.0"),
])
def test_bad_input_of_one_level_is_named(changes, error, text):
    with pytest.raises(error, match=text):
        one(**changes)


@pytest.mark.parametrize("changes, error, text", [
    ({"every": 0}, ValueError, "every = 0"),
    ({"every": 1.5}, ValueError, "every = 1.5"),
    ({"write_times": 0.1}, ValueError, "write_times = 0.1 is not a pair"),
    ({"write_times": (0.1, -0.2)}, ValueError, "write_times = -0.2"),
    ({"write_times": (0.1, np.inf)}, ValueError, "write_times = inf"),
    ({"restart_times": (0.1, 0.2, 0.3)}, ValueError, "restart_times = .* is not a pair"),
    ({"gaps": MEAN_4}, ValueError, "gaps = .* is not a pair"),
    ({"gaps": (MEAN_4, None)}, TypeError, "gaps = None"),
])
def test_bad_input_of_two_levels_is_named(changes, error, text):
    with pytest.raises(error, match=text):
        two(**changes)


@pytest.mark.parametrize("gaps, error, text", [
    (lambda rng, size: np.full(size, -1.0), ValueError, r"gaps\[0, 0\] = -1"),
    (lambda rng, size: 4.0, ValueError, r"gaps returned the shape \(\); allowed: .*\(8, 2\)"),
    (lambda rng, size: np.ones(size[0]), ValueError, r"gaps returned the shape \(8,\)"),
    (lambda rng, size: np.full(size, "x"), TypeError, "gaps = "),
])
def test_bad_gaps_are_named(gaps, error, text):
    for call in (lambda: one(gaps=gaps), lambda: two(gaps=(MEAN_4, gaps))):
        with pytest.raises(error, match=text):
            call()


def test_integer_gaps_are_fine():
    assert list(one(gaps=lambda rng, size: np.full(size, 7)).wall_times) == [1.2, 1.2]


@pytest.mark.parametrize("call", [lambda **k: one(interval=5.0, work=5.0, gaps=every_4, **k),
                                  lambda **k: two(interval=5.0, work=5.0, gaps=(every_4, no_failure), **k)])
def test_a_run_without_end_is_given_up(call):
    with pytest.raises(RuntimeError, match="max_failures = 1000: a run has not ended .* 0.00% of its work"):
        call(max_failures=1000)


@pytest.mark.parametrize("call", [lambda **k: one(runs=300, **k),
                                  lambda **k: two(runs=300, gaps=(MEAN_4, stats.expon(scale=9.0)), **k)])
@pytest.mark.parametrize("work", [3.0, 60.0])
def test_the_failures_of_a_run_are_bounded_exactly(call, work):
    sample = call(work=work)
    most = int(sample.failures.reshape(300, -1).sum(axis=1).max())
    assert 1 <= most
    assert np.array_equal(call(work=work, max_failures=most + 1).wall_times, sample.wall_times)
    for limit in {1, 2, most - 1, most} - {0}:
        with pytest.raises(RuntimeError, match=f"^max_failures = {limit}: .* not ended after {limit} failures, "):
            call(work=work, max_failures=limit)


def test_text_says_how_far_the_run_given_up_had_come():
    """Gaps of 4 after a restart of 1: five intervals of 0.6 in each, the first six, of 100."""
    for call in (lambda **k: one(work=50.0, interval=0.5, write_time=0.1, restart_time=1.0, gaps=every_4, **k),
                 lambda **k: two(work=50.0, interval=0.5, every=1, write_times=(0.1, 0.0),
                                 restart_times=(1.0, 1.0), gaps=(every_4, no_failure), **k)):
        for limit, share in (1, "6.00"), (2, "11.00"), (9, "46.00"), (19, "96.00"):
            with pytest.raises(RuntimeError, match=f"after {limit} failures, with {share}% of its work done; "
                                                   "allow more or shorten `interval`$"):
                call(max_failures=limit)
        call(max_failures=20)


@pytest.mark.parametrize("gaps", [lambda rng, size: np.ma.masked_less(rng.exponential(4.0, size), 0.1),
                                  lambda rng, size: np.ma.array(np.full(size, 4.0))])
def test_masked_gaps_are_refused(gaps):
    with pytest.raises(TypeError, match="^gaps = .* is a masked array"):
        one(gaps=gaps)
