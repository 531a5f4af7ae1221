"""What the theme and docutils leave out for readers who use a keyboard or a screen reader.

`static/scrolling.js` makes what scrolls inside itself reachable by keyboard, `static/copying.js` keeps the
place of who copies, `templates/` puts the side bar into a landmark, and `repair` names the parts of the
bibliography as ARIA 1.3 does.
"""

from __future__ import annotations

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("scripts/scrolling.js", "scripts/copying.js")


def prepare(app, config):
    config.templates_path.append(str(TEMPLATES))


def repair(app, pagename, templatename, context, doctree):
    """Entries of the bibliography are items of its list; docutils writes a role that ARIA has given up."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def register(app):
    app.connect("config-inited", prepare)
    app.connect("html-page-context", repair)
    for script in SCRIPTS:
        app.add_js_file(script, loading_method="defer")
