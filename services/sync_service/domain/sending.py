"""What a terminal sent, read and put beside what it was made from (rows Y1, Y2)."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from contactmesh.contacts import (
    Card,
    CardLimits,
    CardTooLarge,
    check_size,
    display_name,
    with_unsupported,
)
from contactmesh.contracts.contact import Operation
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_fields
from contactmesh.contracts.sync.commands import Exchange
from contactmesh.contracts.sync.records import Change, Reason
from sync_service.domain.contents import card_of, digest_of
from sync_service.domain.documents import NO_CARD, Entry, Limits, Times, Version, owner_of
from sync_service.domain.state import Asking, State
from sync_service.domain.times import corrected
from sync_service.domain.tokens import Token

_MOST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Base:
    """What a change was made from.

    Attributes:
        rev: its revision.
        updated_at: when it was made.
    """

    rev: int
    digest: str
    card: Card | None
    times: Times
    updated_at: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A change, with what the terminal cannot hold and has not removed.

    Attributes:
        card: none for a deletion.
        updated_at: by the server's clock.
        base: what it was made from, none where the terminal made the entry.
        again: what came of it, where the terminal has sent it before.
    """

    uid: str
    card: Card | None
    digest: str
    updated_at: int
    terminal_id: str
    base: Base | None
    again: Reason | None = None

    @property
    def edits(self) -> bool:
        """Whether it says anything else than what it was made from."""
        return self.base is None or self.base.digest != self.digest


def read_change(
    state: State, asking: Asking, command: Exchange, token: Token | None, change: Change
) -> Sent:
    """Read one change.

    Raises:
        Refusal: `invalid_argument`, `too_large`; `not_found` or `conflict` where nothing is known
            of the revision that it was made from.
    """
    card = _card(change, asking.limits)
    owner = owner_of(asking.user_id, command.book)
    stands = state.entries.get((owner, change.uid))
    base = _base(state, owner, change, stands)
    held = command.supports
    if held is not None and card is not None and base is not None and base.card is not None:
        card = with_unsupported(base.card, card, held)
        check_card(card, asking.limits)
    digest = digest_of(card)
    again: Reason | None = None
    newest = _newest_own(state, owner, change, stands, asking.terminal_id)
    if newest is not None:
        was_sent = _sent_by(newest, asking.terminal_id)
        again = _reason(newest) if was_sent == digest else None
        if _reason(newest) is not Reason.LOST and was_sent == newest.digest:
            base = _as_base(newest)
    if base is None and change.base_rev is not None and digest != _digest(stands) and not again:
        raise _unknown_base(stands, change.base_rev)
    return Sent(
        uid=change.uid,
        card=card,
        digest=digest,
        updated_at=corrected(
            change.updated_at,
            command.sent_at,
            received=asking.received,
            after=0 if token is None else token.sent_all,
        ),
        terminal_id=asking.terminal_id,
        base=base,
        again=again,
    )


def check_card(card: Card, limits: Limits) -> None:
    """Refuse a card that is too large.

    Raises:
        Refusal: `too_large`.
    """
    try:
        check_size(card, CardLimits(card_bytes=limits.card_bytes, media_bytes=limits.card_bytes))
    except CardTooLarge as error:
        raise Refusal(ErrorCode.TOO_LARGE, str(error), limit_bytes=limits.card_bytes) from error


def name_of(change: Change, stands: Entry | None) -> str | None:
    """The contact's name, as far as there is one in what was sent or stands."""
    for contents in (change.card, None if stands is None else stands.card):
        try:
            name = "" if contents is None else display_name(Card.model_validate(contents))
        except ValidationError:
            said: Any = contents.get("name") if contents is not None else None
            name = str(said["full"]) if isinstance(said, dict) and "full" in said else ""
        if name:
            return name[:_MOST_NAME]
    return None


def _card(change: Change, limits: Limits) -> Card | None:
    if change.op is Operation.DELETED:
        return None
    if change.card is None:
        raise Refusal(ErrorCode.INVALID_ARGUMENT, "A modification has no card. Send it whole.")
    try:
        card = Card.model_validate({"uid": change.uid, **change.card})
    except ValidationError as error:
        fault = invalid_fields(error, at=("card",))
        raise Refusal(
            ErrorCode.INVALID_ARGUMENT, f"This is no JSContact card: {fault.reason}."
        ) from error
    if card.uid != change.uid:
        raise Refusal(ErrorCode.INVALID_ARGUMENT, "The card's uid is not the entry's. Correct it.")
    check_card(card, limits)
    return card


def _base(state: State, owner: str, change: Change, stands: Entry | None) -> Base | None:
    if change.base_rev is None:
        return None
    if stands is not None and stands.rev == change.base_rev:
        return _as_base(stands)
    version = state.versions.get((owner, change.uid, change.base_rev))
    if version is None or version.reason is Reason.LOST:
        return None
    return _as_base(version)


def _newest_own(
    state: State, owner: str, change: Change, stands: Entry | None, terminal_id: str
) -> Entry | Version | None:
    """What this terminal has sent last of what it does not know to have arrived."""
    since = change.base_rev or 0
    if stands is not None and stands.rev == since:
        return None
    ways: list[Entry | Version] = [*state.versions.of(owner, change.uid)]
    if stands is not None:
        ways.append(stands)
    own = [one for one in ways if _sent_by(one, terminal_id) is not None and one.rev > since]
    return max(own, key=lambda one: one.rev, default=None)


def _sent_by(found: Entry | Version, terminal_id: str) -> str | None:
    """The digest of what a terminal sent, of which these contents came or which they were."""
    if terminal_id in found.same_by:
        return found.digest
    return found.sent if found.by == terminal_id else None


def _as_base(found: Entry | Version) -> Base:
    return Base(found.rev, found.digest, card_of(found.card), found.times, found.updated_at)


def _reason(found: Entry | Version) -> Reason:
    return found.reason if isinstance(found, Version) else Reason.CURRENT


def _digest(stands: Entry | None) -> str:
    return NO_CARD if stands is None else stands.digest


def _unknown_base(stands: Entry | None, base_rev: int) -> Refusal:
    if stands is not None and base_rev < stands.erased_rev:
        return Refusal(
            ErrorCode.NOT_FOUND,
            "The entry was erased, and this change with it. Make a new one.",
            erased=True,
        )
    if stands is None or stands.deleted:
        return Refusal(
            ErrorCode.NOT_FOUND,
            "The entry was deleted, and what it was is forgotten. Make a new one.",
        )
    return Refusal(
        ErrorCode.CONFLICT,
        "The version that was changed is forgotten. Take over what stands, and change that.",
    )
