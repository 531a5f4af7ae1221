"""Re-execute every chapter and compute every claim here, and say whether the numbers match the stored ones.

    python tools/check.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def chapters():
    """Compare each chapter's outputs by nbval; return {chapter: [cells, what differs]}."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        subprocess.run([sys.executable, "-m", "pytest", "-q", "--nbval", "--dist", "loadfile", "-n", "2", "chapters",
                        f"--junitxml={report}"], cwd=ROOT, stdout=subprocess.DEVNULL)
        found = defaultdict(lambda: [0, []])
        for case in xml.parse(report).iter("testcase"):
            name = case.get("classname").replace(".", "/").removesuffix("/ipynb").removeprefix("chapters/")
            found[name][0] += 1
            found[name][1] += [f.get("message") or f.text or "" for f in (*case.iter("failure"), *case.iter("error"))]
    return dict(sorted(found.items()))


def claims():
    """Return the ids of all claims, and of those whose verdict computed here is not the stored one."""
    from lib.claims import load

    rows = load()
    return [c.id for c in rows], [c.id for c in rows if c.derived != c.verdict]


def main():
    print("check: re-executing every chapter, this takes some minutes", flush=True)
    different = 0
    for name, (cells, faults) in chapters().items():
        different += len(faults)
        print(f"  {name}: {cells} cells, " + ("your numbers match ours" if not faults else f"{len(faults)} differ"))
        for fault in faults:
            print("    " + " ".join(fault.split())[:300])
    ids, wrong = claims()
    print(f"  claims: {len(ids) - len(wrong)} of {len(ids)} verdicts match ours" + "".join(f", not {i}" for i in wrong))
    if different or wrong:
        sys.exit("check: some numbers differ from ours; the lines above say where")
    print("check: your numbers match ours")


if __name__ == "__main__":
    main()
