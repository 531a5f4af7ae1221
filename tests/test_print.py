"""The report for print, as far as it goes without a TeX installation: the source that `make pdf` typesets."""

import re

import pytest
import yaml

from lib.book import records
from tests.building import ROOT, build

pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def latex(tmp_path_factory):
    out = tmp_path_factory.mktemp("print")
    result = build(out, builder=["--builder", "custom", "--custom-builder", "latex"])
    assert result.returncode == 0, result.stdout[-3000:]
    return out / "_build" / "latex"


@pytest.fixture(scope="module")
def source(latex):
    return (latex / "failures-and-checkpoints.tex").read_text("utf8")


def test_every_page_of_the_table_of_contents_is_in_it(source):
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))["parts"]
    for page in (chapter["file"] for part in parts for chapter in part["chapters"]):
        page = page.removesuffix(".ipynb").removesuffix(".md")
        assert re.search(rf"\\chapter{{.*}}\n\\label{{\\detokenize{{{page}:", source), page


def test_every_theorem_has_a_number_and_a_label(source):
    assert not re.search(r"Theorem +\(", source)
    for found in records.gather(ROOT / "chapters"):
        assert f"\\label{{{found['chapter']}:thm-{found['id'].lower()}}}" in source, found["id"]


def test_every_reference_has_its_target(source):
    labels = set(re.findall(r"\\label{(?:\\detokenize{)?([^{}]+)}", source))
    targets = set(re.findall(r"\\(?:ref|hyperref\[)(?:{|\\detokenize{)([^{}]+)}", source))
    assert len(targets) > 100 and targets <= labels, targets - labels


def test_charts_are_vector_graphics(latex, source):
    pictures = re.findall(r"\\sphinxincludegraphics(?:\[[^]]*\])?{{([^{}]+)}(\.\w+)}", source)
    charts = sum(path.read_text("utf8").count(r'class=\"book-chart\"') for path in ROOT.glob("chapters/**/*.ipynb"))
    assert len(pictures) == charts > 0
    for stem, suffix in pictures:
        assert suffix == ".pdf" and (latex / (stem + suffix)).read_bytes().startswith(b"%PDF"), stem


def test_the_run_page_names_the_packages_that_the_makefile_asks_for():
    packages = re.search("^TEX := (.+)$", (ROOT / "Makefile").read_text("utf8"), re.M)[1]
    assert f"apt install {packages}" in (ROOT / "chapters" / "reference" / "run.md").read_text("utf8")
