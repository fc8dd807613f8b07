"""Carriers' own systems: what they can be asked, and how what they tell becomes feed entries.

`CarrierBackend` is the port. Behind it are the `simulator`, which plays days of a carrier's life
from a seed, and `camara`, which asks any carrier that speaks the CAMARA APIs.
"""
