"""The contract of the carrier registry: the feed of carriers, checks, access, owners' settings."""
