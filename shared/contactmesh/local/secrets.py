"""The secrets of a stack."""

from pathlib import Path

from contactmesh.local.private_files import private_folder, secret
from contactmesh.messaging.definitions import BrokerAccount, service_account


class StackSecrets:
    """The secrets of a stack, each in a file of its own, made the first time."""

    def __init__(self, folder: Path) -> None:
        self._folder = private_folder(folder)

    @property
    def operator_token_file(self) -> Path:
        """What shows identity_service that an operator is asking."""
        return self._file("operator_token")

    @property
    def cursor_key_file(self) -> Path:
        """What services seal their cursors and tokens with; all copies share it."""
        return self._file("cursor_key")

    def operator_account(self) -> BrokerAccount:
        """The broker's administrator."""
        return BrokerAccount(
            "operator",
            self._password("operator"),
            tags=("administrator",),
            configure=".*",
            write=".*",
            read=".*",
        )

    def service_account(self, service: str) -> BrokerAccount:
        """The broker account of ``service``."""
        return service_account(service, self._password(service))

    def _password(self, account: str) -> str:
        return secret(self._folder / f"broker_{account}")

    def _file(self, name: str) -> Path:
        file = self._folder / name
        secret(file)
        return file
