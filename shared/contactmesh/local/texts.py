"""Every text that the local stack shows people, in one place so that it can be translated."""

RABBITMQ_MISSING = (
    "RabbitMQ is not installed: run 'make setup', or install your system's rabbitmq-server "
    "package, or start a Docker Engine that has the image {image}, or set AMQP_URL."
)
EPMD_MISSING = "Erlang's 'epmd' was not found beside RabbitMQ: reinstall the Erlang packages."
DATABASE_MISSING = (
    "The embedded database is not installed: run 'make setup', or set MONGODB_URL "
    "to a MongoDB replica set."
)
ENDED_AT_START = "{name} ended with {ending} while starting; its log is {log}. Last line: {last}"
NOT_READY_IN_TIME = "{name} was not ready within {seconds:.0f} s; its log is {log}."
NOTHING_WRITTEN = "(nothing written)"
EXIT_STATUS = "exit status {status}"
EXIT_SIGNAL = "signal {name}"

MANAGEMENT_REFUSED = (
    "The broker's management API at {address} answered {status} to {method} {path}: {reason}"
)
MANAGEMENT_UNREACHABLE = (
    "The broker's management API at {address} cannot be reached: {reason}. "
    "Check CONTACTMESH_BROKER_MANAGEMENT_URL."
)
