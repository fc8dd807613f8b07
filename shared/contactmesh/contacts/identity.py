"""Identities derived from content, for cards that come without one."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from pydantic import JsonValue

_NAMESPACE = uuid.UUID("6f1d4b4e-8a5f-5c0e-9a53-2f0c5d1a7e11")
_UNSTABLE = frozenset({"uid", "updated", "created", "prodId", "prod_id", "media"})


def derived_uid(card: Mapping[str, JsonValue]) -> str:
    """Return a UID that is the same for the same contents, as RFC 9555, section 2.1.1 advises.

    Times, the producer and media do not count: exporters write them anew each time.

    Args:
        card: the card as plain JSON, in any order of keys.

    Returns:
        A name-based UUID (RFC 9562, version 5) as a `urn:uuid:`.
    """
    stable = {name: value for name, value in card.items() if name not in _UNSTABLE}
    text = json.dumps(stable, sort_keys=True, separators=(",", ":"))
    return f"urn:uuid:{uuid.uuid5(_NAMESPACE, text)}"
