"""What the commands to every service share."""

from contactmesh.terminal.entries import Applied
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import Puller
from contactmesh.terminal.requests import Requests
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
    """

    def __init__(
        self,
        requests: Requests,
        phonebook: Phonebook,
        puller: Puller,
        streams: UpdateStreams,
        spaces: Spaces,
    ) -> None:
        self.phonebook = phonebook
        self._requests = requests
        self._puller = puller
        self._streams = streams
        self._spaces = spaces

    def _tell(self, applied: Applied) -> None:
        self._streams.emit(applied.updates)
        self._spaces.accepter.told(applied.updates)
        if applied.groups_to_pull:
            self._puller.wake(applied.groups_to_pull)
