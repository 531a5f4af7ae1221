"""How much longer `make book` takes than executing its notebooks, as a ratio within one run.

The notebooks are executed as the build does it: two at a time, each in a fresh kernel.
"""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from refresh import sources  # noqa: E402


def execute(md):
    NotebookClient(jupytext.read(md), timeout=300, resources={"metadata": {"path": str(md.parent)}}).execute()


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def all_notebooks():
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(execute, sources()))


def main():
    subprocess.run(["make", "env"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    executing = timed(all_notebooks)
    book = timed(lambda: subprocess.run(["make", "book"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL))
    print(f"{len(sources())} notebooks: make book takes {book / executing:.2f} times as long as executing them")


if __name__ == "__main__":
    main()
