"""Runs of checkpointed work, simulated failure by failure under any renewal process of failures.

The model that every function shares:

- The work is cut into intervals of compute time, each ended by a write. The last interval is shorter
  where the work is not a whole number of intervals; a write ends it as well.
- A failure takes the run back to its last complete checkpoint, after a restart. What is complete at
  the very instant of a failure is kept.
- The failure clock starts with the run. Each failure begins a new gap, drawn afresh, whatever the
  run does then. With *exposed writes* the clock is the wall clock: a failure in a write wastes it, a
  failure in a restart begins the restart anew. With *protected writes* the clock runs only while the
  run computes, and stands still in writes and restarts.

The cost of a run grows with its failures and not with its checkpoints: what a gap completes is
counted by division.
"""

from __future__ import annotations

from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial
from math import ceil, sqrt

import numpy as np

from lib._checks import real, whole
from lib.intervals import _flag

_BLOCK = 1024  # runs that share a random stream: part of what a seed means, not to be tuned to a machine
_GAPS = 2**14  # gaps that a block draws at once: few enough for the cache
_SLACK = 1e-9  # of an interval: what lacks no more is complete, so that rounding decides nothing


@dataclass(frozen=True, eq=False)
class Sample:
    """The wall times of simulated runs, with their mean and its standard error.

    Parameters
    ----------
    work : float, any time unit
        Useful compute time of each run.
    wall_times : ndarray, shape (runs,), time unit of `work`
        Wall time of each run, from its start to the end of its last write.
    failures : ndarray of int, shape (runs,) or (runs, 2), [count]
        Failures that struck each run, those during restarts included; with two levels the light and
        the heavy ones.

    Examples
    --------
    >>> sample = Sample(10.0, np.array([11.0, 13.0]), np.array([0, 1]))
    >>> sample.mean, sample.standard_error, sample.slowdown, sample.slowdown_error
    (12.0, 1.0, 1.2, 0.1)
    """

    work: float
    wall_times: np.ndarray
    failures: np.ndarray

    @property
    def mean(self):
        """Mean wall time, time unit of `work`."""
        return float(self.wall_times.mean())

    @property
    def standard_error(self):
        """Standard error of the mean wall time, time unit of `work`."""
        return float(self.wall_times.std(ddof=1)) / sqrt(len(self.wall_times))

    @property
    def slowdown(self):
        """Mean wall time per unit of useful time [dimensionless]."""
        return self.mean / self.work

    @property
    def slowdown_error(self):
        """Standard error of the slowdown [dimensionless]."""
        return self.standard_error / self.work


def simulate(work, interval, write_time, gaps, restart_time=0.0, *, exposed_writes=True, runs=1000, seed=0,
             executor=None, progress=None, max_failures=1_000_000):
    r"""Return the wall times of simulated runs with one level of checkpoints.

    A gap of length X on the failure clock completes this many intervals, the first gap with R = 0:

    .. math:: \left\lfloor \frac{\max(X - R, 0)}{\tau + \delta} \right\rfloor \text{ (exposed)}, \qquad
        \left\lfloor \frac{X}{\tau} \right\rfloor \text{ (protected)}

    Parameters
    ----------
    work : float, any time unit
        Useful compute time of each run, finite, > 0.
    interval : float, time unit of `work`
        Compute time tau between checkpoints, > 0; one write at the end where it exceeds `work`.
    write_time : float, time unit of `work`
        Time delta to write one checkpoint, finite, >= 0.
    gaps : frozen SciPy distribution or callable, time unit of `work`
        Times between failures of the whole system. A callable is called as ``gaps(rng, size)`` with a
        `numpy.random.Generator` and a shape, and returns an array of that shape of numbers in
        [0, inf].
    restart_time : float, time unit of `work`
        Time R from a failure to computing again (detect, reschedule, reload), finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.
    runs : int, [dimensionless]
        Number of simulated runs, >= 2.
    seed : int, [dimensionless]
        Seed of the random numbers, >= 0. It fixes the result, whatever the executor.
    executor : concurrent.futures.Executor, [dimensionless], optional
        Where to work on blocks of 1024 runs; here and now without one. For a process pool `gaps` is a
        distribution or a function of a module. A Dask cluster gives one by ``Client().get_executor()``.
    progress : callable, [dimensionless], optional
        Called as ``progress(fraction)`` with the share of runs done, after each block.
    max_failures : int, [dimensionless]
        Failures in one run, >= 1, from which on the call gives up: a run of one less still passes.

    Returns
    -------
    Sample
        Wall time (time unit of `work`) and number of failures [dimensionless] of each run.

    Raises
    ------
    TypeError
        Where an argument has the wrong type, or `gaps` returns something other than real numbers.
    ValueError
        Where an argument or a gap is NaN or outside its range, or `gaps` returns another shape.
    RuntimeError
        Where a run has not ended after `max_failures` failures.

    Notes
    -----
    With exponential gaps the mean is exactly ``work * lib.overhead.slowdown(...)`` where the work is a
    whole number of intervals (Theorems D-03 and D-20). chapters/beyond/simulation holds it, and with
    it Theorems D-40 to D-42 and D-45, against this function. With other gaps the mean tends for long
    runs to ``work * lib.renewal.slowdown(...)`` (Theorem D-44 there). An interval that lacks no more
    than 1e-9 of its length counts as complete, so that rounding decides nothing. Two calls that differ
    only in times share their gaps, run by run: the difference of their wall times has a small error.

    Examples
    --------
    >>> from scipy import stats
    >>> sample = simulate(400.0, 0.4, 0.02, stats.expon(scale=4.0), 0.1, runs=1000, seed=1)
    >>> round(sample.slowdown, 3), round(sample.slowdown_error, 4)
    (1.136, 0.0003)
    >>> every_4_hours = lambda rng, size: np.full(size, 4.0)
    >>> simulate(10.0, 1.0, 0.5, every_4_hours, 1.0, runs=2).wall_times
    array([20., 20.])

    References
    ----------
    Daly (2006), A higher order estimate of the optimum checkpoint interval for restart dumps,
    doi:10.1016/j.future.2004.11.016.
    """
    exposed = _flag(exposed_writes)
    work, tau, count, last = _cut(work, interval)
    delta = _number("write_time", write_time, open_high=True)
    restart = _number("restart_time", restart_time, open_high=True)
    inside = delta if exposed else 0.0
    plan = _OneLevel(
        gaps=_source("gaps", gaps), limit=_integer("max_failures", max_failures, 1), count=count,
        step=tau + inside, last=last + inside, restart=restart if exposed else 0.0,
        pause=0.0 if exposed else count * delta, pause_per_failure=0.0 if exposed else restart,
    )
    return Sample(work, *_run(plan, runs, seed, executor, progress))


def two_levels(work, interval, every, write_times, gaps, restart_times=(0.0, 0.0), *, exposed_writes=True,
               runs=1000, seed=0, executor=None, progress=None, max_failures=1_000_000):
    r"""Return the wall times of simulated runs with checkpoints in memory and in storage.

    Every interval ends with a checkpoint in memory. After every k-th one, and after the last, the
    checkpoint is then copied to storage. A light failure leaves the copy in memory intact, a heavy
    one destroys it and takes the run back to storage:

    .. math:: \underbrace{(\tau + \delta_1) + \dots + (\tau + \delta_1)}_{k \text{ times}} + \delta_2

    Parameters
    ----------
    work : float, any time unit
        Useful compute time of each run, finite, > 0.
    interval : float, time unit of `work`
        Compute time tau between checkpoints, > 0; one write at the end where it exceeds `work`.
    every : int, [dimensionless]
        Number k of checkpoints in memory to one in storage, >= 1.
    write_times : pair of float, time unit of `work`
        Time delta_1 to write to memory, and time delta_2 then to copy to storage, finite, >= 0.
    gaps : pair of frozen SciPy distributions or callables, time unit of `work`
        Times between light failures, and between heavy failures: two independent renewal processes
        on one clock, each as in `simulate`.
    restart_times : pair of float, time unit of `work`
        Restart time from memory and from storage, finite, >= 0.
    exposed_writes : bool, [dimensionless]
        True where failures also strike during writes and restarts, False where they do not.
    runs : int, [dimensionless]
        Number of simulated runs, >= 2.
    seed : int, [dimensionless]
        Seed of the random numbers, >= 0. It fixes the result, whatever the executor.
    executor : concurrent.futures.Executor, [dimensionless], optional
        Where to work on blocks of 1024 runs, as in `simulate`.
    progress : callable, [dimensionless], optional
        Called as ``progress(fraction)`` with the share of runs done, after each block.
    max_failures : int, [dimensionless]
        Failures in one run, >= 1, from which on the call gives up: a run of one less still passes.

    Returns
    -------
    Sample
        Wall time (time unit of `work`) and number of light and heavy failures [dimensionless] of each
        run.

    Raises
    ------
    TypeError
        Where an argument has the wrong type, or `gaps` returns something other than real numbers.
    ValueError
        Where an argument or a gap is NaN or outside its range, an argument is not a pair, or `gaps`
        returns another shape.
    RuntimeError
        Where a run has not ended after `max_failures` failures.

    Notes
    -----
    A light failure during the copy to storage costs the copy, not the interval before it. Until a
    restart from storage is complete there is no copy in memory, so that any failure during it begins
    it anew. A failure of one process leaves the clock of the other alone. Of two failures at one
    instant the light one comes first. With exponential gaps the mean is exactly
    ``work * lib.two_levels.slowdown(...)`` where the work is a whole number of cycles of k intervals.
    chapters/beyond/simulation holds this, Theorems D-43 and D-46, against this function.

    Examples
    --------
    >>> from scipy import stats
    >>> gaps = stats.expon(scale=4.0), stats.expon(scale=40.0)
    >>> sample = two_levels(400.0, 0.4, 10, (0.02, 0.1), gaps, (0.05, 0.5), runs=1000, seed=1)
    >>> round(sample.slowdown, 3), round(sample.slowdown_error, 4)
    (1.23, 0.0009)
    >>> sample.failures.mean(axis=0).round()  # light, heavy
    array([123.,  12.])

    References
    ----------
    Vaidya (1998), A case for two-level recovery schemes, doi:10.1109/12.689645.
    """
    exposed = _flag(exposed_writes)
    work, tau, count, last = _cut(work, interval)
    memory, storage = _times("write_times", write_times)
    restarts = _times("restart_times", restart_times)
    inside, copying = (memory, storage) if exposed else (0.0, 0.0)
    every = min(_integer("every", every, 1), count)
    copies = -(-count // every)
    plan = _TwoLevels(
        gaps=tuple(_source("gaps", g) for g in _pair("gaps", gaps)),
        limit=_integer("max_failures", max_failures, 1),
        copies=copies, every=every, final=count - (copies - 1) * every,
        step=tau + inside, last=last + inside, copy=copying, cycle=every * (tau + inside) + copying,
        restarts=restarts if exposed else (0.0, 0.0),
        pause=0.0 if exposed else count * memory + copies * storage,
        pause_per_write=0.0 if exposed else memory,
        pause_per_failure=(0.0, 0.0) if exposed else restarts,
    )
    return Sample(work, *_run(plan, runs, seed, executor, progress))


def _run(plan, runs, seed, executor, progress):
    """Run blocks of runs here or on the executor; return wall times and failures of all, in order."""
    runs, seed = _integer("runs", runs, 2), _integer("seed", seed, 0)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor = {executor!r} is not a concurrent.futures.Executor")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress = {progress!r} is not callable")
    widths = [min(_BLOCK, runs - start) for start in range(0, runs, _BLOCK)]
    blocks = list(zip(np.random.SeedSequence(seed).spawn(len(widths)), widths))
    report = _Report(runs, progress)
    if executor is None:
        results = [report(plan.block(*block)) for block in blocks]
    else:
        futures = [executor.submit(plan.block, *block) for block in blocks]
        try:
            for future in as_completed(futures):
                report(future.result())
        finally:
            for future in futures:
                future.cancel()
        results = [future.result() for future in futures]
    return [np.concatenate(parts) for parts in zip(*results)]


class _Report:
    """Pass a block's result on, and tell the caller which share of the runs is done."""

    def __init__(self, runs, progress):
        self.runs, self.progress, self.done = runs, progress, 0

    def __call__(self, result):
        self.done += len(result[0])
        if self.progress is not None:
            self.progress(self.done / self.runs)
        return result


@dataclass(frozen=True)
class _OneLevel:
    """One level of checkpoints, in times of the failure clock; pauses are what the clock leaves out."""

    gaps: object
    limit: int
    count: int  # intervals of the run
    step: float  # a whole interval
    last: float  # the last interval
    restart: float
    pause: float
    pause_per_failure: float

    def block(self, stream, width):
        """Return wall times and failures of `width` runs; gap n of all runs is row n of a matrix."""
        rng = np.random.default_rng(stream)
        wall, failures = np.empty(width), np.zeros(width, np.int64)
        complete, clock, open_runs, drawn = np.zeros(width), np.zeros(width), np.ones(width, bool), 0
        with np.errstate(all="ignore"):
            while open_runs.any():
                gaps = _draw(self.gaps, rng, (_rows(drawn, width), width))
                usable, intervals = self._usable(gaps, first=drawn == 0)
                later = complete + intervals.sum(axis=0)
                # Only a run that has completed all intervals but the last can end in these gaps.
                if (later[open_runs] >= self.count - 1).any():
                    left = np.maximum(self.count - 1 - _before(complete, intervals), 0.0)
                    needed = left * self.step + self.last
                    ends = usable >= needed - _SLACK * self.step
                    done = np.flatnonzero(open_runs & ends.any(axis=0))
                    at = ends.argmax(axis=0)[done]
                    failures[done] = drawn + at
                    wall[done] = _before(clock, gaps)[at, done] + needed[at, done]
                    open_runs[done] = False
                if drawn + len(gaps) >= self.limit:
                    late = open_runs | (failures >= self.limit)
                    until = complete + intervals[: self.limit - drawn].sum(axis=0)
                    _give_up(late, self.limit, until / self.count)
                complete, clock, drawn = later, clock + gaps.sum(axis=0), drawn + len(gaps)
        wall += np.where(failures > 0, self.restart, 0.0) + self.pause + failures * self.pause_per_failure
        return wall, failures

    def _usable(self, gaps, first):
        """Return the part of each gap after the restart, and the number of whole intervals in it."""
        longest = (self.count - 1) * self.step + self.last
        usable = np.clip(gaps - self.restart, 0.0, longest)
        if first:
            usable[0] = np.minimum(gaps[0], longest)  # nothing to restart from before the first failure
        return usable, np.floor(usable / self.step + _SLACK)


def _before(start, rows):
    """Return `start` plus the sum of the rows above each row."""
    sums = np.empty(rows.shape)
    sums[0] = start
    if len(rows) > rows.shape[1]:
        np.cumsum(rows[:-1], axis=0, out=sums[1:])
        sums[1:] += start
    else:  # the same, several times faster where the rows are long
        for i in range(1, len(rows)):
            np.add(sums[i - 1], rows[i - 1], out=sums[i])
    return sums


@dataclass(frozen=True)
class _TwoLevels:
    """Two levels of checkpoints, in times of the failure clock; pauses are what the clock leaves out."""

    gaps: tuple
    limit: int
    copies: int  # copies to storage
    every: int  # intervals to a copy
    final: int  # intervals to the last copy
    step: float  # a whole interval
    last: float  # the last interval
    copy: float
    cycle: float  # from one copy to the next
    restarts: tuple
    pause: float
    pause_per_write: float
    pause_per_failure: tuple

    def block(self, stream, width):
        """Return wall times and failures, light and heavy, of `width` runs, one failure of all at a time."""
        s = _State(width, [_Process(g, child, width) for g, child in zip(self.gaps, stream.spawn(2))])
        with np.errstate(all="ignore"):
            while s.open_runs.any():
                rows = _rows(s.failures, width)
                for process in s.processes:
                    process.prepare(rows, s.open_runs)
                for _ in range(rows):
                    self._next_failure(s)
                    if s.failures >= self.limit:
                        _give_up(s.open_runs, self.limit, s.copies / self.copies)
        return s.wall, np.stack([s.light_at_end, s.heavy_at_end], axis=1)

    def _next_failure(self, s):
        """Take every run to its next failure and back to its checkpoint; those that ended go on unseen."""
        light, heavy = s.processes
        slack = _SLACK * self.step
        strike, is_heavy = np.minimum(light.next, heavy.next), heavy.next < light.next - slack
        gap = strike - s.clock
        usable = np.maximum(gap - s.restart, 0.0)
        place = s.written * self.step + usable  # clock time since the last copy to storage
        copied = np.floor((place + slack) / self.cycle)
        rest = place - copied * self.cycle
        written = np.minimum(np.floor((rest + slack) / self.step), self.every)
        copies = s.copies + copied
        near = np.flatnonzero(s.open_runs & (copies >= self.copies - 1))
        if near.size:
            self._end(s, near, usable[near])
            short = near[rest[near] >= (self.final - 1) * self.step + self.last - slack]
            written[short] = np.maximum(written[short], self.final)
        struck = np.flatnonzero(is_heavy)
        s.again[struck] += written[struck]
        written[struck] = 0.0
        s.lost &= gap < s.restart - slack
        s.lost[struck] = True
        s.restart = np.where(s.lost, self.restarts[1], self.restarts[0])
        s.clock, s.copies, s.written = strike, copies, written
        s.failures += 1
        s.heavy[struck] += 1
        light.strike(np.flatnonzero(~is_heavy))
        heavy.strike(struck)

    def _end(self, s, near, usable):
        """Close those of the given runs that reach their end before the failure."""
        cycles, steps = self.copies - 1 - s.copies[near], self.final - 1 - s.written[near]
        needed = np.maximum(cycles * self.cycle + steps * self.step + self.last + self.copy, self.copy)
        ends = usable >= needed - _SLACK * self.step
        done, needed = near[ends], needed[ends]
        heavy = s.heavy[done]
        light = s.failures - heavy
        s.open_runs[done], s.light_at_end[done], s.heavy_at_end[done] = False, light, heavy
        paused = self.pause + s.again[done] * self.pause_per_write
        paused += light * self.pause_per_failure[0] + heavy * self.pause_per_failure[1]
        s.wall[done] = s.clock[done] + s.restart[done] + needed + paused


class _State:
    """Where the runs of a block stand right after a failure, and how those that have ended did."""

    def __init__(self, width, processes):
        self.processes, self.failures = processes, 0
        self.clock, self.restart, self.wall = np.zeros((3, width))
        self.copies, self.written, self.again = np.zeros((3, width))  # written: since the last copy
        self.heavy, self.light_at_end, self.heavy_at_end = np.zeros((3, width), np.int64)
        self.lost, self.open_runs = np.zeros(width, bool), np.ones(width, bool)


class _Process:
    """The failures of one process: when the next one strikes each run, and gaps drawn in advance."""

    def __init__(self, gaps, stream, width):
        self.gaps, self.rng = gaps, np.random.default_rng(stream)
        self.held, self.row = np.empty((0, width)), np.zeros(width, np.int64)  # row: of each run's next gap
        self.drawn, self.next = 0, np.zeros(width)
        self.prepare(1, np.ones(width, bool))
        self.strike(np.arange(width))

    def prepare(self, count, open_runs):
        """Draw until every run has `count` more gaps; drop the rows that no open run needs."""
        used = self.row[open_runs].min()
        self.row = np.maximum(self.row - used, 0)
        held, missing = [self.held[used:]], self.row.max() + count - len(self.held[used:])
        while missing > 0:
            held.append(_draw(self.gaps, self.rng, (_rows(self.drawn, len(self.row)), len(self.row))))
            self.drawn, missing = self.drawn + len(held[-1]), missing - len(held[-1])
        self.held = np.concatenate(held)

    def strike(self, runs):
        """Add a fresh gap to the next failure of the given runs."""
        rows = self.row[runs]
        self.next[runs] += self.held[rows, runs]
        self.row[runs] = rows + 1


def _rows(drawn, width):
    """Return how many gaps to draw next for each run: few at first, for short runs would waste them."""
    return min(max(drawn // 2, 8), max(_GAPS // width, 1))


def _draw(gaps, rng, size):
    """Return checked gaps; the full check, several passes over them, is for those that fail a short one."""
    drawn = gaps(rng, size)
    if not (type(drawn) is np.ndarray and drawn.dtype == np.float64):
        drawn = real("gaps", drawn)
    if drawn.shape != size:
        raise ValueError(f"gaps returned the shape {drawn.shape}; allowed: the shape asked for, {size}")
    return drawn if drawn.min() >= 0.0 else real("gaps", drawn)


def _give_up(late, limit, shares):
    """Refuse to go on where a run is late: one that failure number `limit` has struck before its end."""
    if late.any():
        raise RuntimeError(f"max_failures = {limit}: a run has not ended after {limit} failures, with "
                           f"{shares[late].min():.2%} of its work done; allow more or shorten `interval`")


def _source(name, gaps):
    if callable(getattr(gaps, "rvs", None)):
        return partial(_rvs, gaps)
    if not callable(gaps):
        raise TypeError(f"{name} = {gaps!r} is no frozen SciPy distribution and no callable (rng, size)")
    return gaps


def _rvs(distribution, rng, size):
    return distribution.rvs(size=size, random_state=rng)


def _cut(work, interval):
    """Return the work, its interval, the number of intervals and the length of the last one."""
    work = _number("work", work, open_low=True, open_high=True)
    tau = min(_number("interval", interval, open_low=True), work)
    if work / tau > 1e15:
        raise ValueError(f"interval = {tau!r} is outside the domain; allowed: at least work / 1e15")
    count = max(ceil(work / tau * (1.0 - 1e-12)), 1)  # 0.6 / 0.2 is 3, not a little more
    return work, tau, count, min(work - (count - 1) * tau, tau)


def _pair(name, values):
    try:
        first, second = values
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {values!r} is not a pair; allowed: (memory, storage)") from None
    return first, second


def _times(name, values):
    return tuple(_number(name, value, open_high=True) for value in _pair(name, values))


def _number(name, value, **range_):
    return float(_single(name, real(name, value, **range_)))


def _integer(name, value, low):
    _single(name, whole(name, value, low))
    return int(value)  # the value itself: a float would round a large seed


def _single(name, array):
    if array.ndim:
        raise ValueError(f"{name} has the shape {array.shape}; allowed: a single number")
    return array
