"""From events to the queues of the terminals that may know of them (row G1b, DESIGN §5)."""
