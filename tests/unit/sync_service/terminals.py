"""A terminal that keeps a book, edits it offline, and syncs by the contract."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tests.unit.sync_service.books import PHONE, TABLET, Json, Server, card

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.sync.commands import Exchange, Exchanged
from contactmesh.contracts.sync.records import Change, ChangeResult, Outcome

MOBILE = {"number": "13800138000"}
DESK = {"number": "01012345678", "label": "desk"}
BIRTHDAY = {"b": {"kind": "birth", "date": {"year": 1980}}}


@dataclass(frozen=True)
class Kept:
    """A contact as the terminal keeps it; without a revision it has never been synced.

    `edited_at` is set while there is something to send, which was made from revision `rev`.
    """

    card: Json | None
    rev: int | None = None
    edited_at: datetime | None = None


@dataclass
class Terminal:
    """One terminal of a user; `wrong` is what its clock shows too much.

    What it has made is sent only once all that changed there is known, and `new` is set.
    """

    server: Server
    terminal_id: str = PHONE
    wrong: timedelta = timedelta()
    supports: frozenset[str] | None = None
    contacts: dict[str, Kept] = field(default_factory=dict)
    token: str | None = None
    new: bool = True
    results: list[ChangeResult] = field(default_factory=list)
    received: list[tuple[str, int]] = field(default_factory=list)

    @property
    def clock(self) -> datetime:
        """The time that it believes."""
        return self.server.now + self.wrong

    def begins(self) -> "Terminal":
        """Begin with what the book holds: the full sync of a terminal that keeps nothing."""
        self.token = self.server.lists()
        for entry in self.server.stored.entries.values():
            if entry.card is not None:
                self.contacts[entry.uid] = Kept(entry.card, entry.rev)
        return self

    def makes(self, uid: str, name: str | None = None, **more: object) -> None:
        """Make a contact."""
        self._edit(uid, card(uid, name, **more))

    def edits(self, uid: str, /, **fields: object) -> None:
        """Set properties of a contact, or remove those that are set to nothing."""
        before = self.contacts[uid].card
        assert before is not None
        after = {**before, **fields}
        self._edit(uid, {name: value for name, value in after.items() if value is not None})

    def deletes(self, uid: str) -> None:
        """Delete a contact."""
        self._edit(uid, None)

    def waiting(self) -> list[str]:
        """The contacts that have something to send, in the order of their edits."""
        found = [uid for uid, kept in self.contacts.items() if kept.edited_at is not None]
        return sorted(found, key=lambda uid: str(self.contacts[uid].edited_at))

    def starts(self) -> None:
        """Start a sync."""
        self.new = self.token is None

    def command(self, most: int = 200, *, confirm: bool = False) -> Exchange:
        """What it would send now."""
        waiting = self.waiting()
        sent = [uid for uid in waiting if self.new or self.contacts[uid].rev is not None][:most]
        return Exchange(
            token=self.token,
            changes=tuple(self._change(uid) for uid in sent),
            sent_at=self.clock,
            sent_all=sent == waiting,
            supports=self.supports,
            confirm_deletions=confirm,
        )

    def exchanges(
        self, most: int = 200, *, lost: bool = False, confirm: bool = False
    ) -> Exchanged | None:
        """One exchange, whose reply may be lost."""
        command = self.command(most, confirm=confirm)
        try:
            reply = self.server.exchanges(command, self.terminal_id)
        except Refusal as refusal:
            if refusal.body.code is not ErrorCode.FULL_SYNC_REQUIRED:
                raise
            self.lists_anew()
            return None
        if lost:
            return None
        self.takes(reply)
        return reply

    def syncs(self, most: int = 200, *, confirm: bool = False) -> None:
        """Exchange until nothing is left on either side."""
        self.starts()
        for _ in range(1_000):
            reply = self.exchanges(most, confirm=confirm)
            if reply is not None and not reply.has_more and not self.waiting():
                return
        raise AssertionError("the terminal does not come to an end")

    def takes(self, reply: Exchanged) -> None:
        """Take a reply over."""
        self.results = list(reply.results)
        for result in reply.results:
            if result.outcome is Outcome.REJECTED:
                if result.code is not ErrorCode.UNAVAILABLE:
                    kept = self.contacts[result.uid]
                    self.contacts[result.uid] = replace(kept, edited_at=None)
                continue
            kept = self.contacts[result.uid]
            there = result.card if result.card is not None else kept.card
            self.contacts[result.uid] = Kept(None if result.deleted else there, result.rev)
        for entry in reply.changes:
            self.received.append((entry.uid, entry.rev))
            kept = self.contacts.get(entry.uid, Kept(None))
            if kept.edited_at is None:
                self.contacts[entry.uid] = Kept(entry.card, entry.rev)
        self.token = reply.token
        self.new = self.new or not reply.has_more

    def lists_anew(self) -> None:
        """The full sync: take over what the server has, and keep what is still to be sent."""
        self.new = True
        self.token = self.server.lists()
        there = {entry.uid: entry for entry in self.server.stored.entries.values()}
        for uid, kept in list(self.contacts.items()):
            if kept.edited_at is None and uid not in there:
                del self.contacts[uid]
        for uid, entry in there.items():
            if self.contacts.get(uid, Kept(None)).edited_at is None:
                self.contacts[uid] = Kept(entry.card, entry.rev)

    def holds(self) -> dict[str, Json]:
        """Its contacts by uid."""
        return {uid: kept.card for uid, kept in self.contacts.items() if kept.card is not None}

    def outcomes(self) -> dict[str, Outcome]:
        """What became of the changes of its last exchange."""
        return {result.uid: result.outcome for result in self.results}

    def _edit(self, uid: str, after: Json | None) -> None:
        before = self.contacts.get(uid, Kept(None))
        self.contacts[uid] = Kept(after, before.rev, self.clock)

    def _change(self, uid: str) -> Change:
        kept = self.contacts[uid]
        assert kept.edited_at is not None
        return Change(
            uid=uid,
            op=Operation.DELETED if kept.card is None else Operation.MODIFIED,
            base_rev=kept.rev or None,
            updated_at=kept.edited_at,
            card=kept.card,
        )


def all_sync(terminals: list[Terminal], between: Callable[[], None] = lambda: None) -> None:
    """Let all sync until each has seen what the others sent."""
    for _ in range(2):
        for terminal in terminals:
            between()
            terminal.syncs()


def shared(*uids: str, server: Server | None = None) -> tuple[Server, Terminal, Terminal]:
    """Two terminals that know the same contacts."""
    server = server or Server()
    phone, tablet = Terminal(server, PHONE), Terminal(server, TABLET)
    for uid in uids:
        phone.makes(uid, phones={"m": MOBILE, "d": DESK}, anniversaries=BIRTHDAY)
    phone.syncs()
    server.passes()
    tablet.begins()
    return server, phone, tablet
