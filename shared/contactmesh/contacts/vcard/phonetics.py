"""How a name is spoken: PHONETIC and SCRIPT of N, and what phones write instead.

RFC 9554, sections 4.5 and 4.6 say it in a second N, which shares the ALTID of the first; phones
write X-PHONETIC-FIRST-NAME and the like, whose script is that of their letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import Head, escape, param_text, unescape
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.localization import add_patches, patch_of
from contactmesh.contacts.vcard.name_fields import NAME_KINDS
from contactmesh.contacts.vcard.parameters import Members, params_of

PHONETIC_KINDS: Final = {
    "X-PHONETIC-FIRST-NAME": "given",
    "X-PHONETIC-MIDDLE-NAME": "given2",
    "X-PHONETIC-LAST-NAME": "surname",
}
"""What phones write, and the part of the name that it is for."""

_PHONETIC_NAMES: Final = {kind: name for name, kind in PHONETIC_KINDS.items()}

_SCRIPTS: Final = {
    "BOPOMOFO": "Bopo",
    "CYRILLIC": "Cyrl",
    "GREEK": "Grek",
    "HANGUL": "Hang",
    "HIRAGANA": "Hira",
    "KATAKANA": "Kana",
    "LATIN": "Latn",
}
"""By the first word of the names of its letters: a script (ISO 15924)."""

_WIDTHS: Final = frozenset({"HALFWIDTH", "FULLWIDTH"})
_PROLONGED: Final = "KATAKANA-HIRAGANA"
_BY_SCRIPT: Final = "script"
_SPOKEN_PART: Final = frozenset({"kind", "value", "phonetic"})
_PARAMS: Final = frozenset({"altid", "language", "phonetic", "script"})


def script_of(text: str) -> str | None:
    """Return the script that all letters of a text are of, None if there is no such one."""
    if text.isascii():
        return "Latn" if text.upper() != text.lower() else None
    found: set[str | None] = set()
    for char in text:
        if char.isalpha():
            words = unicodedata.name(char, "?").split()
            word = words[1] if words[0] in _WIDTHS else words[0]
            if not word.startswith(_PROLONGED):
                found.add(_SCRIPTS.get(word))
    return found.pop() if len(found) == 1 else None


def read_phonetic_part(build: CardBuilder, head: Head, value: str) -> None:
    """X-PHONETIC-FIRST-NAME and the like; the name may come after them."""
    if not _speak_part(build, head, value):
        build.later(_speak_part, head, value)


def _speak_part(build: CardBuilder, head: Head, value: str) -> bool:
    name: Any = build.card.get("name")
    if name is None or "components" not in name or "phoneticSystem" in name:
        return False
    kind = PHONETIC_KINDS[head.name]
    parts = [part for part in name["components"] if part["kind"] == kind]
    if len(parts) != 1 or "phonetic" in parts[0]:
        return False
    text = unescape(value)
    script = script_of(text)
    if script is None or name.setdefault("phoneticScript", script) != script:
        return False
    parts[0]["phonetic"] = text
    return True


def speak(build: CardBuilder, head: Head, texts: Sequence[Sequence[str]]) -> bool:
    """Read an N that says how the name before is spoken; False when it does not fit.

    Args:
        build: the card.
        head: the head, which has a PHONETIC.
        texts: the parts of each field.
    """
    name = cast("Members", build.card["name"])
    own = params_of(name)
    said = {param: values[0] for param, values in head.params.items() if len(values) == 1}
    if said.keys() != head.params.keys() or not _PARAMS.issuperset(said) or head.group:
        return False
    patch = _spoken(name, said, texts)
    if patch is None or said.get("altid") != own.get("altid"):
        return False
    language = said.get("language", own.get("language"))
    if isinstance(language, str) and language != own.get("language"):
        return language != "" and add_patches(build.card, language, patch)
    if "phoneticSystem" in name or "phoneticScript" in name:
        return False
    _apply(name, patch)
    return True


def _spoken(
    name: Members, said: Mapping[str, str], texts: Sequence[Sequence[str]]
) -> Members | None:
    """Return what a name is spoken like as a patch, None when it does not fit the name."""
    system, script = said["phonetic"], said.get("script")
    patch: Members = {}
    if system != _BY_SCRIPT:
        patch["name/phoneticSystem"] = system
    if script is not None:
        patch["name/phoneticScript"] = script
    if not system or script == "" or not patch:
        return None
    components = cast("list[Members]", name.get("components", []))
    for kind, spoken in zip(NAME_KINDS, texts, strict=False):
        if not any(spoken):
            continue
        places = [place for place, part in enumerate(components) if part["kind"] == kind]
        if len(places) != len(spoken) or not all(spoken):
            return None
        for place, text in zip(places, spoken, strict=True):
            patch[f"name/components/{place}/phonetic"] = text
    return patch


def _apply(name: Members, patch: Members) -> None:
    components = cast("list[Members]", name["components"])
    for pointer, value in patch.items():
        _, *place, member = pointer.split("/")
        spoken = components[int(place[1])] if place else name
        spoken[member] = value


def write_phonetics(out: Emitter, name: Members) -> None:
    """Write how a name is spoken, as far as vCard can say it."""
    altid = params_of(name).get("altid")
    components = cast("list[Members]", name["components"])
    own = [part.get("phonetic") for part in components]
    system, script = name.get("phoneticSystem"), name.get("phoneticScript")
    if system is not None or script is not None:
        if isinstance(altid, str):
            language = params_of(name).get("language")
            _write(out, components, own, (altid, language, system, script))
        elif system is None:
            write_parts(out, components, script)
    if not isinstance(altid, str):
        return
    for language in cast("dict[str, Any]", out.card.get("localizations", {})):
        patch = patch_of(out.card, language)
        spoken = [patch.get(f"name/components/{at}/phonetic") for at in range(len(components))]
        system, script = patch.get("name/phoneticSystem"), patch.get("name/phoneticScript")
        if system is not None or script is not None:
            _write(out, components, spoken, (altid, language, system, script))


def write_parts(out: Emitter, components: list[Members], script: JsonValue) -> bool:
    """Write how parts are spoken as phones do, and return whether a reader makes the same of it."""
    kinds = [part["kind"] for part in components]
    spoken = [part for part in components if "phonetic" in part]
    certain = bool(spoken)
    for part in spoken:
        text = part["phonetic"]
        name = _PHONETIC_NAMES.get(str(part["kind"]))
        fits = isinstance(text, str) and script_of(text) == script
        if name is None or kinds.count(part["kind"]) > 1 or not fits:
            certain = False
            continue
        out.line(name, escape(str(text)))
        certain = certain and _SPOKEN_PART.issuperset(part)
    return certain


def _write(
    out: Emitter,
    components: list[Members],
    spoken: list[JsonValue],
    said: tuple[str, JsonValue, JsonValue, JsonValue],
) -> None:
    """Write an N that says how the one before is spoken."""
    altid, language, system, script = said
    params = param_text("ALTID", altid)
    if isinstance(language, str):
        params += param_text("LANGUAGE", language)
    params += param_text("PHONETIC", system if isinstance(system, str) else _BY_SCRIPT)
    if isinstance(script, str):
        params += param_text("SCRIPT", script)
    fields: dict[str, list[str]] = {kind: [] for kind in NAME_KINDS}
    for part, text in zip(components, spoken, strict=True):
        if isinstance(text, str) and part["kind"] in fields:
            fields[str(part["kind"])].append(escape(text))
    while len(fields) > 5 and not fields[next(reversed(fields))]:
        fields.popitem()
    out.line(f"N{params}", ";".join(",".join(texts) for texts in fields.values()))
