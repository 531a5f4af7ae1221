"""Every chart says its numbers: in its alternative text, and in a table under it."""

import re
from html import unescape

import nbformat
import pytest

from tests.test_notebooks import NOTEBOOKS, name


def charts(path):
    """Return the HTML of the charts stored in a notebook."""
    outputs = [o for cell in nbformat.read(path, as_version=4).cells for o in cell.get("outputs", [])]
    return [h for h in (o.get("data", {}).get("text/html", "") for o in outputs) if 'class="book-chart"' in h]


def label(html):
    return unescape(re.search(r'aria-label="([^"]*)"', html)[1])


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if charts(p)], ids=name)
def test_charts_say_their_numbers_in_words(path):
    assert not [label(html) for html in charts(path) if not re.search(r"\d", label(html))]


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if charts(p)], ids=name)
def test_charts_have_a_table_of_their_numbers(path):
    assert not [label(html) for html in charts(path) if html.count("<tr><td>") < 2]


def test_there_are_charts():
    assert sum(len(charts(p)) for p in NOTEBOOKS) >= 20
