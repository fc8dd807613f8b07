"""While the database is away, nothing is allowed and everything can be asked again."""

import asyncio
from http import HTTPStatus

from contactmesh.contracts.errors import ErrorCode
from contactmesh.local.waiting import until

from .breakable_line import breakable_line
from .conftest import RunIdentity


async def test_service_refuses_for_now_and_goes_on_when_the_database_is_back(
    run_identity: RunIdentity, database_url: str
) -> None:
    async with (
        breakable_line(database_url) as line,
        run_identity(MONGODB_URL=line.url) as identity,
    ):
        ada = await identity.enrolled("ada")
        await line.cut()
        refused, denied = await asyncio.gather(
            identity.register("bea"),
            identity.broker_asks("user", username=ada.terminal_id, password=ada.secret),
        )
        assert refused.status == HTTPStatus.SERVICE_UNAVAILABLE
        assert refused.error.code is ErrorCode.UNAVAILABLE
        assert denied == "deny"
        await line.mend()

        async def registered() -> bool:
            return (await identity.register("bea")).status == HTTPStatus.OK

        await until(registered, seconds=20)
        allowed = await identity.broker_asks("user", username=ada.terminal_id, password=ada.secret)
        assert allowed == "allow"
