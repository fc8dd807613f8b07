"""vdirsyncer's command line between a folder of .vcf files and a book that a phone syncs too."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from tests.e2e.town import Town
from tests.e2e.vdirsyncer.items import vcard
from tests.e2e.vdirsyncer.terminals import of_a_person

from contactmesh.contacts import Note
from contactmesh.terminal import Terminal

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONFIGURATION = """\
[general]
status_path = "{place}/status"

[pair book]
a = "here"
b = "there"
collections = null
{resolution}

[storage here]
type = "filesystem"
path = "{place}/contacts"
fileext = ".vcf"

[storage there]
type = "contactmesh"
folder = "{terminal}"
"""


@dataclass(frozen=True)
class Laptop:
    """A folder that vdirsyncer keeps in step with a book, through a terminal of its own."""

    place: Path
    terminal: Path

    @property
    def contacts(self) -> Path:
        return self.place / "contacts"

    async def set_up(self, resolution: str = "") -> None:
        self.contacts.mkdir(parents=True)
        (self.place / "config").write_text(
            CONFIGURATION.format(place=self.place, terminal=self.terminal, resolution=resolution)
        )
        await self.runs("discover")

    async def runs(self, command: str, status: int = 0) -> str:
        """Run vdirsyncer; returns what it said."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.e2e.vdirsyncer", f"--config={self.place / 'config'}"),
            command,
            cwd=Path(__file__).parents[3],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode == status, output.decode()
        return output.decode()

    def writes(self, uid: str, name: str, *lines: str) -> None:
        (self.contacts / f"{uid}.vcf").write_text(vcard(uid, name, *lines), newline="")

    def reads(self) -> dict[str, str]:
        """What the files say, by name."""
        return {file.name: file.read_text() for file in self.contacts.iterdir()}


@pytest_asyncio.fixture(loop_scope="module")
async def both(town: Town, tmp_path: Path) -> tuple[Laptop, Terminal]:
    """A person's laptop and phone."""
    phone, behind = await of_a_person(town, "phone", "laptop")
    terminal = await town.running.enter_async_context(Terminal(phone))
    return Laptop(tmp_path / "laptop", behind), terminal


async def names(phone: Terminal) -> list[str]:
    await phone.sync()
    return [contact.display_name for contact in await phone.contacts()]


async def id_of(phone: Terminal, name: str) -> str:
    await phone.sync()
    return next(one.contact_id for one in await phone.contacts() if one.display_name == name)


async def notes(phone: Terminal, name: str, note: str) -> None:
    """Note something on the phone, and sync it."""
    contact_id = await id_of(phone, name)
    own = await phone.phonebook.own_part(contact_id)
    assert own is not None
    await phone.write_own(contact_id, own.model_copy(update={"notes": {"n": Note(note=note)}}))
    await phone.sync()


async def test_files_come_to_the_phone_and_what_the_phone_does_to_the_files(
    both: tuple[Laptop, Terminal],
) -> None:
    laptop, phone = both
    await laptop.set_up()
    laptop.writes("jane", "Jane", "TEL:+8613912345678")
    laptop.writes("joe", "王小明")
    laptop.writes("kim", "Kim")
    await laptop.runs("sync")
    assert await names(phone) == ["Jane", "Kim", "王小明"]

    await notes(phone, "Jane", "on Tuesdays")
    await phone.delete(await id_of(phone, "Kim"))
    await phone.import_cards(vcard("lee", "Lee").encode())
    await phone.sync()
    laptop.writes("joe", "王小明", "EMAIL:joe@example.com")
    await laptop.runs("sync")

    files = laptop.reads()
    assert sorted(files) == ["jane.vcf", "joe.vcf", "lee.vcf"]
    assert "on Tuesdays" in files["jane.vcf"]
    assert "+8613912345678" in files["jane.vcf"]
    found = await phone.contact(await id_of(phone, "王小明"))
    assert [one.address for one in (found.card.emails or {}).values()] == ["joe@example.com"]


async def test_a_file_that_was_deleted_goes_from_the_phone(both: tuple[Laptop, Terminal]) -> None:
    laptop, phone = both
    await laptop.set_up()
    laptop.writes("jane", "Jane")
    laptop.writes("joe", "Joe")
    await laptop.runs("sync")
    assert await names(phone) == ["Jane", "Joe"]
    (laptop.contacts / "joe.vcf").unlink()
    await laptop.runs("sync")
    assert await names(phone) == ["Jane"]


async def test_a_sync_of_what_is_in_step_changes_nothing(both: tuple[Laptop, Terminal]) -> None:
    laptop, phone = both
    await laptop.set_up()
    for name in ("Jane", "Joe"):
        laptop.writes(name.lower(), name, "X-ODD:1", "NOTE:a\\, b\\;c")
    await phone.import_cards(vcard("kim", "Kim").encode())
    await phone.sync()
    await laptop.runs("sync")
    before = laptop.reads(), await phone.export_cards()
    for _ in range(2):
        assert "Copying" not in await laptop.runs("sync")
    assert (laptop.reads(), await phone.export_cards()) == before


async def test_an_item_edited_on_both_sides_is_vdirsyncers_to_settle(
    both: tuple[Laptop, Terminal],
) -> None:
    laptop, phone = both
    await laptop.set_up()
    laptop.writes("jane", "Jane")
    await laptop.runs("sync")
    await notes(phone, "Jane", "on Tuesdays")
    laptop.writes("jane", "Jane", "NOTE:on Fridays")
    assert "changed on both sides" in await laptop.runs("sync", status=1)
    assert "on Fridays" in laptop.reads()["jane.vcf"]
    assert "on Tuesdays" in (await phone.export_cards()).decode()


@pytest.mark.parametrize(("side", "day"), [("a", "Fridays"), ("b", "Tuesdays")])
async def test_the_side_that_wins_by_its_user_wins_on_both(
    both: tuple[Laptop, Terminal], side: str, day: str
) -> None:
    laptop, phone = both
    await laptop.set_up(f'conflict_resolution = "{side} wins"')
    laptop.writes("jane", "Jane")
    await laptop.runs("sync")
    await notes(phone, "Jane", "on Tuesdays")
    laptop.writes("jane", "Jane", "NOTE:on Fridays")
    await laptop.runs("sync")
    await phone.sync()
    assert f"on {day}" in laptop.reads()["jane.vcf"]
    assert f"on {day}" in (await phone.export_cards()).decode()
