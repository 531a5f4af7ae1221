"""Execute chapters and store their outputs: chapters/X.md becomes chapters/X.ipynb.

    python tools/refresh.py             what changed since it was last refreshed here
    python tools/refresh.py --all       everything
    python tools/refresh.py PATH.md ... these

The stored notebooks are what nbval compares and what the site is built from. Cell ids are derived from the
chapter and the position, and no timings are kept, so the same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ROOT / "chapters"
STATE = ROOT / "_build" / "refreshed.json"
TIMEOUT = 300  # seconds for one cell; a chapter is meant to stay under 30 s


def sources():
    """Return the Markdown files that are notebooks: those with a kernel in their header."""
    return [p for p in sorted(CHAPTERS.rglob("*.md")) if "\nkernelspec:" in p.read_text("utf8")[:600]]


def fingerprint(md):
    """Return a hash of everything that a chapter's outputs depend on in this repository."""
    digest = hashlib.sha256()
    inputs = [p for folder in ("lib", "data") for p in sorted((ROOT / folder).rglob("*")) if p.is_file()]
    for path in [md, ROOT / "requirements.txt", *inputs]:
        if "__pycache__" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def refresh(md):
    """Execute one chapter and write its notebook."""
    book = jupytext.read(md)
    for position, cell in enumerate(book.cells):
        cell.id = hashlib.sha256(f"{md.stem}-{position}".encode()).hexdigest()[:8]
    client = NotebookClient(book, timeout=TIMEOUT, record_timing=False, coalesce_streams=True,
                            resources={"metadata": {"path": str(md.parent)}})
    client.execute()
    book.metadata = {"kernelspec": book.metadata["kernelspec"], "language_info": {"name": "python"}}
    nbformat.write(book, md.with_suffix(".ipynb"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    chosen = [p.resolve() for p in options.paths] or sources()
    marks = {md: fingerprint(md) for md in chosen}
    if not (options.all or options.paths):
        chosen = [md for md in chosen
                  if state.get(str(md)) != marks[md] or not md.with_suffix(".ipynb").exists()]
    failed = execute(chosen, marks, state)
    STATE.parent.mkdir(exist_ok=True)
    STATE.write_text(json.dumps(state, indent=1, sort_keys=True))
    if failed:
        sys.exit(f"error: {len(failed)} of {len(chosen)} chapters did not run: {', '.join(failed)}")
    print(f"refresh: {len(chosen)} chapters executed, the others were up to date" if chosen
          else "refresh: every chapter was up to date")


def execute(chosen, marks, state):
    failed = []

    def run(md):
        name = md.relative_to(CHAPTERS)
        try:
            refresh(md)
            state[str(md)] = marks[md]
            print(f"refresh: {name}", flush=True)
        except CellExecutionError as error:
            failed.append(str(name))
            print(f"refresh: {name} FAILED\n{error}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, chosen))
    return failed


if __name__ == "__main__":
    main()
