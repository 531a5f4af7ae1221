"""Re-execute every chapter and compute every claim here, and say whether the numbers match the stored ones.

    python tools/check.py                    everything
    python tools/check.py scaling/spares     these chapters

Where they do not, each line says what is stored and what is new.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections import defaultdict
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
SHOWN = 3  # differing lines shown of each cell


def chapters(names):
    """Compare the outputs of these chapters, or of all, by nbval; return {chapter: [cells, what differs]}."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        notebooks = [f"chapters/{name}.ipynb" for name in names] or ["chapters"]
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "tools.differences", "--nbval", "--dist", "loadfile",
                        "-n", "2", *notebooks, f"--junitxml={report}"], cwd=ROOT, stdout=subprocess.DEVNULL)
        found = defaultdict(lambda: [0, []])
        for case in xml.parse(report).iter("testcase"):
            name = case.get("classname").replace(".", "/").removesuffix("/ipynb").removeprefix("chapters/")
            found[name][0] += 1
            if case.find("failure") is not None or case.find("error") is not None:
                found[name][1].append(_difference(case))
    return dict(sorted(found.items()))


def _difference(case):
    """Return what the plugin noted of a cell, or pytest's own words where it noted nothing."""
    for noted in case.iter("property"):
        if noted.get("name") == "difference":
            return json.loads(noted.get("value"))
    fault = next(case.iter("failure"), next(case.iter("error"), None))
    return {"cell": None, "source": "", "fault": (fault.get("message") or "").splitlines()[0], "lines": []}


def claims():
    """Return all claims, and of those that differ the lines of each: computed value and verdict, stored and new."""
    from lib.claims import load

    found, before = {}, stored_values()
    for claim in load():
        pairs = [("value", before.get(claim.id), claim.computed_text), ("verdict", claim.verdict, claim.derived)]
        if differing := [pair for pair in pairs if pair[1] != pair[2]]:
            found[claim.id] = differing
    return len(load()), found


def stored_values():
    """Return the computed value of each claim as the audit chapter stores it."""
    audit = json.loads((ROOT / "chapters" / "reference" / "audit.ipynb").read_text("utf8"))
    outputs = [output.get("data", {}) for cell in audit["cells"] for output in cell.get("outputs", [])]
    html = "".join(line for data in outputs for line in data.get("text/html", []))
    rows = re.findall(r'<tr id="claim-([^"]+)".*?<td data-label="computed">(.*?)</td>', html)
    return {name.upper(): unescape(value) for name, value in rows}


def show(difference):
    print(f"    cell [{difference['cell']}] {difference['source'][:80]}")
    if not difference["lines"]:
        print(f"      {difference['fault']}")
    for pair in difference["lines"][:SHOWN]:
        for what, line in zip(("stored:", "new:   "), pair):
            print(f"      {what} {'(no such line)' if line is None else line}")
    if len(difference["lines"]) > SHOWN:
        print(f"      and {len(difference['lines']) - SHOWN} more lines")


def main(names):
    print("check: re-executing the chapters, all together this takes some minutes", flush=True)
    different = 0
    for name, (cells, faults) in chapters(names).items():
        different += len(faults)
        print(f"  {name}: {cells} cells, " + ("your numbers match ours" if not faults else f"{len(faults)} differ"))
        for fault in faults:
            show(fault)
    number, wrong = claims()
    print(f"  claims: {number - len(wrong)} of {number} match ours")
    for name, pairs in wrong.items():
        for what, stored, new in pairs:
            print(f"    {name} {what}: stored {stored}, new {new}")
    if different or wrong:
        sys.exit("check: some numbers differ from ours; the lines above say which")
    print("check: your numbers match ours")


if __name__ == "__main__":
    main(sys.argv[1:])
