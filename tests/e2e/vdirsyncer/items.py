"""Contacts as other programs write them."""

from collections.abc import Sequence

from vdirsyncer.vobject import Item


def vcard(uid: str, name: str, *lines: str) -> str:
    """A contact of another program's."""
    head = ("BEGIN:VCARD", "VERSION:3.0", f"UID:{uid}", f"FN:{name}", f"N:{name};;;;")
    return "".join(f"{line}\r\n" for line in (*head, *lines, "END:VCARD"))


def item(uid: str, name: str = "Jane", *lines: str) -> Item:
    """The same as vdirsyncer passes it around."""
    return Item(vcard(uid, name, *lines))


def many(number: int) -> Sequence[Item]:
    return [item(f"p{at:04}", f"Person {at:04}", f"TEL:+86139{at:08d}") for at in range(number)]
