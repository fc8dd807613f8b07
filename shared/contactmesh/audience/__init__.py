"""Copies of groups' audiences, followed from events by every service that has to know them."""
