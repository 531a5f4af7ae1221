"""The planner's script against lib: a thousand random inputs, and the Python text that it offers."""

import contextlib
import io
import math
import random

import pytest

from scipy import optimize, stats

from lib import failures, intervals, overhead
from lib.simulate import simulate
from tests.browsing import visit

pytestmark = pytest.mark.xdist_group("site")
HOUR, DAY = 3600, 86400


@pytest.fixture(scope="module")
def page(address, browser):
    trouble = []
    page = visit(browser, address + "reference/planner.html", trouble)
    yield page
    page.close()
    assert not trouble


def random_inputs(count=1000):
    dice = random.Random(405)

    def between(low, high):
        return low * (high / low) ** dice.random()

    for _ in range(count):
        yield {"gpus": 8 * dice.randint(1, 20_000), "gpus_per_node": 8, "gpu_mttf": between(1e4, 1e6), "gpu_fit": 0,
               "part_1_count": dice.randint(0, 4), "part_1_mttf": between(1e5, 1e7), "part_2_count": dice.randint(0, 4),
               "part_2_mttf": between(1e5, 1e7), "replacement_time": between(0.1, 200), "parameters": between(1e8, 1e13),
               "bytes_per_parameter": between(1, 20), "bandwidth": between(1e8, 1e13), "write_time": 0,
               "restart_time": dice.choice([0, between(1, 3600)]), "useful_days": between(0.01, 300),
               "price": between(0.1, 10), "writes": dice.choice(["exposed", "protected"]),
               "seen_failures": dice.choice([0, 0, 1, 2, dice.randint(3, 10_000)]), "seen_days": between(0.1, 1000)}


def plan_by_lib(p):
    counts = [p["gpus_per_node"], p["part_1_count"], p["part_2_count"]]
    node_h = failures.series_mtbf(counts, [p["gpu_mttf"], p["part_1_mttf"], p["part_2_mttf"]])
    mtbf, low, high = HOUR * failures.cluster_mtbf(node_h, p["gpus"] // p["gpus_per_node"]), math.nan, math.nan
    if p["seen_failures"]:
        mtbf, low, high = failures.mttf_interval(p["seen_failures"], DAY * p["seen_days"])
    write = p["parameters"] * p["bytes_per_parameter"] / p["bandwidth"]
    model = dict(write_time=write, mtbf=mtbf, restart_time=p["restart_time"], exposed_writes=p["writes"] == "exposed")
    interval, slow = intervals.optimal(**model), overhead.optimal_slowdown(**model)
    wrong = overhead.slowdown(2 * interval, **model)
    at_limits = [intervals.optimal(**{**model, "mtbf": m}) if m == m else m for m in (low, high)]
    near = [near_best(interval, slow, step, model) for step in (0.5, 2)]
    gpu_hours = p["gpus"] * p["useful_days"] * 24
    return {"mtbf_low": low, "mtbf_high": high, "interval_low": at_limits[0], "interval_high": at_limits[1],
            "near_low": near[0], "near_high": near[1], "mtbf": mtbf, "write": write, "interval": interval, "young": intervals.young(write, mtbf),
            "daly": intervals.daly(write, mtbf), "slowdown": slow, "lost_of_wall": 1 - 1 / slow,
            "wall_days": p["useful_days"] * slow, "lost_cost": gpu_hours * (slow - 1) * p["price"],
            "wrong_cost": gpu_hours * (wrong - slow) * p["price"], "wrong_days": p["useful_days"] * (wrong - slow),
            "no_failure": math.exp(-p["useful_days"] * DAY / mtbf),
            "failures": expected_failures(p, mtbf, interval, slow),
            "spares": failures.spare_pool(HOUR / mtbf, p["replacement_time"], 0.999)}


def near_best(interval, least, step, model):
    """The interval on one side of the best at which the wall time is one per cent above the least."""
    def excess(log_interval):
        return overhead.slowdown(math.exp(log_interval), **model) / least - 1.01

    if not (interval > 0 and math.isfinite(least)):
        return math.nan
    far = interval
    while excess(math.log(far)) < 0:
        far *= step
    return math.exp(optimize.brentq(excess, *sorted([math.log(far), math.log(interval)]), xtol=1e-14, rtol=1e-14))


def expected_failures(p, mtbf, interval, slow):
    """Failures come once per M of the time that they can strike in."""
    useful = p["useful_days"] * DAY
    if p["writes"] == "exposed":
        return useful * slow / mtbf
    return useful * (overhead.slowdown(interval, 0.0, mtbf, exposed_writes=False)) / mtbf


def test_failures_agree_with_the_simulation():
    """With protected writes: the expectation that the planner uses, against simulated runs."""
    mtbf, write, restart, interval, work = 300.0, 60.0, 300.0, 120.0, 12_000.0
    sample = simulate(work, interval, write, stats.expon(scale=mtbf), restart, exposed_writes=False, runs=2048, seed=7)
    p = {"useful_days": work / DAY, "writes": "protected"}
    error = sample.failures.std(ddof=1) / len(sample.failures) ** 0.5
    assert abs(sample.failures.mean() - expected_failures(p, mtbf, interval, None)) < 4 * error


def test_plans_agree_with_lib(page):
    inputs = list(random_inputs())
    plans = page.evaluate("inputs => inputs.map(p => planner.plan(p)).map(r => "
                          "Object.fromEntries(Object.entries(r).map(([k, v]) => [k, String(v)])))", inputs)
    for p, by_script in zip(inputs, plans):
        expected = plan_by_lib(p)
        paid = p["gpus"] * 24 * p["price"]
        # What a subtraction is made of: its rounding stays when the difference is small.
        terms = {"lost_of_wall": 1, "lost_cost": paid * expected["wall_days"],
                 "wrong_cost": paid * (expected["wall_days"] + expected["wrong_days"]),
                 "wrong_days": expected["wall_days"] + expected["wrong_days"]}
        for name, value in expected.items():
            got, allowed = float(by_script[name]), 1e-9 * abs(value) + 1e-14 * terms.get(name, 0)
            assert got == value or (got != got and value != value) or abs(got - value) <= allowed, (name, got, value, p)


@pytest.mark.parametrize("preset", ["Llama 3.1 405B", "fleet of 10,000 GPUs", "64 GPUs"])
def test_presets_give_a_plan_and_python_that_runs(page, preset):
    page.get_by_role("button", name=preset, exact=True).click()
    assert page.locator("[data-out=interval]").inner_text()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(page.locator("[data-out=python]").inner_text(), {})
    words = printed.getvalue().split()
    shown = page.evaluate("() => { const p = Object.fromEntries(new URLSearchParams(location.search));"
                          "for (const k in p) if (k !== 'writes') p[k] = Number(p[k]); return planner.plan(p); }")
    assert float(words[words.index("interval") + 1]) == pytest.approx(shown["interval"], rel=1e-5)
    assert float(words[words.index("failure:") + 1]) == pytest.approx(100 * shown["no_failure"], rel=1e-2)


def test_every_result_links_to_its_theorem(page, site):
    links = page.locator(".planner-formula a").all()
    assert len(links) > 14
    for link in links:
        name, anchor = link.get_attribute("href").split("#")
        assert f'id="{anchor}"' in (site / "reference" / name).resolve().read_text("utf8"), (name, anchor)


def test_fields_that_another_makes_idle_may_be_empty(page):
    page.get_by_role("button", name="Llama 3.1 405B", exact=True).click()
    for name in ("parameters", "bandwidth", "gpu_mttf"):
        page.fill(f"#p-{name}", "")
    page.fill("#p-write_time", "30")
    page.fill("#p-seen_failures", "419")
    page.fill("#p-seen_days", "54")
    assert page.locator("#p-gpu_mttf-error").inner_text() == "not used"
    page.fill("#p-gpus", "1001")  # no multiple of the GPUs per node, which do not count here
    assert not page.locator("#p-gpus-error").inner_text()
    low, estimate, high = (54 * 24 / m for m in (460.9, 419, 379.9))  # limits of 419 by chi-squared tables
    shown = page.locator("[data-out=limits]").inner_text()
    assert shown.startswith(f"{low:.2f} h to {high:.2f} h") and page.locator("[data-out=mtbf]").inner_text() == f"{estimate:.2f} h"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(page.locator("[data-out=python]").inner_text(), {})
    assert f"MTBF {estimate:.4g}"[:9] in printed.getvalue()
    page.get_by_role("button", name="Llama 3.1 405B", exact=True).click()


def test_failures_seen_need_their_days(page):
    page.fill("#p-seen_days", "54")
    assert "needed together" in page.locator("#p-seen_failures-error").inner_text()
    page.fill("#p-seen_days", "")
    assert not page.locator("#p-seen_failures-error").inner_text()


def test_the_interval_in_steps(page):
    page.fill("#p-step_time", "5")
    minutes, steps = page.locator("[data-out=interval]").inner_text().split(" min = ")
    assert abs(float(minutes) * 60 / 5 - int(steps.removesuffix(" steps"))) < 1
    page.fill("#p-step_time", "1000000")
    assert page.locator("[data-out=interval]").inner_text().endswith("(shorter than a step)")
    page.fill("#p-step_time", "")


def test_a_run_without_progress_says_so(page):
    good = page.locator("#p-restart_time").input_value()
    page.fill("#p-restart_time", "1e7")
    assert "no progress" in page.locator("[data-out=near]").inner_text()
    assert page.locator(".book-chart").is_hidden()
    page.fill("#p-restart_time", good)
    assert page.locator(".book-chart").is_visible()


def test_the_address_holds_the_inputs(page, address, browser):
    page.fill("#p-gpus", "12344")
    assert "gpus=12344" in page.url
    other = visit(browser, page.url, [])
    assert other.locator("#p-gpus").input_value() == "12344"
    assert other.locator("[data-out=interval]").inner_text() == page.locator("[data-out=interval]").inner_text()
    other.close()


@pytest.mark.parametrize(("field", "value", "words"), [
    ("gpus", "-5", "outside the range"), ("gpus", "many", "not a number"), ("gpus", "1.5", "not a whole number"),
    ("gpu_mttf", "0", "outside the range"), ("useful_days", "", "nothing is not a number"), ("gpus", "24,576", "no separators"),
])
def test_wrong_input_is_answered_beside_its_field(page, field, value, words):
    before = page.locator("[data-out=interval]").inner_text()
    good = page.locator(f"#p-{field}").input_value()
    page.fill(f"#p-{field}", value)
    assert page.locator("[data-copy]").is_disabled()
    assert words in page.locator(f"#p-{field}-error").inner_text()
    assert page.locator(f"#p-{field}").get_attribute("aria-invalid") == "true"
    assert page.locator("[data-out=interval]").inner_text() == before
    page.fill(f"#p-{field}", good)
    assert not page.locator(f"#p-{field}-error").inner_text()
