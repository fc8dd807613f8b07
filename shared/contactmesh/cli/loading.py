"""Groups whose commands are loaded when they are named: each of them takes a while to load."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup


@dataclass(frozen=True, slots=True)
class Part:
    """Where a command is.

    Attributes:
        module: the module whose `app` it belongs to.
        group: what the module calls the group that it is; none for a command of its `app`.
        panel: where help lists a group.
    """

    module: str
    group: str | None = None
    panel: str | None = None

    def load(self, name: str) -> Any:  # noqa: ANN401 - typer does not name the class of commands
        """Load the command."""
        group = typer.main.get_group(getattr(import_module(self.module), self.group or "app"))
        if self.group is None:
            return group.commands[name]
        group.name, group.rich_help_panel = name, self.panel
        return group


class _Commands(MutableMapping[str, Any]):
    """Commands by their names, each loaded at the first look."""

    def __init__(self, loaded: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        self._loaded = dict(loaded)
        self._parts = parts

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - as above
        if name not in self._loaded:
            self._loaded[name] = self._parts[name].load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: object) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._parts
        yield from (name for name in self._loaded if name not in self._parts)

    def __len__(self) -> int:
        return len(self._parts.keys() | self._loaded.keys())


class LoadingGroup(TyperGroup):
    """A group of commands that are loaded when they are named, in the order of its `PARTS`."""

    PARTS: ClassVar[Mapping[str, Part]] = {}

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - as in the base class
        super().__init__(**settings)
        self.commands = _Commands(self.commands, self.PARTS)
