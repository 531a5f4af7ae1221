"""The science of the report: pure functions of numbers and arrays.

Each module has one subject. Nothing here reads files (``lib.claims`` reads ``data/``),
draws or imports SymPy for its numbers; what the website needs is in ``lib.book``.
"""
