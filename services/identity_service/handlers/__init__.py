"""What identity_service does when asked: load, let the domain decide, commit, tell the broker."""
