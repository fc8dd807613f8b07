"""Any card that the model can hold, for property tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from contactmesh.contacts import Card

Json = dict[str, Any]

TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet='abc王😀,;:\\"\n\t^= .é', max_size=12),
    st.sampled_from(["Jane", "王小明", "+86 138 0013 8000", "_$!<Home>!$_", "data:;base64,AA=="]),
)
NON_EMPTY = TEXTS.filter(bool)
IDS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True),
    st.sampled_from(["tel-1", "tel-2", "email-1", "adr-1", "photo-1", "mobile"]),
)
FLAGS = st.dictionaries(
    st.sampled_from(["private", "work", "billing", "mobile", "voice", "fax", "x-other"]),
    st.just(True),
    max_size=3,
)
PREFS = st.integers(1, 100)
UTC = st.sampled_from(["2026-11-30T08:15:00Z", "1999-01-01T00:00:00.5Z", "2020-02-29T23:59:59Z"])
JSON = st.recursive(
    st.one_of(st.booleans(), st.integers(-1000, 1000), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)
PARAMS = st.dictionaries(
    st.sampled_from(["type", "group", "x-foo", "language", "pref", "altid", "pid", "prop-id"]),
    st.one_of(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)),
    max_size=2,
)


def _object(
    required: Mapping[str, st.SearchStrategy[Any]], optional: Mapping[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        dict(required),
        optional={**optional, "vCardParams": PARAMS, "example.com:extra": JSON},
    )


def _map(entries: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.dictionaries(IDS, entries, max_size=3)


_REACH = {"contexts": FLAGS, "pref": PREFS, "label": TEXTS}
_RESOURCE = {**_REACH, "mediaType": st.sampled_from(["image/png", "text/html"])}
_URIS = st.one_of(
    TEXTS,
    st.sampled_from(
        [
            "https://example.com/a,b;c",
            "data:image/jpeg;base64,/9j/4AA=",
            "data:text/plain,hi",
            "urn:x",
        ]
    ),
)


def _part(*kinds: str) -> st.SearchStrategy[list[Json]]:
    part = _object(
        {"kind": st.sampled_from(kinds), "value": TEXTS}, {"phonetic": TEXTS}
    ) | st.fixed_dictionaries({"kind": st.sampled_from(kinds), "value": NON_EMPTY})
    return st.lists(part, max_size=4)


_ORDER = {"isOrdered": st.booleans(), "defaultSeparator": TEXTS}
_NAME = _object(
    {},
    {
        "full": TEXTS,
        "components": _part(
            "given",
            "surname",
            "given2",
            "title",
            "credential",
            "surname2",
            "generation",
            "separator",
        ),
        "sortAs": st.dictionaries(st.sampled_from(["surname", "given"]), TEXTS, max_size=2),
        "phoneticSystem": st.just("piny"),
        "phoneticScript": st.sampled_from(["Latn", "Hani"]),
        **_ORDER,
    },
)
_DATE = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "year": st.integers(0, 12000),
            "month": st.integers(1, 12),
            "day": st.integers(1, 31),
            "calendarScale": st.just("chinese"),
        },
    ),
    st.fixed_dictionaries({"@type": st.just("Timestamp"), "utc": UTC}),
)
_ADDRESS = _object(
    {},
    {
        "components": _part(
            "name", "number", "locality", "region", "postcode", "country", "room", "postOfficeBox",
            "apartment", "separator",
        ),
        "full": TEXTS,
        "countryCode": st.just("CN"),
        "coordinates": st.sampled_from(["geo:39.9,116.4", "geo:39.9", "here"]),
        "timeZone": st.sampled_from(["Asia/Shanghai", "UTC", "Etc/UTC", "Etc/GMT+5"]),
        "contexts": FLAGS,
        "pref": PREFS,
        **_ORDER,
    },
)  # fmt: skip

PROPERTIES: dict[str, st.SearchStrategy[Any]] = {
    "@type": st.just("Card"),
    "version": st.sampled_from(["1.0", "2.0"]),
    "created": UTC,
    "updated": UTC,
    "kind": st.sampled_from(["individual", "group", "org", "x-Robot"]),
    "language": st.sampled_from(["en", "zh-Hans"]),
    "prodId": TEXTS,
    "members": st.dictionaries(TEXTS, st.just(True), max_size=3),
    "relatedTo": st.dictionaries(TEXTS, _object({}, {"relation": FLAGS}), max_size=2),
    "name": _NAME,
    "nicknames": _map(_object({"name": TEXTS}, {"contexts": FLAGS, "pref": PREFS})),
    "organizations": _map(
        _object(
            {},
            {
                "name": TEXTS,
                "units": st.lists(_object({"name": TEXTS}, {"sortAs": TEXTS}), max_size=2),
                "contexts": FLAGS,
                "sortAs": TEXTS,
            },
        )
    ),
    "speakToAs": _object(
        {},
        {
            "grammaticalGender": st.sampled_from(["feminine", "x"]),
            "pronouns": _map(_object({"pronouns": TEXTS}, {"contexts": FLAGS, "pref": PREFS})),
        },
    ),
    "titles": _map(
        _object(
            {"name": TEXTS},
            {"kind": st.sampled_from(["title", "role", "x"]), "organizationId": IDS},
        )
    ),
    "emails": _map(_object({"address": TEXTS}, _REACH)),
    "onlineServices": _map(
        _object(
            {},
            {
                "service": TEXTS,
                "uri": _URIS,
                "user": TEXTS,
                "vCardName": st.sampled_from(["impp", "x-aim", "socialprofile", "x-foo"]),
                **_REACH,
            },
        )
    ),
    "phones": _map(
        _object(
            {"number": TEXTS},
            {
                "features": FLAGS,
                "contactmesh.org:carrier": st.just({"carrierId": "cn-mobile", "ported": True}),
                **_REACH,
            },
        )
    ),
    "preferredLanguages": _map(
        _object({"language": st.sampled_from(["zh", "en"])}, {"contexts": FLAGS, "pref": PREFS})
    ),
    "calendars": _map(
        _object({"uri": _URIS}, {"kind": st.sampled_from(["calendar", "freeBusy"]), **_RESOURCE})
    ),
    "schedulingAddresses": _map(_object({"uri": _URIS}, _REACH)),
    "addresses": _map(_ADDRESS),
    "cryptoKeys": _map(_object({"uri": _URIS}, _RESOURCE)),
    "directories": _map(
        _object(
            {"uri": _URIS},
            {
                "kind": st.sampled_from(["directory", "entry"]),
                "listAs": st.integers(0, 99),
                **_RESOURCE,
            },
        )
    ),
    "links": _map(_object({"uri": _URIS}, {"kind": st.just("contact"), **_RESOURCE})),
    "media": _map(
        _object({"uri": _URIS}, {"kind": st.sampled_from(["photo", "logo", "x"]), **_RESOURCE})
    ),
    "localizations": st.dictionaries(
        st.sampled_from(["de", "zh-Hans"]),
        st.dictionaries(
            st.sampled_from(
                ["name/full", "name/components", "name/phoneticScript", "titles/t/name", "notes"]
            ),
            JSON | st.none(),
            max_size=2,
        ),
        max_size=2,
    ),
    "anniversaries": _map(
        _object(
            {"kind": st.sampled_from(["birth", "death", "wedding", "x"]), "date": _DATE},
            {"place": _ADDRESS},
        )
    ),
    "keywords": st.dictionaries(TEXTS, st.just(True), max_size=3),
    "notes": _map(
        _object(
            {"note": TEXTS},
            {
                "created": UTC,
                "author": st.fixed_dictionaries({}, optional={"name": TEXTS, "uri": TEXTS}),
            },
        )
    ),
    "personalInfo": _map(
        _object(
            {"kind": st.sampled_from(["expertise", "hobby", "interest", "x"]), "value": TEXTS},
            {
                "level": st.sampled_from(["low", "medium", "high", "x"]),
                "listAs": st.integers(0, 99),
                "label": TEXTS,
            },
        )
    ),
    "vCardProps": st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "x-foo",
                    "tel",
                    "bday",
                    "x-ablabel",
                    "jsprop",
                    "gender",
                    "agent",
                    "geo",
                    "tz",
                    "sort-string",
                    "x-phonetic-first-name",
                    "n",
                ]
            ),
            PARAMS,
            st.sampled_from(["unknown", "text", "uri"]),
            TEXTS,
        ).map(list),
        max_size=2,
    ),
    "example.com:extra": JSON,
}

# A few properties at a time: the same faults are found, in a fraction of the time.
CARDS_AS_JSON: st.SearchStrategy[Json] = st.sets(
    st.sampled_from(sorted(PROPERTIES)), max_size=5
).flatmap(
    lambda names: st.fixed_dictionaries(
        {"uid": NON_EMPTY, **{name: PROPERTIES[name] for name in sorted(names)}}
    )
)

CARDS = CARDS_AS_JSON.map(Card.model_validate)
