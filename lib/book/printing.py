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
from sphinx_proof.nodes import NODE_TYPES

from lib.book.roles import anchor

WIDTH = 460  # points of Vega; LaTeX scales the drawing to the text
DRAWINGS = Path(__file__).parents[2] / "_build" / "drawings"


class ForPrint(SphinxPostTransform):
    """Change the parts of a page that only a browser can show."""

    default_priority = 3  # before myst-nb chooses one form of each output
    builders = ("latex",)

    def run(self):
        self._outputs()
        self._statements()
        self._theorems()
        self._tables()

    def _outputs(self):
        """A chart becomes an image, the table of claims a paragraph for each."""
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            html = next((n.astext() for n in bundle.findall(nodes.raw)), "")
            if 'class="book-chart"' in html:
                bundle.replace_self(self._chart(html))
            elif 'class="claim-table"' in html:
                bundle.replace_self(nodes.raw("", _claims(), format="latex"))

    def _statements(self):
        for equation in list(self.document.findall(nodes.math_block)):
            if "derivation-statement" in equation["classes"]:
                equation.replace_self(nodes.raw("", _fitted(equation.astext()), format="latex"))

    def _theorems(self):
        """A link to a theorem leads to its box, and a box does not begin at the foot of a page."""
        for theorem in list(self.document.findall(lambda n: isinstance(n, tuple(NODE_TYPES.values())))):
            before = nodes.raw("", r"\needspace{6\baselineskip}\phantomsection", format="latex")
            theorem.parent.insert(theorem.parent.index(theorem), before)

    def _tables(self):
        """Give each column its share of the width by its longest word and its longest text."""
        for table in self.document.findall(nodes.table):
            rows = [[_printed(entry) for entry in row.findall(nodes.entry)] for row in table.findall(nodes.row)]
            for column, spec in zip(zip(*rows), table.findall(nodes.colspec)):
                longest = max(len(word) for text in column for word in text.split() or [""])
                spec["colwidth"] = 3 + max(longest, min(max(map(len, column)), 30))
            table["classes"] = ["colwidths-given"]

    def _chart(self, html):
        spec = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
        uri = os.path.relpath(_draw(re.search(r'id="(chart-\w+)"', html)[1], spec), self.env.srcdir)
        self.env.images.add_file(self.env.docname, uri)
        settings = "; ".join(f"{name}: {value}" for name, value in _settings(spec))
        drawn = rf"\par{{\small Drawn with {texescape.escape(settings, 'xelatex')}.}}" if settings else ""
        return [nodes.image(uri=uri, candidates={"*": uri}), nodes.raw("", drawn, format="latex")]


def _printed(part):
    """The text of a part of the page as long as it is in print: without HTML and commands of LaTeX."""
    hidden = [raw for raw in part.findall(nodes.raw) if raw["format"] != "latex"]
    text = "".join(text for text in part.findall(nodes.Text) if text.parent not in hidden)
    return re.sub(r"\\[a-z]+|[{}_^]", "", text)


def _settings(part):
    """Yield name and value of each slider and menu of a chart: print shows it in this one state."""
    if isinstance(part, list):
        for each in part:
            yield from _settings(each)
    elif isinstance(part, dict):
        bind = part.get("bind")
        if isinstance(bind, dict) and "value" in part:
            shown = dict(zip(bind.get("options", []), bind.get("labels", []))).get(part["value"], part["value"])
            yield bind.get("name", part["name"]).strip(" :"), shown
        for each in part.values():
            yield from _settings(each)


def _draw(name, spec):
    """Draw a chart into a PDF file, unless it is there already."""
    import vl_convert

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
    name = rf"\hypertarget{{{anchor(claim.id)}}}{{\textbf{{{claim.id}}}}}"
    return rf"\par\smallskip\noindent{name} ({claim.section}, \emph{{{claim.verdict}}}) {text}"


def name_page(app, doctree):
    """Name a page by its title as shown: sphinx-proof finds it by that, and misses titles with an apostrophe."""
    section = doctree.next_node(nodes.section)
    if section:
        section["names"].append(section.next_node(nodes.title).astext().lower())


def register(app):
    texescape.init()
    app.connect("doctree-read", name_page)
    app.add_post_transform(ForPrint)
