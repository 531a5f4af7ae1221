"""What a page says about itself in its head: description, card for links, citation tags, Dublin Core."""

from __future__ import annotations

import re
import textwrap
from html import escape, unescape
from pathlib import Path

import yaml
from docutils import nodes

from lib.book import card, cite, site

CITATION = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text("utf8"))
LONGEST = 200  # characters of a description


def add(app, pagename, templatename, context, doctree):
    name = title(context) if pagename != app.config.root_doc else ""
    tags = _tags(pagename, name or cite.REPORT, description(doctree))
    context["metatags"] = context.get("metatags", "") + tags


def title(context):
    """Return a page's title as plain text, without its number."""
    return re.sub(r"^\d+(\.\d+)*\.\s*", "", unescape(re.sub(r"<[^>]+>", "", context.get("title", ""))))


def description(doctree):
    """Return the page's first paragraph of plain prose, cut at a word where it is long."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        plain = not any(isinstance(node, (nodes.raw, nodes.math)) for node in paragraph.findall())
        if plain and isinstance(paragraph.parent, nodes.section):
            return textwrap.shorten(paragraph.astext(), LONGEST, placeholder=" …")
    return cite.REPORT


def _tags(pagename, name, about):
    date, page = CITATION["date-released"], site.address(pagename)
    named = {"description": about, "twitter:card": "summary_large_image" if page else "summary",
             "citation_title": name, "citation_author": cite.AUTHORS,
             "citation_publication_date": f"{date:%Y/%m/%d}",
             "citation_publisher": cite.REPORT, "citation_language": "en",
             "DC.title": name, "DC.creator": cite.AUTHORS, "DC.date": f"{date}", "DC.publisher": cite.REPORT,
             "DC.type": "Text", "DC.language": "en", "DC.rights": "CC BY 4.0"}
    if name != cite.REPORT:
        named["citation_inbook_title"] = cite.REPORT
    shared = {"og:type": "article", "og:site_name": cite.REPORT, "og:title": name, "og:description": about}
    if page:
        picture = f"{site.address()}/_static/{card.NAME}"
        named |= {"citation_public_url": page, "DC.identifier": page, "twitter:image": picture}
        shared |= {"og:url": page, "og:image": picture, "og:image:alt": card.ALT,
                   "og:image:width": card.WIDTH, "og:image:height": card.HEIGHT}
    return _lines("name", named) + _lines("property", shared)


def _lines(kind, tags):
    return "".join(f'<meta {kind}="{key}" content="{escape(str(value))}" />\n' for key, value in tags.items())


def register(app):
    app.connect("html-page-context", add)
