"""`make check` says what differs: chapter, cell, stored and new lines, and the claims whose value or verdict changed."""

import json
import re
import sys

import pytest

from tests.building import capture, replace, scratch
from tools import check, differences


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What it says of one chapter where Young's formula gives 0.1 % too much."""
    copy = scratch(tmp_path_factory.mktemp("changed"))
    replace(copy / "lib/intervals.py", "return plain(np.where(np.isinf(m), np.inf, tau))",
            "return plain(1.001 * np.where(np.isinf(m), np.inf, tau))")
    return capture([sys.executable, "tools/check.py", "scaling/background", "scaling/introduction"], copy)


def test_what_matches_and_what_differs_is_told_by_chapter(told):
    assert told.returncode == 1
    assert re.search(r"scaling/introduction: \d+ cells, your numbers match ours", told.stdout)
    assert "check: some numbers differ from ours" in told.stdout


def test_each_cell_shows_stored_and_new_lines(told):
    shown = told.stdout.split("scaling/background: ")[1].splitlines()
    assert re.fullmatch(r"\d+ cells, \d+ differ", shown[0]) and re.match(r"    cell \[\d+\] \w+", shown[1])
    place = next(i for i, line in enumerate(shown) if line.startswith("      stored: MTBF 3.052 h"))
    assert "interval 231.1 s" in shown[place] and "interval 231.3 s" in shown[place + 1]
    assert shown[place + 1].startswith("      new:    MTBF 3.052 h")
    assert not any(sign in told.stdout for sign in ("#x1B", "\x1b", "Traceback"))


def test_claims_show_stored_and_new_value_and_verdict(told):
    assert "    A-07 value: stored 3.85 min, new 3.86 min\n" in told.stdout
    assert "    B-19 verdict: stored reproduced, new imprecise\n" in told.stdout


def test_every_claim_of_this_ledger_matches_what_is_stored():
    number, wrong = check.claims()
    assert set(check.stored_values()) >= {"A-07", "B-19"} and number == len(check.stored_values())
    assert wrong == {}


def output(**forms):
    return {"output_type": "execute_result", "data": {name.replace("_", "/"): form for name, form in forms.items()}}


def test_lines_are_paired_and_missing_ones_named():
    assert differences.compare(["a", "b 1", "c"], ["a", "b 2", "c"]) == [("b 1", "b 2")]
    assert differences.compare(["a", "c"], ["a", "b", "c"]) == [(None, "b")]
    assert differences.compare(["a", "b"], []) == [("a", None), ("b", None)]


def test_long_lines_are_cut_to_where_they_differ():
    (stored, new), = differences.compare(["x" * 500 + "1" + "y" * 500], ["x" * 500 + "2" + "y" * 500])
    assert "x1y" in stored and "x2y" in new and len(stored) == len(new) == differences.WIDTH + 2


def test_numbers_of_charts_have_their_place_whatever_the_order_of_keys():
    chart = {"data": {"values": [{"x": 1, "y": 2.5}]}, "mark": "line"}
    turned = json.loads('{"mark": "line", "data": {"values": [{"y": 2.5, "x": 1}]}}')
    found = differences.lines([output(text_plain="chart", text_html="<p>long</p>", application_json=chart)])
    assert found == ["chart", "data.values.0.x: 1", "data.values.0.y: 2.5", "mark: line"]
    assert found == differences.lines([output(text_plain="chart", application_json=turned)])


def test_errors_and_streams_have_no_escape_codes():
    outputs = [{"output_type": "stream", "text": "one\ntwo\n"},
               {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[91mno\x1b[0m"}]
    assert differences.lines(outputs) == ["one", "two", "ValueError: no"]
