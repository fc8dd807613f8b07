from pathlib import Path

import pytest

from contactmesh.local.errors import StackSettingsError
from contactmesh.local.settings import StackSettings, default_data_folder


def test_the_data_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("CONTACTMESH_HOME", raising=False)
    assert default_data_folder() == Path("/home/somebody/.local/share/contactmesh")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_data_folder() == Path("/data/contactmesh")
    monkeypatch.setenv("CONTACTMESH_HOME", "/mine")
    assert default_data_folder() == StackSettings().data == Path("/mine")


def test_servers_that_exist_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMQP_URL", "amqp://u:p@host/")
    monkeypatch.setenv("MONGODB_URL", "")
    settings = StackSettings()
    assert settings.amqp_url is not None
    assert settings.amqp_url.get_secret_value() == "amqp://u:p@host/"
    assert settings.mongodb_url is None
    assert StackSettings(amqp_url=None).amqp_url is None
    assert "u:p" not in repr(settings)


def test_an_unknown_service_is_named_with_those_that_exist() -> None:
    with pytest.raises(StackSettingsError, match=r"no service grup.*group_service"):
        StackSettings(scale={"grup": 1})
    with pytest.raises(StackSettingsError, match="no service nobody"):
        StackSettings(environment={"nobody": {}})


@pytest.mark.parametrize("copies", [0, -1, 33])
def test_the_number_of_copies_is_bounded(copies: int) -> None:
    with pytest.raises(StackSettingsError, match="from 1 to 32"):
        StackSettings(scale={"group_service": copies})
