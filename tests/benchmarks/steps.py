"""How far a long measurement has come, on standard error."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)


class Steps:
    """A bar of steps, and one of the contacts of the step in hand where that can be told."""

    def __init__(self, number: int) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._steps = self._progress.add_task("", total=number)
        self._contacts = self._progress.add_task("contacts", total=None, visible=False)
        self._begun = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def begin(self, what: str) -> None:
        """The step before is done, and this one begins."""
        self._progress.update(self._steps, description=what, completed=self._begun)
        self._progress.update(self._contacts, visible=False)
        self._begun += 1

    def contacts(self, done: int, total: int) -> None:
        """How many contacts of this step are done."""
        self._progress.update(self._contacts, completed=done, total=total, visible=True)
