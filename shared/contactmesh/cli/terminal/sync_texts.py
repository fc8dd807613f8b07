"""Every text of the commands about the address book on the server, as those of `texts` are.

Help texts are markup of Rich, in which a blank line ends a paragraph. The others are plain.
"""

from typing import Final

from contactmesh.contracts.sync.records import Policy
from contactmesh.terminal.rules.arriving import Arrival

PANEL_SYNC = "Your address book on all your terminals"

# sync
HELP_SYNC = (
    "Make your own contacts here and in your address book on the server the same, so that all "
    "your terminals have them.\n\n"
    "What changed here is sent, what changed elsewhere comes. Changes of different things of one "
    "contact are both kept; of the same one the later counts, and the other waits in 'conflicts'. "
    "With --every or --at it happens by itself too, while 'watch' runs.\n\n"
    "Exit status 1 if some contacts could not be taken; the others were."
)
EXAMPLES_SYNC = (
    "Examples:\n\n"
    "  contactmesh terminal sync\n\n"
    "  contactmesh terminal sync --every 15m\n\n"
    "  contactmesh terminal sync --json | jq -r '.rejected[].display_name'"
)
HELP_SYNC_EVERY = "Sync from now on also by itself, so often: as in 15m, 2h or 1d."
HELP_SYNC_AT = "Sync from now on also by itself, every day at this time: as in 03:00."
HELP_SYNC_OFF = "Sync by itself no longer. Nothing is synced now."
HELP_SYNC_YES = "Do not ask, even if more than half of the book would be deleted."
ONE_SCHEDULE = "Say one of --every, --at and --off."
BAD_INTERVAL = "'{text}' is no interval: say it as in 15m, 2h or 1d, from 1m to 30d."
TOO_OFTEN = "'{text}' is too often: say an interval of at least {least}."
TOO_SELDOM = "'{text}' is too seldom: say an interval of at most {most}."
BAD_CLOCK = "'{text}' is no time of the day: say it as in 03:00."
BAD_MOMENT = "'{text}' is no time: say it as in '2026-11-30 14:00'."
TOO_LONG_AGO = (
    "{time} is longer ago than versions are kept: 30 days, where the operator set nothing else."
)
NOT_YET = "{time} has not come yet."
SYNCING = "Syncing"
SYNCED = "{sent} sent, {received} received"
SYNCED_DELETED = " ({count} deleted)"
SYNCED_MERGED = ", {count} joined with what changed elsewhere"
SYNCED_CONFLICTS = ", {contacts} in conflict"
SYNCED_REJECTED = ", {count} not taken"
ARRIVED: Final = {
    Arrival.ADDED: "{name} is new",
    Arrival.CHANGED: "{name} changed",
    Arrival.DELETED: "{name} was deleted",
}
SYNCED_NOTHING = "All is the same here and in your address book on the server."
SYNCED_FULL = "The whole book was compared; nothing that is the same was sent."
COLUMNS_REJECTED: Final = ("Contact", "Why it was not taken")
CHANGE_THEM = "Change them, and they are sent again with the next sync."
A_DELETED_CONTACT = "deleted here ({uid})"
CONFLICTS_NEXT = "What lost is kept. See: contactmesh terminal conflicts{which}"
SYNC_GOES_ON = "What was synced stays; the same command goes on from there."
ASK_REMOVALS_SYNC = (
    "{removed} of your {contacts} contacts would be deleted on all your terminals. If that is not "
    "meant, 'contactmesh terminal restore' gets them back afterwards, for 30 days. Delete them?"
)
NOT_SYNCED = "Nothing was synced."
SYNCS_EVERY = "This terminal syncs every {interval} while 'contactmesh terminal watch' runs."
SYNCS_AT = "This terminal syncs every day at {time} while 'contactmesh terminal watch' runs."
SYNCS_BY_HAND = "This terminal does not sync by itself any more."
SHOW_SYNC = "Synced"
NEVER = "never"
AND_EVERY = "{last}; every {interval} while 'contactmesh terminal watch' runs"
AND_AT = "{last}; every day at {time} while 'contactmesh terminal watch' runs"
UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
FAILING = (
    "Your address book could not be synced since {time}: {problem} "
    "Try it with: contactmesh terminal sync{which}"
)
DELETED_MUCH = (
    "{removed} of your {contacts} contacts are deleted here and not synced yet. Say that it is "
    "meant, or so that they can be restored: contactmesh terminal sync --yes{which}"
)

# sync-policy
HELP_POLICY = (
    "Say what becomes of a contact that two terminals changed, or show it.\n\n"
    "merge: changes of different things are both kept, of the same one the later counts. "
    "latest-wins: the contact that was changed later counts whole. Either way what lost is kept "
    "in 'conflicts' and 'history'."
)
EXAMPLE_POLICY = "Example:  contactmesh terminal sync-policy latest-wins"
HELP_POLICY_VALUE = "merge or latest-wins; without, what it is."
POLICIES: Final = {
    Policy.MERGE: "merge: changes of different things of one contact are both kept.",
    Policy.LATEST_WINS: "latest-wins: the contact that was changed later counts whole.",
}

# own-card
HELP_OWN_CARD = (
    "Say which contact of your address book is you, or show it.\n\n"
    "Whenever it changes on any of your terminals and is synced, your groups get it, without your "
    "notes, nicknames and keywords; whom you block does not."
)
EXAMPLES_OWN_CARD = (
    "Examples:\n\n  contactmesh terminal own-card 李伟\n\n  contactmesh terminal own-card --none"
)
HELP_OWN_CARD_CONTACT = "The contact that is you, by name or id; without, which one it is."
HELP_OWN_CARD_NONE = "No contact is; your groups keep the card that they have."
CONTACT_OR_NONE = "Say either a contact or --none."
OWN_CARD_IS = "{name} is your own card: your groups follow it."
OWN_CARD_ELSEWHERE = (
    "Your own card is a contact that is not on this terminal. Get it: contactmesh terminal "
    "sync{which}"
)
NO_OWN_CARD = (
    "No contact is your own card. Choose one with: contactmesh terminal own-card CONTACT{which}"
)
OWN_CARD_GONE = "No contact is your own card any more; your groups keep the one that they have."
NOT_IN_BOOK = (
    "{name} is not in your address book on the server yet. "
    "Send it: contactmesh terminal sync{which}"
)

# history
HELP_HISTORY = (
    "Show the versions of a contact in the last 30 days, the latest first.\n\n"
    "Those that never stood, because a later change won, are there too. A deleted contact is "
    "named as it was called."
)
EXAMPLE_HISTORY = "Example:  contactmesh terminal history 张伟"
COLUMNS_HISTORY: Final = ("Version", "When", "By", "What", "In brief")
MADE, CHANGED, DELETED, LOST = "made", "changed", "deleted", "lost to a later change"
RESTORED_TO = "restored to version {number}"
STANDS = "{what} (stands)"
HERE = "this terminal"
WAITING_HERE = (
    "Some contacts changed or were deleted here and are not synced yet: "
    "contactmesh terminal sync{which}"
)
RESTORE_NEXT = "Get one back: contactmesh terminal restore {contact} --to VERSION{which}"
NO_SUCH_CONTACT = (
    "No contact is called '{name}', and none that was deleted in the last 30 days. "
    "See: contactmesh terminal contacts{which}"
)

# restore
HELP_RESTORE = (
    "Let a contact, or the whole address book, be again as it was.\n\n"
    "Without --to a contact is as it was before its last change. What is replaced goes into the "
    "history, so this can be taken back too. What changed here is synced first.\n\n"
    "With --deleted and no name, those deleted in the last 30 days are listed. With --book, "
    "contacts made since that time are deleted, and can be restored in turn."
)
EXAMPLES_RESTORE = (
    "Examples:\n\n"
    "  contactmesh terminal restore 张伟 --to 3\n\n"
    "  contactmesh terminal restore --deleted 张伟\n\n"
    "  contactmesh terminal restore --book --at '2026-11-30 14:00'"
)
HELP_RESTORE_CONTACT = "A contact by its name or id, or a deleted one as it was called."
HELP_RESTORE_TO = "The version, as 'history' counts them."
HELP_RESTORE_DELETED = "One that was deleted; without a contact, list them."
HELP_RESTORE_BOOK = "The whole address book."
HELP_RESTORE_AT = "As it was at this time here, as in '2026-11-30 14:00'."
WHAT_TO_RESTORE = "Say a contact, --deleted, or --book with --at."
BOOK_AND_AT = "--book and --at belong together, without a contact: say both."
TO_OR_DELETED = "--to belongs to a contact, and not to --deleted."
NO_VERSION = "{name} has no version {number}. See: contactmesh terminal history {contact}{which}"
NO_EARLIER = "{name} has no earlier version of the last 30 days."
RESTORED = "{name} is again as of {time}."
RESTORED_BACK = "{name} is back, as of {time}."
RESTORED_DELETED = "{name} is deleted again, as of {time}."
RESTORED_LINE = "  {line}"
ALREADY_SO = "{name} is so already."
STILL_CHANGED = (
    "It was changed here meanwhile, which is synced next: contactmesh terminal sync{which}"
)
COLUMNS_DELETED: Final = ("Contact", "Deleted", "By", "Id")
NONE_DELETED = "No contact was deleted in the last 30 days."
RESTORE_DELETED_NEXT = "Get one back: contactmesh terminal restore --deleted NAME{which}"
NO_DELETED = (
    "No contact called '{name}' was deleted in the last 30 days. "
    "See: contactmesh terminal restore --deleted{which}"
)
ASK_RESTORE_BOOK = (
    "Let the whole address book be as it was at {time}, on all your terminals? Contacts made "
    "since then are deleted."
)
RESTORING = "Restoring"
RESTORING_GOES_ON = "What was restored stays; the same command goes on from there."
BOOK_RESTORED = "{contacts} restored to {time}."
BOOK_RESTORED_NOTHING = "Nothing has changed since {time}."
TAKE_BACK = "Take it back with: contactmesh terminal restore --book --at '{time}'{which}"

# erase
HELP_ERASE = (
    "Erase contacts from your address book with all their history and conflicts.\n\n"
    "They are deleted on all your terminals with the next sync, and nothing restores them. "
    "Accounts of SIM cards keep what was stored there until the next 'sim store' of each; a "
    "contact that waits for a SIM is taken away with 'sim decline'. To only delete a contact there "
    "is 'delete'."
)
EXAMPLE_ERASE = "Example:  contactmesh terminal erase 张伟 王芳"
HELP_ERASE_CONTACTS = "Contacts, also deleted ones, by name or id."
ASK_ERASE = (
    "Erase {names}? No terminal and no history can bring them back. Accounts of SIM cards that "
    "they were stored in keep them until the next 'sim store'."
)
ASK_ERASE_ONE = (
    "Erase {names}? No terminal and no history can bring it back. Accounts of SIM cards that it "
    "was stored in keep it until the next 'sim store'."
)
ERASED = "{names} erased, with all history."

# conflicts
HELP_CONFLICTS = (
    "Show where two terminals changed the same, and settle it.\n\n"
    "What stands is what counts; what lost waits here for 30 days. --take puts it in its place, "
    "--keep leaves things as they are; both take the conflict off the list."
)
EXAMPLES_CONFLICTS = (
    "Examples:\n\n"
    "  contactmesh terminal conflicts\n\n"
    "  contactmesh terminal conflicts --take 7f3b2c10\n\n"
    "  contactmesh terminal conflicts --take 张伟 --keep 王芳\n\n"
    "  contactmesh terminal conflicts --keep all"
)
HELP_TAKE = (
    "Take the value that lost instead. A conflict by its id, all of a contact by its name, or all."
)
ALL = "all"
TAKE_OR_KEEP = "Say either --take or --keep of a conflict, not both."
HELP_KEEP = "Leave things as they are. Either may be repeated."
COLUMNS_CONFLICTS: Final = ("Contact", "Field", "Stands", "Lost", "Sent by", "When", "Id")
NO_CONFLICTS = "No conflict waits."
NO_CONFLICT = "No conflict is called '{name}'. See: contactmesh terminal conflicts{which}"
SETTLE_NEXT = (
    "Take what lost: contactmesh terminal conflicts --take ID{which} · "
    "leave it: contactmesh terminal conflicts --keep ID{which}"
)
WHOLE_CONTACT = "the whole contact"
THE_DELETION = "that it is deleted"
THE_CONTACT = "the contact"
NOTHING_THERE = "nothing"
TAKEN = "{name}: what lost stands now ({lost})."
KEPT = "{name} stays as it is."

# duplicates
HELP_DUPLICATES = (
    "Find contacts of yours that may be one person, and make one of them.\n\n"
    "All of both is kept; where they differ, the first one's counts. Joins can be undone for 30 "
    "days."
)
EXAMPLES_DUPLICATES = (
    "Examples:\n\n"
    "  contactmesh terminal duplicates\n\n"
    "  contactmesh terminal duplicates --join 5ae1c07d"
)
HELP_JOIN = "Make one of two. A pair by its id."
HELP_UNDO = "Let the two be again as they were. A join by its id."
JOIN_OR_UNDO = "Say either --join or --undo."
COLUMNS_DUPLICATES: Final = ("First", "Second", "Likely", "Both have", "Id")
COLUMNS_JOINS: Final = ("Joined", "When", "Id")
LIKELY = "{percent} %"
SEEN_AS = "{name} ({numbers})"
NO_DUPLICATES = "No two contacts of yours look like one person."
NO_PAIR = "No pair is called '{name}'. See: contactmesh terminal duplicates{which}"
NO_JOIN = "No join is called '{name}'. See: contactmesh terminal duplicates{which}"
JOIN_NEXT = "Make one of two: contactmesh terminal duplicates --join ID{which}"
ASK_JOIN = "Make one contact of {first} and {second}? Where they differ, the first one's counts."
JOINED = "{name} is one contact now."
UNDO_NEXT = "Take it back with: contactmesh terminal duplicates --undo {join}{which}"
UNDO_LISTED = "Part one again: contactmesh terminal duplicates --undo ID{which}"
PARTED = "{name} is two contacts again."
