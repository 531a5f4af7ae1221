"""What must turn the build red does: each fault is made on a scratch copy, and the check that `make book` runs fails."""

import nbformat
import pytest

from tests.building import build, replace, run, scratch

CHAPTER = "chapters/scaling/background"


@pytest.fixture
def copy(tmp_path):
    return scratch(tmp_path)


def pair_check(copy):
    return run("pytest", "-q", "tests/test_notebooks.py", "-k", "background", cwd=copy)


def compare_outputs(copy):
    return run("pytest", "-q", "--nbval", f"{CHAPTER}.ipynb", cwd=copy)


def test_an_untouched_copy_is_green(copy):
    assert pair_check(copy).returncode == 0
    result = compare_outputs(copy)
    assert result.returncode == 0, result.stdout[-3000:]


def test_a_notebook_without_outputs_is_red(copy):
    path = copy / f"{CHAPTER}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, path)
    result = pair_check(copy)
    assert result.returncode == 1 and "a code cell has not been run" in result.stdout


def test_a_drifted_pair_is_red(copy):
    replace(copy / f"{CHAPTER}.md", "## How often something fails", "## How often a GPU fails")
    result = pair_check(copy)
    assert result.returncode == 1 and "the notebook is not that of the .md" in result.stdout


@pytest.mark.parametrize(("file", "old", "new"), [
    ("lib/intervals.py", "np.sqrt(2.0)", "np.sqrt(2.1)"),
    ("data/inputs.csv", ",50000,", ",50001,"),
])
def test_a_changed_number_is_red(copy, file, old, new):
    replace(copy / file, old, new)
    result = compare_outputs(copy)
    assert result.returncode == 1 and "Cell outputs differ" in result.stdout


@pytest.mark.xdist_group("site")
def test_a_broken_reference_is_red(copy, tmp_path):
    notation = copy / "chapters/reference/notation.md"
    notation.write_text(notation.read_text("utf8") + "\nSee {ref}`a-page-that-is-not-there`.\n", "utf8")
    result = build(tmp_path / "out", cwd=copy)
    assert result.returncode != 0
    assert "undefined label: 'a-page-that-is-not-there'" in result.stdout


@pytest.mark.xdist_group("site")
def test_an_unknown_claim_is_red(copy, tmp_path):
    notation = copy / "chapters/reference/notation.md"
    notation.write_text(notation.read_text("utf8") + "\nSee {claim}`Z-99`.\n", "utf8")
    result = build(tmp_path / "out", cwd=copy)
    assert result.returncode != 0
    assert "Z-99" in result.stdout
