"""Secrets are changed without a moment in which a terminal is shut out, and all is logged."""

import json
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import pytest
from aio_pika.exceptions import AMQPError
from aiohttp import encode_basic_auth
from tests.backends import Broker

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import AccessKind, AccessLog, Credentials, NewSecret
from contactmesh.local.waiting import until
from contactmesh.terminal import Enrolment, Terminal, TerminalFolder

from .conftest import Answer, Identity, RunIdentity, connect

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


async def _allowed(identity: Identity, ada: Credentials) -> str:
    return await identity.broker_asks("user", username=ada.terminal_id, password=ada.secret)


async def _log(identity: Identity, ada: Credentials) -> list[tuple[AccessKind, int]]:
    answer = await identity.ask(
        "GET",
        f"v1/terminals/{ada.terminal_id}/access-log",
        authorization=encode_basic_auth(ada.terminal_id, ada.secret),
    )
    assert answer.status == HTTPStatus.OK
    entries = AccessLog.model_validate_json(json.dumps(answer.body)).entries
    return [(row.kind, row.count) for row in entries]


async def test_old_secret_is_good_until_the_new_one_is_used(identity: Identity) -> None:
    old = await identity.enrolled("ada")
    new = await _rotated(identity, old)
    assert new.secret != old.secret
    assert await _allowed(identity, old) == "allow"
    assert await _allowed(identity, new) == "allow"
    assert await _allowed(identity, old) == "deny"
    assert await _allowed(identity, new) == "allow"


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


async def test_terminal_told_to_rotate_does_so_by_itself_and_goes_on(
    run_identity: RunIdentity, broker: Broker, tmp_path: Path
) -> None:
    async with run_identity(broker_cache_lifetime=timedelta(seconds=12)) as identity:
        ada = await identity.enrolled("ada")
        folder = TerminalFolder(tmp_path / "terminal")
        folder.write(Enrolment(identity_url=str(identity.url), credentials=ada))
        async with Terminal(folder.path, pull=False):
            demanded = await identity.ask("POST", f"v1/terminals/{ada.terminal_id}/rotation")
            assert demanded.status == HTTPStatus.NO_CONTENT
            assert await _allowed(identity, ada) == "deny"

            async def changed() -> bool:
                return await _allowed(identity, folder.read().credentials) == "allow"

            await until(changed, seconds=2 * PATIENCE)
        now = folder.read().credentials
        assert now.secret != ada.secret
        assert (await _rotate(identity, ada)).status == HTTPStatus.UNAUTHORIZED


async def test_terminal_changes_its_secret_when_asked(identity: Identity, tmp_path: Path) -> None:
    ada = await identity.enrolled("ada")
    folder = TerminalFolder(tmp_path / "terminal")
    folder.write(Enrolment(identity_url=str(identity.url), credentials=ada))
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
