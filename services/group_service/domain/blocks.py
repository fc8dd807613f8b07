"""Setting and lifting "do not notify" (G1b). Deny wins, and nobody is told."""

from dataclasses import replace

from contactmesh.contracts.errors import invalid_field
from contactmesh.contracts.group.commands import Block as BlockCommand
from contactmesh.contracts.group.commands import Lift
from contactmesh.contracts.group.events import BlockLifted, BlockSet, StandingBlockChanged
from contactmesh.deciding.decision import Decision, Told
from group_service.domain.documents import Block, Group, Member, StandingBlock
from group_service.domain.state import Asking, State


def block(state: State, asking: Asking, command: BlockCommand) -> Decision:
    """Keep a user from learning of the sender's changes, in one group or in all."""
    if command.user_id == asking.user_id:
        raise invalid_field("/data/user_id", "you cannot block yourself")
    if command.group_id is not None:
        group, member = state.group_of(command.group_id, asking)
        state.member(command.group_id, command.user_id)
        return Decision(told=_set(state, group, member, command.user_id))
    pair = (asking.user_id, command.user_id)
    state.guard(*pair)
    told: list[Told] = []
    if state.standing.get(pair) is None:
        state.standing.put(pair, StandingBlock(*pair))
        told.append(_everywhere(asking, command.user_id, blocked=True))
    for known in state.blocks:
        if (known.setter_id, known.blocked_id) == pair and known.excepted:
            state.put_block(replace(known, excepted=False))
    for shared, own in _own_groups(state, asking):
        if _is_member(state, shared, command.user_id):
            told += _set(state, shared, own, command.user_id)
    return Decision(told=tuple(told))


def lift(state: State, asking: Asking, command: Lift) -> Decision:
    """Take a block back, in one group or everywhere.

    In one group while the other is blocked everywhere, it is an exception for that group. Whoever
    set a block may lift it: a member or no longer one, and after the group's end.
    """
    pair = (asking.user_id, command.user_id)
    if command.group_id is not None:
        before = state.blocks.get((command.group_id, *pair))
        if before is None:
            state.group_of(command.group_id, asking)
        if before is None or not before.active:
            return Decision()
        state.guard(*pair)
        return Decision(told=_lifted(state, asking, before))
    state.guard(*pair)
    told: list[Told] = []
    if state.standing.get(pair) is not None:
        state.standing.drop(pair)
        told.append(_everywhere(asking, command.user_id, blocked=False))
    for known in state.blocks:
        if (known.setter_id, known.blocked_id) == pair and known.active:
            told += _lifted(state, asking, known)
    return Decision(told=tuple(told))


def _everywhere(asking: Asking, blocked_id: str, *, blocked: bool) -> Told:
    """What services hear that let people see each other without a group."""
    rev = int(asking.now.timestamp() * 1_000_000)
    told = StandingBlockChanged(
        setter_id=asking.user_id, blocked_id=blocked_id, blocked=blocked, rev=rev
    )
    return Told(told, asking.user_id, rev)


def _own_groups(state: State, asking: Asking) -> list[tuple[Group, Member]]:
    own = [member for member in state.members if member.user_id == asking.user_id]
    return [
        (group, member)
        for member in own
        if member.active
        if (group := state.groups.get(member.group_id)) is not None and not group.dissolved
    ]


def _is_member(state: State, group: Group, user_id: str) -> bool:
    member = state.members.get((group.group_id, user_id))
    return member is not None and member.active


def _set(state: State, group: Group, setter: Member, blocked_id: str) -> tuple[Told, ...]:
    key = (group.group_id, setter.user_id, blocked_id)
    before = state.blocks.get(key)
    if before is not None and before.active:
        return ()
    shown = 0 if before is None else before.lifted_rev or 0
    if before is None or before.same_card_rev != setter.card_rev:
        shown = max(shown, setter.card_rev or 0)
    state.put_block(
        Block(
            *key,
            active=True,
            frozen_card_rev=setter.card_rev,
            frozen_digest=setter.card_digest,
            shown_rev=shown,
        )
    )
    if setter.card_rev is not None:
        state.put_member(replace(setter, frozen_here=setter.frozen_here + 1))
    head = group.with_new_audience()
    state.put_group(head)
    told = BlockSet(
        group_id=group.group_id,
        audience_version=head.audience_version,
        setter_id=setter.user_id,
        blocked_id=blocked_id,
    )
    return (Told(told, group.group_id),)


def _lifted(state: State, asking: Asking, before: Block) -> tuple[Told, ...]:
    group = state.groups.get(before.group_id)
    if group is None:
        return ()
    key = (before.group_id, before.setter_id, before.blocked_id)
    setter = state.members.get((before.group_id, before.setter_id))
    head = group.with_new_audience()
    missed = False
    if group.dissolved or setter is None:
        # Nobody is shown anything here any more, so that nothing has to be known of the lifting.
        state.blocks.drop(key)
    else:
        missed = _missed(setter, before)
        # The current card goes out under a revision of now: its own would tell when it changed.
        head = head.advanced(asking.now) if missed else head
        _release(state, setter, before)
        state.put_block(
            Block(
                *key,
                active=False,
                lifted_rev=head.rev if missed else before.shown_rev,
                lifted_version=head.audience_version,
                same_card_rev=None if missed else setter.card_rev,
                excepted=state.standing.get((before.setter_id, before.blocked_id)) is not None,
            )
        )
    state.put_group(head)
    told = BlockLifted(
        group_id=before.group_id,
        audience_version=head.audience_version,
        setter_id=before.setter_id,
        blocked_id=before.blocked_id,
        refresh=missed,
    )
    return (Told(told, before.group_id),)


def _missed(setter: Member, before: Block) -> bool:
    """Whether the present card is another than the one that the block has kept."""
    kept_one = (before.frozen_card_rev or 0) > setter.membership_rev
    seen = before.frozen_digest if kept_one else None
    return setter.card_rev is not None and setter.card_digest != seen


def _release(state: State, setter: Member, before: Block) -> None:
    """Let go of the card that was kept for the block."""
    if before.frozen_card_rev is None:
        return
    if before.frozen_card_rev == setter.card_rev:
        state.put_member(replace(setter, frozen_here=setter.frozen_here - 1))
        return
    key = (before.group_id, before.setter_id, before.frozen_card_rev)
    frozen = state.frozen.get(key)
    if frozen is not None and frozen.holders > 1:
        state.frozen.put(key, replace(frozen, holders=frozen.holders - 1))
    elif frozen is not None:
        state.frozen.drop(key)
