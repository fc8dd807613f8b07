"""Every message on the wire, with its JSON Schema, and all of it as one AsyncAPI document."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from contactmesh.contracts import contact, identity
from contactmesh.contracts.carrier import access, check, feed
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import BATCH_CONTENT_TYPE, CONTENT_TYPE, Envelope, Message
from contactmesh.contracts.group import commands, events, updates
from contactmesh.contracts.multi_sim import commands as sim_commands
from contactmesh.contracts.multi_sim import events as sim_events
from contactmesh.contracts.reply import Reply, Result
from contactmesh.contracts.sync import commands as sync_commands
from contactmesh.contracts.sync import events as sync_events

JsonObject = dict[str, Any]


class Channel(StrEnum):
    """The exchange that a message is published to."""

    COMMANDS = "contactmesh.commands"
    EVENTS = "contactmesh.events"
    TERMINALS = "contactmesh.terminals"


SEVERAL: Final = (
    "Entries of one address book that change together come as an array of CloudEvents, under the "
    f"content type {BATCH_CONTENT_TYPE} and the routing key contact.changed.book. An owner's own "
    "card comes by itself, under contact.changed.book.own."
)

COMMANDS: Final[tuple[type[Command], ...]] = (
    commands.CreateGroup,
    commands.ListGroups,
    commands.ShowGroup,
    commands.Invite,
    commands.AcceptInvitation,
    commands.DeclineInvitation,
    commands.WithdrawInvitation,
    commands.LeaveGroup,
    commands.RemoveMember,
    commands.HandOver,
    commands.DissolveGroup,
    commands.PublishCard,
    commands.Block,
    commands.Lift,
    commands.ListBlocks,
    commands.Pull,
    commands.SetPullInterval,
    commands.Subscribe,
    commands.Unsubscribe,
    feed.Feed,
    check.Check,
    access.Grant,
    access.RevokeGrant,
    access.ListGrants,
    access.ListLooks,
    access.ListOwnLines,
    access.DescribeLine,
    access.SetDialOrder,
    sim_commands.RegisterSim,
    sim_commands.MoveSim,
    sim_commands.ReplaceSim,
    sim_commands.RemoveSim,
    sim_commands.ListAccounts,
    sim_commands.SetInformation,
    sim_commands.SetConsent,
    sim_commands.FollowBook,
    sim_commands.Store,
    sim_commands.ListEntries,
    sim_commands.RequestUpdate,
    sim_commands.ShowPending,
    sim_commands.Decide,
    sync_commands.Exchange,
    sync_commands.ListBook,
    sync_commands.Fetch,
    sync_commands.ListBooks,
    sync_commands.SetPolicy,
    sync_commands.SetOwnCard,
    sync_commands.ListHistory,
    sync_commands.ListDeleted,
    sync_commands.Restore,
    sync_commands.RestoreBook,
    sync_commands.ListConflicts,
    sync_commands.Settle,
    sync_commands.Erase,
)
EVENTS: Final[tuple[type[Message], ...]] = (
    contact.ContactChanged,
    identity.UserRegistered,
    identity.TerminalEnrolled,
    identity.TerminalRevoked,
    events.GroupCreated,
    events.MemberJoined,
    events.MemberLeft,
    events.BlockSet,
    events.BlockLifted,
    events.StandingBlockChanged,
    events.SubscriptionChanged,
    events.HandedOver,
    events.GroupDissolved,
    events.InvitationSent,
    events.InvitationClosed,
    events.AudienceRequested,
    events.AudienceSnapshot,
    RegistrationRecycled,
    sim_events.SpaceChanged,
    sim_events.CatchUp,
    sim_events.SimRemoved,
    sync_events.BookWanted,
    sync_events.BookPage,
)
UPDATES: Final[tuple[type[Message], ...]] = (
    contact.ContactUpdate,
    updates.GroupJoined,
    updates.MemberJoinedUpdate,
    updates.MemberLeftUpdate,
    updates.RefreshUpdate,
    updates.HandedOverUpdate,
    updates.GroupDissolvedUpdate,
    updates.InvitationUpdate,
    updates.InvitationClosedUpdate,
)


def channels() -> Mapping[Channel, tuple[type[Message], ...]]:
    """The messages of each exchange."""
    return {
        Channel.COMMANDS: COMMANDS,
        Channel.EVENTS: EVENTS,
        Channel.TERMINALS: (*UPDATES, Reply),
    }


def results() -> tuple[type[Result], ...]:
    """What the `result` of a reply can be."""
    return tuple(dict.fromkeys(command.RESULT for command in COMMANDS))


def schemas() -> JsonObject:
    """The JSON Schemas (2020-12) of all messages, replies' results and the envelope, by name."""
    models: list[type[BaseModel]] = [*COMMANDS, *EVENTS, *UPDATES, Reply, Envelope, *results()]
    _, definitions = models_json_schema(
        [(model, "serialization") for model in models],
        ref_template="#/components/schemas/{model}",
    )
    return dict(definitions["$defs"])


def asyncapi() -> JsonObject:
    """The whole wire contract as an AsyncAPI 3.0 document."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "ContactMesh",
            "version": version("contactmesh"),
            "description": "Every message is one CloudEvent in structured JSON; `data` is given "
            "here. Who sent a command is read from its routing key, which the broker checks. By "
            "MQTT its topic is that key with slashes for dots.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": CONTENT_TYPE,
        "channels": {
            channel.value: {
                "address": channel.value,
                **({"description": SEVERAL} if channel is Channel.EVENTS else {}),
                "messages": {
                    message.__name__: {"$ref": f"#/components/messages/{message.__name__}"}
                    for message in messages
                },
                "bindings": {
                    "amqp": {
                        "is": "routingKey",
                        "exchange": {"name": channel.value, "type": "topic", "durable": True},
                        "bindingVersion": "0.3.0",
                    }
                },
            }
            for channel, messages in channels().items()
        },
        "operations": dict(_operations()),
        "components": {
            "messages": {
                message.__name__: _message(message)
                for messages in channels().values()
                for message in messages
            },
            "schemas": schemas(),
        },
    }


def _operations() -> Iterator[tuple[str, JsonObject]]:
    for channel, messages in channels().items():
        action = "receive" if channel is Channel.COMMANDS else "send"
        reference = channel.value.replace("/", "~1")
        yield (
            f"{action}-{channel.name.lower()}",
            {
                "action": action,
                "channel": {"$ref": f"#/channels/{reference}"},
                "messages": [
                    {"$ref": f"#/channels/{reference}/messages/{message.__name__}"}
                    for message in messages
                ],
            },
        )


def _message(message: type[Message]) -> JsonObject:
    return {
        "name": message.TYPE,
        "title": message.__name__,
        "summary": (message.__doc__ or "").partition("\n")[0],
        "contentType": CONTENT_TYPE,
        "payload": {
            "allOf": [
                {"$ref": "#/components/schemas/Envelope"},
                {
                    "properties": {
                        "type": {"const": message.TYPE},
                        "data": {"$ref": f"#/components/schemas/{message.__name__}"},
                    }
                },
            ]
        },
    }
