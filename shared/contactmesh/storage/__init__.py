"""MongoDB: database, unit of work, inbox, outbox. Nothing outside knows the driver."""
