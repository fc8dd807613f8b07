"""What a terminal may do on the broker, as a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity_service.domain.permissions import (
    MayAccess,
    MayUseTopic,
    MayUseVhost,
    Question,
    Realm,
    allows,
    allows_integrator,
)

ADA = Realm("ada_aaaaaaaa", "/", "contactmesh.commands", "terminal.ada_aaaaaaaa")


def access(resource: str, name: str, permission: str, vhost: str = "/") -> MayAccess:
    return MayAccess(vhost, resource, name, permission)


def write(key: str, exchange: str = "contactmesh.commands", vhost: str = "/") -> MayUseTopic:
    return MayUseTopic(vhost, exchange, "write", key)


@pytest.mark.parametrize(
    "question",
    [
        MayUseVhost("/"),
        access("exchange", "contactmesh.commands", "write"),
        access("queue", "terminal.ada_aaaaaaaa", "read"),
        write("command.ada_aaaaaaaa.group_service.create"),
        write("command.ada_aaaaaaaa.sync_service.pull2"),
    ],
)
def test_allowed(question: Question) -> None:
    assert allows(ADA, question)


@pytest.mark.parametrize(
    "question",
    [
        MayUseVhost("other"),
        MayUseVhost(""),
        access("exchange", "contactmesh.commands", "write", vhost="other"),
        access("exchange", "contactmesh.commands", "read"),
        access("exchange", "contactmesh.commands", "configure"),
        access("exchange", "contactmesh.terminals", "write"),
        access("exchange", "contactmesh.terminals", "read"),
        access("exchange", "contactmesh.events", "write"),
        access("exchange", "contactmesh.events", "read"),
        access("exchange", "contactmesh.dead", "write"),
        access("exchange", "amq.default", "write"),
        access("exchange", "amq.topic", "write"),
        access("exchange", "", "write"),
        access("queue", "terminal.ada_aaaaaaaa", "write"),
        access("queue", "terminal.ada_aaaaaaaa", "configure"),
        access("queue", "terminal.ada_aaaaaaab", "read"),
        access("queue", "terminal.ada_aaaaaaaa", "read", vhost="other"),
        access("queue", "contactmesh.commands", "write"),
        access("queue", "group_service.commands", "read"),
        access("queue", "amq.gen-x", "configure"),
        access("topic", "contactmesh.commands", "write"),
        write("command.ada_aaaaaaaa.group_service.create", exchange="contactmesh.terminals"),
        write("command.ada_aaaaaaaa.group_service.create", vhost="other"),
        MayUseTopic(
            "/", "contactmesh.commands", "read", "command.ada_aaaaaaaa.group_service.create"
        ),
        write("command.bea_aaaaaaaa.group_service.create"),
        write("command.ada_aaaaaaab.group_service.create"),
        write("command.ada.group_service.create"),
        write("command.ada_aaaaaaaa.group_service"),
        write("command.ada_aaaaaaaa.group_service.create.more"),
        write("command.ada_aaaaaaaa.#"),
        write("command.ada_aaaaaaaa.*.create"),
        write("command.ada_aaaaaaaa..create"),
        write("command.ada_aaaaaaaa.group_service.create\n"),
        write("command.ada_aaaaaaaa.GROUP.create"),
        write("command.*.group_service.create"),
        write("command.ada_aaaaaaaa\n.group_service.create"),
        write(" command.ada_aaaaaaaa.group_service.create"),
        write("event.ada_aaaaaaaa.group_service.create"),
        write(""),
    ],
)
def test_refused(question: Question) -> None:
    assert not allows(ADA, question)


PARTS = ["command", "ada_aaaaaaaa", "bea_aaaaaaaa", "group_service", "create", "*", "#", "", "user"]


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6).map(".".join))
def test_every_key_that_may_be_written_names_its_sender_and_one_command(key: str) -> None:
    if allows(ADA, write(key)):
        command, sender, service, action = key.split(".")
        assert (command, sender) == ("command", "ada_aaaaaaaa")
        assert service.isidentifier()
        assert action.isidentifier()


CRM = "integrator.crm"


@pytest.mark.parametrize("question", [MayUseVhost("/"), access("queue", CRM, "read")])
def test_allowed_to_an_integrator(question: Question) -> None:
    assert allows_integrator("/", CRM, question)


@pytest.mark.parametrize(
    "question",
    [
        MayUseVhost("/other"),
        access("queue", CRM, "read", vhost="/other"),
        access("queue", CRM, "write"),
        access("queue", CRM, "configure"),
        access("queue", "integrator.erp", "read"),
        access("queue", "terminal.ada_aaaaaaaa", "read"),
        access("exchange", "contactmesh.events", "read"),
        access("exchange", CRM, "read"),
        write("command.integrator.group_service.create"),
        MayUseTopic("/", "contactmesh.events", "read", "contact.changed.card"),
    ],
)
def test_refused_to_an_integrator(question: Question) -> None:
    assert not allows_integrator("/", CRM, question)
