"""RabbitMQ: topology, publisher, batch consumer, parking, outbox relay."""
