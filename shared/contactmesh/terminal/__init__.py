"""The terminal SDK: a phonebook that stays right, in ten lines.

    from contactmesh.contacts import Card, Name, Phone
    from contactmesh.terminal import ContactUpdated, Terminal

    async def main() -> None:
        async with Terminal("~/.contactmesh/phone") as terminal:
            await terminal.create_group("Family", members=["bob"])
            phones = {"mobile": Phone(number="+49 1512 3456789")}
            await terminal.publish(Card(uid="urn:example:me", name=Name(full="Ada"), phones=phones))
            async for update in terminal.updates():
                if isinstance(update, ContactUpdated):
                    print(update.display_name, update.changed_fields)

`Terminal.enrol` makes the folder. `Terminal` sends commands and receives updates, `Phonebook` is
the local store that it keeps right, the updates are what `Terminal.updates` gives, and every error
is a `TerminalError`.
"""

from contactmesh.contracts.identity import Transport
from contactmesh.terminal.book_entries import (
    Duplicate,
    Joined,
    Rejected,
    RestoredBook,
    SyncOutcome,
    SyncState,
)
from contactmesh.terminal.credentials import Enrolment, TerminalFolder
from contactmesh.terminal.entries import (
    Applied,
    CheckedContact,
    Contact,
    Imported,
    KnownGroup,
    KnownLines,
    KnownMember,
    OpenInvitation,
    OwnCard,
)
from contactmesh.terminal.errors import (
    AcceptingCancelled,
    AlreadyEnrolled,
    AuthenticationRefused,
    CommandRefused,
    EnrolmentRefused,
    FolderUnusable,
    IdentityUnavailable,
    LargeRemoval,
    LinkRefused,
    NobodyToAskAbout,
    NoOwnEntry,
    NoReply,
    NotEnrolled,
    PhonebookTooNew,
    PhonebookUnusable,
    RevisionConflict,
    SimElsewhere,
    TerminalClosed,
    TerminalError,
    TerminalInUse,
    TransportNotOffered,
    UnfitUid,
    UnknownContact,
    UnknownJoin,
    UnknownSim,
    UnreadableReply,
)
from contactmesh.terminal.groups import Publication
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.rules.arriving import Arrival, Arrived
from contactmesh.terminal.rules.lines import KnownLine
from contactmesh.terminal.rules.scheduling import Schedule
from contactmesh.terminal.rules.spaces import Overwritten, PendingChange, PendingContact
from contactmesh.terminal.space_entries import AcceptOutcome, PendingBook, StoreOutcome
from contactmesh.terminal.terminal import Terminal
from contactmesh.terminal.updates import (
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    Departure,
    GroupGone,
    GroupJoined,
    HandedOver,
    InvitationClosed,
    InvitationReceived,
    LargeRemovalWaiting,
    MemberJoined,
    MemberLeft,
    OwnCardUpdated,
    SimContactsWaiting,
    UnreadableUpdate,
    Update,
    UpdateStream,
)

__all__ = [
    "AcceptOutcome",
    "AcceptingCancelled",
    "AlreadyEnrolled",
    "Applied",
    "Arrival",
    "Arrived",
    "AuthenticationRefused",
    "CheckedContact",
    "CommandRefused",
    "Contact",
    "ContactAdded",
    "ContactRemoved",
    "ContactUpdated",
    "Departure",
    "Duplicate",
    "Enrolment",
    "EnrolmentRefused",
    "FolderUnusable",
    "GroupGone",
    "GroupJoined",
    "HandedOver",
    "IdentityUnavailable",
    "Imported",
    "InvitationClosed",
    "InvitationReceived",
    "Joined",
    "KnownGroup",
    "KnownLine",
    "KnownLines",
    "KnownMember",
    "LargeRemoval",
    "LargeRemovalWaiting",
    "LinkRefused",
    "MemberJoined",
    "MemberLeft",
    "NoOwnEntry",
    "NoReply",
    "NobodyToAskAbout",
    "NotEnrolled",
    "OpenInvitation",
    "Overwritten",
    "OwnCard",
    "OwnCardUpdated",
    "PendingBook",
    "PendingChange",
    "PendingContact",
    "Phonebook",
    "PhonebookTooNew",
    "PhonebookUnusable",
    "Publication",
    "Rejected",
    "RestoredBook",
    "RevisionConflict",
    "Schedule",
    "SimContactsWaiting",
    "SimElsewhere",
    "StoreOutcome",
    "SyncOutcome",
    "SyncState",
    "Terminal",
    "TerminalClosed",
    "TerminalError",
    "TerminalFolder",
    "TerminalInUse",
    "Transport",
    "TransportNotOffered",
    "UnfitUid",
    "UnknownContact",
    "UnknownJoin",
    "UnknownSim",
    "UnreadableReply",
    "UnreadableUpdate",
    "Update",
    "UpdateStream",
]
