"""Charts: one palette, rounded data, and an output that the site can draw without a network.

`show` wraps an Altair chart. Its output carries the specification twice: as HTML, which
``static/charts.js`` draws on the site, and as the Vega-Lite type that JupyterLab draws itself.
"""

from __future__ import annotations

import hashlib
import html
import json
import math

# Okabe-Ito colours with enough contrast on white and on near-black; the dash tells lines apart without colour.
MODELS = {
    "first order (Young)": ("#CC79A7", [2, 2]),
    "Daly 2006": ("#009E73", [6, 2]),
    "exact, protected writes": ("#D55E00", [1, 0]),
    "exact, exposed writes": ("#0072B2", [1, 0]),
    "as printed": ("#7F7F7F", [8, 3, 2, 3]),
    "simulation": ("#B07D00", [1, 0]),
}
SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#7F7F7F"]


def colour(*models, field="model", title=None):
    """Return the Altair colour channel that gives each named model its colour throughout the report."""
    import altair as alt

    scale = alt.Scale(domain=list(models), range=[MODELS[m][0] for m in models])
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=alt.Legend(orient="top"))


def dash(*models, field="model"):
    """Return the Altair dash channel that goes with `colour`."""
    import altair as alt

    scale = alt.Scale(domain=list(models), range=[MODELS[m][1] for m in models])
    return alt.StrokeDash(f"{field}:N", scale=scale, title=None)


def rows(**columns):
    """Return columns of equal length as a list of records, numbers rounded to 6 significant digits.

    The rounding keeps stored outputs the same on every machine. Values that are not finite become None.
    """
    return [dict(zip(columns, map(_rounded, values), strict=True))
            for values in zip(*columns.values(), strict=True)]


def _rounded(value):
    if isinstance(value, str):
        return value
    value = float(value)
    return float(f"{value:.6g}") if math.isfinite(value) else None


class Shown:
    """A chart with its alternative text and its numbers, as `show` returns it."""

    def __init__(self, spec, alt, table):
        self.spec, self.alt, self.table = spec, alt, table

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._html(), "text/plain": self.alt,
                "application/vnd.vegalite.v5+json": self.spec}

    def _html(self):
        text = json.dumps(self.spec, sort_keys=True)
        key = "chart-" + hashlib.sha256(text.encode()).hexdigest()[:12]
        safe = text.replace("</", "<\\/")
        return (f'<div class="book-chart" id="{key}" role="group" aria-label="{html.escape(self.alt)}">\n'
                f'<script type="application/json">{safe}</script>\n'
                f'<div class="book-chart-view"></div>\n{_table(self.table)}</div>')


def show(chart, *, alt, table=None):
    """Prepare an Altair chart for the page.

    Parameters
    ----------
    chart : altair chart
        Drawn at the width of the page.
    alt : str
        The alternative text; it carries the chart's main numbers.
    table : list of dict, optional
        The numbers shown under the chart in a disclosure, one dict a row (see `rows`); without it, the
        chart's own data, thinned where there are many.
    """
    spec = chart.properties(width="container", description=alt).to_dict()
    return Shown(spec, alt, table or _own_data(spec))


def _own_data(spec, most=40):
    """Return up to `most` rows of the largest data set in a specification, evenly spread; an empty list if none."""
    records = max(_data_sets(spec), key=len, default=[])
    step = -(-len(records) // most) or 1
    return [r for r in records[::step] if isinstance(r, dict)]


def _data_sets(part):
    """Yield every list of values in a specification, however deep."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "values" and isinstance(value, list):
                yield value
            elif key == "datasets":
                yield from value.values()
            else:
                yield from _data_sets(value)
    elif isinstance(part, list):
        for value in part:
            yield from _data_sets(value)


def _table(records):
    if not records:
        return ""
    names = list(dict.fromkeys(name for record in records for name in record))
    head = "".join(f'<th scope="col">{html.escape(n)}</th>' for n in names)
    body = "\n".join("<tr>" + "".join(f"<td>{_cell(r.get(n))}</td>" for n in names) + "</tr>" for r in records)
    return (f'<details class="book-chart-table"><summary>Numbers of this chart</summary>\n<table>'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></details>\n")


def _cell(value):
    if value is None:
        return "–"
    return html.escape(value if isinstance(value, str) else _number(value))


def _number(value):
    """A number as people write it: counts in full, the rest to four digits."""
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.4g}"
