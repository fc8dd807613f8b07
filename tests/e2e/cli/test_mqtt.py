"""A terminal that speaks MQTT at the command line."""

import pytest
from tests.e2e.cli.person import Person

from contactmesh.local.stack import Stack


async def test_a_terminal_enrolled_for_mqtt_works_as_any_other(stack: Stack, bob: Person) -> None:
    if stack.terminal_mqtt_url is None:
        pytest.skip("the broker of the environment offers no MQTT")
    ann = Person("ann", stack.settings.data)
    await ann.enrol("Ann", "--transport", "mqtt")
    shown = await ann.told("show")
    assert (shown["transport"], shown["connection"]) == ("mqtt", "works")
    assert stack.terminal_mqtt_url in (await ann.run("show")).out
    assert (await bob.told("show"))["transport"] == "amqp"

    await ann.run("group", "create", "Family", "--member", "bob")
    await ann.run("publish", "--name", "Ann", "--number", "+447700900123")
    await bob.run("pull")
    assert "+447700900123" in (await bob.run("contacts", "Ann")).out
    await bob.run("publish", "--name", "Bob", "--number", "+447700900456")
    await ann.run("pull")
    assert "+447700900456" in (await ann.run("contacts", "Bob")).out


async def test_there_is_no_other_protocol(stack: Stack) -> None:
    ann = Person("ann", stack.settings.data)
    ended = await ann.run("enrol", "ABCD-EFGH-JKLM", "--transport", "stomp", status=2)
    assert "amqp" in ended.err
