"""A downloaded chapter finds the library: from the clone's root, from its folder, and from beside the clone."""

import subprocess
import sys

import nbformat
import pytest

from tests.building import ROOT
from tests.test_notebooks import SOURCES


def first_cell(path):
    notebook = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
    return next(c.source for c in notebook.cells if c.cell_type == "code")


def test_every_chapter_begins_alike():
    assert len({first_cell(path) for path in SOURCES}) == 1


@pytest.mark.parametrize("where", ["clone", "clone/chapters/scaling", "."])
def test_the_first_cell_finds_the_clone(tmp_path, where):
    clone = tmp_path / "clone"
    (clone / "chapters" / "scaling").mkdir(parents=True)
    (clone / "lib").symlink_to(ROOT / "lib")
    (tmp_path / "other folder").mkdir()
    code = first_cell(SOURCES[0]) + "\nimport lib.intervals; print(lib.intervals.__name__)"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / where, text=True, capture_output=True)
    assert result.stdout.strip() == "lib.intervals", result.stderr
