"""Every text that the commands of terminals show people, in one place to be translated.

Help texts are markup of Rich, in which a blank line ends a paragraph. The others are plain.
"""

from typing import Final

from contactmesh.contracts.carrier.check import ChangeCode
from contactmesh.contracts.carrier.records import DataVolume, ShownState
from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.terminal import Departure

# Which terminal
PANEL_WHICH = "Which terminal"
HELP_AS = "The terminal's name on this machine; not needed while there is only one."
HELP_FOLDER = "The folder in which the terminal lives, instead of a name."
NAME_AND_FOLDER = "Say either --as NAME or --terminal DIR, not both."
BAD_TERMINAL_NAME = "'{name}' cannot be a terminal's name: use letters, digits and . _ - @ +."
HOW_TO_ENROL = "Say: contactmesh terminal enrol CODE{which}"
NO_SUCH_TERMINAL = "No terminal is called {name} here. There are: {names}."
WHICH_TERMINAL = "Several terminals live here. Choose one with --as NAME: {names}."
NO_REPLY = (
    "No answer within {seconds:.0f} seconds. Check that the system runs and can be reached, and "
    "look what took effect before you repeat a change."
)
WAITING = "Waiting for the answer ..."

# Naming
HELP_USER = "A user's id, or the name under which your phonebook shows a member."
HELP_USERS = "Users' ids, or the names under which your phonebook shows them."
HELP_GROUP = "A group's name, its id, or the beginning of its id."
HELP_INVITATION = "An invitation's id or the beginning of it, or its group's name."
HELP_CONTACT = "A contact's name, its id as 'contacts' shows it, or its member's user id."
NO_USER = (
    "'{name}' is neither a user's id, as in li-wei, nor a member whom your phonebook shows. "
    "See: contactmesh terminal contacts{which}"
)
NO_GROUP = "None of your groups is called '{name}'. See: contactmesh terminal group list{which}"
NO_INVITATION = (
    "No open invitation is called '{name}'. See: contactmesh terminal group invitations{which}"
)
NO_CONTACT = "No contact is called '{name}'. See: contactmesh terminal contacts{which}"
SEVERAL = "'{name}' may be any of these; say which by its id: {candidates}."
AND_MORE = ", ..."

# `contactmesh terminal`
HELP_TERMINAL = "Be one of the people: keep a phonebook, share your card, see others' changes."
EXAMPLES_TERMINAL = (
    "Change your number once:\n\n"
    "  contactmesh terminal publish --number 13800138000=13900139000\n\n"
    "Two people on one machine have a name each:\n\n"
    "  contactmesh terminal enrol CODE --as li-wei\n\n"
    "  contactmesh terminal contacts --as li-wei"
)
HELP_GROUPS = "Groups: those whose members get each other's changes."
EXAMPLES_GROUPS = (
    "From nothing to a group of two:\n\n"
    "  contactmesh terminal group create 家人 --as li-wei\n\n"
    "  contactmesh terminal group invite 家人 zhang-wei --as li-wei\n\n"
    "  contactmesh terminal group accept 家人 --as zhang-wei"
)
PANEL_TERMINAL = "This terminal"
PANEL_PHONEBOOK = "Phonebook"
PANEL_SHARING = "Sharing"
PANEL_NUMBERS = "Numbers at carriers"
PANEL_MEMBERSHIP = "Membership"
PANEL_INVITATIONS = "Invitations"

# enrol, show
HELP_ENROL = (
    "Let this machine in as one of a user's terminals.\n\n"
    "The code comes from the operator and works once. The terminal's credentials and phonebook "
    "are kept in a folder that only you can read."
)
EXAMPLE_ENROL = "Example:  contactmesh terminal enrol ABCD-EFGH-JKLM --as li-wei --region CN"
HELP_CODE = "The one-time code from the operator."
HELP_TERMINAL_NAME = "What the operator sees it called, for example 'My phone'."
HELP_REGION = (
    "The country of numbers that you keep without a country code, for example CN; without it "
    "they do not match those of members."
)
HELP_TRANSPORT = (
    "The protocol that it speaks to the broker; mqtt where AMQP does not pass or costs too much."
)
BAD_REGION = "'{region}' is no country. Use two letters, as in CN, US or DE."
ENROLLED = "This is now a terminal of {name} ({user_id}): {terminal_id}"
ENROLLED_NEXT = "Bring your contacts in with: contactmesh terminal import FILE.vcf{which}"
ENROLLED_SYNC = "Get your address book ({contacts}): contactmesh terminal sync{which}"
ALREADY_ENROLLED = (
    "{folder} holds {terminal} already. Give the new terminal a name of its own with --as NAME."
)
HELP_SHOW = (
    "Show a contact's page, or without a contact who this terminal is and whether it works.\n\n"
    "Opening a page asks the carriers' registry whether the numbers still stand, and puts right "
    "what does not. Without a connection it shows what is known, and from when. Numbers come in "
    "the order in which they are best dialled.\n\n"
    "Exit status of a page: 0 shown, asked or not · 1 you have asked too much of late. Of the "
    "terminal: 0 it works, or another process uses it · 1 refused · 3 the system cannot be reached."
)
EXAMPLE_SHOW = (
    "Examples:\n\n"
    "  contactmesh terminal show 张伟\n\n"
    "  contactmesh terminal show --json | jq -r .connection"
)
HELP_PAGE_CONTACT = "A contact, as for 'contact'; none for the terminal itself."
HELP_PAGE_IDENTITY = "Whose numbers these are, for a contact whom no group has told this of."
SHOW_USER = "User"
SHOW_TERMINAL = "Terminal"
SHOW_CONNECTION = "Connection"
SHOW_QUEUE = "Queue"
SHOW_BROKER = "Broker"
SHOW_IDENTITY = "Identity"
SHOW_FOLDER = "Folder"
SHOW_REGION = "Country"
SHOW_PHONEBOOK = "Phonebook"
SHOW_INTERVAL = "Pulls"
WORKS = "works"
IN_USE = "in use"
REFUSED = "refused"
UNREACHABLE = "unreachable"
CONNECTIONS: Final = {
    IN_USE: "in use by another process, such as 'contactmesh terminal watch'",
    REFUSED: "refused: this terminal was revoked; enrol again with a new code",
    UNREACHABLE: "the system cannot be reached: check that it runs, and try again",
}
ROUND_TRIP = "{state}, {milliseconds} ms there and back"
NO_REGION = "none: numbers without a country code match nobody"
CONTACTS = ("1 contact", "{count} contacts")
GROUPS = ("1 group", "{count} groups")
EVERY = "every {seconds} s while it is connected"

# import, export
HELP_IMPORT = (
    "Take contacts over from vCard files, of version 2.1, 3.0 or 4.0.\n\n"
    "Importing a file again makes no duplicates. A damaged card is shown with its line and what "
    "to do about it, and the others are taken; the exit status is then 1."
)
EXAMPLES_IMPORT = (
    "Examples:\n\n"
    "  contactmesh terminal import phone.vcf sim.vcf\n\n"
    "  zcat backup.vcf.gz | contactmesh terminal import -"
)
HELP_IMPORT_FILES = "vCard files; - is standard input."
NO_SUCH_FILE = "There is no file {file}."
STANDARD_INPUT = "standard input"
COLUMNS_DAMAGES = ("Place", "Card", "What is wrong", "What to do")
IMPORTED = "{added} new, {updated} changed, {unchanged} the same"
IMPORT_DAMAGED = ", {count} not imported"
HELP_EXPORT = "Write contacts as a vCard file, as they are shown, your own notes and labels too."
EXAMPLES_EXPORT = (
    "Examples:\n\n"
    "  contactmesh terminal export all.vcf --version 3.0\n\n"
    "  contactmesh terminal export --contact 张伟 | less"
)
HELP_EXPORT_FILE = "The file to write; - is standard output."
HELP_VCARD_VERSION = "The vCard version; old phones read 3.0 only."
HELP_EXPORT_ONLY = "Only this contact, by name or id. May be repeated."
EXPORTED = "{contacts} written to {file}."

# contacts, contact
HELP_CONTACTS = (
    "List the phonebook, as of the last 'pull' or 'watch'; no connection is needed.\n\n"
    "Labels in parentheses and the column Yours are your own; members never see them."
)
EXAMPLES_CONTACTS = (
    "Examples:\n\n"
    "  contactmesh terminal contacts 张\n\n"
    "  contactmesh terminal contacts --json | jq -r '.[].card.phones[]?.number'"
)
HELP_SEARCH = "Only those whose name, number, e-mail, organisation or note holds this text."
COLUMNS_CONTACTS = ("Name", "Numbers", "Groups", "Yours", "Id")
MORE = " + {count} more"
NOTHING_FOUND = "No contact holds '{search}'."
NO_CONTACTS = (
    "The phonebook is empty. Bring contacts in with: contactmesh terminal import FILE.vcf{which}"
)
HELP_CONTACT_SHOW = "Show all that is known of a contact: what is the member's, and what is yours."
EXAMPLE_CONTACT = "Example:  contactmesh terminal contact 张伟"
CONTACT_TITLE = "{name}  ({contact_id})"
CONTACT_OWN = "Your own entry; no group shows a member behind it."
CONTACT_LINKED = "Your own entry, kept right by {user_id} through: {groups}"
CONTACT_OF_GROUP = "Brought and kept right by {user_id} through: {groups}"
FIELDS: Final = {
    "name": "name",
    "phones": "number",
    "emails": "e-mail",
    "addresses": "address",
    "organizations": "organisation",
    "titles": "title",
    "nicknames": "nickname",
    "notes": "note",
    "keywords": "keyword",
    "anniversaries": "anniversary",
    "onlineServices": "account",
    "links": "link",
    "media": "picture",
    "personalInfo": "interest",
    "relatedTo": "relation",
    "preferredLanguages": "language",
}
PARTS: Final = {"label": "label", "contexts": "kind", "features": "kind", "pref": "order"}
PART_OF = "{field}, {part}"
PART_OF_ENTRY = "{field} {entry}, {part}"
COLUMNS_CONTACT = ("Field", "Value", "Label", "Whose")
THEIRS = "theirs"
MEDIA = "{kind} ({form}, {size})"
MEDIA_KINDS: Final = {"image": "photo", "audio": "sound", "video": "film"}
MEDIA_OTHER = "file"
OWN = "yours"

# link, unlink, note, label, delete
HELP_LINK = (
    "Say that a contact of yours is a member: from then on the member keeps it right.\n\n"
    "Contacts of the same name that share a number or an e-mail address are linked by themselves."
)
EXAMPLE_LINK = "Example:  contactmesh terminal link 老张 zhang-wei"
LINKED = "{name} is {user_id} now."
HELP_UNLINK = "Part a contact from its member. The entry is again as you had it."
EXAMPLE_UNLINK = "Example:  contactmesh terminal unlink 老张"
UNLINKED = "{name} is your own entry again; {user_id} is a contact of their own."
HELP_NOTE = "Write a note on a contact. It stays yours: no member sees it or changes it."
EXAMPLE_NOTE = "Example:  contactmesh terminal note 张伟 '喜欢喝茶'"
HELP_NOTE_TEXT = "The note. It is added to those that are there."
HELP_NOTE_REPLACE = "Put it in the place of all notes; with an empty text, remove them."
NOTED = "Noted on {name}."
HELP_LABEL = (
    "Give a number a label of your own. It stays, whatever the member does to the number; an "
    "empty label takes it off."
)
EXAMPLE_LABEL = "Example:  contactmesh terminal label 张伟 13800138000 老板"
HELP_LABEL_NUMBER = "The number, written any way."
HELP_LABEL_TEXT = "The label."
LABELLED = "{number} of {name} is labelled {label}."
UNLABELLED = "{number} of {name} has no label of yours any more."
NO_NUMBER = "none"
NUMBER_NOT_THERE = "The contact has no number {number}. It has: {known}."
HELP_DELETE = (
    "Delete your own entry of a contact, with its notes and labels.\n\n"
    "What groups show of a member stays. Your other terminals lose it at the next 'sync', the SIM "
    "accounts in which you stored it at the next 'sim store'."
)
EXAMPLE_DELETE = "Example:  contactmesh terminal delete 老张"
ASK_DELETE = "Delete {name}?"
DELETED = "{name} is deleted."
DELETED_OWN_PART = "Your entry of {name} is deleted. What groups show of {user_id} stays."
BAD_TEXT = "That text cannot be put on a card: leave out control characters."

# group
HELP_GROUP_CREATE = (
    "Create a group, with you as its owner.\n\n"
    "Members named here are in at once and may invite others. Whom you would rather ask first, "
    "invite afterwards."
)
EXAMPLE_GROUP_CREATE = "Example:  contactmesh terminal group create 家人 --member zhang-wei"
HELP_NEW_GROUP = "The group's name: 1 to 100 characters in any script."
HELP_MEMBER = "A first member. May be repeated."
BAD_GROUP_NAME = (
    "A group's name is 1 to 100 characters in any script, and its members are users' ids."
)
GROUP_CREATED = "The group {name} is there: {group_id}"
GROUP_NEXT = (
    "Share your card with it: contactmesh terminal publish{which} · "
    "ask others in: contactmesh terminal group invite {name} USER{which}"
)
HELP_GROUP_LIST = "List your groups."
EXAMPLE_GROUP_LIST = "Example:  contactmesh terminal group list --json | jq -r '.[].name'"
COLUMNS_GROUPS = ("Group", "Members", "Owner", "Your role", "Since", "Id")
NO_GROUPS = "You are in no group. Make one with: contactmesh terminal group create NAME{which}"
INVITATION_WAITS = (
    "1 invitation waits for your answer. See: contactmesh terminal group invitations{which}"
)
INVITATIONS_WAIT = (
    "{count} invitations wait for your answer. See: contactmesh terminal group invitations{which}"
)
AS_KNOWN = (
    "As far as this terminal has heard; another process runs it, so that the service was not asked."
)
COLUMNS_KNOWN_GROUPS = ("Group", "Members", "Owner", "Id")
COLUMNS_KNOWN_MEMBERS = ("Member", "Name", "Role")
ROLES: Final = {
    Role.CREATOR: "creator",
    Role.INITIAL: "first member",
    Role.INVITED: "joined by invitation",
}
OWNER = "owner"
YOU = "you"
HELP_GROUP_SHOW = "Show a group: its members, whom you block there, and who is invited."
EXAMPLE_GROUP_SHOW = "Example:  contactmesh terminal group show 家人"
GROUP_TITLE = "{name}  ({group_id})"
PUSHED = "Changes are pushed to this terminal."
NOT_PUSHED = "Changes are not pushed to this terminal; it pulls them."
CARD_SHARED = "The group has your card."
CARD_NOT_SHARED = (
    "The group does not have your card yet. Share it: "
    "contactmesh terminal publish --group {group}{which}"
)
COLUMNS_MEMBERS = ("Member", "Name", "Role", "Since", "")
BLOCKED = "you block"
COLUMNS_INVITED = ("Waiting for an answer", "By", "Open until", "Id")
HELP_GROUP_LEAVE = "Leave a group. Its members' cards go from your phonebook, your entries stay."
EXAMPLE_GROUP_LEAVE = "Example:  contactmesh terminal group leave 家人"
ASK_LEAVE = "Leave {group}?"
LEFT = "You left {group}."
HELP_GROUP_REMOVE = "Remove a member from your own group."
EXAMPLE_GROUP_REMOVE = "Example:  contactmesh terminal group remove 家人 zhang-wei"
ASK_REMOVE = "Remove {user_id} from {group}?"
REMOVED = "{user_id} is no longer in {group}."
HELP_GROUP_HAND_OVER = "Make another member the owner of your group."
EXAMPLE_GROUP_HAND_OVER = "Example:  contactmesh terminal group hand-over 家人 zhang-wei"
HANDED_OVER = "{user_id} owns {group} now."
HELP_GROUP_DISSOLVE = "End your own group, for all its members and for good."
EXAMPLE_GROUP_DISSOLVE = "Example:  contactmesh terminal group dissolve 家人 --yes"
ASK_DISSOLVE = "End {group} for all {members} members?"
DISSOLVED = "{group} is no more."
HELP_GROUP_SUBSCRIBE = "Have a group's changes pushed to this terminal; so it is to begin with."
EXAMPLE_GROUP_SUBSCRIBE = "Example:  contactmesh terminal group subscribe 家人"
SUBSCRIBED = "Changes in {group} are pushed to this terminal."
HELP_GROUP_UNSUBSCRIBE = "Have no changes of a group pushed to this terminal; pulling goes on."
EXAMPLE_GROUP_UNSUBSCRIBE = "Example:  contactmesh terminal group unsubscribe 家人"
UNSUBSCRIBED = "Changes in {group} are not pushed to this terminal any more; it pulls them."
HELP_YES = "Do not ask."
SAY_YES = "Nothing was done, for nobody is there to ask: {question} Say --yes if so."
NOTHING_DONE = "Nothing was done."

# invitations
HELP_INVITE = "Invite users to a group. Owner, creator and first members may."
EXAMPLE_INVITE = "Example:  contactmesh terminal group invite 家人 zhang-wei wang-fang"
INVITED = "{user_id} is invited to {group}."
NOT_INVITED = "{user_id} is not invited: {reason}"
HELP_INVITATIONS = "List the invitations that wait: for your answer, and for that of others."
EXAMPLE_INVITATIONS = "Example:  contactmesh terminal group invitations"
COLUMNS_INVITATIONS = ("Group", "From", "To", "Open until", "Id")
AS_KNOWN_RECEIVED = (
    "Those that wait for your answer, as far as this terminal has heard; another process runs it."
)
NO_INVITATIONS = "No invitation waits."
HELP_ACCEPT = "Accept an invitation. You then get the members' cards, and they yours if you share."
EXAMPLE_ACCEPT = "Example:  contactmesh terminal group accept 家人"
ACCEPTED = "You are in {group} now."
ACCEPTED_NEXT = "Share your card with it: contactmesh terminal publish --group {group}{which}"
HELP_DECLINE = "Decline an invitation."
EXAMPLE_DECLINE = "Example:  contactmesh terminal group decline 家人"
DECLINED = "You declined the invitation to {group}."
HELP_WITHDRAW = "Take an invitation back that was not answered yet."
EXAMPLE_WITHDRAW = "Example:  contactmesh terminal group withdraw zhang-wei"
WITHDRAWN = "{user_id} is no longer invited to {group}."

# publish
HELP_PUBLISH = (
    "Publish your own card to your groups, so that every member whom you do not block has it.\n\n"
    "With --number or --name your card is changed in every group that has it; a group with "
    "another card of yours keeps that one, with the change. With nothing but --group, the group "
    "gets your card. With --card or --contact, every group gets that card.\n\n"
    "Exit status 1 if a group refused, or if there was nothing to publish to any."
)
EXAMPLES_PUBLISH = (
    "The first time, either of:\n\n"
    "  contactmesh terminal publish --name 张伟 --number +8613800138000\n\n"
    "  contactmesh terminal publish --card me.vcf\n\n"
    "Change your number once:\n\n"
    "  contactmesh terminal publish --number 13800138000=13900139000"
)
HELP_CARD = "A file with your card, vCard or JSContact; - is standard input."
HELP_CARD_CONTACT = (
    "A contact in your phonebook that is you. Notes, nicknames and keywords stay at home."
)
HELP_CARD_NAME = "Your name."
HELP_CARD_NUMBER = (
    "Your new number, in the place of the only one or of OLD. May be repeated. With a country "
    "code, unless you gave your country at enrolment."
)
HELP_CARD_GROUP = "Only to this group. May be repeated."
CARD_AND_CONTACT = "Say either --card FILE or --contact CONTACT, not both."
ONE_CARD = "{file} holds {count} cards. Give a file with one, your own."
NO_GROUP_TO_PUBLISH_TO = (
    "You are in no group, so nobody would see your card. Make a group first: "
    "contactmesh terminal group create NAME{which}"
)
FIRST_CARD = (
    "You have no card yet. Make one with --name 张伟 --number +8613800138000, or give one with "
    "--card me.vcf."
)
EMPTY_NAME = "The name is empty."
NOT_A_NUMBER = "'{number}' is no phone number."
TOO_SHORT = "'{number}' is too short: others could not dial it."
TOO_LONG = "'{number}' is too long: others could not dial it."
WRONG_LENGTH = "'{number}' has a length that no number of its country has."
BAD_COUNTRY_CODE = "'{number}' begins with a country code that does not exist."
NOT_OF_COUNTRY = (
    "'{number}' is no number of {region}: it has too many or too few digits, or lacks the area "
    "code. If it is right, write it in full, as in +86 ..."
)
DOUBTFUL = "Is {number} right? No numbering plan lists it yet; it is published all the same."
NO_COUNTRY_CODE = "Others could not dial {number}: write it with the country code, as in +86 ..."
OLD_NUMBER_NOT_THERE = "Your card does not hold {number}. It holds: {known}."
WHICH_NUMBER = (
    "Your card has several numbers: {known}. Say which one changes: --number OLD={number}"
)
NOT_SHARED_HERE = "It does not have your card yet: add --group to share it there."
WHICH_CARD = "Your groups have different cards: say which one with --card or --contact."
COLUMNS_PUBLISHED = ("Group", "Outcome", "Other members", "Why")
OUTCOMES: Final = {
    "published": "published",
    "unchanged": "had it already",
    "skipped": "left out",
    "refused": "refused",
    "unknown": "no answer",
}
NOTHING_TO_PUBLISH = "Every group had your card as it is."

# block, lift, blocks
HELP_BLOCK = (
    "Do not notify a user of your changes, in one group or everywhere.\n\n"
    "They keep what they have, are not told, and cannot find out that anything changed. Their "
    "looks at your numbers end a moment later; 'contactmesh terminal revoke' ends these at once."
)
EXAMPLE_BLOCK = "Example:  contactmesh terminal block zhang-wei --group 家人"
HELP_BLOCK_GROUP = "Only in this group."
EVERYWHERE = "everywhere"
GROUPS_TO_COME = "every group to come"
NOW_BLOCKED = "{user_id} is not notified of your changes any more: {where}."
HELP_LIFT = (
    "Take a block back. The user then gets your card as it is now.\n\n"
    "Without --group every block on the user goes: the one everywhere, and those that were set in "
    "one group only. With it, only the block in this group: by its id, as 'contactmesh terminal "
    "blocks' shows it, if you have left the group or it is no more."
)
EXAMPLE_LIFT = "Example:  contactmesh terminal lift zhang-wei"
LIFTED = "No block on {user_id} any more in: {where}."
NOT_BLOCKED = "Nothing to lift: you do not block {user_id}."
NOT_BLOCKED_THERE = "Nothing to lift: you do not block {user_id} in {group}."
STILL_BLOCKED = "Another block on {user_id} stands. See: contactmesh terminal blocks{which}"
HELP_BLOCKS = "List whom you block, and where."
EXAMPLE_BLOCKS = "Example:  contactmesh terminal blocks"
COLUMNS_BLOCKS = ("User", "Name", "Where")
NO_BLOCKS = "You block nobody."

# pull, watch
HELP_PULL = (
    "Ask now for what changed, and show it.\n\n"
    "With --every the terminal also pulls by itself at that interval while 'watch' runs."
)
EXAMPLES_PULL = (
    "Examples:\n\n  contactmesh terminal pull\n\n  contactmesh terminal pull --every 300"
)
HELP_PULL_GROUP = "Only this group."
HELP_EVERY = "How often to pull from now on, in seconds."
INTERVAL_SET = "This terminal pulls every {seconds} seconds from now on."
UP_TO_DATE = "Nothing has changed."
HELP_WATCH = (
    "Show what others change, as it arrives, and keep the phonebook right meanwhile.\n\n"
    "It comes back by itself when the connection is lost. Ctrl-C ends it, with exit status 0. "
    "With --json each update is one line."
)
EXAMPLES_WATCH = (
    "Examples:\n\n"
    "  contactmesh terminal watch\n\n"
    "  contactmesh terminal watch --json | jq -c 'select(.update==\"contact_updated\").changes'"
)
WATCHING = "Watching as {terminal_id}. Ctrl-C ends it."
DROPPED = "{count} updates came too fast to be shown; the phonebook has them."
UPDATE_LINE = "{time}  {text}"
IN_GROUPS = " ({groups})"
TOLD_ADDED = "{name} is new: {says}"
TOLD_UPDATED = "{name} changed: {says}"
TOLD_OVERWRITTEN = "your value was replaced: {field} {value}"
TOLD_REMOVED = "{name} is gone from the phonebook"
TOLD_OWN_CARD = "your card in {group} was published by another of your terminals"
TOLD_UNREADABLE = "an update could not be read ({type}): {reason}"
TOLD_JOINED = "{user} joined {group}"
TOLD_LEFT: Final = {
    MemberState.ACTIVE: "{user} is in {group}",
    MemberState.LEFT: "{user} left {group}",
    MemberState.REMOVED: "{user} was removed from {group}",
}
TOLD_INVITED = "{user} invites you to {group}. {answer}"
ANSWER = "Answer: contactmesh terminal group accept {group}{which}"
ANSWER_WATCHING = (
    "Answer: stop watching (Ctrl-C), then: contactmesh terminal group accept {group}{which}"
)
TOLD_INVITATION_CLOSED = "the invitation of {user} to {group} was {outcome}"
TOLD_GROUP_JOINED = "you are in {group} now"
TOLD_GROUP_GONE: Final = {
    Departure.LEFT: "you left {group}",
    Departure.REMOVED: "you were removed from {group}",
    Departure.DISSOLVED: "{group} was dissolved",
    Departure.UNKNOWN: "you are not in {group} any more",
}
TOLD_HANDED_OVER = "{user} owns {group} now"
CHANGE = "{field} {old} → {new}"
PART = "{part}:"
CHANGE_ADDED = "{field} + {new}"
CHANGE_REMOVED = "{field} - {old}"

# A contact's page: what the carriers' registry says
STATES: Final = {
    ShownState.UNREACHABLE: "unreachable",
    ShownState.IN_CALL: "in a call",
    ShownState.BUSY: "busy",
    ShownState.ONLINE: "online",
    ShownState.SMS_ONLY: "text messages only",
    ShownState.UNKNOWN: "unknown",
}
VOLUMES: Final = {
    DataVolume.BELOW_200_MIB: "less than 200 MiB",
    DataVolume.BELOW_1_GIB: "less than 1 GiB",
    DataVolume.BELOW_5_GIB: "less than 5 GiB",
    DataVolume.FROM_5_GIB: "5 GiB or more",
}
AS_OF = "{what}, {time}"
PORTED = "{carrier} (ported)"
COLUMNS_PAGE = ("Number", "Carrier", "State", "Plan left", "Shared labels", "Your label")
NOT_KNOWN = "not known"
CHECKED_NOW = "The carriers' registry was asked just now."
NO_LIVE_NUMBER = "It knows no live number of this contact."
CHECKED_THEN = "As of {time}."
CHECKED_NEVER = "The carriers' registry has told nothing of these numbers yet."
NOT_ASKED_UNREACHABLE = "The registry could not be reached."
NOT_ASKED_IN_USE = "The registry was not asked: another process uses this terminal."
NOT_ASKED_REVOKED = "The registry was not asked: this terminal was revoked."
NOT_ASKED_NOBODY = (
    "The registry was not asked: no group has told whose contact this is. "
    "Say it with --identity USER."
)
UPDATE_FAILED = "Contact update failed: the registry shows you nothing of this contact."
CHANGES: Final = {
    ChangeCode.CARRIER_CHANGED: "{before} is now {now}, at {carrier}",
    ChangeCode.NUMBER_CHANGED: "{before} is now {now}",
    ChangeCode.NUMBER_WITHDRAWN: "{before} was given up",
    ChangeCode.NUMBER_ADDED_NEW_CARRIER: "{now} is new, at {carrier}",
    ChangeCode.NUMBER_ADDED: "{now} is new",
}
PORTED_TO = "{now} is at {carrier} now"
A_NUMBER = "a number"

# dial-order
HELP_DIAL_ORDER = (
    "Choose in which order a contact's numbers are dialled; yours wins over the contact's.\n\n"
    "Without numbers the contact's own order counts again."
)
EXAMPLE_DIAL_ORDER = "Example:  contactmesh terminal dial-order 张伟 13900139000 13800138000"
HELP_DIAL_NUMBERS = "The contact's numbers, the first to be dialled first."
DIAL_ORDER = "Numbers of {name} are dialled in this order: {numbers}."
DIAL_ORDER_GONE = "Numbers of {name} are dialled as {name} wants it."
NOT_AT_THE_REGISTRY = (
    "The registry has told of no number {number} of this contact. "
    "See: contactmesh terminal show{which}"
)

# line
HELP_LINES = "Your own numbers, as your carriers know them and as others see them."
HELP_LINE_LIST = "List your own numbers, with all that the carriers told of them."
COLUMNS_LINES = ("Number", "Registration", "Priority", "Shared labels", "State", "Plan left")
NO_LINES = "No carrier has told of a number of yours."
HELP_LINE_LABEL = "Say what a number of yours is called by those who may see it; nothing to stop."
EXAMPLE_LINE_LABEL = "Example:  contactmesh terminal line label 13800138000 work evenings"
HELP_LINE_NUMBER = "One of your numbers, or its registration, as in cn-mobile:1048577."
HELP_LINE_LABELS = "Up to 10 labels."
LINE_LABELLED = "{number} is called {labels}."
LINE_UNLABELLED = "{number} has no shared labels."
HELP_LINE_PRIORITY = (
    "Say where a number of yours is to be dialled: 1 first. One that is taken pushes the others "
    "down; without a place it comes last."
)
EXAMPLE_LINE_PRIORITY = "Example:  contactmesh terminal line priority 13800138000 1"
HELP_LINE_PLACE = "1 to 100."
LINE_PLACED = "{number} is to be dialled at place {place}."
LINE_UNPLACED = "{number} has no place of its own."
NO_SUCH_LINE = "None of your numbers is {number}. See: contactmesh terminal line list{which}"
BAD_SHARED_LABEL = "A shared label is 1 to 50 characters, and there are 10 at the most."

# grant, revoke, grants, looks
HELP_GRANT = (
    "Let somebody look up your numbers, their state, what is left of your plan.\n\n"
    "Each is granted by itself; members of your groups see your numbers anyway, unless you block "
    "them. A grant replaces the one before."
)
EXAMPLE_GRANT = "Example:  contactmesh terminal grant zhang-wei --state"
HELP_GRANT_DETAILS = "Your numbers, labels and dial order."
HELP_GRANT_STATE = "Whether your numbers can be reached."
HELP_GRANT_USAGE = "What is left of your plan, roughly."
GRANTED = "{user_id} may see: {what}."
DETAILS, STATE, USAGE = "numbers", "state", "plan left"
NOTHING_GRANTED = "nothing"
HELP_REVOKE = (
    "Let somebody see nothing of your numbers any more, whatever groups you share; at once."
)
EXAMPLE_REVOKE = "Example:  contactmesh terminal revoke zhang-wei"
REVOKED_GRANT = "{user_id} sees nothing of your numbers any more."
HELP_GRANTS = "List whom you let see what."
COLUMNS_GRANTS = ("User", "Name", "Sees")
NO_GRANTS = "You have granted nobody anything."
HELP_LOOKS = (
    "List who looked at your numbers, when and at what; the latest first.\n\n"
    "The looks of one user within an hour, at the same, are one line."
)
HELP_LOOKS_LIMIT = "At most so many lines."
COLUMNS_LOOKS = ("First", "Last", "Times", "User", "Name", "At", "Allowed")
OLDER_LOOKS = "There are older looks: --limit says how many lines are listed."
ALLOWED = {True: "yes", False: "no"}
NO_LOOKS = "Nobody has looked at your numbers."
