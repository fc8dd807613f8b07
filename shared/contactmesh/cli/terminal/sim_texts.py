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
    "Let an account's shared contacts follow your address book in the cloud, or no longer. "
    "They get what it holds, and then each change."
)
EXAMPLE_FOLLOW = "Example:  contactmesh terminal sim follow-book cn-mobile on"
FOLLOWED: Final = {
    True: "The shared contacts at {carrier} follow your address book from now on.",
    False: "The shared contacts at {carrier} do not follow your address book any more.",
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
