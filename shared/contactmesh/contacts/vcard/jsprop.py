"""JSPROP: what vCard has no place for, as a patch to the card (RFC 9555, section 2.15.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.errors import PatchError
from contactmesh.contacts.patch import apply_patch
from contactmesh.contacts.vcard.content import Head, unescape
from contactmesh.contacts.vcard.parameters import Members, kept

_DEEPEST_JSON: Final = 64


def patched(card: Members, patches: Iterable[tuple[Head, str]]) -> Members:
    """Return a card with the patches of its JSPROPs applied; one that does not fit is kept.

    Args:
        card: the card as JSON; it stays as it is.
        patches: the head and the value of each.
    """
    plain = cast("Members", json.loads(json.dumps(card)))
    for head, value in patches:
        pointer = head.params.get("jsptr", [""])[0]
        text = unescape(value)
        try:
            plain = apply_patch(plain, {pointer: _json(pointer, text)})
        except (PatchError, ValueError):
            props = cast("list[JsonValue]", plain.setdefault("vCardProps", []))
            props.append(["jsprop", kept(head.params, head.params), "unknown", value])
    return plain


def _json(pointer: str, text: str) -> JsonValue:
    if _depth(text) > _DEEPEST_JSON:
        raise PatchError(pointer, "its JSON is nested too deeply")
    return cast("JsonValue", json.loads(text))


def _depth(text: str) -> int:
    deepest = depth = 0
    for char in text:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest
