"""Every public function documents its arguments with units, its errors, domain, theorem and sources."""

import doctest
import inspect
import re
from importlib import import_module

import pytest

from tests.building import ROOT
from tests.docstrings import SECTIONS, arguments, functions, sections, units

# The ledger, which is a program, has its own tests.
MODULES = ["failures", "intervals", "overhead", "two_levels", "replication", "availability", "floats",
           "corruption", "fitting", "simulate", "renewal"]
FUNCTIONS = [f for module in MODULES for f in functions(f"lib.{module}")]
NOTATION = ROOT / "chapters" / "reference" / "notation.md"

every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__name__}")


def names(function):
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_functions(module):
    assert [f for f in FUNCTIONS if f.__module__ == f"lib.{module}"]


@every_function
def test_starts_with_one_sentence(function):
    first, blank, *_ = inspect.getdoc(function).splitlines() + [""]
    assert re.fullmatch(r"[A-Z][^.]*\.", re.sub(r"\d\.\d", "", first)) and not blank


@every_function
def test_has_every_section_in_order(function):
    assert [title for title in sections(function) if title] == SECTIONS
    assert all(text.strip() for text in sections(function).values())


@every_function
def test_documents_the_arguments_of_its_signature(function):
    documented = arguments(sections(function)["Parameters"])
    assert [a.name for a in documented] == names(function)
    assert all(a.kind and a.text.strip() for a in documented)


@every_function
def test_every_argument_has_a_unit(function):
    documented = arguments(sections(function)["Parameters"])
    others = {a.name: set(names(function)) - {a.name} for a in documented}
    assert not [a.name for a in documented if not units(f"{a.kind}\n{a.text}", others[a.name])]


@every_function
def test_a_name_that_ends_in_a_unit_has_it(function):
    for argument in arguments(sections(function)["Parameters"]):
        if suffix := re.search(r"_(h|s)$", argument.name):
            assert f"[{suffix[1]}]" in argument.kind


@every_function
def test_every_result_has_a_unit(function):
    results = sections(function)["Returns"]
    assert arguments(results)
    assert units(results, names(function))


@every_function
def test_names_its_errors(function):
    raised = [a.name for a in arguments(sections(function)["Raises"])]
    assert raised and set(raised) <= {"TypeError", "ValueError", "RuntimeError", "FloatingPointError"}


@every_function
def test_names_its_theorem(function):
    assert re.search(r"\bTheorems? D-\d\d\b", sections(function)["Notes"])


@every_function
def test_has_an_example_that_prints_something(function):
    examples = doctest.DocTestParser().get_examples(sections(function)["Examples"])
    assert any(example.want for example in examples)


@every_function
def test_cites_a_source_that_can_be_found(function):
    references = sections(function)["References"]
    assert re.search(r"\bdoi:10\.\d{4,}/\S|\barXiv:\d{4}\.\d{4,5}\b|https://\S", references)


@every_function
def test_arguments_are_on_the_notation_page(function):
    text = NOTATION.read_text("utf8")
    assert not [name for name in names(function) if f"`{name}`" not in text]


#: A letter that stands for something, as it is written in running text.
SYMBOL = r"(?<![\w\[('])(?:[B-Zb-z]|alpha|beta|delta|lambda|rho|tau|theta)(?:_\w+)?(?![\w^])"
#: Letters that name something else in the text of these arguments: the edges of bins, one level's write.
OTHERWISE = {("counts", "b_i"), ("write_times", "delta_1")}


def symbols():
    """Symbols of the notation page, and the Python names of each."""
    rows = re.findall(r"^\| (\$[^|]+\$) \| [^|]* \| ([^|]*) \|", NOTATION.read_text("utf8"), flags=re.M)
    named = {}
    for cell, python in rows:
        for symbol in re.findall(r"\$\\?([^$]+)\$", cell):
            named.setdefault(symbol, set()).update(re.findall(r"`(\w+)`", python))
    return named


def test_symbols_are_read():
    named = symbols()
    assert named["tau"] == {"interval"} and named["delta_2"] == {"storage_write"} and "shape" in named["k"]
    assert re.findall(SYMBOL, "State S of one GPU's cards, at a rate lambda_node") == ["S", "lambda_node"]


@every_function
def test_a_symbol_of_the_notation_page_means_the_same_here(function):
    named = symbols()
    for argument in arguments(sections(function)["Parameters"]):
        for symbol in re.findall(SYMBOL, re.split("[,;:.]", argument.text.strip())[0]):
            if (argument.name, symbol) not in OTHERWISE:
                assert argument.name in (named.get(symbol) or {argument.name}), (argument.name, symbol)


# --- what the library page makes of a docstring


def documented():
    """The modules, their public functions and their public classes."""
    for name in MODULES:
        module = import_module(f"lib.{name}")
        yield module
        yield from (member for key, member in vars(module).items()
                    if getattr(member, "__module__", "") == module.__name__ and key[0] != "_" and member.__doc__)


every_docstring = pytest.mark.parametrize("thing", [*documented()],
                                          ids=lambda t: getattr(t, "__qualname__", t.__name__))


@every_docstring
def test_docstring_is_wrapped(thing):
    assert not [line for line in thing.__doc__.splitlines() if len(line) > 110]


@every_docstring
def test_docstring_is_read_as_it_is_meant(thing):
    """Attributes stand one by one, for "a, b" would be b of the type a; "A. Name" would begin a list."""
    _, *parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(thing), flags=re.M)
    attributes = dict(zip(parts[::2], parts[1::2])).get("Attributes", "")
    assert not re.findall(r"^\S.*, .* : ", attributes, flags=re.M)
    assert not re.findall(r"^ *[A-Za-z]\. ", inspect.getdoc(thing), flags=re.M)


# --- the reader of docstrings itself


def sample(mtbf, write_time, *, bit=0):
    """Return nothing.

    Parameters
    ----------
    mtbf : float, any time unit
        Mean time.
    write_time : float, time unit of `mtbf`
        A write,
        over two lines.

        And a paragraph.
    bit : int, [dimensionless]
        A bit [of a word].

    Returns
    -------
    low, high : float, [h]
        Two.
    """


def test_sections_and_arguments_are_read():
    assert list(sections(sample)) == ["", "Parameters", "Returns"]
    read = arguments(sections(sample)["Parameters"])
    assert [a.name for a in read] == ["mtbf", "write_time", "bit"]
    assert "And a paragraph" in read[1].text and "bit" not in read[1].text
    assert [(a.name, a.kind) for a in arguments(sections(sample)["Returns"])] == [
        ("low", "float, [h]"), ("high", "float, [h]")]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("float, [h]", ["h"]),
        ("float, time unit of `mtbf`", ["time unit of `mtbf`"]),
        ("float, per time unit of `mtbf`", ["time unit of `mtbf`", "per time unit of `mtbf`"]),
        ("float, any time unit", ["any time unit"]),
        ("float, [furlong]", []),
        ("float, hours", []),
        ("float, time unit of `speed`", []),
        ("float, unit of `mtbf`", ["unit of `mtbf`"]),
        ("in [0, 1] of [bytes/s]", ["bytes/s"]),
    ],
)
def test_only_known_units_count(text, expected):
    assert units(text, ["mtbf"]) == expected
