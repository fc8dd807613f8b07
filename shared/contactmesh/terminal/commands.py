"""What the commands to every service share."""

from contactmesh.terminal.book_sync import BookSync
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import Puller
from contactmesh.terminal.requests import Requests
from contactmesh.terminal.scheduled_sync import ScheduledSync
from contactmesh.terminal.spaces import Spaces
from contactmesh.terminal.updates import UpdateStreams


class ServiceCommands:
    """Commands to services, and the phonebook that their effects go to.

    Args:
        requests: sends commands.
        phonebook: the local phonebook.
        puller: brings it up to date.
        streams: take what changed.
        spaces: go between the phonebook and the spaces of SIM accounts.
        book_sync: syncs the phonebook with the user's address book.
    """

    def __init__(
        self,
        requests: Requests,
        phonebook: Phonebook,
        puller: Puller,
        streams: UpdateStreams,
        spaces: Spaces,
        book_sync: BookSync,
    ) -> None:
        self.phonebook = phonebook
        self._requests = requests
        self._puller = puller
        self._streams = streams
        self._spaces = spaces
        self._book_sync = book_sync
        self._scheduled_sync = ScheduledSync(phonebook, book_sync)

    def _tell(self, applied: Applied) -> None:
        self._streams.emit(applied.updates)
        self._spaces.accepter.told(applied.updates)
        if applied.groups_to_pull:
            self._puller.wake(applied.groups_to_pull)
