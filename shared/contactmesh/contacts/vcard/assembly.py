"""A card put together from what the reader made, which needs no validating.

The handlers of vCard properties write texts, flags, keys and dates of a handful of shapes, each
of which the models allow. Validating them again would take most of the time of reading. What has
another shape, or was made of anything but UTF-8 text, is validated; tests assert that both ways
give equal cards for everything that they read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from pydantic import BaseModel

from contactmesh.contacts.jscontact import (
    Address,
    AddressComponent,
    Anniversary,
    Author,
    Calendar,
    Card,
    CryptoKey,
    Directory,
    Email,
    LanguagePref,
    Link,
    Media,
    Name,
    NameComponent,
    Nickname,
    Note,
    OnlineService,
    Organization,
    OrgUnit,
    PartialDate,
    PersonalInfo,
    Phone,
    SchedulingAddress,
    Title,
)
from contactmesh.contacts.vcard.builder import PARAMS_PROPERTY
from contactmesh.contacts.vcard.parameters import Members, unshared

# What pydantic's own `model_construct` sets, in the way that takes least time.
_new: Final = object.__new__
_set_values: Final[Callable[[object, Any], None]] = BaseModel.__dict__["__dict__"].__set__
_set_fields: Final[Callable[[object, Any], None]] = BaseModel.__dict__[
    "__pydantic_fields_set__"
].__set__
_set_extra: Final[Callable[[object, Any], None]] = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private: Final[Callable[[object, Any], None]] = BaseModel.__dict__[
    "__pydantic_private__"
].__set__


class _Shape:
    """How objects of one kind become models.

    Args:
        model: the model.
        parts: the shapes of members that hold objects themselves, or lists of them.
    """

    __slots__ = ("_defaults", "_is_flagged", "_model", "_names", "_parts", "_size")

    def __init__(self, model: type[BaseModel], **parts: _Shape) -> None:
        self._model = model
        self._defaults: dict[str, Any] = {
            name: field.default for name, field in model.model_fields.items()
        }
        self._size = len(self._defaults)
        self._names = {field.alias or name: name for name, field in model.model_fields.items()}
        self._is_flagged = "contexts" in self._defaults
        self._parts = tuple(parts.items())

    def made(self, entry: Members) -> Any:  # noqa: ANN401 - of the model
        """Return the model of an object.

        Raises:
            KeyError: it has members that are no fields.
        """
        values = self._defaults | entry
        fields = set(entry)
        if len(values) != self._size:
            # Some members have another name in Python.
            names = self._names
            fields = {names[name] for name in entry}
            values = self._defaults.copy()
            for name, item in entry.items():
                values[names[name]] = item
            if (params := values["v_card_params"]) is not None:
                values["v_card_params"] = unshared(params)
        if self._is_flagged:
            if "contexts" in entry:
                values["contexts"] = values["contexts"].copy()
            if "features" in entry:
                values["features"] = values["features"].copy()
        for name, part in self._parts:
            value = values[name]
            if type(value) is list:
                values[name] = [part.made(each) for each in value]
            elif value is not None:
                values[name] = part.made(value)
        model = _new(self._model)
        _set_values(model, values)
        _set_fields(model, fields)
        _set_extra(model, {})
        _set_private(model, None)
        return model


_NAME: Final = _Shape(Name, components=_Shape(NameComponent))
_MAPS: Final = {
    "nicknames": _Shape(Nickname),
    "organizations": _Shape(Organization, units=_Shape(OrgUnit)),
    "titles": _Shape(Title),
    "emails": _Shape(Email),
    "onlineServices": _Shape(OnlineService),
    "phones": _Shape(Phone),
    "preferredLanguages": _Shape(LanguagePref),
    "calendars": _Shape(Calendar),
    "schedulingAddresses": _Shape(SchedulingAddress),
    "addresses": _Shape(Address, components=_Shape(AddressComponent)),
    "cryptoKeys": _Shape(CryptoKey),
    "directories": _Shape(Directory),
    "links": _Shape(Link),
    "media": _Shape(Media),
    "anniversaries": _Shape(Anniversary, date=_Shape(PartialDate)),
    "notes": _Shape(Note, author=_Shape(Author)),
    "personalInfo": _Shape(PersonalInfo),
}
_PLAIN: Final = frozenset(
    {"@type", "version", "uid", "kind", "language", "prodId", "created", "updated", "keywords"}
    | {"members", "vCardProps"}
)
_FIELDS: Final = {field.alias or name: name for name, field in Card.model_fields.items()}
_DEFAULTS: Final[dict[str, Any]] = dict.fromkeys(Card.model_fields)


def assembled(members: Members) -> Card | None:
    """Return the card of members that handlers made, or None when it has to be validated."""
    values = _DEFAULTS.copy()
    fields: set[str] = set()
    extra: Members = {}
    try:
        for member, value in members.items():
            if member in _PLAIN:
                name = _FIELDS[member]
                values[name] = value
            elif (shape := _MAPS.get(member)) is not None:
                name = _FIELDS[member]
                made = shape.made
                entries = cast("dict[str, Members]", value)
                values[name] = {key: made(entry) for key, entry in entries.items()}
            elif member == "name":
                name = member
                values[name] = _NAME.made(cast("Members", value))
            elif member == PARAMS_PROPERTY:
                extra[member] = value
                continue
            else:
                return None
            fields.add(name)
    except KeyError:
        return None
    card = _new(Card)
    _set_values(card, values)
    _set_fields(card, fields)
    _set_extra(card, extra)
    _set_private(card, None)
    return card
