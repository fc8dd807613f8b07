"""A small world of groups: the rules of group_service and fanout_service, without any wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from contactmesh.audience.model import Audience, base_of, begun, moved_on
from contactmesh.contacts import Card
from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import ContactChanged, ContactUpdate
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.group.events import AudienceEvent
from contactmesh.contracts.group.views import PulledMember
from contactmesh.contracts.reply import Result
from fanout_service.domain.delivery import of_change
from group_service.domain.documents import Limits
from group_service.domain.pulling import page, shown
from group_service.domain.state import Asking, State
from group_service.handlers import RULES


def card_of(user_id: str, number: int) -> Card:
    """A user's card, with a phone number that tells one state from another."""
    return Card.model_validate(
        {
            "@type": "Card",
            "version": "1.0",
            "uid": f"urn:example:{user_id}",
            "name": {"full": user_id},
            "phones": {"mobile": {"number": f"+8613{number:09d}"}},
        }
    )


def number_in(card: Mapping[str, Any] | None) -> int | None:
    """Which state of its owner a card shows."""
    return None if card is None else int(card["phones"]["mobile"]["number"][5:])


@dataclass
class World:
    """One group_service and one copy of the audiences, with events under way between them."""

    state: State = field(default_factory=State)
    under_way: list[Message] = field(default_factory=list)
    audiences: dict[str, Audience] = field(default_factory=dict)
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    limits: Limits = field(default_factory=Limits)
    commands: int = 0

    def does(self, user_id: str, command: Command) -> Result:
        """Decide a user's command; its events are under way then."""
        self.commands += 1
        self.now += timedelta(milliseconds=1)
        asking = Asking(
            user_id=user_id,
            terminal_id=f"{user_id}_aaaaaaaa",
            command_id=f"c{self.commands}",
            now=self.now,
            limits=self.limits,
        )
        decision = RULES[type(command)](self.state, asking, command)
        self.under_way += [told.message for told in decision.told]
        return decision.result

    def arrives(self, index: int) -> list[tuple[str, ContactUpdate]]:
        """Let an event arrive: who is told what. What cannot be served yet stays under way."""
        event = self.under_way.pop(index)
        if isinstance(event, ContactChanged):
            audience = self.audiences.get(event.group_id or "")
            if audience is None or audience.version < (event.audience_version or 0):
                self.under_way.append(event)
                return []
            delivery = of_change(audience, event)
            assert isinstance(delivery.message, ContactUpdate)
            return [(user_id, delivery.message) for user_id in delivery.user_ids]
        if isinstance(event, AudienceEvent):
            self._moves_on(event)
        return []

    def _moves_on(self, event: AudienceEvent) -> None:
        base = base_of(event)
        audience = self.audiences.get(event.group_id)
        if base == 0:
            self.audiences[event.group_id] = begun(event)  # type: ignore[arg-type]
        elif audience is not None and base == audience.version:
            self.audiences[event.group_id] = moved_on(audience, event)
        elif base is not None:
            self.under_way.append(event)

    def pulls(self, user_id: str, group_id: str, since: int = 0) -> list[PulledMember]:
        """All that a pull shows a user since a revision."""
        visible = []
        for member in self.state.members:
            if member.group_id != group_id:
                continue
            block = self.state.blocks.get((group_id, member.user_id, user_id))
            frozen = None
            if block is not None and block.frozen_card_rev is not None:
                key = (group_id, member.user_id, block.frozen_card_rev)
                kept = self.state.frozen.get(key)
                frozen = None if kept is None else kept.card
            seen = shown(member, block, frozen)
            if seen is not None:
                visible.append(seen)
        group = self.state.groups.get(group_id)
        assert group is not None
        members, has_more = page(visible, since=since, until=group.rev, limit=1_000)
        assert not has_more
        return members
