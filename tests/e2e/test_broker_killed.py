"""A broker that is killed loses no change for a terminal that speaks MQTT and is away."""

from functools import partial
from pathlib import Path

import pytest
from tests.integration.local.test_stack import until_started_again
from tests.integration.terminal.test_receiving import the_next
from tests.integration.terminal.test_with_services import number_of, own_card

from contactmesh.cli.locating import OperatorAccess
from contactmesh.cli.operator_client import OperatorClient
from contactmesh.contracts.identity import RegisterUser
from contactmesh.local.stack import Stack, StackSettings
from contactmesh.local.waiting import until
from contactmesh.terminal import ContactAdded, ContactUpdated, Terminal, TerminalFolder
from contactmesh.terminal.mqtt_session import MqttSession
from contactmesh.terminal.session import CredentialsRefused, SessionLost

OLD, NEW, NEWEST = "+8613800138000", "+8613900139000", "+8613700137000"


async def enrol(stack: Stack, folder: Path, user_id: str, transport: str) -> Terminal:
    """A new user's terminal."""
    token = stack.operator_token_file.read_text().strip()
    async with OperatorClient(OperatorAccess(stack.identity_url, token)) as operator:
        await operator.register(RegisterUser(user_id=user_id, display_name=user_id))
        code = (await operator.mint(user_id)).code
    return await Terminal.enrol(
        folder / user_id,
        identity_url=stack.identity_url,
        code=code,
        name="phone",
        region="CN",
        transport=transport,
    )


async def session_is_kept(folder: Path) -> bool:
    """Whether the broker, once it takes connections, still has the terminal's queue."""
    credentials = TerminalFolder(folder).read().credentials
    try:
        session = await MqttSession.open(credentials, queue_ready=False)
    except (SessionLost, CredentialsRefused):
        return False  # it is still starting, or cannot ask identity_service yet
    await session.close()
    return True


@pytest.mark.timeout(400)  # it starts a broker twice
@pytest.mark.claim("G1")
async def test_terminal_that_is_away_finds_its_session_and_every_change(tmp_path: Path) -> None:
    settings = StackSettings(
        data=tmp_path / "a stack", amqp_url=None, mongodb_url=None, broker_management_url=None
    )
    async with Stack(settings) as stack:
        ann = await enrol(stack, tmp_path, "ann", "mqtt")
        folder = ann.phonebook.path.parent
        async with await enrol(stack, tmp_path, "bob", "amqp") as bob:
            async with ann:
                updates = ann.updates()
                await ann.create_group("Family", [bob.user_id])
                await bob.publish(own_card(bob, OLD))
                await the_next(updates, ContactAdded)
            await bob.publish(own_card(bob, NEW))
            (broker,) = [one for one in stack._supervised if one.name == "broker"]
            broker.kill()
            await until_started_again(broker)
            await stack.until_ready()
            await until(partial(session_is_kept, folder), seconds=60)
            async with Terminal(folder) as ann:
                updates = ann.updates()
                if await number_of(ann, bob.user_id) != NEW:
                    await the_next(updates, ContactUpdated)
                assert await number_of(ann, bob.user_id) == NEW
                await bob.publish(own_card(bob, NEWEST))
                while await number_of(ann, bob.user_id) != NEWEST:
                    await the_next(updates, ContactUpdated)
        stack.hasten()  # its data is thrown away
