"""The claim role: prose shows a claim's number from the ledger, never from the keyboard.

``{claim}`A-08``` gives the printed value, ``{claim}`A-08 computed``` the computed one. Both link to the
claim's row in the audit chapter; the printed one carries the verdict as a mark, for a screen reader in words.
"""

from __future__ import annotations

import posixpath
from html import escape

from docutils import nodes
from sphinx.util import texescape
from sphinx.util.docutils import SphinxRole

AUDIT = "reference/audit"
MARKS = {"reproduced": "✓", "imprecise": "≈", "partly": "◐", "refuted": "✗", "external": "↗"}


def page_uri(source, target):
    """Return the address of one page as seen from another; pages are named as Sphinx names them."""
    return posixpath.relpath(target, posixpath.dirname(source) or ".") + ".html"


def anchor(claim_id):
    """Return the id of a claim's row in the audit chapter."""
    return f"claim-{claim_id.lower()}"


class ClaimRole(SphinxRole):
    """Render one value of the ledger; an unknown id or word is a warning, so the build fails."""

    def run(self):
        from lib import claims

        claim_id, _, which = self.text.partition(" ")
        if which not in ("", "printed", "computed"):
            return self._refuse(f"claim role: {which!r} is neither 'printed' nor 'computed'")
        try:
            claim = claims.get(claim_id)
        except KeyError as error:
            return self._refuse(f"claim role: {error.args[0]}")
        shown = claim.computed_text if which == "computed" else claim.printed_text
        return [self._html(claim, shown, which), self._print(claim, shown, which)], []

    def _refuse(self, text):
        message = self.inliner.reporter.warning(text, line=self.lineno)
        return [nodes.problematic(self.rawtext, self.rawtext)], [message]

    def _html(self, claim, shown, which):
        """The mark judges what the document prints, so a computed value has none."""
        link = f'href="{page_uri(self.env.docname, AUDIT)}#{anchor(claim.id)}"'
        if which == "computed":
            html = (f'<a class="claim" {link}>{escape(shown)}'
                    f'<span class="visually-hidden"> (computed for claim {claim.id})</span></a>')
        else:
            html = (f'<a class="claim claim-{claim.verdict}" {link}>{escape(shown)}'
                    f'<span class="claim-mark" aria-hidden="true">{MARKS[claim.verdict]}</span>'
                    f'<span class="visually-hidden"> (claim {claim.id}, {claim.verdict})</span></a>')
        return nodes.raw("", html, format="html")

    def _print(self, claim, shown, which):
        """For print: the same, with the claim's id in words."""
        mark = "" if which == "computed" else f" {MARKS[claim.verdict]}"
        link = rf"\hyperlink{{{anchor(claim.id)}}}{{\mbox{{[{claim.id}]}}}}"
        return nodes.raw("", texescape.escape(shown + mark, "xelatex") + "~" + link, format="latex")


def register(app):
    app.add_role("claim", ClaimRole())
