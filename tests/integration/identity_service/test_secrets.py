"""Secrets are changed without a moment in which a terminal is shut out, and all is logged."""

import asyncio
import json
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import pytest
from aio_pika.exceptions import AMQPError
from aiohttp import encode_basic_auth
from tests.backends import Broker

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import (
    AccessKind,
    AccessLog,
    Credentials,
    NewSecret,
    Transport,
)
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import TERMINALS, terminal_key
from contactmesh.terminal import Enrolment, Terminal, TerminalFolder, UnreadableUpdate

from .conftest import Answer, Identity, RunIdentity, connect, publish

PATIENCE = 20


async def _rotate(identity: Identity, ada: Credentials) -> Answer:
    return await identity.ask(
        "POST",
        f"v1/terminals/{ada.terminal_id}/secret",
        authorization=encode_basic_auth(ada.terminal_id, ada.secret),
    )


async def _rotated(identity: Identity, ada: Credentials) -> Credentials:
    answer = await _rotate(identity, ada)
    assert answer.status == HTTPStatus.CREATED, answer.body
    return ada.model_copy(update={"secret": NewSecret.model_validate(answer.body).secret})


async def _allowed(
    identity: Identity, ada: Credentials, transport: Transport = Transport.AMQP
) -> str:
    by_mqtt = {"client_id": ada.terminal_id} if transport is Transport.MQTT else {}
    return await identity.broker_asks(
        "user", username=ada.terminal_id, password=ada.secret, **by_mqtt
    )


def _enrolment(identity: Identity, ada: Credentials, transport: Transport) -> Enrolment:
    return Enrolment(identity_url=str(identity.url), credentials=ada, transport=transport)


async def _log(identity: Identity, ada: Credentials) -> list[tuple[AccessKind, int]]:
    answer = await identity.ask(
        "GET",
        f"v1/terminals/{ada.terminal_id}/access-log",
        authorization=encode_basic_auth(ada.terminal_id, ada.secret),
    )
    assert answer.status == HTTPStatus.OK
    entries = AccessLog.model_validate_json(json.dumps(answer.body)).entries
    return [(row.kind, row.count) for row in entries]


@pytest.mark.parametrize("transport", Transport)
async def test_old_secret_is_good_until_the_new_one_is_used(
    identity: Identity, transport: Transport
) -> None:
    old = await identity.enrolled("ada")
    new = await _rotated(identity, old)
    assert new.secret != old.secret
    assert await _allowed(identity, old, transport) == "allow"
    assert await _allowed(identity, new, transport) == "allow"
    for either in Transport:
        assert await _allowed(identity, old, either) == "deny"
        assert await _allowed(identity, new, either) == "allow"


async def test_who_may_not_connect_under_a_client_id_changes_no_secret_by_it(
    identity: Identity,
) -> None:
    old, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    new = await _rotated(identity, old)
    refused = await identity.broker_asks(
        "user", username=new.terminal_id, password=new.secret, client_id=bea.terminal_id
    )
    assert refused == "deny"
    assert await _allowed(identity, old, Transport.MQTT) == "allow"


async def test_an_answer_that_got_lost_is_asked_for_again(identity: Identity) -> None:
    old = await identity.enrolled("ada")
    lost = await _rotated(identity, old)
    new = await _rotated(identity, old)
    assert await _allowed(identity, lost) == "deny"
    assert await _allowed(identity, new) == "allow"
    # and a new one can be changed before it was ever used
    newer = await _rotated(identity, await _rotated(identity, new))
    assert await _allowed(identity, newer) == "allow"
    # however often, it is a line of the log for each hour
    assert sum(kind is AccessKind.ROTATION_BEGUN for kind, _ in await _log(identity, newer)) <= 2


async def test_only_the_terminal_itself_changes_its_secret(identity: Identity) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    wrong = await _rotate(identity, ada.model_copy(update={"secret": "guess"}))
    assert wrong.error.code is ErrorCode.UNAUTHENTICATED
    for what in ("secret", "queue"):
        others = await identity.ask(
            "POST",
            f"v1/terminals/{ada.terminal_id}/{what}",
            authorization=encode_basic_auth(bea.terminal_id, bea.secret),
        )
        assert others.error.code is ErrorCode.PERMISSION_DENIED
    await identity.revoke(ada.terminal_id)
    assert (await _rotate(identity, ada)).error.code is ErrorCode.UNAUTHENTICATED


async def test_guesses_are_counted_and_do_not_lock_the_terminal_out(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    guess = ada.model_copy(update={"secret": "guess"})
    for _ in range(30):
        assert await _allowed(identity, guess) == "deny"
    with pytest.raises(AMQPError):
        await connect(guess)
    async with await connect(ada):
        pass
    counted = dict(await _log(identity, ada))
    assert counted[AccessKind.REFUSED] == 31


async def test_user_reads_what_happened_and_nobody_else(identity: Identity) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    code = await identity.mint("ada")
    await identity.try_enrol(f"{code[:-4]}aaaa")
    new = await _rotated(identity, ada)
    assert (await _log(identity, new))[:2] == [
        (AccessKind.ROTATED, 1),
        (AccessKind.ROTATION_BEGUN, 1),
    ]
    kinds = [kind for kind, _ in await _log(identity, new)]
    assert sorted(kinds) == sorted(
        [
            AccessKind.CODE_MINTED,
            AccessKind.ENROLLED,
            AccessKind.CODE_MINTED,
            AccessKind.CODE_WRONG,
            AccessKind.ROTATION_BEGUN,
            AccessKind.ROTATED,
        ]
    )
    assert {kind for kind, _ in await _log(identity, bea)} == {
        AccessKind.CODE_MINTED,
        AccessKind.ENROLLED,
    }


@pytest.mark.parametrize("transport", Transport)
async def test_terminal_told_to_rotate_does_so_by_itself_and_goes_on(
    run_identity: RunIdentity, broker: Broker, tmp_path: Path, transport: Transport
) -> None:
    async with run_identity(broker_cache_lifetime=timedelta(seconds=12)) as identity:
        ada = await identity.enrolled("ada")
        folder = TerminalFolder(tmp_path / "terminal")
        folder.write(_enrolment(identity, ada, transport))
        async with Terminal(folder.path, pull=False) as terminal:
            updates = terminal.updates()
            demanded = await identity.ask("POST", f"v1/terminals/{ada.terminal_id}/rotation")
            assert demanded.status == HTTPStatus.NO_CONTENT
            assert await _allowed(identity, ada) == "deny"

            async def changed() -> bool:
                return await _allowed(identity, folder.read().credentials) == "allow"

            await until(changed, seconds=2 * PATIENCE)
            await publish(broker, TERMINALS, terminal_key(ada.terminal_id))
            async with asyncio.timeout(2 * PATIENCE):
                assert isinstance(await anext(updates), UnreadableUpdate)
        now = folder.read().credentials
        assert now.secret != ada.secret
        assert (await _rotate(identity, ada)).status == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("transport", Transport)
async def test_terminal_changes_its_secret_when_asked(
    identity: Identity, tmp_path: Path, transport: Transport
) -> None:
    ada = await identity.enrolled("ada")
    folder = TerminalFolder(tmp_path / "terminal")
    folder.write(_enrolment(identity, ada, transport))
    async with Terminal(folder.path, pull=False) as terminal:
        await terminal.rotate_secret()
        now = folder.read().credentials
        assert await _allowed(identity, ada) == "deny"
        assert await _allowed(identity, now) == "allow"
        assert (await terminal.access_log()).entries[0].kind is AccessKind.REFUSED


@pytest.mark.parametrize("terminal_id", ["nobody_aaaaaaaa", "%2e%2e"])
async def test_unknown_terminal_cannot_be_told_to_rotate(
    identity: Identity, terminal_id: str
) -> None:
    answer = await identity.ask("POST", f"v1/terminals/{terminal_id}/rotation")
    assert (answer.status, answer.error.code) == (HTTPStatus.NOT_FOUND, ErrorCode.NOT_FOUND)
