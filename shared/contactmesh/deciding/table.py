"""Documents in memory while a batch of commands is decided."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Document = TypeVar("Document")


class Table(Generic[Key, Document]):
    """The loaded documents of one kind, by key, with what was changed since loading.

    Commands of one batch see each other's changes; what was changed is written at the end.
    """

    def __init__(self) -> None:
        self._documents: dict[Key, Document] = {}
        self._changed: dict[Key, Document | None] = {}

    def load(self, documents: Iterable[tuple[Key, Document]]) -> None:
        """Take documents in as they are stored."""
        self._documents.update(documents)

    def get(self, key: Key) -> Document | None:
        """A document, or nothing if there is none."""
        return self._documents.get(key)

    def put(self, key: Key, document: Document) -> None:
        """Set a document's new state."""
        self._documents[key] = document
        self._changed[key] = document

    def drop(self, key: Key) -> None:
        """Delete a document."""
        self._documents.pop(key, None)
        self._changed[key] = None

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._documents.values()))

    @property
    def changed(self) -> dict[Key, Document | None]:
        """New states by key; nothing where a document was deleted."""
        return self._changed
