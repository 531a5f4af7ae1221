"""What differs between a cell's stored outputs and those computed here, in lines that a reader can compare.

`check.py` gives this file to pytest as a plugin: it adds to the report of each cell that nbval refuses what
differs there. nbval alone decides whether something does.
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher

WIDTH = 110  # characters of a line that are shown, around the first that differs
CODES = re.compile(r"\x1b\[[0-9;]*m")


def pytest_runtest_makereport(item, call):
    """Note the number and the first line of a cell that failed, and its differences."""
    if call.excinfo is None or not hasattr(item, "cell"):
        return
    found = compare(lines(item.cell.outputs), lines(item.test_outputs or []))
    note = {"cell": item.cell.execution_count, "source": item.cell.source.strip().split("\n")[0],
            "fault": CODES.sub("", str(call.excinfo.value)), "lines": found}
    item.user_properties.append(("difference", json.dumps(note)))


def lines(outputs):
    """Return outputs of a cell as lines of text: streams and texts, numbers of charts and records, HTML last."""
    return [line for output in outputs for line in _lines(output)]


def _lines(output):
    if output["output_type"] == "stream":
        return output["text"].splitlines()
    if output["output_type"] == "error":
        return [CODES.sub("", f"{output['ename']}: {output['evalue']}")]
    name = output.get("metadata", {}).get("scrapbook", {}).get("name")
    found, forms = [], output.get("data", {})
    for kind, content in sorted(forms.items(), key=lambda form: ("json" in form[0], form[0])):
        if kind.endswith("text/plain"):
            found += [f"{name}: {line}" if name else line for line in content.splitlines()]
        elif "json" in kind:
            found += [f"{path}: {value}" for path, value in _leaves(content)]
        elif kind == "text/html" and not any("json" in other for other in forms):
            found += [" ".join(re.sub("<[^>]+>", " ", line).split()) for line in content.splitlines()]
    return found


def _leaves(content, path=""):
    """Yield each number and text of a structure with its place, such as data.values.3.x."""
    if isinstance(content, dict | list):
        pairs = sorted(content.items()) if isinstance(content, dict) else enumerate(content)
        for name, each in pairs:
            yield from _leaves(each, f"{path}.{name}".lstrip("."))
    else:
        yield path, content


def compare(stored, new):
    """Return pairs of differing lines, stored and new, None where one side has no such line."""
    if len(stored) == len(new):
        return [_around(a, b) for a, b in zip(stored, new) if a != b]
    found = []
    for what, i, j, k, m in SequenceMatcher(None, stored, new, autojunk=False).get_opcodes():
        if what != "equal":
            old, now = stored[i:j], new[k:m]
            missing = max(len(old), len(now))
            found += map(_around, old + [None] * (missing - len(old)), now + [None] * (missing - len(now)))
    return found


def _around(stored, new):
    """Cut two long lines to the part where they begin to differ."""
    if stored is None or new is None:
        return tuple(line and _cut(line, 0) for line in (stored, new))
    same = next((i for i, (a, b) in enumerate(zip(stored, new)) if a != b), min(len(stored), len(new)))
    return _cut(stored, same), _cut(new, same)


def _cut(line, place):
    start = max(0, min(place - WIDTH // 3, len(line) - WIDTH))
    return ("…" if start else "") + line[start:start + WIDTH] + ("…" if start + WIDTH < len(line) else "")
