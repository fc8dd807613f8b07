"""The content line `group.NAME;PARAM=value:value` and its escapes (RFC 6350, section 3.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

_CARET = {"^n": "\n", "^'": '"', "^^": "^"}
_CARET_SEQUENCE: Final = re.compile(r"\^[n'^]")
_ITSELF: Final = frozenset(',;:"')
"""What stands for itself after a backslash; the last two need none, but many write it."""

_BREAKS: Final = frozenset("nN")
_LONG: Final = 256
_ESCAPED_SEPARATOR: Final = {";": "\\;", ",": "\\,"}
_NAME: Final = re.compile(r"(?:([A-Za-z0-9_-]+)\.)?([A-Za-z0-9_-]+)\Z")
_UNSAFE_PARAM: Final = re.compile(r'[",:;^\n]')
_ENDS: Final = ",;:"
"""What may follow a quoted parameter value; the end of the text may, too."""
_ENCODINGS: Final = frozenset({"QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT", "B", "Q"})
_VALUE_TYPES: Final = frozenset({"INLINE", "URL", "CID", "CONTENT-ID"})


class Head:
    """What stands before the colon of a content line.

    Heads repeat from card to card, so readers keep them and what they worked out about them.

    Args:
        group: the property group as written, or None.
        name: the property name in capitals.
        params: parameter values by the parameter's name in small letters.
    """

    __slots__ = (
        "charset",
        "group",
        "kept",
        "key",
        "media",
        "name",
        "params",
        "quoted",
        "template",
        "value_type",
    )

    def __init__(self, group: str | None, name: str, params: Mapping[str, list[str]]) -> None:
        self.group = group
        self.name = name
        self.params = params
        value = params.get("value")
        self.value_type = value[0].lower() if value else None
        encoding = params.get("encoding", [""])[0].upper()
        self.quoted = encoding in {"QUOTED-PRINTABLE", "Q"}
        charset = params.get("charset")
        self.charset = charset[0].lower() if charset else None
        self.key: str | None = None
        self.kept: dict[str, JsonValue] | None = None
        self.template: dict[str, JsonValue] | None = None
        self.media: tuple[dict[str, JsonValue], str] | None = None


def split_head(line: str) -> tuple[str, str] | None:
    """Split a line at the colon that ends its head, or return None when there is none.

    A colon inside a quoted parameter value does not count; when the quotes do not pair, the
    first colon does.
    """
    head, colon, value = line.partition(":")
    if not colon:
        return None
    if '"' not in head:
        return head, value
    parts = split_unquoted(line, ":", limit=1)
    return (parts[0], parts[1]) if len(parts) == 2 else (head, value)


def split_unquoted(text: str, separator: str, limit: int = -1) -> list[str]:
    """Split at the separators outside double quotes, at all of them when the quotes do not pair.

    A quote after a backslash ends the value where the standard lets a value end (RFC 6350 knows no
    escaped quotes); elsewhere, or if the quotes would not pair so, it is one that is escaped.

    Args:
        text: part of a head.
        separator: one character.
        limit: how many splits to make at most, -1 for all.
    """
    parts = _split_unquoted(text, separator, limit, ends=_ENDS)
    if parts is None and '\\"' in text:
        parts = _split_unquoted(text, separator, limit, ends="")
    return text.split(separator, limit) if parts is None else parts


def _split_unquoted(text: str, separator: str, limit: int, *, ends: str) -> list[str] | None:
    """Split; None when the quotes do not pair.

    `ends` are the characters before which a quote after a backslash is no escaped one.
    """
    parts: list[str] = []
    start = 0
    quoted = False
    for index, char in enumerate(text):
        if char == '"':
            escaped = text[index - 1 : index] == "\\"
            if not escaped or (quoted and text[index + 1 : index + 2] in ends):
                quoted = not quoted
        elif char == separator and not quoted:
            parts.append(text[start:index])
            start = index + 1
            if len(parts) == limit:
                break
    if quoted:
        return None
    parts.append(text[start:])
    return parts


def parse_head(text: str) -> Head | None:
    """Parse a head, leniently; None when it names no property.

    Quotes may stand inside a value, values may be bare as in version 2.1.
    """
    name, semicolon, rest = text.partition(";")
    match = _NAME.match(name.strip())
    if match is None:
        return None
    params: dict[str, list[str]] = {}
    if semicolon:
        for part in split_unquoted(rest, ";") if '"' in rest else rest.split(";"):
            param, equals, value = part.partition("=")
            _add_param(params, param.strip(), bool(equals), value)
    return Head(match[1], match[2].upper(), params)


def _add_param(params: dict[str, list[str]], name: str, equals: bool, value: str) -> None:
    if not equals:
        if not name:
            return
        bare = name.upper()
        if bare in _ENCODINGS:
            key, values = "encoding", [bare]
        elif bare in _VALUE_TYPES:
            key, values = "value", [name]
        else:
            key, values = "type", [name]
    else:
        key, values = name.lower(), _param_values(name.lower(), value)
    known = params.get(key)
    if known is None:
        params[key] = values
    else:
        known.extend(values)


def _param_values(name: str, text: str) -> list[str]:
    if '"' in text:
        parts = [_unquote(part) for part in split_unquoted(text, ",")]
    else:
        parts = text.split(",")
    if name == "type":
        # RFC 6350, section 6.4.1 quotes the whole list: TYPE="voice,home".
        parts = [item.strip() for part in parts for item in part.split(",")]
    return [
        _CARET_SEQUENCE.sub(lambda m: _CARET[m[0]], part) if "^" in part else part for part in parts
    ]


def _unquote(text: str) -> str:
    stripped = text.strip()
    if len(stripped) >= 2 and stripped[0] == stripped[-1] == '"':
        return stripped[1:-1].replace('\\"', '"')
    return text.replace('\\"', '"')


def unescape(value: str) -> str:
    """Return the text that a value stands for (RFC 6350, section 3.4)."""
    if "\\" not in value:
        return value
    if "\\\\" in value:
        return "\\".join([unescape(part) for part in value.split("\\\\")])
    if len(value) > _LONG:
        return _unescaped(value)
    # Several passes over a short text take less time than one that makes its parts.
    value = value.replace("\\,", ",").replace("\\n", "\n")
    if "\\" in value:
        value = value.replace("\\;", ";").replace("\\:", ":")
        value = value.replace('\\"', '"').replace("\\N", "\n")
    return value


def _unescaped(value: str) -> str:
    first, *parts = value.split("\\")
    texts = [
        part if part[:1] in _ITSELF else "\n" + part[1:] if part[:1] in _BREAKS else f"\\{part}"
        for part in parts
    ]
    return first + "".join(texts)


def escape_text(text: str, *, is_v4: bool) -> str:
    """Return a text as a whole value; version 4.0 escapes no semicolon there (section 4.1)."""
    if is_v4 and ";" in text:
        return ";".join(escape(part) for part in text.split(";"))
    return escape(text)


def joined_fields(fields: list[str]) -> str:
    """Return a structured value, the parts of which are single texts."""
    value = ";".join(fields)
    if "," in value or "\\" in value or "\n" in value or value.count(";") >= len(fields):
        return ";".join([escape(field) for field in fields])
    return value


def escape(text: str) -> str:
    """Return a text as part of a structured value, or as any value of version 3.0."""
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if ";" in text:
        text = text.replace(";", "\\;")
    if "," in text:
        text = text.replace(",", "\\,")
    if "\n" in text:
        text = text.replace("\n", "\\n")
    return text


def split_value(value: str, separator: str) -> list[str]:
    """Split a structured value at a separator that is not escaped; the parts stay escaped."""
    parts = value.split(separator)
    if "\\" not in value or _ESCAPED_SEPARATOR[separator] not in value:
        return parts
    if "\\\\" not in value and separator not in value.replace(_ESCAPED_SEPARATOR[separator], ""):
        return [value]
    whole: list[str] = []
    begun = ""
    for part in parts:
        if part.endswith("\\") and (len(part) - len(part.rstrip("\\"))) % 2:
            begun += part + separator
        else:
            whole.append(begun + part)
            begun = ""
    if begun:
        whole.append(begun.removesuffix(separator))
    return whole


def param_text(name: str, values: list[str] | str) -> str:
    """Return `;NAME=value,...`, quoted and encoded as RFC 6868 asks."""
    listed = [values] if isinstance(values, str) else values
    return f";{name}={','.join(_param_value(value) for value in listed)}"


def _param_value(value: str) -> str:
    if _UNSAFE_PARAM.search(value) is None:
        return value
    encoded = value.replace("^", "^^").replace("\n", "^n").replace('"', "^'")
    if any(mark in value for mark in ",:;"):
        return f'"{encoded}"'
    return encoded
