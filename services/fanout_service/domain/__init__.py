"""The rules of fan-out, without I/O: who is in a group's audience, and who is told of an event."""
