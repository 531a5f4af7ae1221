"""The claim ledger: verdicts follow from evidence, every claim has its function, no number is typed."""

import json
import math
import re
import string
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

from lib import availability, claims, corruption, failures, intervals, overhead, replication
from lib.claims import __main__ as terminal
from lib.claims import dimensions, ledger, printed, registry, sources
from lib.claims.evidence import Cell, Checks, External, Outcome, Readings, Table, Value, verdict

ROWS = {row["id"]: row for row in ledger.rows()}
KEYS = set(re.findall(r"^@\w+\{([^,]+),", (sources.DATA / "references.bib").read_text("utf8"), re.M))
SECTIONS = {
    "A1": "introduction", "A2": "background", "A3": "gpu_memory", "A4": "model_size", "A5": "spares",
    "A6": "conclusion", "AA": "general_model", "B0": "how_to_use", "B1": "failure_probability",
    "B2": "checkpointing", "B3": "recovery", "B4": "strategies", "B5": "summary", "B6": "daly",
    "B7": "silent_corruption"}  # fmt: skip


def derived(claim_id, printed_as=None):
    outcome, _ = registry.evaluate(claim_id)
    return verdict(outcome, ROWS[claim_id]["printed"] if printed_as is None else printed_as)


# --- The ledger


def test_every_claim_of_the_documents_is_there():
    expected = {f"A-{n:02}" for n in range(1, 48)} | {f"B-{n:02}" for n in range(1, 55)}
    assert expected <= set(ROWS)
    assert len(ROWS) == len(ledger.rows())


def test_every_claim_has_a_function_and_every_function_a_claim():
    assert set(ROWS) == set(registry.FUNCTIONS)


@pytest.mark.parametrize("claim", claims.load(), ids=lambda claim: claim.id)
def test_stored_verdict_is_the_derived_one(claim):
    assert claim.verdict in claims.VERDICTS
    assert claim.verdict == claim.derived


@pytest.mark.parametrize("claim", claims.load(), ids=lambda claim: claim.id)
def test_sentences(claim):
    """What is not reproduced has its sentences: one each, complete, with every placeholder filled."""
    if claim.verdict != "reproduced":
        assert claim.explanation
        assert claim.consequence
    for text in (claim.explanation, claim.consequence):
        assert not re.search(r"[{}]|\bnan\b|\binf\b", text)
        assert not text or re.fullmatch(r"[A-Z0-9].*[^.]\.", text)
        assert not re.search(r"[.!?] +[A-Z]", text)
    assert claim.statement and claim.printed and claim.computed_text


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row["id"])
def test_no_number_is_typed_in_a_sentence(row):
    """Digits stand in placeholders only, or in names: of claims, sections, formats and machines."""
    for text in (row["explanation"], row["consequence"]):
        typed = "".join(part for part, *_ in string.Formatter().parse(text))
        assert not re.search(r"\d", re.sub(r"\b[AB]-\d\d\b|\b[AB]\d\b|\bFP16\b|\bH100\b", "", typed))


def test_references_exist():
    for claim in claims.load():
        keys = [key for key in claim.reference.split("; ") if key]
        assert set(keys) <= KEYS
        assert keys or claim.verdict != "external"


def test_sections_and_chapters_fit():
    for row in ROWS.values():
        part = "scaling" if row["id"].startswith("A") else "foundations"
        assert row["section"][0] == row["id"][0]
        assert row["chapter"] == f"{part}/{SECTIONS[row['section']]}"


def test_kinds_fit_the_evidence():
    kinds = {
        "numeric": (Value, Readings), "table": (Table, Readings), "formula": (Checks, Readings),
        "qualitative": (Checks, Readings), "external": (External,)}  # fmt: skip
    for claim_id, row in ROWS.items():
        assert isinstance(registry.evaluate(claim_id)[0].evidence, kinds[row["kind"]])


@pytest.mark.parametrize("claim_id", ROWS)
def test_listed_inputs_are_those_that_are_used(claim_id):
    _, used = registry.evaluate(claim_id)
    assert {name for name in ROWS[claim_id]["inputs"].split("; ") if name} == used


def test_interface():
    assert claims.get("A-08").printed == "2.1"
    assert claims.load()[0] is claims.load()[0]
    with pytest.raises(KeyError, match="no claim 'A-99'"):
        claims.get("A-99")
    with pytest.raises(AttributeError):
        claims.get("A-08").verdict = "refuted"
    with pytest.raises(ValueError, match="two functions"):
        registry.claim("A-08")(None)


def test_json():
    content = json.loads(json.dumps(claims.as_json(), allow_nan=False))
    names = {"id", "section", "statement", "printed", "computed", "unit", "verdict", "explanation", "chapter"}
    assert [row["id"] for row in content] == list(ROWS)
    assert all(set(row) == names for row in content)
    assert {type(row["computed"]) for row in content} == {float, type(None)}


def test_totals_count_every_claim_once():
    totals = claims.totals()
    assert sum(sum(count.values()) for count in totals.values()) == len(ROWS)
    assert totals["A"]["refuted"] == sum(r["verdict"] == "refuted" for i, r in ROWS.items() if i[0] == "A")


def test_terminal_prints_every_claim_and_the_totals(capsys):
    terminal.main()
    out = capsys.readouterr().out
    assert all(re.search(rf"^{claim_id} ", out, re.M) for claim_id in ROWS)
    assert re.search(rf"^both .* {len(ROWS)}$", out, re.M)


def test_terminal_refuses_a_wrong_verdict(monkeypatch):
    row = {**ROWS["A-18"], "verdict": "reproduced"}
    monkeypatch.setattr(terminal, "load", lambda: [ledger.check(row)])
    with pytest.raises(SystemExit, match="A-18"):
        terminal.main()


# --- The data


def test_inputs_have_their_provenance():
    for name in claims.inputs:
        row = claims.inputs.row(name)
        assert row.kind in {"given", "external", "definition", "reading"}
        assert (row.source in KEYS and bool(row.where)) == (row.kind in {"given", "external"})
        assert row.unit and row.note and math.isfinite(row.value)


def test_inputs_are_named_once_and_used():
    rows = sources.read_csv(sources.DATA / "inputs.csv")
    assert len(rows) == len(claims.inputs)
    with pytest.raises(KeyError, match="data/inputs.csv"):
        claims.inputs["gpu_mtff"]


def test_tables_are_described():
    described = (sources.DATA / "README.md").read_text("utf8")
    for path in (sources.DATA / "tables").iterdir():
        assert f"`{path.name}`" in described


def test_llama_table_adds_up_to_its_sum():
    """419 unexpected interruptions, as the paper says in its text."""
    assert sum(int(row["count"]) for row in claims.table("llama3_interruptions")) == 419


# --- The rule


@pytest.mark.parametrize(("text", "values", "expected"), [
    ("2.1", 2.149, "reproduced"),
    ("2.1", 2.151, "imprecise"),
    ("562", 562.5, "reproduced"),  # a tie: both neighbours are right
    ("563", 562.5, "reproduced"),
    ("562", 562.51, "imprecise"),
    ("70", 72.0, "imprecise"),     # within five per cent
    ("70", 74.0, "refuted"),
    ("0.3", 0.384, "imprecise"),   # less than one unit of the last digit
    ("0.3", 0.4, "refuted"),
    ("2e6", 2.4e6, "reproduced"),  # one digit promises a million
    ("2e6", 2.6e6, "imprecise"),
    ("2.3e9", 1.38e11, "refuted"),
    ("50,000", 50000.4, "reproduced"),
    ("1/8000", 1 / 8000.4, "reproduced"),
    ("1/8000", 1 / 6250, "refuted"),
    ("<1", 0.99, "reproduced"),
    ("<1", 1.0, "refuted"),
    (">99.9", 99.95, "reproduced"),
    (">99.9", 99.9, "refuted"),
    ("33-38", (33.0, 37.5), "reproduced"),
    ("33-38", (33.3, 40.0), "refuted"),
    ("1", (0.6, 1.4), "reproduced"),
    ("1", (0.6, 1.6), "imprecise"),
    ("99.99 %", 99.994, "reproduced"),
])  # fmt: skip
def test_rule_for_numbers(text, values, expected):
    values = values if isinstance(values, tuple) else (values,)
    assert verdict(Outcome(Value(*values)), text) == expected


@pytest.mark.parametrize("text", ["", "several", "1 to 2", "-3", "2.", "1e", "< 1"])
def test_rule_refuses_what_is_no_number(text):
    with pytest.raises(ValueError):
        verdict(Outcome(Value(1.0)), text)


def test_rule_refuses_a_number_of_values_that_does_not_fit():
    with pytest.raises(ValueError, match="does not fit"):
        verdict(Outcome(Value(1.0)), "1-2")
    with pytest.raises(ValueError, match="does not fit"):
        verdict(Outcome(Value()), "1")


@pytest.mark.parametrize(("found", "expected"), [
    (Checks({"residual": sp.Integer(0), "truth": True}), "reproduced"),
    (Checks({"residual": sp.Symbol("x"), "truth": True}), "refuted"),
    (Checks({"residual": sp.Float(1e-300)}), "refuted"),
    (Checks({"symbolic truth": sp.true, "truth": np.bool_(True)}), "reproduced"),
    (Checks({"truth": sp.false}), "refuted"),
    (Checks({}), "refuted"),
    (Readings({"one": True, "other": True}), "reproduced"),
    (Readings({"one": True, "other": False}), "partly"),
    (Readings({"one": False, "other": False}), "refuted"),
    (Readings({"one": Value(1.4), "other": Value(1.6)}), "partly"),
    (Table((Cell("a", "1.0", 1.04), Cell("b", ">9", 10.0))), "reproduced"),
    (Table((Cell("a", "1.0", 1.04), Cell("b", "2.0", 2.06))), "imprecise"),
    (Table((Cell("a", "1.0", 1.04), Cell("b", "2.0", 3.0))), "partly"),
    (Table((Cell("a", "1.0", 3.0), Cell("b", "2.0", 3.0))), "refuted"),
    (External(), "external"),
])  # fmt: skip
def test_rule_for_other_evidence(found, expected):
    assert verdict(Outcome(found), "1") == expected


def test_each_verdict_occurs():
    assert {row["verdict"] for row in ROWS.values()} == set(claims.VERDICTS)


@pytest.mark.parametrize(("value", "as_printed", "shown"), [
    (2.10332, "2.1", "2.1"), (3.8512, "4", "3.85"), (32000.01, "533", "32,000"),
    (1.3824e11, "2.3e9", "1.38e11"),
    (2029983.6, "2e6", "2.03e6"), (0.0, "", "0"), (5172.4138, "5172.4", "5,172.41"), (-0.25, "", "-0.25"), (4665600.0, "", "4.67e6"),
])  # fmt: skip
def test_numbers_as_shown(value, as_printed, shown):
    assert printed.show(value, as_printed) == shown


# --- Mutations: a wrong number or a wrong function cannot keep its verdict


NUMERIC = [i for i, row in ROWS.items() if row["kind"] == "numeric" and row["verdict"] == "reproduced"]


@pytest.mark.parametrize("claim_id", NUMERIC)
def test_another_printed_number_is_not_reproduced(claim_id):
    moved = [end if end[0] in "<>" else _moved(end) for end in printed.ends(ROWS[claim_id]["printed"])]
    turned = [{"<": ">", ">": "<"}.get(end[0], "") + end.lstrip("<>") for end in moved]
    assert derived(claim_id, "-".join(turned)) != "reproduced"


def _moved(text):
    """The same number with two units added to its last digit."""
    mantissa, _, exponent = text.partition("e")
    unit = printed.last_digit(mantissa)
    decimals = len(mantissa.partition(".")[2])
    return f"{float(mantissa.replace(',', '')) + 2 * unit:.{decimals}f}" + (
        f"e{exponent}" if exponent else ""
    )


MUTANTS = [
    (failures, "cluster_mtbf", lambda v: 1.1 * v, "A-01"),
    (failures, "cluster_mtbf", lambda v: 1.1 * v, "B-11"),
    (failures, "series_mtbf", lambda v: 1.001 * v, "B-04"),
    (failures, "failure_probability", lambda v: 0.99 * v, "B-40"),
    (failures, "failure_probability", lambda v: 0.99 * v, "B-12"),
    (failures, "mttf_from_fit", lambda v: 1.1 * v, "B-13"),
    (failures, "mttf_interval", lambda v: tuple(2 * x for x in v), "A-50"),
    (failures, "spare_pool", lambda v: 1.1 * v, "A-33"),
    (failures, "spare_pool", lambda v: 0.5 * v, "A-35"),
    (failures, "spare_pool", lambda v: 4 * v, "A-35"),
    (intervals, "young", lambda v: 1.1 * v, "B-19"),
    (intervals, "young", lambda v: np.minimum(v, 1.0), "B-47"),
    (intervals, "optimal", lambda v: 100 * v, "B-15"),
    (overhead, "first_order_loss", lambda v: 1.1 * v, "A-08"),
    (overhead, "recovery_time", lambda v: 1.1 * v, "B-25"),
    (overhead, "recovery_time", lambda v: 1.1 * v, "B-23"),
    (overhead, "slowdown", lambda v: 1.1 * v, "A-47"),
    (overhead, "optimal_slowdown", lambda v: v**0.7, "A-11"),
    (overhead, "largest_useful_cluster", lambda v: 1e3, "B-31"),
    (replication, "expected_losses", lambda v: 60 * v, "A-18"),
    (replication, "expected_losses", lambda v: 60 * v, "A-19"),
    (replication, "copy_time", lambda v: 1.1 * v, "A-22"),
    (replication, "gpu_limit", lambda v: 1.1 * v, "A-23"),
    (replication, "compute_optimal_parameters", lambda v: 1.5 * v, "A-27"),
    (replication, "scaled_gpu_limit", lambda v: 100 * v, "A-31"),
    (availability, "stacked", lambda v: 0.99 * v, "B-33"),
    (availability, "downtime", lambda v: 0.995 * v, "B-34"),
    (availability, "nines", lambda v: 1.1 * v, "B-37"),
    (corruption, "decode", lambda v: 1.1 * v, "B-48"),
    (corruption, "flip_factor", lambda v: 1.1 * v, "B-49"),
]


@pytest.mark.parametrize(
    ("module", "name", "change", "claim_id"), MUTANTS, ids=lambda x: getattr(x, "__name__", x)
)
def test_a_wrong_function_changes_the_verdict(monkeypatch, module, name, change, claim_id):
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args, **options: change(right(*args, **options)))
    assert derived(claim_id) != ROWS[claim_id]["verdict"]


# --- Dimensions


def test_equations_that_fail_are_claims_and_refuted():
    failing = dimensions.failing()
    assert {equation.claim for equation in failing.values()} == {"A-28", "A-38", "A-48", "A-49"}
    assert all(ROWS[equation.claim]["verdict"] == "refuted" for equation in failing.values())
    assert not [
        name for name, equation in dimensions.EQUATIONS.items() if equation.claim and name not in failing
    ]


def test_every_section_with_equations_is_checked():
    checked = {equation.section for equation in dimensions.EQUATIONS.values()}
    assert checked == {"A2", "A3", "A4", "AA", "B1", "B2", "B3", "B4", "B6", "B7"}


def test_the_missing_time_repairs_the_formula():
    from lib.claims.dimensions import C_peak, N_gpu, N_param, mfu, per_square, t_train

    assert dimensions.same(N_param, sp.sqrt(N_gpu * C_peak * mfu * t_train / per_square))
    assert dimensions.same(dimensions.time_to_failure, 1 / (dimensions.g * dimensions.lam))


@pytest.mark.parametrize(
    "expression",
    [
        dimensions.t + dimensions.lam,
        sp.exp(dimensions.t),
        dimensions.g**dimensions.t,
        sp.LambertW(dimensions.c),
    ],
)
def test_inconsistent_expressions_are_refused(expression):
    with pytest.raises(dimensions.Inconsistent):
        dimensions.dimension_of(expression)
    assert not dimensions.same(expression, dimensions.t)


# --- Second routes to the numbers that matter most


def test_half_of_the_time_is_lost_at_the_closed_form():
    """Protected: e^u = 2, so that c/M = 2 log 2 - 1; exposed: u = 1/2, so that c/M = log 2 - 1/2."""
    facts = registry.evaluate("A-11")[0]
    assert facts.evidence.values[0] == pytest.approx(72 * (2 * math.log(2) - 1), rel=1e-9)
    assert facts.facts["exposed"] == pytest.approx(72 * (math.log(2) - 0.5), rel=1e-9)
    assert facts.facts["first_order"] == pytest.approx(36, rel=1e-9)


def test_trainings_per_loss_in_whole_numbers():
    p = Fraction(10, 8000 * 3600)
    two = 1 / (Fraction(60 * 86400, 10) * Fraction(1000, 2) * p**2)
    three = 1 / (Fraction(60 * 86400, 10) * Fraction(1000, 3) * p**3)
    assert claims.get("A-18").computed == pytest.approx(float(two), rel=1e-6)
    assert claims.get("A-19").computed == pytest.approx(float(three), rel=1e-6)
    assert (round(two / 60), round(three / 60, -8)) == (533, 2_300_000_000)


def test_growing_limit_by_iterating_its_condition():
    """Failures and copies meet where 50000 h/N is the time to send four copies of 12 bytes per parameter."""

    def gap(gpus):
        parameters = math.sqrt(gpus * 989e12 * 0.5 * 54 * 86400 / 120)
        return 50000 * 3600 / gpus - 48 * parameters / (50e9 * math.sqrt(gpus))

    limit = claims.get("A-30").computed
    assert gap(0.999 * limit) > 0 > gap(1.001 * limit)


def test_excess_of_young_to_fifty_digits():
    with mpmath.workdps(50):
        share = mpmath.mpf(1) / 10
        best = 1 + mpmath.lambertw(-mpmath.exp(-1 - share))
        excess = 100 * (mpmath.sqrt(2 * share) / best - 1)
    assert claims.get("B-46").computed == pytest.approx(float(excess.real), rel=1e-12)


def test_turning_point_is_a_minimum_of_the_wall_time():
    nodes = claims.get("B-31").computed / 8
    mtbf = 3600 / (8 / 50000 + 2 / 150000 + 2 / 100000)

    def wall(n):
        return overhead.slowdown(np.linspace(10, 150, 20001), 24.5, mtbf / n, 114.5).min() / n

    assert wall(nodes) < min(wall(0.97 * nodes), wall(1.03 * nodes))


def test_flips_counted_on_the_numbers_themselves():
    words = np.arange(2**16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        before, after = (w.view(np.float16).astype(float) for w in (words, words ^ np.uint16(1 << 14)))
        factor = np.abs(after / before)
    scaled = np.isfinite(before) & np.isfinite(after) & np.isin(factor, [2.0**16, 2.0**-16])
    assert f"{scaled.sum():,} of" in claims.get("B-49").computed_text


@pytest.mark.parametrize("seed", range(5))
def test_gradient_of_a_saturated_row_vanishes_in_other_heads_too(seed):
    """The row's share goes, and what remains is the clean gradient of the other rows: no more and no less."""
    rng = np.random.default_rng(seed)
    x, *weights = (rng.standard_normal((12, 12)) for _ in range(4))
    upstream = rng.standard_normal((12, 12))
    others = upstream.copy()
    others[4] = 0.0
    clean, struck = (
        corruption.attention(x, *weights, fault=fault)
        for fault in (None, corruption.Fault("q", 4, factor=2.0**16))
    )

    def w_q(forward, upstream):
        return corruption.attention_gradients(forward, upstream).w_q

    share = np.linalg.norm(w_q(struck, upstream - others))
    assert share < 1e-6 * np.linalg.norm(w_q(clean, upstream - others))
    np.testing.assert_allclose(w_q(struck, upstream), w_q(clean, others), rtol=0, atol=1e-9)


def test_a_square_root_that_starts_later_moves_the_limit_by_the_root_of_its_start():
    from lib.claims.document_a import growing_limit

    start, seconds = 16384, 54 * 86400
    gpus = growing_limit(0.5, seconds, start)
    parameters = math.sqrt(gpus * 989e12 * 0.5 * seconds / 120)
    bandwidth = 50e9 * start * math.sqrt(gpus / start)  # proportional up to the start, then the root
    assert 48 * parameters / bandwidth == pytest.approx(50000 * 3600 / gpus, rel=1e-12)
    assert growing_limit(1.0, seconds, start) == growing_limit(1.0, seconds)
    assert growing_limit(0.5, seconds) < 70e6 < gpus  # on either side of the document's threshold


def test_nodes_missing_while_the_pool_is_sized_for_one_day():
    """20 failures an hour: three days keep 1440 nodes out, of which 480 have a spare."""
    facts = registry.evaluate("A-35")[0].facts
    assert facts["nodes"] == pytest.approx(3 * 24 * 20 - 480)
    assert facts["missing"] == pytest.approx(100 * 960 / 125_000)
    assert 480 * (facts["longest_missing"] - 1) == pytest.approx(0.01 * 125_000)


def test_worst_error_of_the_program_is_not_exceeded_at_random_inputs():
    from lib.claims.appendix_a import program_interval

    lost = registry.evaluate("A-46")[0].facts["lost"]
    shares = 10 ** np.random.default_rng(11).uniform(math.log10(2.0**-54), -10, 20_000)
    errors = np.abs(program_interval(shares) / intervals.kernel(shares) - 1)
    assert 0.99 * lost < 100 * np.nanmax(errors) < 1.01 * lost


@pytest.mark.parametrize("group", [1, 16])
def test_elastic_overhead_to_first_order(group):
    """Capacity out, and per failure the pause and half a step."""
    from lib.claims.document_b import elastic_overhead

    node_h = 1 / (8 / 50000 + 2 / 150000 + 2 / 100000)
    out, failures_per_s = group * 24 / node_h, 1250 / node_h / 3600
    assert elastic_overhead(group) == pytest.approx(100 * (out + failures_per_s * (30 + 30 + 5)), rel=0.01)


def test_both_parts_of_the_leading_term_of_the_excess():
    """Attempts that fail again give tau^3/4M^2 and the early strike takes tau^3/12M^2 off, of tau^3/6M^2."""
    facts = registry.evaluate("B-60")[0].facts
    parts = [Fraction(1, 4) / Fraction(1, 6), Fraction(1, 12) / Fraction(1, 6)]
    assert [facts["again"], facts["early"]] == [100 * float(part) for part in parts]


def test_slips_that_are_counted_once_are_refuted_claims_of_one_document():
    for slip in claims.ONE_SLIP:
        assert len(slip) > 1 and len({claim_id[0] for claim_id in slip}) == 1
        assert all(ROWS[claim_id]["verdict"] == "refuted" for claim_id in slip)
    for document, count in claims.slips().items():
        assert 0 < count < claims.totals()[document]["refuted"]


def test_program_loses_its_digits_near_the_branch_point():
    from lib.claims.appendix_a import program_interval

    assert math.isnan(program_interval(1e-17))
    assert abs(program_interval(1e-12) / intervals.kernel(1e-12) - 1) > 1e-6
    assert abs(program_interval(1e-3) / intervals.kernel(1e-3) - 1) < 1e-9
