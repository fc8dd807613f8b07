"""Every text of the commands about SIM cards, to be translated as those of `texts` are.

Help texts are markup of Rich, in which a blank line ends a paragraph. The others are plain.
"""

from typing import Final

# `contactmesh terminal sim`
HELP_SIMS = (
    "SIM cards: one phonebook over all of them, kept in an account at each carrier.\n\n"
    "What one SIM stores waits for the others, and nothing of it comes into a phonebook before "
    "its terminal accepts it."
)
EXAMPLES_SIMS = (
    "From a SIM in the phone to one of another carrier in the tablet:\n\n"
    "  contactmesh terminal sim add cn-mobile 89860012345678901238 --as phone\n\n"
    "  contactmesh terminal sim store cn-mobile --as phone\n\n"
    "  contactmesh terminal sim add cn-unicom 89860198765432109875 --as tablet\n\n"
    "  contactmesh terminal sim consent cn-unicom on --as tablet\n\n"
    "  contactmesh terminal sim pending cn-unicom --as tablet\n\n"
    "  contactmesh terminal sim accept cn-unicom --as tablet"
)
PANEL_CARDS = "SIM cards and accounts"
PANEL_BOOK = "Their contacts"
HELP_SIM = "A SIM by its name, the last four digits of its ICCID or more, its number, or its id."
HELP_CARRIER = "A carrier's id, as in cn-mobile."
HELP_SWITCH = "on or off."
NO_SIM = "No SIM of yours is called '{name}'.{near} See: contactmesh terminal sim list{which}"
NO_ACCOUNT = "You have no account at '{name}'.{near} See: contactmesh terminal sim list{which}"
NEAR = " Did you mean {names}?"
OR = " or "
BAD_CARRIER = "'{name}' is no carrier's id: small letters, digits and -, as in cn-mobile."
BAD_NAME = "A name is 1 to 100 characters in any script, and a note 500 at the most."
TOLD_SIM = "{name} (ICCID …{end}, {carrier})"
ELSEWHERE = (
    "{name} is in another terminal. If it is in this one now, say so with: "
    "contactmesh terminal sim move {sim}{which}"
)

# sim add
HELP_ADD = (
    "Register a SIM card or eSIM profile of this terminal.\n\n"
    "The first one at a carrier makes your account there, with an identification code; the next "
    "ones join it. One that you have registered already is in this terminal from now on."
)
EXAMPLES_ADD = (
    "Examples:\n\n"
    "  contactmesh terminal sim add cn-mobile 89860012345678901238\n\n"
    "  contactmesh terminal sim add cn-unicom 89860198765432109875 --name Work --number 13800138000"
)
HELP_ICCID = "The number printed on the card: 89 and 16 to 20 more digits."
HELP_SIM_NAME = (
    "What you call it. If not given, it keeps its name, or a new one is named after its carrier."
)
HELP_SIM_NUMBER = (
    "Its telephone number. If it is one of yours at that carrier (see 'line list'), the SIM is "
    "removed once the carrier gives the number to somebody else."
)
DEFAULT_NAME = "{carrier}-{number}"
BAD_ICCID = "'{iccid}' is no ICCID: expected 89 and 16 to 20 more digits. It stands on the card."
ASK_CHECK_DIGIT = (
    "The check digit of {iccid} does not fit, as after a slip. Is it right all the same?"
)
ASK_CARRIER = (
    "You have nothing at a carrier {carrier} so far, but at {carriers}. Make an account there?"
)
ASK_FIRST_CARRIER = "You have nothing at a carrier so far. Make an account at {carrier}?"
ADDED_ACCOUNT = "Your account at {carrier} is new."
JOINED_ACCOUNT = "This SIM is in your account at {carrier}."
SHOW_SIM = "SIM"
SHOW_ACCOUNT = "Account"
SHOW_CODE = "Identification code"
ADDED_NEXT = "Store your contacts there: contactmesh terminal sim store {sim}{which}"
AGREE_NEXT = (
    "What your other carriers' SIMs store comes there once you agree: "
    "contactmesh terminal sim consent {carrier} on{which}"
)
UPDATE_NEXT = "Get what the account holds already: contactmesh terminal sim update {sim}{which}"

# sim list
HELP_LIST = "List your accounts and SIMs, with how many contacts wait for each."
EXAMPLE_LIST = "Example:  contactmesh terminal sim list"
COLUMNS_ACCOUNTS: Final = (
    "Carrier", "Identification code", "Shared", "Private", "Consent", "Follows book",
)  # fmt: skip
COLUMNS_SIMS: Final = ("SIM", "Carrier", "Number", "ICCID", "Terminal", "Waiting")
HERE = "this one"
SWITCHED = {True: "yes", False: "no"}
FILLING = "{count}, more to come"
BY_ITSELF = "{waiting} (accepts by itself)"
NO_SIMS = (
    "You have no SIM registered. Register one with: "
    "contactmesh terminal sim add CARRIER ICCID{which}"
)
WAITS_HERE = "See what waits: contactmesh terminal sim pending {sim}{which}"

# sim move, replace, remove
HELP_MOVE = "Say that a SIM is in this terminal now."
EXAMPLE_MOVE = "Example:  contactmesh terminal sim move cn-mobile"
MOVED = "{name} is in this terminal now."
HELP_REPLACE = "Say that the carrier replaced a SIM: a new ICCID, the same number."
EXAMPLE_REPLACE = "Example:  contactmesh terminal sim replace cn-mobile 89860012345678909991"
REPLACED = "{name} has the ICCID {iccid} now."
HELP_REMOVE = "Remove a SIM, with what waits for it. The account stays, and what is stored there."
EXAMPLE_REMOVE = "Example:  contactmesh terminal sim remove cn-mobile"
ASK_REMOVE = "Remove {name}?"
ASK_REMOVE_WAITING = "Remove {name}, with {contacts} waiting for it?"
REMOVED = "{name} is removed. Your account at {carrier} stays."

# sim info, consent, follow-book
HELP_INFO = "Show what all your accounts say of you, or say something else."
EXAMPLES_INFO = (
    "Examples:\n\n"
    "  contactmesh terminal sim info\n\n"
    "  contactmesh terminal sim info 李伟 --note 'two SIMs'"
)
HELP_INFO_NAME = "Your name."
HELP_INFO_NOTE = "A note, up to 500 characters; empty for none."
INFORMATION = "All your accounts say: {name}"
INFORMATION_NOTE = "All your accounts say: {name} ({note})"
NO_INFORMATION = (
    "Your accounts do not say your name yet. Set it with: contactmesh terminal sim info NAME{which}"
)
NAME_FIRST = "Your accounts do not say your name yet: give a name beside the note."
HELP_CONSENT = (
    "Agree that contacts of your SIMs at other carriers are copied to this one, or no longer.\n\n"
    "What has been copied already stays."
)
EXAMPLE_CONSENT = "Example:  contactmesh terminal sim consent cn-unicom on"
CONSENTED: Final = {
    True: (
        "{carrier} has your consent: contacts of your other carriers' SIMs are copied there from "
        "now on."
    ),
    False: (
        "{carrier} has your consent no more: contacts of your other carriers' SIMs are not copied "
        "there."
    ),
}
HELP_FOLLOW = (
    "Let an account's shared contacts follow your address book in the cloud, or no longer."
)
EXAMPLE_FOLLOW = "Example:  contactmesh terminal sim follow-book cn-mobile on"
FOLLOWED: Final = {
    True: "The shared contacts at {carrier} follow your address book from now on.",
    False: "The shared contacts at {carrier} do not follow your address book any more.",
}

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
    "characters: {names}. Import them again with another uid."
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

# watch, pull
TOLD_WAITING = "{contacts} wait for {sim}. {look}"
TOLD_WAITING_ONE = "1 contact waits for {sim}. {look}"
TOLD_TAKEN = "{contacts} wait for {sim} and are accepted by themselves, unless they remove much"
TOLD_TAKEN_ONE = "1 contact waits for {sim} and is accepted by itself"
TOLD_REMOVALS_WAIT = (
    "{sim}: too many contacts would be removed at once, so the removals wait for you ({removals}). "
    "{look}"
)
TOLD_NOTHING_WAITS = "nothing waits for {sim} any more"
A_SIM = "one of your SIMs"
LOOK = "See: contactmesh terminal sim pending {sim}{which}"
LOOK_WATCHING = "See: stop watching (Ctrl-C), then: contactmesh terminal sim pending {sim}{which}"
