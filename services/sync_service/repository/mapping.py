"""Documents of the domain as stored documents, and back.

Ids are the keys joined by `/`, which a uid alone may contain, and that comes last. Cards, and the
values of conflicts, are stored as JSON text: what JSON can say and the database cannot, like a
number beyond 64 bits, stays. For lists, which do without them, `size` is how many bytes of it a
reply would carry, and `name` whom a card is of.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json, to_json

from contactmesh.contacts.display import name_shown
from contactmesh.contracts.sync.records import ConflictKind, Policy, Reason
from contactmesh.storage.transaction import Document
from sync_service.domain.documents import (
    Book,
    ConflictDocument,
    Entry,
    Stamp,
    Times,
    Version,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OWNERS: Final = "owners"
"""Guards of what holds over all books of a user."""
BOOKS: Final = "books"
ENTRIES: Final = "entries"
VERSIONS: Final = "versions"
CONFLICTS: Final = "conflicts"

CONTENTS: Final = ("card", "times")
"""What an entry and a version have much of, and a list does without."""


def join_key(*parts: str | int) -> str:
    """The `_id` of a document whose key has several parts."""
    return "/".join(str(part) for part in parts)


def entry_id(owner: str, uid: str) -> str:
    """The `_id` of an entry."""
    return join_key(owner, uid)


def version_id(owner: str, uid: str, rev: int) -> str:
    """The `_id` of a version."""
    return join_key(owner, rev, uid)


def conflict_id(owner: str, conflict_id: str) -> str:
    """The `_id` of a conflict."""
    return join_key(owner, conflict_id)


def stored_book(book: Book) -> Document:
    """A book, less its `etag`."""
    values = _values(book)
    del values["etag"]
    return {**values, "deletions": _pairs(book.deletions), "stood": _pairs(book.stood)}


def book(document: Document) -> Book:
    """A book."""
    values = _without_id(document)
    return Book(
        **{
            **values,
            "policy": Policy(values["policy"]),
            "deletions": tuple((at, number) for at, number in values["deletions"]),
            "stood": tuple((rev, until) for rev, until in values["stood"]),
        }
    )


def stored_entry(entry: Entry) -> Document:
    """An entry; `restorable` says that it is deleted and what it was is in the history."""
    return {**_stored_contents(entry), "restorable": entry.was_rev is not None}


def entry(document: Document) -> Entry:
    """An entry; without card and times where these were left out."""
    values = _contents(document)
    del values["restorable"]
    return Entry(**values)


def stored_version(version: Version) -> Document:
    """A version."""
    return {**_stored_contents(version), "reason": version.reason.value}


def version(document: Document) -> Version:
    """A version; without card and times where these were left out."""
    values = _contents(document)
    return Version(**{**values, "reason": Reason(values["reason"])})


def stored_conflict(conflict: ConflictDocument) -> Document:
    """A conflict."""
    kept, lost = to_json(conflict.kept), to_json(conflict.lost)
    return {
        **_values(conflict),
        "kept": kept.decode(),
        "lost": lost.decode(),
        "kind": conflict.kind.value,
        "owner": conflict.owner,
        "size": len(kept) + len(lost),
    }


def conflict(document: Document) -> ConflictDocument:
    """A conflict."""
    values = _without_id(document)
    del values["owner"], values["size"]
    return ConflictDocument(
        **{
            **values,
            "kind": ConflictKind(values["kind"]),
            "kept": from_json(values["kept"]),
            "lost": from_json(values["lost"]),
        }
    )


def _stored_contents(document: Entry | Version) -> Document:
    contents = document.card
    card = b"" if contents is None else to_json(contents)
    return {
        **_values(document),
        "owner": document.owner,
        "card": card.decode() or None,
        "size": len(card),
        "name": "" if contents is None else name_shown(contents),
        "times": [[path, *stamp] for path, stamp in document.times.items()],
        "same_by": list(document.same_by),
        "changed_fields": list(document.changed_fields),
    }


def _contents(document: Document) -> dict[str, Any]:
    values = _without_id(document)
    del values["owner"], values["size"], values["name"]
    card = values.get("card")
    return {
        **values,
        "card": None if card is None else from_json(card),
        "times": _times(values.get("times", ())),
        "same_by": tuple(values.get("same_by", ())),
        "changed_fields": tuple(values["changed_fields"]),
    }


def _times(stored: list[tuple[str, int, str]]) -> Times:
    # A path may have what a field name in the database may not.
    return {path: Stamp(at, terminal_id) for path, at, terminal_id in stored}


def _pairs(pairs: tuple[tuple[int, int], ...]) -> list[list[int]]:
    return [list(pair) for pair in pairs]


def _values(document: "DataclassInstance") -> dict[str, Any]:
    return {field.name: getattr(document, field.name) for field in fields(document)}


def _without_id(document: Document) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "_id"}
