"""Print the ledger as a table, with totals and the check of dimensions: ``python -m lib.claims``."""

from __future__ import annotations

import shutil
import sys
import textwrap

from lib.claims import VERDICTS, dimensions, load, totals

COLUMNS = {"id": 5, "section": 7, "printed": 26, "computed": 30, "verdict": 10}


def main():
    claims = load()
    print(_line({name: name for name in COLUMNS}))
    for claim in claims:
        print(
            _line(
                {
                    "id": claim.id,
                    "section": claim.section,
                    "printed": claim.printed_text,
                    "computed": claim.computed_text,
                    "verdict": claim.verdict,
                }
            )
        )
        if claim.verdict != "reproduced":
            print(_indented(claim.explanation))
    print()
    print(_totals())
    failing = dimensions.failing()
    named = ", ".join(f"{name} ({equation.claim})" for name, equation in failing.items())
    print(f"\n{len(dimensions.EQUATIONS)} equations checked for dimensions, {len(failing)} fail: {named}")
    wrong = [claim.id for claim in claims if claim.verdict != claim.derived]
    if wrong:
        sys.exit(f"stored and derived verdict differ: {', '.join(wrong)}")


def _totals():
    lines = [f"{'document':<10}" + "".join(f"{v:>12}" for v in (*VERDICTS, "all"))]
    counts = totals()
    counts["both"] = {v: sum(c[v] for c in counts.values()) for v in VERDICTS}
    for document, count in counts.items():
        lines.append(f"{document:<10}" + "".join(f"{n:>12}" for n in (*count.values(), sum(count.values()))))
    return "\n".join(lines)


def _line(cells):
    return "  ".join(
        textwrap.shorten(cells[c], w, placeholder="…").ljust(w) for c, w in COLUMNS.items()
    ).rstrip()


def _indented(text):
    width = min(shutil.get_terminal_size().columns, 110)
    return textwrap.fill(text, width, initial_indent="       ", subsequent_indent="       ")


if __name__ == "__main__":
    main()
