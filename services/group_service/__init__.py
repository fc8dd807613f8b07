"""Cloud contact groups: members, invitations, cards, blocks, pull (rows G1–G8)."""
