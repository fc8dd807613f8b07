"""Which vCard property is which JSContact member (RFC 9555, section 2), for simple properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

CONTEXTS: Final = {"home": "private", "work": "work"}
CONTEXT_TYPES: Final = {context: name for name, context in CONTEXTS.items()}
ADDRESS_CONTEXTS: Final = {**CONTEXTS, "billing": "billing", "delivery": "delivery"}
ADDRESS_TYPES: Final = {context: name for name, context in ADDRESS_CONTEXTS.items()}
FEATURES: Final = {
    "voice": "voice",
    "cell": "mobile",
    "fax": "fax",
    "pager": "pager",
    "text": "text",
    "textphone": "textphone",
    "video": "video",
    "main-number": "main-number",
}
FEATURE_TYPES: Final = {feature: name for name, feature in FEATURES.items()}
IMAGE_TYPES: Final = {
    "JPEG": "image/jpeg",
    "JPG": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "HEIC": "image/heic",
    "TIFF": "image/tiff",
}


@dataclass(frozen=True, slots=True)
class Property:
    """A property with one value, which becomes one entry of a map in the card.

    Args:
        name: the vCard property.
        collection: the card's map, as JSContact names it.
        prefix: how the keys that readers choose begin.
        member: the entry's member that takes the value.
        value: whether the value is text, a list of texts, or a URI.
        fixed: members that every entry of this property has.
        contexts: TYPE values that become `contexts`.
        features: whether TYPE values become `features`.
        preferred: whether PREF becomes `pref`.
        labelled: whether the entry can have a `label`.
        params: parameters that become members of the same value.
        members: all members that an entry can have (worked out from the above).
        tags: marks for version 3.0 and 4.0 that no other property has.
        uri_tags: the same for a value that is a URI, where it could be text.
    """

    name: str
    collection: str
    prefix: str
    member: str
    value: Literal["text", "texts", "uri"] = "uri"
    fixed: dict[str, str] = field(default_factory=dict)
    contexts: bool = True
    features: bool = False
    preferred: bool = True
    labelled: bool = True
    params: dict[str, str] = field(default_factory=dict)
    members: frozenset[str] = field(init=False)
    tags: tuple[bytes, bytes] = field(init=False)
    uri_tags: tuple[bytes, bytes] = field(init=False)

    def __post_init__(self) -> None:
        optional = {
            "contexts": self.contexts,
            "features": self.features,
            "pref": self.preferred,
            "label": self.labelled,
        }
        members = {self.member, "vCardParams", *self.fixed, *self.params.values()}
        members |= {name for name, possible in optional.items() if possible}
        object.__setattr__(self, "members", frozenset(members))
        name = self.name.encode()
        object.__setattr__(self, "tags", (name + b":3", name + b":4"))
        object.__setattr__(self, "uri_tags", (name + b":u3", name + b":u4"))


_MEDIA_TYPE: Final = {"mediatype": "mediaType"}
_SERVICE: Final = {
    "service-type": "service",
    "x-service-type": "service",
    "username": "user",
    "x-user": "user",
}


def _service(name: str, service: str) -> Property:
    return Property(
        name,
        "onlineServices",
        "service",
        "user",
        "text",
        {"service": service, "vCardName": name.lower()},
    )


def _interest(name: str) -> Property:
    kind = name.lower()
    return Property(
        name,
        "personalInfo",
        kind,
        "value",
        "text",
        {"kind": kind},
        contexts=False,
        preferred=False,
        params={"level": "level", "index": "listAs"},
    )


_ALL: Final = (
    Property("TEL", "phones", "tel", "number", "text", features=True),
    Property("EMAIL", "emails", "email", "address", "text"),
    Property("IMPP", "onlineServices", "impp", "uri", fixed={"vCardName": "impp"}, params=_SERVICE),
    Property("SOCIALPROFILE", "onlineServices", "social", "uri", params=_SERVICE),
    Property(
        "X-SOCIALPROFILE",
        "onlineServices",
        "social",
        "uri",
        fixed={"vCardName": "x-socialprofile"},
        params=_SERVICE,
    ),
    _service("X-AIM", "AIM"),
    _service("X-GADUGADU", "Gadu-Gadu"),
    _service("X-GOOGLE-TALK", "Google Talk"),
    _service("X-GTALK", "Google Talk"),
    _service("X-ICQ", "ICQ"),
    _service("X-JABBER", "Jabber"),
    _service("X-MSN", "MSN"),
    _service("X-QQ", "QQ"),
    _service("X-SKYPE", "Skype"),
    _service("X-SKYPE-USERNAME", "Skype"),
    _service("X-TWITTER", "Twitter"),
    _service("X-WECHAT", "WeChat"),
    _service("X-YAHOO", "Yahoo"),
    Property("URL", "links", "link", "uri", params=_MEDIA_TYPE),
    Property("CONTACT-URI", "links", "contact", "uri", fixed={"kind": "contact"}),
    Property("PHOTO", "media", "photo", "uri", fixed={"kind": "photo"}, params=_MEDIA_TYPE),
    Property("LOGO", "media", "logo", "uri", fixed={"kind": "logo"}, params=_MEDIA_TYPE),
    Property("SOUND", "media", "sound", "uri", fixed={"kind": "sound"}, params=_MEDIA_TYPE),
    Property("KEY", "cryptoKeys", "key", "uri", params=_MEDIA_TYPE),
    Property(
        "CALURI", "calendars", "calendar", "uri", fixed={"kind": "calendar"}, params=_MEDIA_TYPE
    ),
    Property(
        "FBURL", "calendars", "freebusy", "uri", fixed={"kind": "freeBusy"}, params=_MEDIA_TYPE
    ),
    Property("CALADRURI", "schedulingAddresses", "scheduling", "uri"),
    Property("SOURCE", "directories", "source", "uri", fixed={"kind": "entry"}, params=_MEDIA_TYPE),
    Property(
        "ORG-DIRECTORY",
        "directories",
        "directory",
        "uri",
        fixed={"kind": "directory"},
        params={"mediatype": "mediaType", "index": "listAs"},
    ),
    Property("LANG", "preferredLanguages", "lang", "language", "text", labelled=False),
    Property(
        "TITLE", "titles", "title", "name", "text", contexts=False, preferred=False, labelled=False
    ),
    Property(
        "ROLE",
        "titles",
        "role",
        "name",
        "text",
        fixed={"kind": "role"},
        contexts=False,
        preferred=False,
        labelled=False,
    ),
    Property("NICKNAME", "nicknames", "nickname", "name", "texts", labelled=False),
    Property(
        "NOTE",
        "notes",
        "note",
        "note",
        "text",
        contexts=False,
        preferred=False,
        labelled=False,
        params={"created": "created"},
    ),
    _interest("EXPERTISE"),
    _interest("HOBBY"),
    _interest("INTEREST"),
)

SIMPLE: Final = {each.name: each for each in _ALL}
"""By property name."""

_OTHERS: Final = ("adr", "org", "birth", "death", "wedding", "pronouns", "label")
_PREFIXES: Final = {*_OTHERS, *(each.prefix for each in _ALL)}

MANY: Final = 32

FIRST_KEYS: Final = {
    prefix: tuple(f"{prefix}-{number}" for number in range(1, MANY + 1)) for prefix in _PREFIXES
}
"""The keys that readers choose for the first entries, by how they begin, made once."""
