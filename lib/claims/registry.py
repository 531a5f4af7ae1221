"""The functions of the claims, by id."""

from __future__ import annotations

from lib.claims import sources

FUNCTIONS = {}


def claim(claim_id):
    """Register a function as the one that computes a claim.

    Raises
    ------
    ValueError
        Where the id already has a function.
    """

    def register(function):
        if claim_id in FUNCTIONS:
            raise ValueError(f"claim {claim_id} has two functions")
        FUNCTIONS[claim_id] = function
        return function

    return register


def evaluate(claim_id):
    """Compute a claim afresh; return its outcome and the names of the inputs and tables it used."""
    sources.start_noting()
    outcome = FUNCTIONS[claim_id]()
    return outcome, sources.noted()
