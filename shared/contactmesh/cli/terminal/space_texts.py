"""Every text of the commands about the contacts of SIM cards, to be translated as in `texts`.

Help texts are markup of Rich, in which a blank line ends a paragraph. The others are plain.
"""

from typing import Final

# sim store, update
HELP_STORE = (
    "Store this phonebook, or some contacts of it, in the account of a SIM in this terminal.\n\n"
    "Your own entries are stored, as you wrote them; what a group alone brought is not. Only what "
    "changed since the last time is sent, and nothing over a change that waits for the SIM.\n\n"
    "With --private the contacts named are this carrier's alone from then on: no account shares "
    "them any more, from its next store on. Naming them with --shared takes that back."
)
EXAMPLES_STORE = (
    "Examples:\n\n"
    "  contactmesh terminal sim store cn-mobile\n\n"
    "  contactmesh terminal sim store cn-mobile 张伟 --private"
)
HELP_STORED_CONTACTS = (
    "Only these contacts, by name or id. If none is given, all that belong there."
)
HELP_PRIVATE = "Keep it in this account alone, or let it come to your other SIMs too."
STORING = "Storing"
STORED = "{written} written, {removed} removed, {same} the same"
STORED_PRIVATE = ", {count} left out because they are private"
STORED_NOT_OWN = ", {count} left out because only a group shows them"
STORED_WAITING = ", {count} left out because a change to them waits"
STORED_MOVED: Final = {
    True: ", {count} no longer shared",
    False: ", {count} no longer private",
}
DECIDE_FIRST = "Decide on what waits first: contactmesh terminal sim pending {sim}{which}"
UNFIT_UID = (
    "Not to be stored, because the uid on the card is longer than 500 characters or has control "
    "characters: {names}. Import them again: they get another uid then."
)
TOO_LARGE = "Too large to be stored: {names}. Take the photo off, or make it smaller."
GOES_ON = "What was done stays; the same command goes on from there."
ASK_REMOVALS_STORE = (
    "This would remove {removed} of the {contacts} contacts stored there. Remove them?"
)
ASK_REMOVALS_ACCEPT = (
    "This would remove {removed} of the {contacts} contacts in this phonebook. Remove them?"
)
HELP_UPDATE = (
    "Ask for what an account holds: it waits for a SIM in this terminal until you accept it.\n\n"
    "What this terminal has accepted, declined or stored already is left out. With --from it is "
    "what your account at another carrier holds, which needs the consent for this one. Ctrl-C "
    "ends this command; the contacts still come."
)
EXAMPLES_UPDATE = (
    "Examples:\n\n"
    "  contactmesh terminal sim update cn-mobile\n\n"
    "  contactmesh terminal sim update cn-unicom --from cn-mobile"
)
HELP_FROM = "Another carrier at which you have an account."
LAYING_READY = "Getting them ... {contacts} so far"
LAYING_READY_OF = "Getting them ... {contacts} so far, of {held} there at most"
GOES_ON_THERE = "The contacts still come. See: contactmesh terminal sim pending {sim}{which}"
NOTHING_WAITS = "Nothing waits for {name}."
LAID_READY = "{contacts} wait for {name}."
LAID_READY_ONE = "1 contact waits for {name}."
DECIDE_NEXT = (
    "Look: contactmesh terminal sim pending {sim}{which} · "
    "take it: contactmesh terminal sim accept {sim}{which}"
)

# sim pending, accept, decline
HELP_PENDING = (
    "Show what waits for a SIM in this terminal, and what accepting it would do here.\n\n"
    "Nothing is changed by looking."
)
EXAMPLES_PENDING = (
    "Examples:\n\n"
    "  contactmesh terminal sim pending cn-mobile\n\n"
    "  contactmesh terminal sim pending cn-mobile --diff"
)
HELP_DIFF = "Show each field, old and new."
COLUMNS_PENDING: Final = ("Contact", "Accepting it", "What comes", "Changed here", "Id")
CHANGES: Final = {
    "added": "adds it",
    "changed": "changes it",
    "removed": "removes it",
    "same": "changes nothing",
}
KEPT = "keeps it: removed there, changed here"
CHANGED_HERE = "yes"
HELP_LIMIT = (
    "List at most so many, 0 for all. If not given, 50 on a screen and all in a pipe or as JSON."
)
KEPT_COUNT = "kept"
COUNTED_CHANGES: Final = {
    "added": "{count} to add",
    "changed": "{count} to change",
    "removed": "{count} to remove",
    "kept": "{count} to keep",
    "same": "{count} the same",
}
IN_ALL = "{contacts} wait: {parts}."
SEE_ALL = (
    "The first {shown} are listed. All: contactmesh terminal sim pending {sim} --limit 0{which}"
)
ACCEPT_NEXT = (
    "Take it: contactmesh terminal sim accept {sim}{which} · "
    "leave it: contactmesh terminal sim decline {sim}{which}"
)
DIFF_TITLE = "{name}: {change}"
DIFF_TITLE_HERE = "{name}: {change}; you have changed it here too"
DIFF_LINE = "  {line}"
STILL_FILLING = "More contacts are still to come."
NO_PENDING = (
    "No contact called '{name}' waits.{near} See: contactmesh terminal sim pending {sim}{which}"
)
HELP_ACCEPT = (
    "Take what waits for a SIM into this phonebook.\n\n"
    "Where you and the other SIM changed the same field, what waited wins, and the value that "
    "is replaced is shown. A contact that is removed there and that you changed here is kept."
)
EXAMPLES_ACCEPT = (
    "Examples:\n\n"
    "  contactmesh terminal sim accept cn-mobile\n\n"
    "  contactmesh terminal sim accept cn-mobile 张伟 王芳"
)
HELP_PENDING_REV = (
    "Only if what waits is still what you looked at: the pending_rev of 'sim pending --json'."
)
HELP_PENDING_CONTACTS = "Only these contacts, by name or id. If none is given, all that wait."
ACCEPTING = "Accepting"
STOPPING = "Stopping after this page ... Ctrl-C again ends it at once."
ACCEPTED = "{added} added, {changed} changed, {removed} removed, {same} the same"
REMOVALS_WAIT = "The removals go on waiting."
ACCEPTED_KEPT = ", {count} kept because you changed them here"
OVERWRITTEN = "These values of yours were replaced:"
COLUMNS_OVERWRITTEN: Final = ("Contact", "Field", "Your value")
HELP_DECLINE = "Leave what waits for a SIM out of this phonebook. The same does not come again."
EXAMPLES_DECLINE = (
    "Examples:\n\n"
    "  contactmesh terminal sim decline cn-mobile\n\n"
    "  contactmesh terminal sim decline cn-mobile 张伟"
)
DECLINING = "Declining"
DECLINED = "{contacts} declined."
HELP_AUTO_ACCEPT = (
    "Accept what comes to a SIM by itself while 'watch' runs, or no longer.\n\n"
    "Removals that are more than half of the phonebook, and more than ten, still wait for you; "
    "'watch' says so."
)
EXAMPLE_AUTO_ACCEPT = "Example:  contactmesh terminal sim auto-accept cn-mobile on"
AUTO_ACCEPTS: Final = {
    True: "What comes to {name} is accepted by itself while 'contactmesh terminal watch' runs.",
    False: "What comes to {name} waits until you accept it.",
}
