"""No chapter types a number that the ledger holds: prose shows it through the claim role."""

import re

import jupytext
import pytest

from lib import claims
from tests.building import ROOT

CHAPTERS = sorted((ROOT / "chapters").rglob("*.md"))
UNITS = {"percentage points of MFU": "percentage points", "million GPUs": "million"}


def patterns():
    """Yield the claim's id and the way its printed number would look in prose, with its unit where it is short."""
    for claim in claims.load():
        if not re.fullmatch(r"[<>]?[\d.,]+(e\d+)?", claim.printed):
            continue
        number = re.escape(claim.printed.lstrip("<>"))
        unit = re.escape(UNITS.get(claim.unit, claim.unit))
        distinctive = len(re.sub(r"\D", "", claim.printed)) >= 3
        if not (unit or distinctive):
            continue  # a bare small number is any number
        yield claim.id, rf"(?<![\w.,]){number}" + (r"(?![\d.,]*\d)" if distinctive else rf"\s?{unit}(?!\w)")


def prose(path):
    """Return a chapter's text without code cells, roles, equations and fenced directives' options."""
    notebook = jupytext.read(path, fmt="md:myst")
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    text = re.sub(r"\{[\w:]+\}`[^`]*`", "", text)
    text = re.sub(r"^\d+\. ", "", text, flags=re.M)
    text = re.sub(r"```\{math\}.*?```|\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`", "", text, flags=re.S)
    return text


def typed_numbers(text):
    return [(claim, match[0]) for claim, pattern in patterns() for match in re.finditer(pattern, text)]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.relative_to(ROOT / "chapters").as_posix())
def test_no_claimed_number_is_typed(path):
    assert not typed_numbers(prose(path))


def test_the_search_finds_a_typed_number():
    assert typed_numbers("the interval is 14.2 min") and typed_numbers("562 million GPUs") and typed_numbers("a loss of 2.1 %")
    assert not typed_numbers("three copies and 17 pages")
