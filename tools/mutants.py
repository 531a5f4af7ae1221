"""Change lib by one operator, number or argument at a time, and list the changes that no test notices.

    python tools/mutants.py                           every mutant of the modules below
    python tools/mutants.py intervals overhead        of these modules
    python tools/mutants.py --sample 100 --seed 1     at most 100 of each module, drawn at random

mutmut changes function bodies and default values, not the constants of a module. Every mutant meets the
tests of its own module alone, tests/test_<module>.py, without doctests and without shrinking failed
examples. One that takes more than five times as long as these tests is a timeout and counts as noticed.
Everything happens in copies, _build/mutants/<module>, where `python -m mutmut browse` shows more.
tests/SURVIVING_MUTANTS.md explains the survivors.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "_build" / "mutants"
MODULES = ["failures", "intervals", "overhead", "replication", "availability", "floats", "corruption",
           "_exact", "_checks"]
# Prints the names that mutmut gives to the mutants of a module.
LISTING = """\
import json, pathlib
from mutmut.mutation.file_mutation import mutate_file_contents
path = pathlib.Path("lib/{module}.py")
print(json.dumps(mutate_file_contents(str(path), path.read_text()).mutant_names))
"""

CONFIGURATION = """\
[mutmut]
source_paths=lib
only_mutate=lib/{module}.py
pytest_add_cli_args_test_selection=tests/test_{test}.py
also_copy=
    pytest.ini
    conftest.py
timeout_multiplier=5
timeout_constant=5
use_git_change_detection=false
"""
# A failing example is enough; looking for the smallest one would take most of the time.
NO_SHRINKING = """\
from hypothesis import Phase, settings

settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate])
settings.load_profile("mutants")
"""


def prepare(module):
    """Make a copy of lib and its tests in which mutmut can work, and return its folder."""
    folder = WORK / module
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lib", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pytest.ini", folder)
    (folder / "conftest.py").write_text(NO_SHRINKING)
    (folder / "setup.cfg").write_text(CONFIGURATION.format(module=module, test=module.strip("_")))
    return folder


def mutmut(folder, *arguments):
    command = [sys.executable, "-m", "mutmut", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"error: {' '.join(command)} in {folder}\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
    return result.stdout


def draw(folder, module, size, seed):
    """Return the names of `size` mutants, or of all if there are fewer."""
    command = [sys.executable, "-c", LISTING.format(module=module)]
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    names = [f"lib.{module}.{name}" for name in json.loads(output)]
    return sorted(random.Random(f"{seed} {module}").sample(names, min(size, len(names))))


def outcomes(folder):
    """Return {mutant: killed, survived, timeout, ...} for every mutant that was run."""
    lines = mutmut(folder, "results", "--all", "true").splitlines()
    found = dict(line.strip().split(": ", 1) for line in lines if ": " in line)
    return {name: outcome for name, outcome in found.items() if outcome != "not checked"}


def change(folder, name):
    """Return the lines that the mutant takes away and puts in."""
    lines = mutmut(folder, "show", name).splitlines()
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--sample", type=int, help="mutants per module; all without it")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    total = Counter()
    for module in options.modules:
        folder = prepare(module)
        chosen = draw(folder, module, options.sample, options.seed) if options.sample else []
        mutmut(folder, "run", "--max-children", "2", *chosen)
        results = outcomes(folder)
        report(module, Counter(results.values()))
        total += Counter(results.values())
        for name, outcome in results.items():
            if outcome != "killed":
                print(f"  {outcome}: {name}", *change(folder, name), sep="\n    ", flush=True)
    report("all", total)


def report(name, counts):
    noticed = counts["killed"] + counts["timeout"]
    kinds = ", ".join(f"{number} {kind}" for kind, number in counts.most_common())
    share = noticed / counts.total()
    print(f"mutants: {name}: {share:.1%} of {counts.total()} noticed ({kinds})", flush=True)


if __name__ == "__main__":
    main()
