"""Several terminals of one person."""

from pathlib import Path

from tests.e2e.town import Town

from contactmesh.terminal import Terminal


async def of_a_person(town: Town, *names: str) -> tuple[Path, ...]:
    """The folders of a new person's terminals, which do not run."""
    user_id = town.system.new_user("reader")
    await town.system._post("/v1/users", {"user_id": user_id, "display_name": "Reader"})
    folders = tuple(town.folder / user_id / name for name in names)
    for folder in folders:
        code = (await town.system._post(f"/v1/users/{user_id}/enrolment-codes"))["code"]
        url = town.system.stack.identity_url
        await Terminal.enrol(folder, identity_url=url, code=code, name=folder.name)
    return folders
