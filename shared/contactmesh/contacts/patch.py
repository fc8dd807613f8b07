"""JSON-pointer patches, as RFC 9553, section 1.4.4 (PatchObject) writes them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from pydantic import JsonValue

from contactmesh.contacts.errors import PatchError

Json = dict[str, JsonValue]


def pointer_of(*segments: str) -> str:
    """Return the pointer for a path of member names, without a leading slash."""
    return "/".join(part.replace("~", "~0").replace("/", "~1") for part in segments)


def segments_of(pointer: str) -> list[str]:
    """Return the path of member names that a pointer writes."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]


def apply_patch(document: Mapping[str, JsonValue], patch: Mapping[str, JsonValue]) -> Json:
    """Return the document with the patch applied; the document itself stays as it is.

    Args:
        document: a card as JSON.
        patch: new values by pointer; null removes the member.

    Raises:
        PatchError: a pointer leads through something that is no object, or contains another.
    """
    pointers = sorted(patch)
    for shorter, longer in pairwise(pointers):
        if longer.startswith(shorter + "/"):
            raise PatchError(longer, f"{shorter!r} in the same patch already replaces it")
    result = dict(document)
    for pointer, value in patch.items():
        *path, last = segments_of(pointer)
        node = result
        for segment in path:
            child = node.get(segment)
            if not isinstance(child, dict):
                raise PatchError(pointer, f"{segment!r} is no object in the card")
            node[segment] = child = dict(child)
            node = child
        if value is None:
            node.pop(last, None)
        else:
            node[last] = value
    return result


def make_patch(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> Json:
    """Return the smallest patch that turns `old` into `new`; arrays are replaced whole."""
    patch: Json = {}
    _compare(old, new, (), patch)
    return patch


def _compare(
    old: Mapping[str, JsonValue],
    new: Mapping[str, JsonValue],
    path: tuple[str, ...],
    patch: Json,
) -> None:
    for name in old.keys() - new.keys():
        patch[pointer_of(*path, name)] = None
    for name, value in new.items():
        before = old.get(name)
        if before == value and type(before) is type(value) and name in old:
            continue
        # A null that is data (RFC 9553 has them in localizations) cannot be set by a patch of
        # its own, where null means removal: the object around it is replaced.
        if isinstance(value, dict) and isinstance(before, dict) and None not in value.values():
            _compare(before, value, (*path, name), patch)
        else:
            patch[pointer_of(*path, name)] = value
