"""The picture beside a link to the report: the loss of the Llama run against its checkpoint interval."""

from __future__ import annotations

from pathlib import Path

from lib.book import site

NAME, WIDTH, HEIGHT = "card.png", 1200, 630
ALT = "Lost time against the checkpoint interval of the Llama 3.1 405B run, with the best interval marked."
FONT, INK, LINE = "Liberation Sans", "#1f2328", "#0072B2"  # vl-convert brings this font


def write(app):
    if app.builder.format != "html" or not site.address():
        return  # a link to a picture must be a full address
    import vl_convert

    path = Path(app.outdir) / "_static" / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(vl_convert.vegalite_to_png(picture().to_dict(), vl_version="6.4"))


def picture():
    """Return the curve with its optimum as a chart of the size that link cards have."""
    import altair as alt

    curve, best = loss()
    x = alt.X("minutes:Q", scale=alt.Scale(type="log", nice=False), title="checkpoint interval (min)",
              axis=alt.Axis(values=[1, 10, 100], grid=False))
    y = alt.Y("lost:Q", scale=alt.Scale(domain=[0, 12]), title="lost time (%)", axis=alt.Axis(tickCount=4))
    line = alt.Chart(alt.Data(values=curve)).mark_line(strokeWidth=7, color=LINE, clip=True).encode(x, y)
    point = alt.Chart(alt.Data(values=best)).encode(x, y)
    found = f"Llama 3.1 405B: best every {best[0]['minutes']:.1f} min, {best[0]['lost']:.1f} % lost"
    label = point.mark_text(text=found, dy=44, fontSize=34, color=INK)
    title = alt.TitleParams(
        "Failures and Checkpoints at Scale", fontSize=54, color=INK, anchor="start", offset=24,
        subtitle="A reproducible report: every number computed, every result derived",
        subtitleFontSize=28, subtitleColor=INK, subtitlePadding=12)
    return (line + point.mark_point(filled=True, size=500, color=LINE, opacity=1) + label).properties(
        width=WIDTH, height=HEIGHT, title=title, padding=48, background="#ffffff",
        autosize=alt.AutoSizeParams(type="fit", contains="padding"),
    ).configure(font=FONT).configure_axis(labelFontSize=24, titleFontSize=26, labelColor=INK, titleColor=INK,
                                          titleFontWeight="normal").configure_view(stroke=None)


def loss():
    """Return the curve and its lowest point as records, in minutes and per cent of useful time."""
    import numpy as np

    from lib import failures, intervals, overhead
    from lib.book import charts
    from lib.claims import inputs

    mtbf = 60 * failures.cluster_mtbf(inputs["gpu_mttf"], inputs["llama_gpus"])  # min
    state = inputs["llama_parameters"] * inputs["optimizer_values"] * inputs["bytes_per_value"]
    model = dict(write_time=state / inputs["storage_bandwidth"] / 60, mtbf=mtbf)
    best = intervals.optimal(**model)
    points = best * np.logspace(-1, 1.15, 120)
    return (charts.rows(minutes=points, lost=100 * (overhead.slowdown(points, **model) - 1)),
            charts.rows(minutes=[best], lost=[100 * (overhead.optimal_slowdown(**model) - 1)]))


def register(app):
    app.connect("builder-inited", write)
