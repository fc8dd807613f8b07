"""Identities derived from content, for cards that come without one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema

_UNSTABLE = frozenset({"uid", "updated", "created", "prodId", "prod_id", "media"})
_DERIVED = re.compile(
    r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)
_JSON = SchemaSerializer(core_schema.any_schema())


def derived_uid(card: Mapping[str, JsonValue]) -> str:
    """Return a UID that is the same for the same contents, as RFC 9555, section 2.1.1 advises.

    Times, the producer and media do not count: exporters write them anew each time.

    Args:
        card: the card as plain JSON; the order of its properties does not count.

    Returns:
        A UUID made of a hash (RFC 9562, version 8) as a `urn:uuid:`.
    """
    stable = {name: card[name] for name in sorted(card) if name not in _UNSTABLE}
    try:
        text = _JSON.to_json(stable)
    except PydanticSerializationError:
        # Half a surrogate pair, which UTF-8 cannot say, and JSON only in escapes.
        text = json.dumps(stable).encode()
    digits = hashlib.blake2b(text, digest_size=16, person=b"contactmesh.uid").hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return (
        f"urn:uuid:{digits[:8]}-{digits[8:12]}-8{digits[13:16]}"
        f"-{variant}{digits[17:20]}-{digits[20:]}"
    )


def is_derived(uid: str) -> bool:
    """Whether a UID is of the kind that `derived_uid` returns: its card came without one."""
    return _DERIVED.fullmatch(uid) is not None
