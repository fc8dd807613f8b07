"""What identity_service is told by its environment."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from identity_service.settings import IdentitySettings


def settings(**different: str) -> IdentitySettings:
    return IdentitySettings.model_validate(
        {
            "AMQP_URL": "amqp://identity_service:hidden@localhost/",
            "MONGODB_URL": "mongodb://localhost",
            "operator_token_file": Path("token"),
            "terminal_amqp_url": "amqp://broker.example:5672/",
            **different,
        }
    )


@pytest.mark.parametrize(
    ("path", "vhost"), [("", "/"), ("/", "/"), ("/%2F", "/"), ("/mesh", "mesh"), ("/a%2Fb", "a/b")]
)
def test_virtual_host_is_read_as_the_client_reads_it(path: str, vhost: str) -> None:
    assert settings(AMQP_URL=f"amqp://localhost{path}").vhost == vhost


@pytest.mark.parametrize(
    "url",
    ["amqp://ada:secret@broker.example/", "amqp://ada@broker.example/", "http://x/", "broker"],
)
def test_terminals_are_told_no_credentials(url: str) -> None:
    with pytest.raises(ValidationError):
        settings(terminal_amqp_url=url)
    with pytest.raises(ValidationError):
        settings(terminal_mqtt_url=url.replace("amqp:", "mqtt:"))


def test_code_lifetime_is_a_duration() -> None:
    lifetime = settings(enrolment_code_lifetime="PT30M").enrolment_code_lifetime
    assert lifetime.total_seconds() == 1800


def test_credentials_are_not_shown() -> None:
    assert "hidden" not in repr(settings())
