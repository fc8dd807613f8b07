"""Media and keys, linked or embedded: PHOTO, LOGO, SOUND, KEY (RFC 9555, sections 2.3 and 2.10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import Head, param_text, unescape
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.parameters import Entry, Members, members_of, params_of
from contactmesh.contacts.vcard.properties import IMAGE_TYPES, SIMPLE, Property

_MAGIC: Final = {
    "/9j/": "image/jpeg",
    "iVBOR": "image/png",
    "R0lG": "image/gif",
    "UklGR": "image/webp",
}

_KEY_TYPES: Final = {"X509": "application/pkix-cert", "PGP": "application/pgp-keys"}

_SOUND_TYPES: Final = {
    "WAVE": "audio/wav",
    "WAV": "audio/wav",
    "PCM": "audio/basic",
    "AAC": "audio/aac",
}
_MEDIA: Final = {
    "photo": SIMPLE["PHOTO"],
    "logo": SIMPLE["LOGO"],
    "sound": SIMPLE["SOUND"],
}
_EMBEDDED: Final = re.compile(r"data:([^;,]*);base64,")
_UNKNOWN_TYPE: Final = "application/octet-stream"

_TYPE_NAMES: Final = {
    "application/pkix-cert": "X509",
    "application/pgp-keys": "PGP",
    "audio/wav": "WAVE",
    "audio/basic": "PCM",
    "audio/aac": "AAC",
    **{media_type: name for name, media_type in reversed(IMAGE_TYPES.items())},
}
_TYPE_PARAMS: Final = {
    media_type: param_text("TYPE", name) for media_type, name in _TYPE_NAMES.items()
}


def read_embedded(build: CardBuilder, head: Head, value: str) -> None:
    """PHOTO, LOGO, SOUND, KEY: a link, or the bytes in base64, which become a `data:` URI."""
    known = SIMPLE[head.name]
    if head.value_type == "text":
        build.keep(head, value)
        return
    encoding = head.params.get("encoding")
    if encoding is None or encoding[0].upper() not in {"B", "BASE64"}:
        entry, media_type = _said(head, known)
        entry = entry.copy()
        if media_type:
            entry.setdefault("mediaType", media_type)
        entry["uri"] = unescape(value)
    else:
        content = "".join(value.split()) if " " in value or "\t" in value else value
        if content[:5].lower() == "data:":
            entry = members_of(head, known).copy()
            entry["uri"] = content
        else:
            entry, media_type = _said(head, known)
            entry = entry.copy()
            entry["uri"] = f"data:{media_type or _guessed(content)};base64,{content}"
    build.add(known.collection, known.prefix, entry, head, labelled=True)


def _said(head: Head, known: Property) -> tuple[Members, str]:
    """Return what a head says besides the media type, and that, worked out once for each head."""
    if head.media is None:
        entry = members_of(head, known).copy()
        head.media = entry, _take_media_type(entry)
    return head.media


def _take_media_type(entry: Members) -> str:
    """Take the media type out of TYPE; an empty one if there is none."""
    params = entry.get("vCardParams")
    kind = params.get("type") if isinstance(params, dict) else None
    names = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    media_type = ""
    left: list[JsonValue] = []
    for name in names:
        text = str(name)
        found = (
            IMAGE_TYPES.get(text.upper())
            or _KEY_TYPES.get(text.upper())
            or _SOUND_TYPES.get(text.upper())
            or (text.lower() if "/" in text else "")
        )
        if not found or media_type:
            left.append(name)
        else:
            media_type = found
    if media_type and isinstance(params, dict):
        rest = {key: item for key, item in params.items() if key != "type"}
        if left:
            rest["type"] = left[0] if len(left) == 1 else left
        entry.pop("vCardParams")
        if rest:
            entry["vCardParams"] = rest
    return media_type


def _guessed(content: str) -> str:
    for start, guessed in _MAGIC.items():
        if content.startswith(start):
            return guessed
    return _UNKNOWN_TYPE


def write_media(out: Emitter, entries: Mapping[str, Entry]) -> None:
    """Write PHOTO, LOGO or SOUND; version 3.0 has embedded bytes in base64."""
    for key, entry in entries.items():
        known = _MEDIA.get(entry.get("kind", ""))
        if known is None:
            out.certain = False
        else:
            _resource(out, known, key, entry)


def write_keys(out: Emitter, entries: Mapping[str, Entry]) -> None:
    """Write KEY."""
    for key, entry in entries.items():
        _resource(out, SIMPLE["KEY"], key, entry)


def _resource(out: Emitter, known: Property, key: str, entry: Entry) -> None:
    uri: str = entry["uri"]
    if "mediaType" in entry or "vCardParams" in entry or not known.members.issuperset(entry):
        out.certain = False
    params = param_text("MEDIATYPE", entry["mediaType"]) if "mediaType" in entry else ""
    if not out.is_v4:
        embedded = _EMBEDDED.match(uri)
        if embedded is None:
            params += ";VALUE=uri"
        else:
            uri = uri[embedded.end() :]
            media_type = embedded[1]
            if media_type not in _TYPE_PARAMS:
                out.certain = False
            params += ";ENCODING=b"
            if "type" in params_of(entry):
                entry = _with_type(entry, media_type)
            elif media_type != _UNKNOWN_TYPE:
                params += _TYPE_PARAMS.get(media_type) or param_text("TYPE", media_type)
    # What could end the line early is seen to by whoever takes all lines.
    if "\\" in uri:
        out.certain = False
    out.entry(known.name, known.prefix, key, entry, uri, params)


def _with_type(entry: Entry, media_type: str) -> Entry:
    """Return an entry whose TYPE has the media type in front of what it has already."""
    if media_type == _UNKNOWN_TYPE:
        return entry
    params = entry["vCardParams"]
    types = [params["type"]] if isinstance(params["type"], str) else params["type"]
    name = _TYPE_NAMES.get(media_type, media_type)
    return {**entry, "vCardParams": {**params, "type": [name, *types]}}
