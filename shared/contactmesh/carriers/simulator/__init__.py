"""A simulator of carriers: days of ports, swaps, new numbers, recyclings and states from a seed."""
