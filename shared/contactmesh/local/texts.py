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

STARTED = "started"
DIED = "died; starting it again"
CANNOT_START = "cannot be started"
KEEPS_DYING = "keeps dying; look at its log"

UNKNOWN_SERVICE = "There is no service {name}. Services: {names}."
COPIES = "The number of copies of {name} must be from 1 to {most}."
STACK_RUNS_ALREADY = (
    "A stack runs on {data} already. Stop it first, or give this one another folder with --data."
)
NO_STACK_RUNS = "No stack runs on {data}: start one with 'contactmesh up'."
STACK_STARTS = "The stack on {data} is still starting: try again in a few seconds."
NO_SUCH_COPY = "This stack has no {name}."
PORT_CHANGED = (
    "somebody else listens on the port that was used before: terminals that enrolled earlier "
    "must be told the new one"
)

# `contactmesh up`
HELP_DATA = "The folder of everything that stays. One stack at a time on a folder."
DEFAULT_DATA = "$CONTACTMESH_HOME, else ~/.local/share/contactmesh"
HELP_SCALE = "Run N copies of a service, as in group_service=3. May be repeated."
HELP_LOG_LEVEL = "From which level on services write log lines."
HELP_QUIET = "Show only warnings and errors, and no progress."
BAD_SCALE = "'{argument}' is not like group_service=3."
STOPPING = "Stopping ... (Ctrl-C again to hasten it)"
STOPPED = "Stopped."
UP_TITLE = "ContactMesh runs"
UP_SERVICES = "services"
UP_IDENTITY = "identity"
UP_BROKER = "broker"
UP_DATA = "data"
UP_GOING_ON = """\
In another terminal, to register somebody, mint a code, and let a terminal in:
  contactmesh operator user add ann --name Ann{data}
  contactmesh operator user code ann{data}
  contactmesh terminal enrol CODE{data}
Ctrl-C here stops everything; the data stays."""
