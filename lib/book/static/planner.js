// The planner: the formulas of lib, written again for the browser, and the form around them.
// tests/test_planner.py holds `planner.plan` against lib at a thousand random inputs.
(function () {
  "use strict";
  const HOUR = 3600, DAY = 86400;

  // --- formulas (lib.intervals, lib.overhead, lib.failures); all times in seconds

  // g(u) = (u - 1) e^u + 1, by its series where the closed form cancels.
  function g(u) {
    if (u > 0.5) return u * Math.exp(u) - Math.expm1(u);
    let sum = 0, power = u * u, factorial = 2;
    for (let k = 2; k < 20; k++) { sum += (k - 1) * power / factorial; power *= u; factorial *= k + 1; }
    return sum;
  }

  // The kernel solves g(u) = x. Newton from the right of a convex function never overshoots.
  function kernel(x) {
    if (x === 0) return 0;
    let u = Math.min(Math.sqrt(2 * x), 1 + Math.log1p(x));
    for (let i = 0; i < 60; i++) {
      const next = u - (g(u) - x) / (u * Math.exp(u));
      if (Math.abs(next - u) <= 1e-15 * u) return next;
      u = next;
    }
    return u;
  }

  // 1 - u for exposed writes: v solves log v + 1 - v + delta/M = 0, without the cancellation of 1 - u.
  function idle(share) {
    if (share < 1) return 1 - kernel(-Math.expm1(-share));
    let v = Math.exp(-1 - share);
    for (let i = 0; i < 60; i++) v = Math.exp(v - 1 - share);
    return v;
  }

  const young = (write, mtbf) => Math.sqrt(2 * write * mtbf);

  function daly(write, mtbf) {
    if (write >= 2 * mtbf) return mtbf;
    const r = Math.sqrt(write / (2 * mtbf));
    return young(write, mtbf) * (1 + r / 3 + r * r / 9) - write;
  }

  function optimal(write, mtbf, restart, exposed) {
    return mtbf * kernel(exposed ? -Math.expm1(-write / mtbf) : write / (mtbf + restart));
  }

  function slowdown(interval, write, mtbf, restart, exposed) {
    if (exposed) return mtbf / interval * Math.exp(restart / mtbf) * Math.expm1((interval + write) / mtbf);
    return ((mtbf + restart) * Math.expm1(interval / mtbf) + write) / interval;
  }

  function optimalSlowdown(write, mtbf, restart, exposed) {
    if (exposed) return Math.exp(restart / mtbf) / idle(write / mtbf);
    return (1 + restart / mtbf) * Math.exp(kernel(write / (mtbf + restart)));
  }

  // log(k!) by Stirling's series from 20 on.
  function logFactorial(k) {
    if (k < 20) { let sum = 0; for (let i = 2; i <= k; i++) sum += Math.log(i); return sum; }
    const n = k + 1, r = 1 / (n * n);
    return (n - 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - r * (1 / 360 - r / 1260)) / n;
  }

  // The smallest pool k with Pr(X > k) <= 1 - coverage: the upper tail is added up from far above.
  function sparePool(mean, coverage) {
    if (mean === 0) return 0;
    if (mean > 1e9) return NaN; // more than the rounding of float64 lets the tail tell
    let k = Math.ceil(mean + 12 * Math.sqrt(mean) + 60), tail = 0;
    let term = Math.exp(k * Math.log(mean) - mean - logFactorial(k));
    while (k > 0 && tail + term <= 1 - coverage) { tail += term; term *= k / mean; k -= 1; }
    return k;
  }

  // Pr(X <= n) or Pr(X >= n) for a Poisson count: its terms are added up from n away from the mean.
  function poissonTail(n, mean, step) {
    let term = Math.exp(n * Math.log(mean) - mean - logFactorial(n)), sum = 0;
    for (let k = n; k >= 0 && term > 1e-18 * sum; k += step) { sum += term; term *= step > 0 ? mean / (k + 1) : k / mean; }
    return sum;
  }

  // Where a function changes its sign between two positive ends, by halving their ratio.
  function crossing(f, low, high) {
    const below = f(low) < 0;
    for (let i = 0; i < 100; i++) {
      const middle = Math.sqrt(low) * Math.sqrt(high);
      if ((f(middle) < 0) === below) low = middle; else high = middle;
    }
    return low;
  }

  // Garwood's 95 % limits of an MTBF from failures seen in a time.
  function limits(failures, time) {
    const least = crossing((m) => poissonTail(failures, m, 1) - 0.025, 1e-3 * failures, failures);
    const most = crossing((m) => poissonTail(failures, m, -1) - 0.025, failures, failures + 8 * Math.sqrt(failures) + 8);
    return [time / most, time / least];
  }

  // The intervals at which the wall time is `more` times the least.
  function band(interval, least, more, slow) {
    if (!(interval > 0 && Number.isFinite(least))) return [NaN, NaN];
    const excess = (t) => slow(t) - more * least;
    let low = interval, high = interval;
    while (excess(low) < 0) low /= 2;
    while (excess(high) < 0) high *= 2;
    return [crossing(excess, low, interval), crossing(excess, interval, high)];
  }

  function failureRate(p) {
    if (p.seen_failures > 0) return p.seen_failures / (p.seen_days * DAY);
    const gpuMttf = p.gpu_fit > 0 ? 1e9 / p.gpu_fit : p.gpu_mttf;
    const parts = [[p.gpus_per_node, gpuMttf], [p.part_1_count, p.part_1_mttf], [p.part_2_count, p.part_2_mttf]];
    const nodeRate = parts.reduce((sum, [count, mttf]) => sum + (count > 0 ? count / (mttf * HOUR) : 0), 0);
    return p.gpus / p.gpus_per_node * nodeRate;
  }

  function plan(p) {
    const rate = failureRate(p), mtbf = 1 / rate;
    const write = p.write_time > 0 ? p.write_time : p.parameters * p.bytes_per_parameter / p.bandwidth;
    const exposed = p.writes === "exposed", restart = p.restart_time;
    const interval = optimal(write, mtbf, restart, exposed);
    const slow = optimalSlowdown(write, mtbf, restart, exposed);
    const wrong = slowdown(2 * interval, write, mtbf, restart, exposed);
    const gpuHours = p.gpus * p.useful_days * 24, useful = p.useful_days * DAY;
    // Protected writes: the failure clock runs only while the training computes, e^u - 1 failures per interval.
    const failures = exposed ? useful * slow / mtbf
      : useful / mtbf * (interval > 0 ? Math.expm1(interval / mtbf) / (interval / mtbf) : 1);
    const seen = p.seen_failures > 0 ? limits(p.seen_failures, p.seen_days * DAY) : [NaN, NaN];
    const near = band(interval, slow, 1.01, (t) => slowdown(t, write, mtbf, restart, exposed));
    return {
      mtbf_low: seen[0], mtbf_high: seen[1], interval_low: optimal(write, seen[0], restart, exposed),
      interval_high: optimal(write, seen[1], restart, exposed), near_low: near[0], near_high: near[1],
      mtbf, write, interval, young: young(write, mtbf), daly: daly(write, mtbf), slowdown: slow,
      lost_of_wall: 1 - 1 / slow, wall_days: p.useful_days * slow, lost_cost: gpuHours * (slow - 1) * p.price,
      wrong_cost: gpuHours * (wrong - slow) * p.price, wrong_days: p.useful_days * (wrong - slow),
      no_failure: Math.exp(-useful / mtbf), failures,
      spares: sparePool(rate * p.replacement_time * HOUR, 0.999),
    };
  }

  window.planner = {plan, kernel, slowdown};

  // --- the form

  const form = document.getElementById("planner-form");
  if (!form) return;
  const presets = JSON.parse(form.querySelector("script[type='application/json']").textContent);
  const fields = [...form.querySelectorAll("[name]")];
  const out = (name) => form.querySelector(`[data-out="${name}"]`);

  function sig(value, unit = "") {
    if (Number.isNaN(value)) return "cannot be computed here";
    if (!Number.isFinite(value)) return "beyond any number";
    const large = Math.abs(value) >= 1e7 || (value !== 0 && Math.abs(value) < 1e-3);
    return (large ? value.toExponential(2) : value.toLocaleString("en", {
      maximumSignificantDigits: Math.abs(value) >= 1000 ? 6 : 3, maximumFractionDigits: 6})) + unit;
  }

  function time(seconds) {
    for (const [size, unit] of [[DAY, " d"], [HOUR, " h"], [60, " min"]]) if (seconds >= 2 * size) return sig(seconds / size, unit);
    return sig(seconds, " s");
  }

  // Money and counts to the unit, small ones with a fraction.
  function count(value) {
    return Number.isFinite(value) && value >= 100 ? value.toLocaleString("en", {maximumFractionDigits: 0}) : sig(value);
  }

  // A field with what is wrong beside it; null where its value is good.
  function fault(field) {
    if (field.tagName === "SELECT") return null;
    const text = field.value.trim(), value = Number(text);
    const low = Number(field.dataset.low), high = Number(field.dataset.high), open = field.dataset.open === "1";
    const range = `allowed: ${open ? "above" : "from"} ${low}${Number.isFinite(high) ? ` to ${high}` : ""}`;
    if (text === "" && field.dataset.optional) return null;
    if (text === "" || !Number.isFinite(value)) return `${text === "" ? "nothing" : `"${text}"`} is not a number (write 1234.5 or 1.2e3, no separators); ${range}`;
    if (value < low || (open && value === low) || value > high) return `${text} is outside the range; ${range}`;
    if (field.dataset.whole && !Number.isInteger(value)) return `${text} is not a whole number; ${range}`;
    return null;
  }

  // Fields that another field makes idle.
  function idleFields() {
    const value = (name) => Number(form.elements[name].value), names = [];
    if (value("seen_failures") > 0) names.push("gpus_per_node", "gpu_mttf", "gpu_fit", "part_1_count", "part_1_mttf", "part_2_count", "part_2_mttf");
    if (value("gpu_fit") > 0) names.push("gpu_mttf");
    if (value("write_time") > 0) names.push("parameters", "bytes_per_parameter", "bandwidth");
    for (const part of ["part_1", "part_2"]) if (value(`${part}_count`) === 0) names.push(`${part}_mttf`);
    return names;
  }

  // For what only several fields together can tell; `fault` has looked at each alone.
  function refuse(name, text) {
    const note = document.getElementById(`p-${name}-error`);
    note.setAttribute("role", "alert");
    note.textContent = text;
    form.elements[name].setAttribute("aria-invalid", "true");
  }

  function read() {
    const p = {}, unused = idleFields();
    let good = true;
    for (const field of fields) {
      const idle = unused.includes(field.name), note = document.getElementById(`${field.id}-error`);
      const wrong = idle ? null : fault(field);
      if (note) {
        note.setAttribute("role", wrong ? "alert" : "note");
        note.textContent = wrong || (idle ? "not used" : "");
      }
      field.setAttribute("aria-invalid", wrong ? "true" : "false");
      field.parentElement.classList.toggle("planner-idle", idle);
      good = good && !wrong;
      p[field.name] = field.tagName === "SELECT" ? field.value : Number(field.value);
    }
    if (good && (p.seen_failures > 0) !== (p.seen_days > 0)) {
      refuse(p.seen_failures > 0 ? "seen_days" : "seen_failures", "failures and days are needed together");
      good = false;
    }
    if (good && !unused.includes("gpus_per_node") && p.gpus % p.gpus_per_node !== 0) {
      refuse("gpus", `${p.gpus} is not a multiple of the ${p.gpus_per_node} GPUs per node`);
      good = false;
    }
    return good ? p : null;
  }

  function show(p) {
    const r = plan(p), percent = (share) => sig(100 * share, " %");
    const whole = Math.round(r.interval / p.step_time), seen = p.seen_failures > 0;
    const steps = !(p.step_time > 0) ? "" : whole < 1 ? " (shorter than a step)" : ` = ${count(whole)} step${whole === 1 ? "" : "s"}`;
    const spares = Number.isNaN(r.spares) ? "more than can be computed here" : `${count(r.spares)} node${r.spares === 1 ? "" : "s"}`;
    const texts = {
      mtbf: time(r.mtbf), write: time(r.write), interval: time(r.interval) + steps, young: time(r.young), daly: time(r.daly),
      limits: seen ? `${time(r.mtbf_low)} to ${time(r.mtbf_high)}; interval ${time(r.interval_low)} to ${time(r.interval_high)}`
        : "– (enter failures seen)",
      near: Number.isFinite(r.slowdown) ? `${time(r.near_low)} to ${time(r.near_high)}` : "none: this run makes no progress",
      lost: `${percent(r.lost_of_wall)} of wall time (${percent(r.slowdown - 1)} of useful time)`,
      wall: sig(r.wall_days, " d"), cost: count(r.lost_cost), wrong: `${count(r.wrong_cost)} and ${sig(r.wrong_days, " d")}`,
      none: percent(r.no_failure), failures: count(r.failures), spares: seen ? `${spares}, if each failure takes one` : spares,
    };
    for (const [name, text] of Object.entries(texts)) out(name).textContent = text;
    const cases = [p.writes, seen ? "seen" : "parts", p.write_time > 0 ? "given" : "bytes"];
    form.querySelectorAll("[data-for]").forEach((formula) => { formula.hidden = !cases.includes(formula.dataset.for); });
    out("python").textContent = python(p, r);
    chart(p, r);
  }

  function python(p, r) {
    const exposed = p.writes === "exposed" ? "True" : "False";
    const gpu = p.gpu_fit > 0 ? `mttf_from_fit(${p.gpu_fit})` : p.gpu_mttf;
    const write = p.write_time > 0 ? p.write_time : `${p.parameters} * ${p.bytes_per_parameter} / ${p.bandwidth}`;
    const nodes = p.gpus / p.gpus_per_node;
    const parts = [[p.gpus_per_node, gpu], [p.part_1_count, p.part_1_mttf], [p.part_2_count, p.part_2_mttf]].filter(([n]) => n > 0);
    const mtbf = p.seen_failures > 0 ? `mtbf, low, high = mttf_interval(${p.seen_failures}, 86400 * ${p.seen_days})  # s, with 95 % limits`
      : `counts, mttfs_h = [${parts.map(([n]) => n).join(", ")}], [${parts.map(([, h]) => h).join(", ")}]
mtbf = cluster_mtbf(3600 * series_mtbf(counts, mttfs_h), ${nodes})  # s`;
    return `from math import exp

from lib.failures import cluster_mtbf, mttf_from_fit, mttf_interval, series_mtbf, spare_pool
from lib.intervals import daly, optimal, young
from lib.overhead import optimal_slowdown, slowdown

${mtbf}
write_time = ${write}  # s
restart_time, useful_days = ${p.restart_time}, ${p.useful_days}  # s, d
interval = optimal(write_time, mtbf, restart_time, exposed_writes=${exposed})
slow = optimal_slowdown(write_time, mtbf, restart_time, exposed_writes=${exposed})
wrong = slowdown(2 * interval, write_time, mtbf, restart_time, exposed_writes=${exposed})
print(f"MTBF {mtbf / 3600:.6g} h, write time {write_time:.6g} s")
print(f"interval {interval:.6g} s (Young {young(write_time, mtbf):.6g}, Daly {daly(write_time, mtbf):.6g})")
print(f"wall time {useful_days * slow:.6g} d, lost {100 * (1 - 1 / slow):.4g} % of it")
print(f"cost of the loss {${p.gpus} * useful_days * 24 * (slow - 1) * ${p.price}:.6g}")
print(f"twice the interval costs {${p.gpus} * useful_days * 24 * (wrong - slow) * ${p.price}:.6g} and {useful_days * (wrong - slow):.4g} d more")
print(f"no failure: {100 * exp(-useful_days * 86400 / mtbf):.3g} %")
print(f"spares for 99.9 %: {spare_pool(3600 / mtbf, ${p.replacement_time}, 0.999):.0f}")`;
  }

  function chart(p, r) {
    const exposed = p.writes === "exposed", values = [];
    for (let i = -40; i <= 40; i++) {
      const interval = r.interval * Math.pow(10, i / 26);
      const loss = 100 * (slowdown(interval, r.write, r.mtbf, p.restart_time, exposed) - 1);
      if (Number.isFinite(loss)) values.push({minutes: interval / 60, loss});
    }
    const best = [{minutes: r.interval / 60, loss: 100 * (r.slowdown - 1)}];
    out("chart").innerHTML = [1 / 4, 1 / 2, 1, 2, 4].map((part) => part * r.interval).map((interval) => `<tr><td>${time(interval)}</td>`
      + `<td>${sig(100 * (slowdown(interval, r.write, r.mtbf, p.restart_time, exposed) - 1))}</td></tr>`).join("");
    const x = {field: "minutes", type: "quantitative", scale: {type: "log", nice: false}, title: "checkpoint interval (min)"};
    const y = {field: "loss", type: "quantitative", scale: {type: "log"}, title: "lost time (% of useful time)", axis: {tickCount: 5}};
    const colour = exposed ? "#0072B2" : "#D55E00";
    const box = form.querySelector(".book-chart");
    const alt = `Lost time against interval: least ${sig(best[0].loss)} % of useful time at ${time(r.interval)}.`;
    const spec = {$schema: "https://vega.github.io/schema/vega-lite/v6.json", width: "container", height: 220, description: alt,
      layer: [{data: {values}, mark: {type: "line", color: colour}, encoding: {x, y}},
              {data: {values: best}, mark: {type: "point", filled: true, size: 90, color: colour}, encoding: {x, y}}]};
    box.hidden = !values.length;
    box.setAttribute("aria-label", alt);
    box.querySelector("script").textContent = JSON.stringify(spec);
    if (window.bookCharts) window.bookCharts.redraw(box);
  }

  function update() {
    const p = read();
    form.classList.toggle("planner-invalid", !p);
    form.classList.toggle("planner-empty", !p && !out("interval").textContent);
    form.querySelector("[data-copy]").disabled = !p;
    if (!p) return;
    show(p);
    history.replaceState(null, "", `?${new URLSearchParams(fields.map((f) => [f.name, f.value]))}`);
  }

  function fill(values) {
    for (const field of fields) {
      if (field.name in values) field.value = values[field.name];
      if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0; // an address with another word
    }
    update();
  }

  form.querySelectorAll("[data-preset]").forEach((button) =>
    button.addEventListener("click", () => fill(presets[button.dataset.preset])));
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("[data-copy]").addEventListener("click", async (event) => {
    if (navigator.clipboard) await navigator.clipboard.writeText(out("python").textContent);
    else getSelection().selectAllChildren(out("python")); // a page that came without encryption has no clipboard
    event.target.textContent = navigator.clipboard ? "Copied" : "Selected: now copy";
    setTimeout(() => { event.target.textContent = "Copy as Python"; }, 2000);
  });
  const given = Object.fromEntries(new URLSearchParams(location.search));
  fill({...presets[Object.keys(presets)[0]], ...given});
})();
