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

ADA_BY_MQTT = Realm(
    "ada_aaaaaaaa",
    "/",
    "contactmesh.mqtt",
    "mqtt-subscription-ada_aaaaaaaaqos1",
    frozenset(("terminal.ada_aaaaaaaa", "user.ada")),
)


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


def mqtt_write(key: str) -> MayUseTopic:
    return write(key, "contactmesh.mqtt")


def mqtt_read(key: str, exchange: str = "contactmesh.mqtt", vhost: str = "/") -> MayUseTopic:
    return MayUseTopic(vhost, exchange, "read", key)


@pytest.mark.parametrize(
    "question",
    [
        MayUseVhost("/"),
        access("exchange", "contactmesh.mqtt", "write"),
        access("exchange", "contactmesh.mqtt", "read"),
        access("queue", "mqtt-subscription-ada_aaaaaaaaqos1", "configure"),
        access("queue", "mqtt-subscription-ada_aaaaaaaaqos1", "write"),
        access("queue", "mqtt-subscription-ada_aaaaaaaaqos1", "read"),
        mqtt_write("command.ada_aaaaaaaa.group_service.create"),
        mqtt_read("terminal.ada_aaaaaaaa"),
        mqtt_read("user.ada"),
    ],
)
def test_allowed_by_mqtt_and_by_that_alone(question: Question) -> None:
    assert allows(ADA_BY_MQTT, question)
    assert allows(ADA, question) == isinstance(question, MayUseVhost)


@pytest.mark.parametrize(
    "question",
    [
        MayUseVhost("other"),
        access("exchange", "contactmesh.mqtt", "configure"),
        access("exchange", "contactmesh.mqtt", "read", vhost="other"),
        access("exchange", "contactmesh.commands", "write"),
        access("exchange", "contactmesh.terminals", "read"),
        access("exchange", "contactmesh.events", "read"),
        access("exchange", "amq.topic", "read"),
        access("queue", "terminal.ada_aaaaaaaa", "read"),
        access("queue", "mqtt-subscription-ada_aaaaaaaaqos0", "configure"),
        access("queue", "mqtt-subscription-ada_aaaaaaabqos1", "read"),
        access("queue", "mqtt-subscription-ada_aaaaaaabqos1", "write"),
        access("queue", "mqtt-subscription-ada_aaaaaaabqos1", "configure"),
        access("queue", "mqtt-subscription-ada_aaaaaaaaqos1", "read", vhost="other"),
        mqtt_write("terminal.ada_aaaaaaaa"),
        mqtt_write("user.ada"),
        mqtt_write("user.bea"),
        mqtt_write("command.bea_aaaaaaaa.group_service.create"),
        mqtt_write("command.ada_aaaaaaaa.*.create"),
        mqtt_write("command.ada_aaaaaaaa.group_service.create.more"),
        write("command.ada_aaaaaaaa.group_service.create"),
        mqtt_read("terminal.ada_aaaaaaaa", "contactmesh.terminals"),
        mqtt_read("terminal.ada_aaaaaaaa", vhost="other"),
        mqtt_read("terminal.ada_aaaaaaab"),
        mqtt_read("user.bea"),
        mqtt_read("user.*"),
        mqtt_read("terminal.*"),
        mqtt_read("*.ada_aaaaaaaa"),
        mqtt_read("user.ada.#"),
        mqtt_read("#"),
        mqtt_read("fan-out"),
        mqtt_read("command.ada_aaaaaaaa.group_service.create"),
        mqtt_read(""),
    ],
)
def test_refused_by_mqtt(question: Question) -> None:
    assert not allows(ADA_BY_MQTT, question)


PARTS = ["command", "ada_aaaaaaaa", "bea_aaaaaaaa", "group_service", "create", "*", "#", "", "user"]


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6).map(".".join))
def test_every_key_that_may_be_written_names_its_sender_and_one_command(key: str) -> None:
    for realm in (ADA, ADA_BY_MQTT):
        if not allows(realm, write(key, realm.exchange)):
            continue
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
