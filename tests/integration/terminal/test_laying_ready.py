"""Waiting at the command line for what is laid ready, with a service that answers by a script."""

import asyncio

import pytest
from rich.status import Status
from tests.integration.terminal.conftest import ALICE, MakeTerminal
from tests.integration.terminal.scripted_service import ScriptedService

from contactmesh.cli.errors import CommandError
from contactmesh.cli.terminal import sim_spaces
from contactmesh.cli.terminal.naming import NoSuchThing
from contactmesh.cli.terminal.sim_spaces import laid_ready
from contactmesh.contracts.contact import ContactUpdate, Scope
from contactmesh.contracts.multi_sim.commands import AccountList, ListAccounts
from contactmesh.contracts.multi_sim.records import AccountView, SimView, SpaceView

SIM = SimView(
    sim_id="01890a5d-ac96-774b-bcce-b302099a8057",
    iccid="89860012345678901238",
    name="work",
    terminal_id=ALICE,
    pending_rev=1,
    waiting=3,
    filling=True,
)


def accounts(*sims: SimView) -> AccountList:
    account = AccountView(
        carrier_id="cn-mobile",
        account_id="01890a5d-ac96-774b-bcce-b302099a8058",
        identification_code="K7QA-3MZD-PX2T",
        consent=True,
        follows_book=False,
        shared=SpaceView(rev=1, contacts=3),
        private=SpaceView(rev=0, contacts=0),
        sims=sims,
    )
    return AccountList(accounts=(account,))


HERE = accounts(SIM)
DONE = accounts(SIM.model_copy(update={"filling": False}))
ELSEWHERE = accounts(SIM.model_copy(update={"terminal_id": "alice_bbbbbbbb"}))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_spaces, "_LOOK_AGAIN", 0.1)


@pytest.mark.claim("M5")
@pytest.mark.usefixtures("queue")
async def test_what_is_laid_ready_is_waited_for_though_nothing_is_told(
    service: ScriptedService, make_terminal: MakeTerminal
) -> None:
    service.answer_in_turn(ListAccounts.TYPE, HERE, HERE, DONE)
    async with make_terminal(reply_seconds=10.0) as terminal:
        assert await laid_ready(terminal, SIM, terminal.updates(), Status("")) == 3


@pytest.mark.claim("M5")
@pytest.mark.usefixtures("queue")
@pytest.mark.parametrize(("then", "error"), [(ELSEWHERE, CommandError), (accounts(), NoSuchThing)])
@pytest.mark.parametrize("told", [True, False])
async def test_nobody_waits_for_a_sim_that_has_left(
    service: ScriptedService,
    make_terminal: MakeTerminal,
    then: AccountList,
    error: type[Exception],
    *,
    told: bool,
) -> None:
    service.answer_in_turn(ListAccounts.TYPE, HERE, then)
    async with make_terminal(reply_seconds=10.0) as terminal:
        stream = terminal.updates()
        if told:
            left = {"scope": Scope.SPACE, "owner_id": "alice", "uid": SIM.sim_id, "rev": 3}
            for update in ({"waiting": 1, "filling": True}, {"waiting": 0, "filling": False}):
                await service.push(ALICE, ContactUpdate.model_validate({**left, **update}))
        with pytest.raises(error):
            async with asyncio.timeout(30):
                await laid_ready(terminal, SIM, stream, Status(""))
