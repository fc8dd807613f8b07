"""The rules: who may be registered, enrolled and revoked, and what a terminal may do.

Pure functions on plain values. Time and randomness come in as arguments.
"""
