"""What users are called: by the name that the phonebook shows, with their id."""

from collections.abc import Mapping
from dataclasses import dataclass

from contactmesh.cli.terminal import texts
from contactmesh.terminal import Phonebook


@dataclass(frozen=True, slots=True)
class People:
    """The names of the users whom a phonebook shows.

    Attributes:
        names: display name by user id.
        own_id: the id of the phonebook's owner.
    """

    names: Mapping[str, str]
    own_id: str

    @classmethod
    async def known(cls, phonebook: Phonebook, own_id: str) -> "People":
        """Those in the phonebook."""
        contacts = await phonebook.contacts()
        return cls({each.user_id: each.display_name for each in contacts if each.user_id}, own_id)

    def display_name(self, user_id: str) -> str:
        """The name that the phonebook shows; the id where it shows none."""
        return texts.YOU if user_id == self.own_id else self.names.get(user_id, user_id)

    def name(self, user_id: str) -> str:
        """The name with the id, or the id alone."""
        name = self.display_name(user_id)
        return name if user_id in (self.own_id, name) else f"{name} ({user_id})"
