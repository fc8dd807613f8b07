"""What `contactmesh operator integrator` says."""

HELP_INTEGRATORS = "The programs that get contact changes, each of the scopes granted to it."
HELP_NAME = "The integrator's name, for example crm."
HELP_ADD = (
    "Let a program have the contact changes of some scopes, on a queue of its own.\n\n"
    "It reads that queue and may do nothing else on the broker. It gets the changes of all users, "
    "whatever they block among each other: grant a scope only to whom you would show all of them. "
    "Users see which integrators there are in their access log. The address that is shown holds "
    "the secret, and is shown this once."
)
HELP_SCOPE = (
    "What it gets, once or more: card (people's own cards in groups), line (carriers' "
    "registrations), book (address books), space (SIM accounts)."
)
EXAMPLE_ADD = "Example:  contactmesh operator integrator add crm --scope card --json > crm.json"
BAD_NAME = "A name is 2 to 32 of a-z, 0-9 and hyphen, a letter first, as in crm."
ADDED = """\
{name} gets changes of: {scopes}

  queue    {queue}
  broker   {amqp_url}

The broker's address holds the secret. It is shown this once."""
HELP_LIST = "List all integrators with their scopes."
EXAMPLE_LIST = "Example:  contactmesh operator integrator list --json"
COLUMNS = ("Integrator", "Scopes", "Added")
NONE = "No program gets changes. Add one with: contactmesh operator integrator add --help"
HELP_REMOVE = "Take an integrator's account away at once, with its queue and what waits in it."
EXAMPLE_REMOVE = "Example:  contactmesh operator integrator remove crm"
REMOVED = "{name} gets nothing any more."
