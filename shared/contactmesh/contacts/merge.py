"""Three-way merge of cards, field by field."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from pydantic import JsonValue

from contactmesh.contacts.alignment import aligned, separated
from contactmesh.contacts.changes import COLLECTIONS
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.patch import pointer_of

Json = Mapping[str, JsonValue]
Side = Literal["mine", "theirs"]
Preference = Side | Callable[[str], Side]
"""Who wins a conflict: one side always, or whoever the path of the conflict says."""

_WHOLE_NAME: Final = frozenset({"components", "full", "isOrdered", "defaultSeparator"})
_BY_KEY: Final = frozenset({"keywords", "members", "relatedTo", "localizations"})
_OWN_RULE: Final = frozenset({"@type", "uid", "version", "updated", "created", "prodId"})
_FLAGS: Final = frozenset({"contexts", "features", "relation"})


@dataclass(frozen=True, slots=True)
class Taken:
    """A change that was taken over.

    Args:
        path: where, as `changed_fields` writes it.
        source: whose change it is; `both` when both sides made the same.
        removed: the change took the value away.
    """

    path: str
    source: Literal["mine", "theirs", "both"]
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that both sides changed, each in its own way.

    Args:
        path: where, as `changed_fields` writes it.
        base: the value before; None when there was none.
        mine: my value; None when I removed it.
        theirs: their value; None when they removed it.
        winner: whose value the merged card has.
    """

    path: str
    base: JsonValue
    mine: JsonValue
    theirs: JsonValue
    winner: Side

    @property
    def lost(self) -> JsonValue:
        """The value that the merged card does not have."""
        return self.theirs if self.winner == "mine" else self.mine


@dataclass(frozen=True, slots=True)
class Merge:
    """The outcome of a merge.

    Args:
        card: the merged card; None when both sides deleted it.
        taken: what was taken from whom, in the order of the paths.
        conflicts: what lost, in the order of the paths.
    """

    card: Card | None
    taken: tuple[Taken, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


def merge(
    base: Card | None,
    mine: Card | None,
    theirs: Card | None,
    *,
    prefer: Preference = "mine",
    default_region: str | None = None,
    mine_supports: Collection[str] | None = None,
    theirs_supports: Collection[str] | None = None,
) -> Merge:
    """Merge two versions of a card that come from one.

    Entries of maps (phones, e-mails, ...) are matched by key and, where the keys differ, by
    value. Something is removed only if it was in `base` and a side that knows such things no
    longer has it; without a base nothing is removed. An edit outlives a removal, and a card that
    one side deleted and the other edited stays. What both sides edited is a conflict: the
    preferred side wins, the other value is in `conflicts`. The outcome depends on nothing else.
    Where both sides added entries under one key, `mine` keeps it.

    Args:
        base: the version both come from; None when there is none.
        mine: one version; None when I deleted the card.
        theirs: the other version; None when they deleted it.
        prefer: who wins a conflict, one side or by the path that the conflict has.
        default_region: the country of phone numbers without a country code.
        mine_supports: the card properties that my side can hold, as JSContact names them, all
            by default. What it cannot hold it has not removed.
        theirs_supports: the same for the other side.
    """
    if mine is None or theirs is None:
        return _with_deletion(base, mine, theirs)
    old: Json = base.to_json() if base is not None else {}
    left = _with_unsupported(old, mine.to_json(), mine_supports)
    right = _with_unsupported(old, theirs.to_json(), theirs_supports)
    prefers = prefer if callable(prefer) else _always(prefer)
    work = _Merger(prefers, default_region, additive=base is None)
    merged = work.card(old, left, right)
    return Merge(
        Card.model_validate(merged),
        tuple(sorted(work.taken, key=lambda each: each.path)),
        tuple(sorted(work.conflicts, key=lambda each: each.path)),
    )


def _with_deletion(base: Card | None, mine: Card | None, theirs: Card | None) -> Merge:
    if mine is None and theirs is None:
        return Merge(None, (Taken("", "both", removed=True),))
    side: Side = "mine" if mine is not None else "theirs"
    other: Side = "theirs" if mine is not None else "mine"
    card = mine if mine is not None else theirs
    if card == base:
        return Merge(None, (Taken("", other, removed=True),))
    whole = cast("JsonValue", card.to_json()) if card is not None else None
    before = cast("JsonValue", base.to_json()) if base is not None else None
    conflict = Conflict(
        "",
        before,
        whole if side == "mine" else None,
        whole if side == "theirs" else None,
        side,
    )
    return Merge(card, (Taken("", side),), (conflict,))


def with_unsupported(base: Card, card: Card, supported: Collection[str]) -> Card:
    """Return a version of `base` with what the side that made it cannot hold, and has not removed.

    Args:
        base: the version that the card was made from.
        card: the card as that side has it.
        supported: the card properties that the side can hold, as JSContact names them.
    """
    return Card.model_validate(_with_unsupported(base.to_json(), card.to_json(), supported))


def _always(side: Side) -> Callable[[str], Side]:
    return lambda _path: side


def _with_unsupported(base: Json, side: Json, supported: Collection[str] | None) -> Json:
    if supported is None:
        return side
    unknown = {
        name: value
        for name, value in base.items()
        if name not in supported and name not in side and name not in _OWN_RULE
    }
    return {**side, **unknown}


@dataclass(slots=True)
class _Merger:
    prefers: Callable[[str], Side]
    default_region: str | None
    additive: bool
    taken: list[Taken] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    def card(self, base: Json, mine: Json, theirs: Json) -> dict[str, JsonValue]:
        mine_first = self.prefers("prodId") == "mine"
        first, second = (mine, theirs) if mine_first else (theirs, mine)
        merged: dict[str, JsonValue] = {"@type": "Card"}
        for name in ("uid", "created"):
            value = next((each[name] for each in (base, mine, theirs) if name in each), None)
            if value is not None:
                merged[name] = value
        for name in ("updated", "version"):
            values = [str(each[name]) for each in (mine, theirs) if name in each]
            if values:
                merged[name] = max(values)
        producer = first.get("prodId", second.get("prodId"))
        if producer is not None:
            merged["prodId"] = producer
        for name in _in_order(base, mine, theirs):
            if name not in _OWN_RULE:
                self._property(merged, name, base, mine, theirs)
        return merged

    def _property(
        self, merged: dict[str, JsonValue], name: str, base: Json, mine: Json, theirs: Json
    ) -> None:
        old, left, right = base.get(name), mine.get(name), theirs.get(name)
        value: JsonValue
        if left == right or (not self.additive and old in (left, right)):
            value = self._simple((name,), old, left, right)
        elif name in COLLECTIONS:
            value = self._collection(name, _map(old), _map(left), _map(right))
        elif name == "name" and isinstance(left, dict) and isinstance(right, dict):
            value = self._name(_map(old), left, right)
        elif isinstance(left, dict) and isinstance(right, dict):
            value = self._members((name,), _map(old), left, right)
        elif isinstance(left, list) and isinstance(right, list):
            value = self._list(name, old if isinstance(old, list) else [], left, right)
        else:
            value = self._simple((name,), old, left, right)
        if (value is not None and value != {}) or (value == {} and {} in (left, right)):
            merged[name] = value

    def _collection(self, name: str, base: Json, mine: Json, theirs: Json) -> JsonValue:
        left, right = dict(mine), dict(theirs)
        if name not in _BY_KEY:
            left = aligned(name, base, mine, self.default_region)
            right = aligned(name, base, theirs, self.default_region)
            right = separated(name, base, left, right, self.default_region)
        merged: dict[str, JsonValue] = {}
        for key in _in_order(base, left, right):
            value = self._entry((name, key), base.get(key), left.get(key), right.get(key))
            if value is not None:
                merged[key] = value
        return merged

    def _entry(
        self, path: tuple[str, ...], old: JsonValue, left: JsonValue, right: JsonValue
    ) -> JsonValue:
        if isinstance(left, dict) and isinstance(right, dict) and left != right:
            return self._members(path, _map(old), left, right)
        return self._simple(path, old, left, right)

    def _members(self, path: tuple[str, ...], base: Json, mine: Json, theirs: Json) -> JsonValue:
        merged: dict[str, JsonValue] = {}
        for name in _in_order(base, mine, theirs):
            old, left, right = base.get(name), mine.get(name), theirs.get(name)
            if name in _FLAGS and isinstance(left, dict) and isinstance(right, dict):
                value = self._members((*path, name), _map(old), left, right)
            else:
                value = self._simple((*path, name), old, left, right)
            if value is not None and value != {}:
                merged[name] = value
        return merged

    def _name(self, base: Json, mine: Json, theirs: Json) -> JsonValue:
        # The parts and the full name say the same thing: taking one from each side would make
        # a name that nobody wrote.
        old, left, right = (
            {name: value for name, value in side.items() if name in _WHOLE_NAME}
            for side in (base, mine, theirs)
        )
        whole = self._simple(("name",), old or None, left or None, right or None)
        rest = self._members(
            ("name",),
            *(
                {name: value for name, value in side.items() if name not in _WHOLE_NAME}
                for side in (base, mine, theirs)
            ),
        )
        return {**_map(whole), **_map(rest)}

    def _list(
        self, name: str, base: list[JsonValue], mine: list[JsonValue], theirs: list[JsonValue]
    ) -> JsonValue:
        in_base, in_mine, in_theirs = (set(map(_frozen, side)) for side in (base, mine, theirs))
        in_both, in_either = in_mine & in_theirs, in_base | in_mine
        merged = [item for item in base if _frozen(item) in in_both]
        merged += [item for item in mine if _frozen(item) not in in_base]
        merged += [item for item in theirs if _frozen(item) not in in_either]
        if merged != mine:
            self.taken.append(Taken(name, "theirs"))
        if merged != theirs:
            self.taken.append(Taken(name, "mine"))
        return merged or None

    def _simple(
        self, path: tuple[str, ...], old: JsonValue, left: JsonValue, right: JsonValue
    ) -> JsonValue:
        where = pointer_of(*path)
        if left == right:
            if left != old:
                self.taken.append(Taken(where, "both", removed=left is None))
            return left
        # An edit outlives a removal; only what the other side left alone can be removed.
        if right == old and not (self.additive and left is None):
            self.taken.append(Taken(where, "mine", removed=left is None))
            return left
        if left == old and not (self.additive and right is None):
            self.taken.append(Taken(where, "theirs", removed=right is None))
            return right
        if left is None or right is None:
            winner: Side = "theirs" if left is None else "mine"
            if old is None:
                self.taken.append(Taken(where, winner))
                return right if left is None else left
        else:
            winner = self.prefers(where)
        self.conflicts.append(Conflict(where, old, left, right, winner))
        return left if winner == "mine" else right


def _in_order(*sides: Json) -> list[str]:
    return list(dict.fromkeys(name for side in sides for name in side))


def _frozen(value: JsonValue) -> Hashable:
    """A value that equals another one's where the two are equal, to find it among many."""
    if isinstance(value, dict):
        return frozenset((name, _frozen(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return value


def _map(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {}
