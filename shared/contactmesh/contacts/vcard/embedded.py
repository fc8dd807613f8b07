"""Media and keys, linked or embedded: PHOTO, LOGO, SOUND, KEY (RFC 9555, sections 2.3 and 2.10)."""

from __future__ import annotations

import re
from typing import Final, cast

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
_MEDIA: Final = {"photo": "PHOTO", "logo": "LOGO", "sound": "SOUND"}
_EMBEDDED: Final = re.compile(r"data:([^;,]*);base64,(.*)\Z", re.DOTALL)

_TYPE_NAMES: Final = {
    "application/pkix-cert": "X509",
    "application/pgp-keys": "PGP",
    "audio/wav": "WAVE",
    "audio/basic": "PCM",
    "audio/aac": "AAC",
    **{media_type: name for name, media_type in reversed(IMAGE_TYPES.items())},
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
    return "application/octet-stream"


def write_media(out: Emitter, key: str, entry: Entry) -> None:
    """Write PHOTO, LOGO or SOUND; version 3.0 has embedded bytes in base64."""
    name = _MEDIA.get(entry.get("kind", ""))
    if name is None:
        out.certain = False
    else:
        _resource(out, SIMPLE[name], key, entry)


def write_key(out: Emitter, key: str, entry: Entry) -> None:
    """Write KEY."""
    _resource(out, SIMPLE["KEY"], key, entry)


def _resource(out: Emitter, known: Property, key: str, entry: Entry) -> None:
    uri: str = entry["uri"]
    if "mediaType" in entry or "vCardParams" in entry or not known.members.issuperset(entry):
        out.certain = False
    media_type = entry.get("mediaType")
    params = param_text("MEDIATYPE", media_type) if isinstance(media_type, str) else ""
    if not out.is_v4:
        embedded = _EMBEDDED.match(uri)
        if embedded is None:
            params += ";VALUE=uri"
        else:
            params += ";ENCODING=b"
            out.certain = out.certain and embedded[1] in _TYPE_NAMES
            if embedded[1] != "application/octet-stream":
                name = _TYPE_NAMES.get(embedded[1], embedded[1])
                extra = cast("Members", entry.get("vCardParams", {})).get("type")
                if extra is None:
                    params += param_text("TYPE", name)
                else:
                    types: list[JsonValue] = [name]
                    types += extra if isinstance(extra, list) else [extra]
                    entry = {**entry, "vCardParams": {**params_of(entry), "type": types}}
            uri = embedded[2]
    if "\\" in uri or "\n" in uri or "\r" in uri:
        out.certain = False
    out.entry(known.name, known.prefix, key, entry, uri, params)
