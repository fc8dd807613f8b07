"""The rules of the registry, without I/O and clock.

Facts are joined into registrations, registrations of an identity into its live record, and the
live record is compared with what a viewer knows.
"""
