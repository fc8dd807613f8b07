"""Every text that the commands of operators show people, in one place to be translated.

Help texts are markup of Rich, in which a blank line ends a paragraph. The others are plain.
"""

from typing import Final

ERROR_PREFIX = "error:"
USAGE_WORDING: Final = (
    ("Input should be ", "it should be "),
    ("Value error, ", ""),
    (" greater than or equal to ", " at least "),
    (" less than or equal to ", " at most "),
    (r"Got unexpected extra argument(?:\(s\)|s)? \((.*)\)", r"Not understood: \1"),
    (r" \(Possible options: (.*)\)$", r". Did you mean \1?"),
)
"""What the library that reads the command line says, as patterns, and what is said here."""
SEE_HELP = "See '{command} --help'."
FILE_FAILED = "{name}: {reason}."
FIELD_PROBLEM = "{path}: {problem}."

# `contactmesh`
HELP_APP = (
    "Change your number once, and it is right in every phonebook that you allow.\n\n"
    "Start a system with [bold]contactmesh up[/], register people with "
    "[bold]contactmesh operator[/], and be one of them with [bold]contactmesh terminal[/]."
)
HELP_APP_EXITS = (
    "Exit status: 0 done · 1 refused or failed · 2 wrong usage · 3 the system cannot be reached, "
    "try again later · 130 Ctrl-C. Errors are one line on standard error."
)
HELP_VERSION = "Show the version."
HELP_JSON = "Print JSON for scripts."

# Where the system is
HELP_DATA = "The data folder of the 'contactmesh up' to talk to, if not the usual one."
HELP_IDENTITY_URL = "The HTTP address of identity_service, for a system that runs elsewhere."
HELP_OPERATOR_FILE = "The file with the operator's token, for a system that runs elsewhere."
OPERATOR_FILE_MISSING = (
    "--identity-url alone is not enough: name the file with the operator's token by "
    "--operator-token-file."
)
OPERATOR_FILE_EMPTY = "{file} is empty: it has to hold the operator's token."
IDENTITY_UNREACHABLE = (
    "identity_service at {url} does not answer ({reason}). Check the address and that it runs."
)
IDENTITY_UNREADABLE = "What answers at {url} is not identity_service. Check the address."
IDENTITY_FAILED = "identity_service at {url} cannot answer now (HTTP {status}). Look at its log."

# `contactmesh operator`
HELP_OPERATOR = "Register people, let their terminals in, and keep them out."
EXAMPLES_OPERATOR = (
    "From nothing to a first terminal:\n\n"
    "  contactmesh operator user add li-wei --name 李伟\n\n"
    "  contactmesh operator user code li-wei"
)
HELP_USERS = "The people who use the system."
HELP_TERMINALS = "Their phones, desktops and bots."

HELP_USER_ADD = (
    "Register a user.\n\n"
    "The id is a handle that stays for good: 2 to 40 of a-z, 0-9 and hyphen. The name is what "
    "others see. Registering the same user again does no harm."
)
EXAMPLE_USER_ADD = "Example:  contactmesh operator user add li-wei --name 李伟"
HELP_USER_ID = "The user's handle, for example li-wei."
HELP_NAME = "The name that others see."
BAD_USER_ID = (
    "A user's id is 2 to 40 of a-z, 0-9 and hyphen, with no hyphen first or last, as in li-wei."
)
BAD_NAME = "A name is 1 to 100 characters in any script, without line ends or control characters."
USER_ADDED = "{name} is registered as {user_id}."
USER_ADD_NEXT = "Let the first terminal in with: contactmesh operator user code {user_id}{where}"

HELP_USER_LIST = "List all users, with the number of terminals that each has now."
EXAMPLE_USER_LIST = "Example:  contactmesh operator user list --json | jq -r '.[].user_id'"
COLUMNS_USERS = ("User", "Name", "Terminals")
NO_USERS = "Nobody is registered yet. Begin with: contactmesh operator user add --help"

HELP_USER_CODE = (
    "Mint a code with which a user lets one terminal in.\n\n"
    "It works once, for a day, and is dead after five wrong tries. Hand it to the user over a way "
    "that you trust: whoever has it can be this user. It cannot be shown again; mint another if it "
    "gets lost."
)
EXAMPLE_USER_CODE = "Example:  contactmesh operator user code li-wei"
CODE_MINTED = """\
{code}

This code lets one terminal of {user_id} in, once, until {expires_at}.
The user trades it for credentials on the new device:

  contactmesh terminal enrol {code}{where}"""

HELP_TERMINAL_LIST = "List a user's terminals, those that were revoked too."
EXAMPLE_TERMINAL_LIST = "Example:  contactmesh operator terminal list li-wei"
COLUMNS_TERMINALS = ("Terminal", "Name", "Enrolled", "Revoked")
NO_TERMINALS = (
    "{user_id} has no terminal yet. Mint a code for one: "
    "contactmesh operator user code {user_id}{where}"
)

HELP_TERMINAL_REVOKE = (
    "Shut a terminal out at once and for good, for example a phone that was stolen.\n\n"
    "Its credentials are void, its connection is closed, what waited for it is deleted. Other "
    "users are not told. The user's other terminals go on; a terminal that is found again enrols "
    "anew."
)
EXAMPLE_TERMINAL_REVOKE = "Example:  contactmesh operator terminal revoke li-wei_x7k2m9qa"
HELP_TERMINAL_ID = "The terminal, as 'contactmesh operator terminal list' shows it."
TERMINAL_REVOKED = "{terminal_id} is shut out."
HELP_TERMINAL_ROTATE = (
    "Make a terminal change its secret before it does anything else.\n\n"
    "Its connection is closed, and its old secret is good for getting the next one and nothing "
    "more. A terminal that runs does so by itself and goes on. Of a device that was stolen revoke "
    "the terminal instead."
)
EXAMPLE_TERMINAL_ROTATE = "Example:  contactmesh operator terminal rotate-secret li-wei_x7k2m9qa"
TERMINAL_MUST_ROTATE = "{terminal_id} changes its secret before it does anything else."

# `contactmesh operator carrier`
HELP_CARRIERS = "The carriers that tell the registry of their numbers."
HELP_CARRIER_ID = "The carrier's id, for example cn-mobile."
HELP_CARRIER_NAME = "The carrier's name as people know it."
HELP_CARRIER_ADD = (
    "Let a carrier tell the registry of its numbers.\n\n"
    "The id stays for good and is never given again: 2 to 32 of a-z, 0-9 and hyphen, a letter "
    "first. A carrier can speak of its own numbers only. Adding the same carrier again does no "
    "harm."
)
EXAMPLE_CARRIER_ADD = "Example:  contactmesh operator carrier add cn-mobile --name 中国移动"
BAD_CARRIER_ID = (
    "A carrier's id is 2 to 32 of a-z, 0-9 and hyphen, a letter first, as in cn-mobile."
)
CARRIER_ADDED = "{name} may tell of its numbers as {carrier_id}."
CARRIER_ADD_NEXT = (
    "Let its first terminal in with: contactmesh operator carrier code {carrier_id}{where}"
)
HELP_CARRIER_LIST = "List all carriers, with the number of terminals that each has now."
EXAMPLE_CARRIER_LIST = "Example:  contactmesh operator carrier list --json | jq -r '.[].carrier_id'"
COLUMNS_CARRIERS = ("Carrier", "Name", "Terminals")
NO_CARRIERS = "No carrier is added yet. Begin with: contactmesh operator carrier add --help"
HELP_CARRIER_CODE = (
    "Mint a code with which a carrier lets one of its systems in as a terminal.\n\n"
    "It works once, for a day, and is dead after five wrong tries. Whoever has it can speak for "
    "this carrier."
)
EXAMPLE_CARRIER_CODE = "Example:  contactmesh operator carrier code cn-mobile"
CARRIER_CODE_MINTED = """\
{code}

This code lets one terminal of {carrier_id} in, once, until {expires_at}.
The carrier trades it for credentials:

  contactmesh terminal enrol {code} --as {carrier_id}{where}"""

# `contactmesh simulate carrier`
HELP_SIMULATE = "Simulate what feeds the system in real life."
HELP_SIMULATE_CARRIER = (
    "Play days in the life of three carriers, and feed the registry with them.\n\n"
    "People get numbers, change them, port them to another carrier, give them up, and get those "
    "that others gave up; phones go off and on. The same seed and start give the same days, so "
    "that playing them again changes nothing. The carriers are added if need be, and their "
    "terminals live in the data folder."
)
EXAMPLES_SIMULATE_CARRIER = (
    "Examples:\n\n"
    "  contactmesh simulate carrier --people 500 --seed 7\n\n"
    "  contactmesh simulate carrier --people 20 --hours 1 --speed 60"
)
HELP_PEOPLE = "How many people there are."
HELP_SIMULATE_SEED = "What everything left to chance is decided by."
HELP_HOURS = "How long the days last, in hours; they end at midnight (UTC) before now."
HELP_SPEED = "Simulated seconds in a second; as fast as possible if not given."
SIMULATING = "Feeding"
COLUMNS_HAPPENINGS = ("What happened", "Times")
HAPPENED = {
    "begun": "a person's first number",
    "added": "one more number",
    "replaced": "another number",
    "ported": "another carrier, same number",
    "moved": "another carrier and number",
    "sim_changed": "another card, same number",
    "withdrawn": "number given up",
    "recycled": "number given to somebody else",
    "state": "state seen",
    "usage": "plan usage seen",
}
SIMULATED = (
    "{facts} facts of {people} people ({first} to {last}) in {seconds:.1f} s: "
    "{applied} new, {same} known already, {rejected} rejected."
)

# `contactmesh operator parked`
HELP_PARKED = "What the services could not handle and set aside."
HELP_PARKED_LIST = (
    "List the messages that were set aside, with the reasons; without contact details.\n\n"
    "Nobody takes them from there: look at the reason, mend the cause, and decide what becomes of "
    "them.\n\n"
    "For a system that runs elsewhere, CONTACTMESH_BROKER_MANAGEMENT_URL "
    "(http://user:password@host:port) and AMQP_URL (for the virtual host) say where its broker is."
)
EXAMPLE_PARKED_LIST = "Example:  contactmesh operator parked list --queue group_service.events"
HELP_QUEUE = "Only what was parked from this queue."
HELP_LIMIT = "At most so many from each queue, the oldest first."
COLUMNS_PARKED = ("Queue", "Parked", "Routing key", "Message", "Reason")
NOTHING_PARKED = "Nothing is parked."
UNKNOWN_REASON = "no reason given"
MANAGEMENT_MISSING = (
    "This system was started without the broker's management API: start it with "
    "CONTACTMESH_BROKER_MANAGEMENT_URL."
)
MANAGEMENT_UNREACHABLE = (
    "The broker's management API at {url} does not answer ({reason}). Check that the broker runs."
)
MANAGEMENT_UNREADABLE = "What answers at {url} is not the broker's management API."
MANAGEMENT_REFUSED = (
    "The broker's management API at {url} refused (HTTP {status}). Check the account's rights."
)
NO_PARKING = "There is no such queue, or nothing is ever parked from it."

# `contactmesh status`
HELP_STATUS = "Show every service of the running system, and whether it is ready."
EXAMPLE_STATUS = (
    "Examples:\n\n  contactmesh status\n\n"
    "  contactmesh up --quiet & contactmesh status --wait 60    (a script that goes on when it is)"
)
HELP_STATUS_WAIT = "Wait up to so many seconds until all of them are ready."
COLUMNS_STATUS = ("Service", "State", "Process", "HTTP port")
STATE_READY = "ready"
STATE_SILENT = "does not answer"

# `contactmesh asyncapi`
HELP_ASYNCAPI = (
    "Print the wire contract as an AsyncAPI 3.0 document in JSON, with the schemas of all messages."
)

# `contactmesh openapi`
HELP_OPENAPI = "Print the HTTP interface of identity_service as an OpenAPI 3.1 document in JSON."
