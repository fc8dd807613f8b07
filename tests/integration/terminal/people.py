"""People whose terminals run on a real system."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.wire import System

from contactmesh.terminal import Terminal


@dataclass
class People:
    """Makes users and runs their terminals, each in a folder of its own."""

    system: System
    folder: Path
    running: AsyncExitStack

    async def enrol(self, user_id: str, name: str = "phone", transport: str = "amqp") -> Terminal:
        """A new terminal of a user, not running yet."""
        await self.system._post("/v1/users", {"user_id": user_id, "display_name": user_id})
        code = (await self.system._post(f"/v1/users/{user_id}/enrolment-codes"))["code"]
        return await Terminal.enrol(
            self.folder / user_id / name,
            identity_url=self.system.stack.identity_url,
            code=code,
            name=name,
            region="CN",
            transport=transport,
        )

    async def terminal(self, name: str, transport: str = "amqp") -> Terminal:
        """A running terminal of a new user whose id begins with `name`."""
        return await self.another_terminal(self.system.new_user(name), "phone", transport)

    async def another_terminal(self, user_id: str, name: str, transport: str = "amqp") -> Terminal:
        """A running terminal of a user."""
        enrolled = await self.enrol(user_id, name, transport)
        return await self.running.enter_async_context(enrolled)
