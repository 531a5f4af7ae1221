"""Each stored notebook has exactly the cells of its reviewed Markdown, and has been run from top to bottom."""

import ast
import statistics
from pathlib import Path

import jupytext
import nbformat
import pytest

CHAPTERS = Path(__file__).parents[1] / "chapters"
NOTEBOOKS = sorted(p for p in CHAPTERS.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
SOURCES = sorted(p for p in CHAPTERS.rglob("*.md") if "\nkernelspec:" in p.read_text("utf8")[:600])
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
WIDEST = 84  # characters that fit into the column of the text in a window of 1280 pixels


def name(path):
    return path.relative_to(CHAPTERS).with_suffix("").as_posix()


def cells(notebook):
    return [(c.cell_type, c.source, dict(c.metadata)) for c in notebook.cells]


@pytest.fixture(params=SOURCES, ids=name)
def source(request):
    return request.param


def code_cells(path):
    return [c for c in nbformat.read(path.with_suffix(".ipynb"), as_version=4).cells if c.cell_type == "code"]


def test_there_are_chapters():
    assert SOURCES


def test_every_notebook_has_its_source():
    assert {name(p) for p in NOTEBOOKS} == {name(p) for p in SOURCES}


def test_pair_has_the_same_cells(source):
    stored = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert cells(stored) == cells(jupytext.read(source)), "run `make refresh`: the notebook is not that of the .md"


def test_every_cell_was_run_in_order(source):
    counts = [c.execution_count for c in code_cells(source)]
    assert counts == list(range(1, len(counts) + 1)), "run `make refresh`: a code cell has not been run"


def test_the_notebook_shows_something(source):
    assert any(c.outputs for c in code_cells(source)), "no stored output: nbval would pass whatever it printed"


def test_no_cell_failed(source):
    assert not [o for c in code_cells(source) for o in c.outputs if o.output_type == "error"]


def test_cells_are_short(source):
    lengths = [len(c.source.strip().splitlines()) for c in code_cells(source)[1:]]  # the first finds the clone
    assert max(lengths) <= 25
    assert statistics.median(lengths) <= 8


def test_nothing_visible_scrolls_sideways(source):
    """Neither code that is shown nor what it prints."""
    lines = []
    for cell in code_cells(source):
        tags = set(cell.metadata.get("tags", []))
        lines += [] if tags & FOLDED else cell.source.splitlines()
        if not tags & {"remove-cell", "remove-output"}:
            lines += [line for o in cell.outputs for line in o.get("text", "").splitlines()]
    assert not [line for line in lines if len(line) > WIDEST]


def test_long_functions_belong_to_lib(source):
    for cell in code_cells(source):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 8, f"{node.name} belongs to lib"
