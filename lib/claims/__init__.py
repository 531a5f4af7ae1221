"""The claim ledger: what two documents print, what follows from their inputs, and the verdict.

`load` and `get` give the claims with everything computed, `as_json` the list for the website,
`totals` and `slips` the counts,
`inputs` and `table` the data they rest on. ``python -m lib.claims`` prints the ledger.
"""

# The modules of claims register their functions when they are imported.
from lib.claims import appendix_a, corruption_b, daly_b, document_a, document_b  # noqa: F401
from lib.claims.evidence import VERDICTS, verdict
from lib.claims.ledger import ONE_SLIP, Claim, as_json, get, load, slips, totals
from lib.claims.sources import inputs, table

__all__ = [
    "ONE_SLIP",
    "VERDICTS",
    "Claim",
    "as_json",
    "get",
    "inputs",
    "load",
    "slips",
    "table",
    "totals",
    "verdict",
]
