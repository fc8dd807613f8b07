"""How far something long is."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Told how many contacts are done, and of how many."""
