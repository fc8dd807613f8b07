"""The contract of cloud contact groups: commands, views, events, and updates to terminals."""
