"""Taking the changes of one exchange over, each by itself (rows Y3-Y5)."""

from dataclasses import dataclass

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.sync.commands import Exchange
from contactmesh.contracts.sync.records import Change, ChangeResult, Outcome, Policy
from sync_service.domain.documents import NO_CARD, Entry, Version
from sync_service.domain.guarding import check_number
from sync_service.domain.latest import later
from sync_service.domain.merging import joined
from sync_service.domain.paging import Room
from sync_service.domain.sending import Sent, check_card, name_of, read_change
from sync_service.domain.state import Asking, State
from sync_service.domain.tokens import Token
from sync_service.domain.verdicts import Verdict, new, plain
from sync_service.domain.writing import Writing


@dataclass(slots=True)
class Taking:
    """Takes the changes of one exchange over, in their order.

    Attributes:
        deleted: how many entries they have deleted.
        full: whether the reply has no room for what becomes of further changes.
    """

    state: State
    asking: Asking
    command: Exchange
    token: Token
    writing: Writing
    room: Room
    deleted: int = 0
    full: bool = False

    def take(self, change: Change) -> ChangeResult:
        """What becomes of one change; no other is held up where it is rejected."""
        stands = self.state.entries.get((self.writing.book.owner, change.uid))
        try:
            sent = read_change(self.state, self.asking, self.command, self.token, change)
            verdict = self._verdict(stands, sent)
            self._check(stands, sent, verdict)
        except Refusal as refusal:
            return ChangeResult(
                uid=change.uid,
                outcome=Outcome.REJECTED,
                erased=refusal.body.details.get("erased") is True,
                name=name_of(change, stands),
                code=refusal.body.code,
                problem=refusal.body.message,
            )
        after = self._apply(change, stands, sent, verdict)
        lost = verdict.outcome in (Outcome.CONFLICT, Outcome.SUPERSEDED)
        return ChangeResult(
            uid=change.uid,
            outcome=verdict.outcome,
            rev=0 if after is None else after.rev,
            deleted=after is None or after.deleted,
            card=None if after is None or after.digest == sent.digest else after.card,
            name=name_of(change, stands) if lost else None,
        )

    def _verdict(self, stands: Entry | None, sent: Sent) -> Verdict:
        if stands is None:
            return new(sent)
        book = self.writing.book
        latest = book.policy is Policy.LATEST_WINS
        verdict = plain(stands, sent, lost=Outcome.SUPERSEDED if latest else Outcome.CONFLICT)
        if verdict is not None:
            return verdict
        if latest:
            return later(stands, sent, alone=self._alone(stands))
        return joined(stands, sent, self._was(stands))

    def _alone(self, stands: Entry) -> bool:
        """Whether no other terminal has synced since, and what stands was not restored since."""
        own = stands.by == self.asking.terminal_id and stands.sent is not None
        return self.token.synced == self.writing.book.synced and (
            own or stands.rev <= self.token.rev
        )

    def _was(self, stands: Entry) -> Version | None:
        if stands.was_rev is None:
            return None
        return self.state.versions.get((stands.owner, stands.uid, stands.was_rev))

    def _check(self, stands: Entry | None, sent: Sent, verdict: Verdict) -> None:
        """Refuse what there is no room for, in the book, in an entry, or in the reply.

        Raises:
            Refusal: `quota_exceeded`, `too_large` or `unavailable`.
        """
        limits = self.asking.limits
        made = verdict.made
        if made is not None and made.card is not None:
            if made.card is not sent.card:
                check_card(made.card, limits)
            check_number(self.writing.book, stands, limits)
        card, digest = (None, NO_CARD) if made is None else (made.contents, made.digest)
        if made is None and stands is not None:
            card, digest = stands.card, stands.digest
        told = card is not None and digest != sent.digest
        if self.full or (told and not self.room.take(card)):
            self.full = True
            raise Refusal(
                ErrorCode.UNAVAILABLE,
                "The reply had no more room. Send this change again with the next exchange.",
            )

    def _apply(
        self, change: Change, stands: Entry | None, sent: Sent, verdict: Verdict
    ) -> Entry | None:
        lost_rev = 0
        after = stands
        if verdict.lost is not None:
            lost_rev = self.writing.lose(sent.uid, verdict.lost).rev
        if verdict.made is not None:
            after = self.writing.write(stands, sent.uid, verdict.made)
            self.deleted += after.deleted
        elif verdict.timed is not None and verdict.timed != stands:
            after = verdict.timed
            self.state.put_entry(after)
        if verdict.clashes and after is not None:
            name = name_of(change, stands) or ""
            self.writing.dispute(after, verdict.clashes, name, lost_rev)
        return after
