"""The rules on a state in memory: commands in, their events delivered in any order, or again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from contactmesh.contacts import Card
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import MAIN_BOOK, ContactChanged, Operation, Origin, Scope
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.multi_sim.commands import (
    MOST_DECIDED,
    Decide,
    DecisionTaken,
    RegisterSim,
    SetConsent,
    SimRegistered,
    Store,
    Stored,
    StoredChange,
)
from contactmesh.contracts.multi_sim.events import CatchUp, SimRemoved, SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.contracts.reply import Result
from contactmesh.contracts.sync.events import BookPage, BookWanted, HeldEntry
from contactmesh.deciding.decision import Told
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Limits, Sim
from multi_sim_replication_service.domain.following import begin_to_follow, follow
from multi_sim_replication_service.domain.forgetting import forget
from multi_sim_replication_service.domain.registering import recycled
from multi_sim_replication_service.domain.replicating import catch_up, take_over
from multi_sim_replication_service.domain.spaces import contents_of
from multi_sim_replication_service.domain.state import Asking, Covered, State
from multi_sim_replication_service.handlers import RULES

START = datetime(2026, 1, 1, tzinfo=UTC)
LIN, BO = "lin", "bo"
MOBILE, UNICOM, TELECOM = "cn-mobile", "cn-unicom", "cn-telecom"
PHONE, TABLET = "lin_aaaaaaaa", "lin_bbbbbbbb"


def iccid(number: int) -> str:
    """The `number`-th SIM's ICCID."""
    return f"8986{number:016d}"


def card(uid: str, number: str) -> Card:
    """A contact with one number."""
    return Card.model_validate(
        {
            "@type": "Card",
            "version": "1.0",
            "uid": uid,
            "name": {"full": uid},
            "phones": {"mobile": {"number": number}},
        }
    )


def book_event(uid: str, rev: int, number: str | None, owner: str = LIN) -> ContactChanged:
    """An entry of the owner's address book has a number now, or was removed."""
    contents = None if number is None else dict(card(uid, number).to_json())
    return ContactChanged(
        scope=Scope.BOOK,
        book=MAIN_BOOK,
        owner_id=owner,
        uid=uid,
        rev=rev,
        op=Operation.DELETED if number is None else Operation.MODIFIED,
        card=contents,
        origin=Origin(service="sync_service"),
    )


@dataclass
class Spaces:
    """One user's accounts, and the events that are under way."""

    limits: Limits = field(default_factory=lambda: Limits(page=2))
    state: State = field(default_factory=State)
    now: datetime = START
    under_way: list[Message] = field(default_factory=list)
    published: list[Message] = field(default_factory=list)
    laid_ready: Counter[str] = field(default_factory=Counter)
    """How many pages of requested updates have been laid ready, by SIM, repeats included."""
    commands: int = 0
    book: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """What the user's address book holds: revision and number, none where it is deleted, by uid."""

    def does(self, command: Command, terminal: str = PHONE, user: str = LIN) -> Result:
        """Handle a command; its events are under way then."""
        self.now += timedelta(seconds=1)
        self.commands += 1
        if isinstance(command, Decide) and command.uids is None:
            self._cover(command, user)
        asking = Asking(user, terminal, self.now, self.limits, self.commands.to_bytes(8))
        decision = RULES[type(command)](self.state, asking, command)
        self._send(decision.told)
        return decision.result

    def registers(self, carrier_id: str, number: int, terminal: str = PHONE) -> str:
        """Register the `number`-th SIM; its id."""
        command = RegisterSim(carrier_id=carrier_id, iccid=iccid(number), name=f"SIM {number}")
        registered = self.does(command, terminal)
        assert isinstance(registered, SimRegistered)
        return registered.sim_id

    def stores(
        self,
        sim_id: str,
        contacts: Mapping[str, str | None],
        space: SpaceKind = SpaceKind.SHARED,
        *,
        terminal: str = PHONE,
        whole: bool = False,
        known: Mapping[str, str] | None = None,
    ) -> Stored:
        """Store contacts, each with a number, or removed; over what is known, or whatever it is."""
        changes = tuple(
            StoredChange(
                uid=uid,
                card=None if number is None else card(uid, number),
                known=None if known is None else known.get(uid, NO_CONTACT),
            )
            for uid, number in contacts.items()
        )
        command = Store(sim_id=sim_id, space=space, changes=changes, whole=whole)
        account, _ = self.state.sim(LIN, sim_id)
        self.state.whole.add(account.space_id(space))
        stored = self.does(command, terminal)
        assert isinstance(stored, Stored)
        return stored

    def agrees(self, *carrier_ids: str, consent: bool = True) -> None:
        """Agree, or no longer, for carriers."""
        for carrier_id in carrier_ids:
            self.does(SetConsent(carrier_id=carrier_id, consent=consent))

    def decides(
        self, sim_id: str, *, accept: bool, terminal: str = PHONE, rev: int | None = None
    ) -> DecisionTaken:
        """Decide on all that waits for a SIM."""
        rev = self.sim(sim_id).pending_rev if rev is None else rev
        taken = self.does(Decide(sim_id=sim_id, pending_rev=rev, accept=accept), terminal)
        assert isinstance(taken, DecisionTaken)
        return taken

    def forgets_removals(self) -> None:
        """Let so much time pass that removals are forgotten where they may be."""
        self.now += timedelta(days=91)
        uids = sorted({one.uid for one in self.state.entries})
        forget(self.state, LIN, uids, self.now - timedelta(days=90), self.now)

    def deliver(self, message: Message) -> None:
        """Deliver one event to whom it concerns, as the service does."""
        match message:
            case SpaceChanged():
                contents = [contents_of(contact) for contact in message.contacts]
                for account in self.state.accounts_of(message.owner_id):
                    if account.carrier_id != message.carrier_id:
                        self._send(take_over(self.state, account, contents, self.now))
            case CatchUp():
                self._catch_up(message)
            case ContactChanged(scope=Scope.BOOK):
                for account in self.state.accounts_of(message.owner_id):
                    self._send(follow(self.state, account, message, self.now))
            case BookWanted():
                self.under_way.append(self._book_page(message))
            case BookPage():
                self._send(begin_to_follow(self.state, message, self.limits.page, self.now))
            case RegistrationRecycled():
                self._send(recycled(self.state, message))
            case SimRemoved():
                for key in [(one.view_id, one.uid) for one in self.state.sim_entries]:
                    if key[0] == message.view_id:
                        self.state.sim_entries.drop(key)

    def settle(self, random: Random | None = None) -> None:
        """Deliver all that is under way and what follows; with `random` shuffled, some twice."""
        while self.under_way:
            at = 0 if random is None else random.randrange(len(self.under_way))
            message = self.under_way.pop(at)
            self.deliver(message)
            if random is not None and random.random() < 0.2:
                self.deliver(message)

    def book_changes(self, uid: str, number: str | None) -> None:
        """Let the address book have another number of a contact from now on, or none."""
        last = max((rev for rev, _ in self.book.values()), default=0)
        rev = max(last + 1, int(self.now.timestamp() * 1_000_000))
        self.book[uid] = (rev, number)
        self.under_way.append(book_event(uid, rev, number))

    def _book_page(self, wanted: BookWanted) -> BookPage:
        following = sorted(
            (rev, uid, number) for uid, (rev, number) in self.book.items() if rev > wanted.after
        )
        page = following[: wanted.limit]
        return BookPage(
            owner_id=wanted.owner_id,
            carrier_id=wanted.carrier_id,
            after=wanted.after,
            entries=tuple(
                HeldEntry(uid=uid, rev=rev, card=dict(card(uid, number).to_json()))
                for rev, uid, number in page
                if number is not None
            ),
            next=page[-1][0] if len(following) > len(page) else None,
        )

    def account(self, carrier_id: str) -> Account:
        """The user's account at a carrier."""
        return self.state.account(LIN, carrier_id)

    def sim(self, sim_id: str) -> Sim:
        """A SIM as it is now."""
        return self.state.sim(LIN, sim_id)[1]

    def holds(self, carrier_id: str, space: SpaceKind = SpaceKind.SHARED) -> dict[str, str]:
        """A space's contacts: their digests by uid."""
        space_id = self.account(carrier_id).space_id(space)
        return {entry.uid: entry.digest for entry in self.state.live(space_id)}

    def waits(self, sim_id: str) -> dict[str, str]:
        """What waits for a SIM: digests by uid."""
        views = {
            one.view_id
            for account in self.state.accounts_of(LIN)
            for one in account.sims
            if one.sim_id == sim_id
        }
        return {
            entry.uid: entry.pending
            for entry in self.state.sim_entries
            if entry.view_id in views and entry.pending is not None
        }

    def told_of(self, sim_id: str) -> list[ContactChanged]:
        """What was told of a SIM's pending space."""
        return [
            one for one in self.published if isinstance(one, ContactChanged) and one.uid == sim_id
        ]

    def _cover(self, command: Decide, user: str) -> None:
        """Say what a decision covers and how much of it one command settles, as loading does."""
        for sim in (sim for one in self.state.accounts_of(user) for sim in one.sims):
            if sim.sim_id == command.sim_id:
                revs = sorted(
                    one.pending_rev
                    for one in self.state.sim_entries
                    if one.view_id == sim.view_id
                    and one.pending is not None
                    and one.pending_rev <= command.pending_rev
                )
                loaded = revs[:MOST_DECIDED]
                last = loaded[-1] if len(loaded) == MOST_DECIDED else command.pending_rev
                self.state.covered[sim.view_id, command.pending_rev] = Covered(len(revs), last)

    def _catch_up(self, event: CatchUp) -> None:
        if event.sim_id is not None and event.from_carrier_id == event.to_carrier_id:
            self.laid_ready[event.sim_id] += 1
        source = self.account(event.from_carrier_id)
        space_id = source.space_id(SpaceKind.SHARED)
        following = sorted(
            (
                one
                for one in self.state.entries
                if one.space_id == space_id and one.rev > event.after
            ),
            key=lambda entry: entry.rev,
        )
        page, more = following[: self.limits.page], len(following) > self.limits.page
        self._send(catch_up(self.state, event, page, more=more, now=self.now))

    def _send(self, told: tuple[Told, ...]) -> None:
        self.published += [one.message for one in told]
        self.under_way += [one.message for one in told]
