"""What every command has in common, and how its routing key is made and read."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import carrier_of, is_terminal_id, user_of
from contactmesh.contracts.reply import Done, Result


class Role(StrEnum):
    """What kind of sender a command is for."""

    USER = "user"
    CARRIER = "carrier"


class Command(Message):
    """A terminal's request to one service, answered by exactly one reply."""

    SERVICE: ClassVar[str]
    """The service that handles it."""
    ROLE: ClassVar[Role] = Role.USER
    """Who may send it; any other sender is refused before the service sees it."""
    RESULT: ClassVar[type[Result]] = Done
    """What its reply carries when it took effect."""
    READS: ClassVar[bool] = False
    """Whether it only asks. Such a command is answered anew each time it arrives."""

    @classmethod
    def action(cls) -> str:
        """The command's name within its service, the last part of `TYPE`."""
        return cls.TYPE.rpartition(".")[2]

    @classmethod
    def routing_key(cls, terminal_id: str) -> str:
        """The only key under which the broker lets this terminal send this command."""
        return f"command.{terminal_id}.{cls.SERVICE}.{cls.action()}"


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sent a command, as the broker vouches for it."""

    terminal_id: str

    @property
    def user_id(self) -> str:
        """The user whose terminal it is."""
        return user_of(self.terminal_id)

    @property
    def role(self) -> Role:
        """What kind of sender it is."""
        return Role.USER if carrier_of(self.user_id) is None else Role.CARRIER

    @property
    def carrier_id(self) -> str:
        """The carrier whose terminal it is.

        Raises:
            ValueError: it is a user's.
        """
        carrier_id = carrier_of(self.user_id)
        if carrier_id is None:
            raise ValueError("a user's terminal speaks for no carrier")
        return carrier_id


@dataclass(frozen=True, slots=True)
class CommandAddress:
    """A command's routing key, taken apart."""

    sender: Sender
    service: str
    action: str

    @classmethod
    def parse(cls, routing_key: str) -> "CommandAddress":
        """Read sender, service and action from a routing key.

        The broker checks the routing key against the connection's rights, and nothing else in a
        message: not the body, not reply-to, not further keys in CC or BCC headers.

        Raises:
            Refusal: `unauthenticated`, when no terminal can have sent it.
        """
        match routing_key.split("."):
            case ["command", terminal_id, service, action] if is_terminal_id(terminal_id):
                return cls(Sender(terminal_id), service, action)
        raise Refusal(
            ErrorCode.UNAUTHENTICATED, "Send commands under command.<terminal>.<service>.<action>."
        )
