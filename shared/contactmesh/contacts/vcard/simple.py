"""How the entries of simple properties are written: one line each, the value nearly as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from marshal import dumps
from typing import Final

from contactmesh.contacts.vcard.content import escape_text
from contactmesh.contacts.vcard.emitter import Emitter, later_key
from contactmesh.contacts.vcard.forms import WITHOUT_REFS, remembered, simple_form
from contactmesh.contacts.vcard.parameters import Entry
from contactmesh.contacts.vcard.properties import FIRST_KEYS, MANY, SIMPLE, Property

SimpleWriter = Callable[[Emitter, Mapping[str, Entry]], None]
"""Adds the lines of entries, by key."""


def _writer(known: Property) -> SimpleWriter:
    """Return a writer for a property; what is known of that is looked up only once."""
    name, member, prefix, labelled = known.name, known.member, known.prefix, known.labelled
    is_text, is_number = known.value != "uri", known.features
    usual_keys = FIRST_KEYS[prefix]
    tags, uri_tags = known.tags, known.uri_tags

    def write(out: Emitter, entries: Mapping[str, Entry]) -> None:
        is_v4, lines, counts = out.is_v4, out.lines, out.counts
        place = counts.get(prefix, 0)
        for key, entry in entries.items():
            value = entry.get(member)
            if not isinstance(value, str):
                out.certain = False
                continue
            head, group, label = name, None, None
            is_uri = is_number and ":" in value and value[:4].lower() == "tel:"
            if len(entry) > 1 or is_uri:
                others = entry.copy()
                del others[member]
                label = others.pop("label", None)
                shape = (uri_tags if is_uri else tags)[is_v4] + dumps(others, WITHOUT_REFS)
                form = remembered(shape)
                if form is None:
                    form = simple_form(shape, known, others, is_v4=is_v4, is_uri=is_uri)
                head, group, certain = form
                if not certain:
                    out.certain = False
            if is_text:
                if "\\" in value or ";" in value or "," in value or "\n" in value:
                    value = escape_text(value, is_v4=is_v4)
            elif "\\" in value:
                out.certain = False
            usual = usual_keys[place] if place < MANY else later_key(prefix, place)
            place += 1
            if key != usual and key:
                head += f";PROP-ID={key}"
            if group is None and label is None:
                lines.append(f"{head}:{value}")
            else:
                out.grouped(group, f"{head}:{value}", label)
                if label is not None and not labelled:
                    out.certain = False
        counts[prefix] = place

    return write


WRITERS: Final = {name: _writer(known) for name, known in SIMPLE.items()}
"""By property name."""
