"""The HTTP interface: for operators, for terminals, and for the broker's questions."""
