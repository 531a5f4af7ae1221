"""Scripts and styles of the site: everything a page needs comes from the site itself."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

STATIC = Path(__file__).parent / "static"
CHARTS, SEARCH = "scripts/charts.js", "scripts/searching.js"
# A script is loaded where the page holds the text; the charts' one comes first, since the planner uses it.
PAGE_SCRIPTS = {'class="book-chart"': CHARTS, 'class="claim-table"': "scripts/audit.js", 'id="planner-form"': "scripts/planner.js"}


def write(app):
    """Put MathJax, the chart script and the report's styles into the site."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    for name in ("report.css", "print.css"):
        shutil.copy(STATIC / name, static)
    _write_charts(static / CHARTS)
    for name in ("audit.js", "copying.js", "planner.js", "scrolling.js", "searching.js"):
        shutil.copy(STATIC / name, static / "scripts" / name)
    _copy_mathjax(static / "mathjax")


def replace_icons(app, exception):
    """Put our small script in the place of the theme's large one, once the theme's files have been copied."""
    if exception or app.builder.format != "html":
        return
    scripts = Path(app.outdir) / "_static" / "scripts"
    shutil.copy(STATIC / "fontawesome.js", scripts)
    for rest in scripts.glob("fontawesome.js.*"):
        rest.unlink()


def _write_charts(path):
    import vl_convert

    # Vega declares globals that break Sphinx's own script, so it lives inside a function.
    vega = "(function(){" + vl_convert.javascript_bundle(vl_version="6.4") + "})();\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(vega + (STATIC / "charts.js").read_text("utf8"), encoding="utf8")


def _copy_mathjax(target):
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    (target / "output").mkdir(parents=True, exist_ok=True)
    shutil.copy(package / "tex-mml-chtml.js", target)
    shutil.copytree(package / "output" / "chtml", target / "output" / "chtml", dirs_exist_ok=True)


def choose_for_page(app, pagename, templatename, context, doctree):
    """Load a script only on the pages that need it, and drop what would ask the network.

    sphinx-thebe, which Jupyter Book always loads, declares a constant twice and names an outside script.
    """
    for sign, script in PAGE_SCRIPTS.items():
        if sign in context.get("body", ""):
            app.add_js_file(script, loading_method="defer")
    if pagename == "search":
        app.add_js_file(SEARCH, loading_method="defer")
    context["script_files"] = [s for s in context["script_files"] if not _names(s, "thebe")]
    context["css_files"] = [s for s in context["css_files"] if not _names(s, "sphinx-thebe", "googleapis")]


def _names(asset, *words):
    text = f"{getattr(asset, 'filename', asset)} {getattr(asset, 'attributes', {}).get('body', '')}".lower()
    return any(word in text for word in words)
