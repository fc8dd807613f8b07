"""What rules come to: an answer for the sender, events for everybody else."""

from dataclasses import dataclass, field

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.reply import Done, Result


@dataclass(frozen=True, slots=True)
class Told:
    """An event for others, with its subject and revision."""

    message: Message
    subject: str
    rev: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a command leads to: its result for the sender, events for everybody else."""

    result: Result = field(default_factory=Done)
    told: tuple[Told, ...] = ()
