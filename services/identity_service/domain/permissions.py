"""What a terminal may do on the broker: send its own commands, read its own queue, nothing else.

An integrator may read its own queue, and nothing else at all.

The broker asks in the terms of its HTTP authorisation backend. To let something new in, say another
role or protocol, add a case that allows it: everything without one is refused.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class MayUseVhost:
    """May the terminal connect to this virtual host?"""

    vhost: str


@dataclass(frozen=True, slots=True)
class MayAccess:
    """May the terminal configure, write to or read from this queue or exchange?"""

    vhost: str
    resource: str
    name: str
    permission: str


@dataclass(frozen=True, slots=True)
class MayUseTopic:
    """May the terminal write or read messages with this routing key on this topic exchange?"""

    vhost: str
    exchange: str
    permission: str
    routing_key: str


Question = MayUseVhost | MayAccess | MayUseTopic


@dataclass(frozen=True, slots=True)
class Realm:
    """The part of the broker that one terminal has to do with, by the protocol that it speaks.

    `exchange` is where its commands go. By MQTT it makes its queue itself, and binds it to the same
    exchange by `subscriptions`; by AMQP it finds its queue made and bound, and has none of these.
    """

    terminal_id: str
    vhost: str
    exchange: str
    queue: str
    subscriptions: frozenset[str] = frozenset()


def allows_integrator(vhost: str, queue: str, question: Question) -> bool:
    """Whether the integrator that has this queue may do what the broker asks about."""
    match question:
        case MayUseVhost(vhost=asked):
            return asked == vhost
        case MayAccess(vhost=asked, resource="queue", permission="read", name=name):
            return (asked, name) == (vhost, queue)
        case _:
            return False


_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def allows(realm: Realm, question: Question) -> bool:
    """Whether the terminal of this realm may do what the broker asks about."""
    if question.vhost != realm.vhost:
        return False
    match question:
        case MayUseVhost():
            return True
        case MayAccess(resource="exchange", permission="write", name=realm.exchange):
            return True
        case MayAccess(resource="exchange", permission="read", name=realm.exchange):
            return bool(realm.subscriptions)
        case MayAccess(resource="queue", permission="read", name=realm.queue):
            return True
        case MayAccess(resource="queue", permission="configure" | "write", name=realm.queue):
            return bool(realm.subscriptions)
        case MayUseTopic(permission="write", exchange=realm.exchange, routing_key=key):
            return _is_own_command(realm.terminal_id, key)
        case MayUseTopic(permission="read", exchange=realm.exchange, routing_key=key):
            return key in realm.subscriptions
        case _:
            return False


def _is_own_command(terminal_id: str, routing_key: str) -> bool:
    match routing_key.split("."):
        case ["command", sender, service, action]:
            return (
                sender == terminal_id
                and _NAME.fullmatch(service) is not None
                and _NAME.fullmatch(action) is not None
            )
        case _:
            return False
