"""A user is registered, gets a code, and a terminal trades it for credentials."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import pytest

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import Credentials, EnrolmentCode, QueueReady
from contactmesh.messaging.topology import terminal_queue

from .conftest import Identity, RunIdentity, connect


async def test_user_is_registered_once_and_keeps_the_name(identity: Identity) -> None:
    for _ in range(2):
        answer = await identity.register("li-wei", "李伟")
        assert answer.status == HTTPStatus.OK
        assert answer.body == {"user_id": "li-wei", "display_name": "李伟", "terminals": 0}
    other = await identity.register("li-wei", "Li Wei")
    assert (other.status, other.error.code) == (HTTPStatus.CONFLICT, ErrorCode.CONFLICT)


async def test_users_registered_at_once_under_one_id_are_one_user(identity: Identity) -> None:
    names = ["Ada", "Ada", "Ada", "Bea"]
    answers = await asyncio.gather(*(identity.register("same", name) for name in names))
    statuses = {answer.status for answer in answers}
    assert statuses == {HTTPStatus.OK, HTTPStatus.CONFLICT}
    users = (await identity.ask("GET", "v1/users")).body
    assert len(users["users"]) == 1
    assert users["next"] is None


async def test_code_is_traded_for_credentials_and_a_queue_that_is_ready(identity: Identity) -> None:
    credentials = await identity.enrolled("ada")
    assert credentials.terminal_id.startswith("ada_")
    assert credentials.queue == terminal_queue(credentials.terminal_id)
    async with await connect(credentials) as connection:
        channel = await connection.channel()
        queue = await channel.get_queue(credentials.queue, ensure=False)
        assert await queue.get(fail=False) is None


async def test_code_is_told_with_its_expiry(identity: Identity) -> None:
    await identity.register("ada")
    answer = await identity.ask("POST", "v1/users/ada/enrolment-codes")
    code = EnrolmentCode.model_validate(answer.body)
    left = datetime.fromisoformat(code.expires_at) - datetime.now(UTC)
    assert timedelta(hours=23) < left <= timedelta(hours=24)


async def test_code_works_however_it_is_typed(identity: Identity) -> None:
    await identity.register("ada")
    code = await identity.mint("ada")
    assert (await identity.try_enrol(f"  {code.upper()} ")).status == HTTPStatus.CREATED


async def test_used_wrong_and_unknown_codes_get_the_same_answer(identity: Identity) -> None:
    await identity.register("ada")
    used, wrong = await identity.mint("ada"), await identity.mint("ada")
    await identity.try_enrol(used)
    refused = [
        await identity.try_enrol(code)
        for code in (used, f"{wrong[:-4]}aaaa", "aaaaaaaa-aaaaaaaaaaaaaaaa", "no code at all")
    ]
    assert {answer.status for answer in refused} == {HTTPStatus.UNAUTHORIZED}
    assert all(answer.body == refused[0].body for answer in refused)


async def test_expired_code_gets_that_answer_too(run_identity: RunIdentity) -> None:
    async with run_identity(enrolment_code_lifetime=timedelta(0)) as identity:
        await identity.register("ada")
        answer = await identity.try_enrol(await identity.mint("ada"))
        assert (answer.status, answer.error.code) == (
            HTTPStatus.UNAUTHORIZED,
            ErrorCode.UNAUTHENTICATED,
        )


async def test_code_traded_many_times_at_once_makes_one_terminal(identity: Identity) -> None:
    await identity.register("ada")
    code = await identity.mint("ada")
    answers = await asyncio.gather(*(identity.try_enrol(code) for _ in range(5)))
    assert Counter(answer.status for answer in answers) == {
        HTTPStatus.CREATED: 1,
        HTTPStatus.UNAUTHORIZED: 4,
    }
    terminals = (await identity.ask("GET", "v1/users/ada/terminals")).body["terminals"]
    assert len(terminals) == 1


async def test_code_is_dead_after_five_wrong_guesses_even_made_at_once(identity: Identity) -> None:
    await identity.register("ada")
    code = await identity.mint("ada")
    guesses = [f"{code[:-1]}{'a' if code[-1] != 'a' else 'b'}" for _ in range(5)]
    await asyncio.gather(*(identity.try_enrol(guess) for guess in guesses))
    assert (await identity.try_enrol(code)).status == HTTPStatus.UNAUTHORIZED


async def test_four_wrong_guesses_leave_the_code_alive(identity: Identity) -> None:
    await identity.register("ada")
    code = await identity.mint("ada")
    for _ in range(4):
        await identity.try_enrol(f"{code[:-2]}77" if code[-2:] != "77" else f"{code[:-2]}66")
    assert (await identity.try_enrol(code)).status == HTTPStatus.CREATED


async def test_terminals_have_a_limit_that_revoking_makes_room_in(
    run_identity: RunIdentity,
) -> None:
    async with run_identity(max_terminals_per_user=1) as identity:
        first = await identity.enrolled("ada")
        code = await identity.mint("ada")
        refused = await identity.try_enrol(code)
        assert refused.error.code is ErrorCode.QUOTA_EXCEEDED
        assert refused.error.details == {"limit": 1}
        await identity.revoke(first.terminal_id)
        assert (await identity.try_enrol(code)).status == HTTPStatus.CREATED


async def test_open_codes_have_a_limit_even_when_minted_at_once(identity: Identity) -> None:
    await identity.register("ada")
    answers = await asyncio.gather(
        *(identity.ask("POST", "v1/users/ada/enrolment-codes") for _ in range(8))
    )
    refused = [answer for answer in answers if answer.status != HTTPStatus.CREATED]
    assert len(refused) == 3
    assert {answer.error.code for answer in refused} == {ErrorCode.QUOTA_EXCEEDED}


async def test_terminal_gets_its_queue_back(identity: Identity) -> None:
    credentials = await identity.enrolled("ada")
    terminal_id, secret = credentials.terminal_id, credentials.secret
    answer = await identity.make_queue(terminal_id, terminal_id, secret)
    assert QueueReady.model_validate(answer.body).queue == credentials.queue
    wrong = await identity.make_queue(terminal_id, terminal_id, "guess")
    assert wrong.status == HTTPStatus.UNAUTHORIZED
    other = await identity.enrolled("bea")
    another = await identity.make_queue(terminal_id, other.terminal_id, other.secret)
    assert another.status == HTTPStatus.FORBIDDEN


async def test_terminals_are_listed_with_their_names(identity: Identity) -> None:
    await identity.register("ada")
    answer = await identity.try_enrol(await identity.mint("ada"), "爱达的手机")
    credentials = Credentials.model_validate(answer.body)
    listed = await identity.ask("GET", "v1/users/ada/terminals")
    (row,) = listed.body["terminals"]
    assert row["terminal_id"] == credentials.terminal_id
    assert row["name"] == "爱达的手机"
    assert row["revoked_at"] is None


@pytest.mark.parametrize("authorization", [None, "Bearer ", "Bearer guess", "Basic b3A6dG9rZW4="])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "v1/users"),
        ("GET", "v1/users"),
        ("POST", "v1/users/ada/enrolment-codes"),
        ("GET", "v1/users/ada/terminals"),
        ("DELETE", "v1/terminals/ada_aaaaaaaa"),
    ],
)
async def test_operators_routes_want_the_operators_token(
    identity: Identity, method: str, path: str, authorization: str | None
) -> None:
    answer = await identity.ask(method, path, authorization=authorization)
    assert answer.status == HTTPStatus.UNAUTHORIZED
    assert answer.error.code is ErrorCode.UNAUTHENTICATED
