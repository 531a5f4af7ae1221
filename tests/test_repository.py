"""The files around the report: citation, lock, licences, and that the repository stands alone."""

import re
import subprocess

import pytest
import yaml

from tests.building import ROOT


def test_citation_has_what_the_format_requires():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"] and citation["title"] and citation["authors"]
    for entry in [citation, *citation["references"]]:
        assert all({"name"} <= set(a) or {"family-names", "given-names"} <= set(a) for a in entry["authors"])
        assert entry["type"] in {"software", "generic", "book", "article"}


def test_every_direct_dependency_has_its_reason():
    lines = (ROOT / "requirements.in").read_text("utf8").splitlines()
    required = [line for line in lines if line.strip() and not line.startswith("#")]
    assert all("#" in line and line.split("#")[1].strip() for line in required)


def test_every_locked_package_has_a_hash_and_covers_the_direct_ones():
    lock = (ROOT / "requirements.txt").read_text("utf8")
    entries = re.split(r"\n(?=[a-z0-9])", "\n" + lock)[1:]
    packages = {re.split(r"[=\[]", e)[0]: e for e in entries if "==" in e}
    assert all("--hash=sha256:" in entry for entry in packages.values())
    direct = [re.split(r"[<=>\s#]", line)[0] for line in (ROOT / "requirements.in").read_text("utf8").splitlines()]
    assert {d for d in direct if d} <= set(packages)


def test_every_line_of_the_configuration_says_what_it_does():
    lines = (ROOT / "_config.yml").read_text("utf8").splitlines()
    grouping = re.compile(r"^\s*[\w-]+:\s*(#.*)?$")
    for line in lines:
        if line.strip() and not grouping.match(line) and not line.lstrip().startswith("#"):
            assert re.search(r"#\s*\S+", line), f"no comment: {line}"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_the_repository_stands_alone():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    outside = ".." + "/shared"
    found = [n for n in names if not n.endswith((".png", ".svg", ".ico"))
             and outside in (ROOT / n).read_text("utf8", errors="replace")]
    assert not found
