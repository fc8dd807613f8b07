"""The rules of two-way address-book sync, without I/O (rows Y1-Y6, decision 20).

Each command that changes something has one rule, `(state, asking, command) -> Decision`, in the
module that is named for what it does: `exchanging`, `restoring`, `settling`, `erasing`, `choosing`.
`State` says what has to be loaded for each.
"""
