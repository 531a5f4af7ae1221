"""The report's Sphinx extension: own scripts and styles, the claim role, and the two JSON exports."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from lib.book import (access, assets, boxes, card, catalogue, finding, meta, planner, printing, records,
                      roles, site)

CHAPTERS = Path(__file__).parents[2] / "chapters"


def setup(app):
    app.connect("config-inited", repository_buttons)
    app.connect("source-read", repository_address)
    app.connect("builder-inited", assets.write)
    app.connect("html-page-context", boxes.add)
    app.connect("html-page-context", assets.choose_for_page, priority=900)
    app.connect("build-finished", assets.replace_icons)
    app.connect("build-finished", export_records)
    app.add_css_file("report.css", priority=900)
    app.add_css_file("print.css", priority=901, media="print")
    for part in (access, card, catalogue, finding, meta, planner, printing, roles, site):
        part.register(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def repository_buttons(app, config):
    """Show the repository, issue, Binder and Colab buttons where REPOSITORY_URL is given at build time."""
    url = os.environ.get("REPOSITORY_URL")
    if not url:
        return
    config.html_theme_options |= {
        "repository_url": url.rstrip("/"),
        "repository_branch": os.environ.get("REPOSITORY_BRANCH", "main"),
        "path_to_docs": "chapters",
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {"notebook_interface": "jupyterlab", "binderhub_url": "https://mybinder.org",
                           "colab_url": "https://colab.research.google.com"},
    }


def repository_address(app, page, source):
    """Name the repository in the commands of the run page where its address is known."""
    if page == "reference/run" and os.environ.get("REPOSITORY_URL"):
        source[0] = source[0].replace("clone --depth 1 ADDRESS", f"clone --depth 1 {os.environ['REPOSITORY_URL']}")


def export_records(app, exception):
    """Write claims.json and derivations.json beside the pages, and put the citation file there."""
    if exception or app.builder.format != "html":
        return
    from lib import claims

    _write(app, "claims.json", claims.as_json())
    _write(app, "derivations.json", records.gather(CHAPTERS))
    shutil.copy(CHAPTERS.parent / "CITATION.cff", app.outdir)


def _write(app, name, content):
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (Path(app.outdir) / name).write_text(text + "\n", encoding="utf8")
