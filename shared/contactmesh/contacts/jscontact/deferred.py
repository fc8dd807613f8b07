"""Objects that are given as checked JSON, and make their typed parts when they are first asked for.

A reader that makes a card's JSON by itself has made every check by then, and most cards are
only written again, merged or stored: building some fifty objects for each would cost more than
reading it. Nothing shows the difference. What pydantic knows of an instance stands in its
`__dict__` and in two slots beside it; whoever asks for any of them, be it for an attribute,
comparison, dump, copy or pickle, in Python or in Rust, finds the parts made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, JsonValue

from contactmesh.contacts.jscontact.base import JSContactObject

_INSTANCE: Any = BaseModel.__dict__["__dict__"]
"""Where the fields really are."""


class DeferredObject(JSContactObject):
    """An object whose typed parts may not be made yet."""

    __slots__ = ("_document",)

    if TYPE_CHECKING:
        _document: dict[str, JsonValue] | None

    @classmethod
    def from_checked(cls, document: dict[str, JsonValue]) -> Self:
        """Return the object for JSON of which the caller knows that it is valid.

        Args:
            document: the whole object but for what is derived from it; it belongs to the object
                from now on.
        """
        made = cls.__new__(cls)
        object.__setattr__(made, "_document", document)
        return made

    def document(self) -> dict[str, JsonValue]:
        """Return the object as plain JSON to look at: changing it is not allowed.

        It is what `to_json` returns, but the order of members is any, and it costs nothing for an
        object whose parts are not made yet.
        """
        document = self._document
        if document is None:
            return self.to_json()
        self._complete(document)
        return document

    def _complete(self, document: dict[str, JsonValue]) -> None:
        """Put into the JSON what is derived from it and not there yet."""

    if not TYPE_CHECKING:

        @property
        def __dict__(self) -> dict[str, Any]:
            if self._document is not None:
                self._make_parts()
            return _INSTANCE.__get__(self)

        @__dict__.setter
        def __dict__(self, fields: dict[str, Any]) -> None:
            _INSTANCE.__set__(self, fields)

        def __getattr__(self, name: str) -> object:
            """Called for what an instance does not have: without its parts, for all it has."""
            if name == "_document":
                # Instances that pydantic makes know of no document.
                return None
            if self._document is None:
                return super().__getattr__(name)
            self._make_parts()
            return getattr(self, name)

    def _make_parts(self) -> None:
        document = self._document
        # Two threads may both find them missing; the second makes the same once more.
        if document is not None:
            self._complete(document)
            self.__pydantic_validator__.validate_python(document, self_instance=self)
            object.__setattr__(self, "_document", None)
