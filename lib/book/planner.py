"""The planner's form: the directive ``{planner}`` writes it, ``static/planner.js`` makes it work."""

from __future__ import annotations

import json
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lib.book.roles import page_uri

# name, label, unit, lowest, highest, flags: o = lowest not allowed, w = whole, e = may be left empty
FIELDS = [
    ("cluster", [
        ("gpus", "GPUs", "", 1, 1e9, "w"),
        ("gpus_per_node", "GPUs per node", "", 1, 1e4, "w"),
        ("gpu_mttf", "MTTF of a GPU", "h", 1, 1e12, ""),
        ("gpu_fit", "or its FIT", "failures in 10⁹ h", 1e-3, 1e9, "e"),
        ("part_1_count", "NICs per node", "", 0, 1e4, "w"),
        ("part_1_mttf", "MTTF of a NIC", "h", 1, 1e12, ""),
        ("part_2_count", "power supplies per node", "", 0, 1e4, "w"),
        ("part_2_mttf", "MTTF of a power supply", "h", 1, 1e12, ""),
        ("seen_failures", "or failures seen, of any kind", "", 1, 1e4, "we"),
        ("seen_days", "… in so many days", "d", 0.001, 1e5, "e"),
        ("replacement_time", "time to replace a node", "h", 0, 1e5, ""),
    ]),
    ("training", [
        ("parameters", "parameters", "", 1, 1e15, ""),
        ("bytes_per_parameter", "bytes per parameter", "", 0.01, 1e4, ""),
        ("bandwidth", "write bandwidth", "bytes/s", 1, 1e18, ""),
        ("write_time", "or the write time", "s", 1e-6, 1e7, "e"),
        ("restart_time", "restart time", "s", 0, 1e7, ""),
        ("step_time", "time of a step", "s", 1e-6, 1e7, "e"),
        ("useful_days", "useful time", "d", 0.001, 1e5, ""),
        ("price", "price of a GPU-hour", "money", 0, 1e6, ""),
    ]),
]
# key, label, and the formula with the page and anchor that derive it; several where it depends on what was entered
EXPOSED, PROTECTED = ("foundations/daly", "thm-d-20"), ("scaling/general_model", "thm-d-03")
RESULTS = [
    ("mtbf", "MTBF of the cluster M", {
        "parts": ("1/M = Σ n/MTTF over all parts", "foundations/failure_probability", "thm-d-30"),
        "seen": ("time / failures", "beyond/real_failures", "thm-d-50")}),
    ("limits", "its 95 % limits", ("Garwood's limits of a count", "reference/library", "lib.failures.mttf_interval")),
    ("write", "write time δ", {
        "bytes": ("parameters × bytes / bandwidth", "foundations/checkpointing", "b2-size"),
        "given": ("as entered", "", "")}),
    ("interval", "best interval", {
        "exposed": ("M u, u = 1 + W₀(−e^(−1−δ/M))", *EXPOSED),
        "protected": ("M u, u = 1 + W₀((δ/(M+R) − 1)/e)", "scaling/general_model", "thm-d-04")}),
    ("young", "… by Young", ("√(2 δ M)", "scaling/background", "thm-d-01")),
    ("daly", "… by Daly 2006", ("third-order series", "foundations/daly", "thm-d-22")),
    ("near", "at most 1 % more wall time with an interval of", {
        "exposed": ("S(τ) = 1.01 S, S(τ) = e^(R/M) (e^((τ+δ)/M) − 1) M/τ", *EXPOSED),
        "protected": ("S(τ) = 1.01 S, S(τ) = ((M + R)(e^(τ/M) − 1) + δ)/τ", *PROTECTED)}),
    ("lost", "lost at the best interval", {
        "exposed": ("1 − 1/S and S − 1, slowdown S = e^(R/M)/(1 − u)", "beyond/one_kernel", "thm-d-41"),
        "protected": ("1 − 1/S and S − 1, slowdown S = (1 + R/M) eᵘ", "beyond/one_kernel", "thm-d-45")}),
    ("wall", "expected wall time", {"exposed": ("useful time × S", *EXPOSED), "protected": ("useful time × S", *PROTECTED)}),
    ("cost", "cost of the loss", {
        "exposed": ("GPU-hours × (S − 1) × price", *EXPOSED), "protected": ("GPU-hours × (S − 1) × price", *PROTECTED)}),
    ("wrong", "an interval twice as long costs", {
        "exposed": ("useful time × (S(2τ) − S(τ)), × GPUs × price", *EXPOSED),
        "protected": ("useful time × (S(2τ) − S(τ)), × GPUs × price", *PROTECTED)}),
    ("none", "chance of no failure in the useful time T", ("e^(−T/M)", "foundations/failure_probability", "thm-d-31")),
    ("failures", "failures expected", {
        "exposed": ("wall time / M", "foundations/recovery", "b3-sum"),
        "protected": ("T (eᵘ − 1)/(u M)", "foundations/recovery", "b3-budget")}),
    ("spares", "spares for 99.9 % of the time", ("Poisson quantile", "scaling/spares", "thm-d-13")),
]


class Planner(SphinxDirective):
    """The form with its presets, results, chart and Python text."""

    def run(self):
        presets = _presets()
        buttons = "".join(f'<button type="button" data-preset="{escape(name)}">{escape(name)}</button>' for name in presets)
        inputs = "".join(f"<fieldset><legend>{title}</legend>{''.join(map(_field, fields))}{_writes(title)}</fieldset>"
                         for title, fields in FIELDS)
        results = "".join(self._result(*r) for r in RESULTS)
        html = (
            f'<form id="planner-form" class="planner" novalidate>\n<script type="application/json">{json.dumps(presets)}</script>\n'
            f'<div class="planner-presets" role="group" aria-label="Examples">{buttons}</div>\n'
            f'<div class="planner-inputs">{inputs}</div>\n'
            f'<table class="planner-results" aria-live="polite"><caption>The plan</caption><tbody>{results}</tbody></table>\n'
            '<p class="planner-symbols">R restart time, τ interval, u best interval in units of M, S slowdown: wall time per useful time.</p>\n'
            '<div class="book-chart" id="planner-chart" role="group" aria-label="Lost time against interval">'
            '<script type="application/json">{}</script><div class="book-chart-view"></div>\n'
            '<details class="book-chart-table"><summary>Numbers of this chart</summary><table><thead><tr><th scope="col">interval</th>'
            '<th scope="col">lost time (% of useful time)</th></tr></thead><tbody data-out="chart"></tbody></table></details></div>\n'
            '<button type="button" data-copy>Copy as Python</button>\n<pre data-out="python" tabindex="0"></pre>\n</form>\n'
            "<noscript>The planner needs JavaScript. The same results come from <code>lib</code> in Python.</noscript>")
        return [nodes.raw("", html, format="html")]

    def _result(self, key, label, formula):
        links = ("".join(f'<span data-for="{case}">{self._link(*each)}</span>' for case, each in formula.items())
                 if isinstance(formula, dict) else self._link(*formula))
        return (f'<tr><th scope="row">{label}</th><td data-out="{key}"></td>'
                f'<td class="planner-formula">{links}</td></tr>')

    def _link(self, formula, page, anchor):
        return f'<a href="{page_uri(self.env.docname, page)}#{anchor}">{formula}</a>' if page else formula


def _field(field):
    name, label, unit, low, high, flags = field
    data = f'data-low="{low:g}" data-high="{high:g}"'
    data += ' data-open="1"' * ("o" in flags) + ' data-whole="1"' * ("w" in flags) + ' data-optional="1"' * ("e" in flags)
    shown = f' <span class="planner-unit">{unit}</span>' if unit else ""
    return (f'<div class="planner-field"><label for="p-{name}">{label}{shown}</label>'
            f'<input id="p-{name}" name="{name}" inputmode="decimal" autocomplete="off" {data} aria-describedby="p-{name}-error">'
            f'<span id="p-{name}-error" class="planner-error" role="alert"></span></div>')


def _writes(title):
    if title != "training":
        return ""
    return ('<div class="planner-field"><label for="p-writes">a failure can strike during</label><select id="p-writes" '
            'name="writes"><option value="exposed">work, writes and restarts</option>'
            '<option value="protected">work only</option></select></div>')


def _presets():
    """Three examples: two from the ledger's inputs and tables, and a small group; the price is an example too."""
    from lib.claims import inputs, table

    mttf = {row["component"]: float(row["mttf_h"]) for row in table("components")}
    phases = {row["phase"]: float(row["published"]) for row in table("recovery")}
    bytes_b = inputs["weight_bytes"] + inputs["master_bytes"] + 2 * inputs["moment_bytes"]
    common = dict(gpus_per_node=inputs["node_gpus"], gpu_mttf=inputs["gpu_mttf"], gpu_fit="", part_1_mttf=mttf["NIC"],
                  part_2_mttf=mttf["PSU"], replacement_time=inputs["replacement_time"], write_time="", price=2,
                  step_time="", seen_failures="", seen_days="", writes="exposed")
    parts = dict(part_1_count=inputs["node_nics"], part_2_count=inputs["node_psus"])
    return {
        "Llama 3.1 405B": {**common, "gpus": inputs["llama_gpus"], "part_1_count": 0, "part_2_count": 0,
                           "parameters": inputs["llama_parameters"], "bandwidth": inputs["storage_bandwidth"],
                           "bytes_per_parameter": inputs["optimizer_values"] * inputs["bytes_per_value"],
                           "restart_time": 60 * inputs["restart_text"], "useful_days": inputs["llama_days"]},
        "fleet of 10,000 GPUs": {**common, **parts, "gpus": inputs["fleet_gpus"], "parameters": inputs["model_parameters"],
                                 "bandwidth": inputs["write_bandwidth"], "bytes_per_parameter": bytes_b,
                                 "restart_time": phases["detect"] + phases["reschedule"] + phases["reload"],
                                 "useful_days": inputs["job_days"]},
        "64 GPUs": {**common, **parts, "gpus": 64, "parameters": 7e9, "bandwidth": 2e9, "bytes_per_parameter": bytes_b,
                    "restart_time": 300, "useful_days": 14},
    }


def register(app):
    app.add_directive("planner", Planner)
