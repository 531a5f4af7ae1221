"""For the PDF: charts as vector graphics, claims as text, long statements scaled to the page.

A chart is drawn from the specification that its output carries.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import texescape

WIDTH = 460  # points of Vega; LaTeX scales the drawing to the text
DRAWINGS = Path(__file__).parents[2] / "_build" / "drawings"


class PrintOutputs(SphinxPostTransform):
    """Replace the outputs that only a browser can show: a chart by an image, the table of claims by paragraphs."""

    default_priority = 3  # before myst-nb chooses one form of each output
    builders = ("latex",)

    def run(self):
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            html = next((n.astext() for n in bundle.findall(nodes.raw)), "")
            if 'class="book-chart"' in html:
                bundle.replace_self(self._image(html))
            elif 'class="claim-table"' in html:
                bundle.replace_self(nodes.raw("", _claims(), format="latex"))
        for equation in list(self.document.findall(nodes.math_block)):
            if "derivation-statement" in equation["classes"]:
                equation.replace_self(nodes.raw("", _fitted(equation.astext()), format="latex"))

    def _image(self, html):
        path = _draw(html)
        uri = os.path.relpath(path, self.env.srcdir)
        self.env.images.add_file(self.env.docname, uri)
        return nodes.image(uri=uri, candidates={"*": uri})


def _draw(html):
    """Draw the chart of an output into a PDF file, unless it is there already."""
    import vl_convert

    name = re.search(r'id="(chart-\w+)"', html)[1]
    spec = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    path = DRAWINGS / f"{name}.pdf"
    if not path.exists():
        DRAWINGS.mkdir(parents=True, exist_ok=True)
        path.write_bytes(vl_convert.vegalite_to_pdf(spec | {"width": WIDTH}, vl_version="6.4"))
    return path


def _fitted(latex):
    """An equation that is scaled to the width of the text where it is wider: SymPy breaks no lines."""
    return (rf"\begin{{center}}\sbox0{{$\displaystyle {latex}$}}\ifdim\wd0>\linewidth"
            r"\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\end{center}")


def _claims():
    """Every claim as a paragraph: a table of this length would not break well over pages."""
    from lib import claims

    return "\n\n".join(map(_claim, claims.load()))


def _claim(claim):
    sentences = [f"{claim.statement}: printed {claim.printed_text}, computed {claim.computed_text}.",
                 claim.explanation, claim.consequence]
    text = " ".join(texescape.escape(s, "xelatex") for s in sentences if s)
    return rf"\par\smallskip\noindent\textbf{{{claim.id}}} ({claim.section}, \emph{{{claim.verdict}}}) {text}"


def name_page(app, doctree):
    """Name a page by its title as shown: sphinx-proof finds it by that, and misses titles with an apostrophe."""
    section = doctree.next_node(nodes.section)
    if section:
        section["names"].append(section.next_node(nodes.title).astext().lower())


def register(app):
    texescape.init()
    app.connect("doctree-read", name_page)
    app.add_post_transform(PrintOutputs)
