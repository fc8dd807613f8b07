import json
import socket
from pathlib import Path

import pytest

from contactmesh.local.ports import (
    HIGHEST_PORT,
    LOOPBACK,
    LOWEST_PORT,
    free_ports,
    is_free,
    remembered_ports,
)


def test_free_ports_are_free_different_and_below_the_kernels_own() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(LOWEST_PORT <= port <= HIGHEST_PORT and is_free(port) for port in ports)


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        assert not is_free(server.getsockname()[1])


def test_ports_stay_the_same_from_run_to_run(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    first = remembered_ports(file, ["amqp", "database"])
    # a run without the database does not give its port to another
    assert remembered_ports(file, ["amqp", "identity"])["amqp"] == first["amqp"]
    assert remembered_ports(file, ["amqp", "database"]) == first


def test_a_remembered_port_that_was_taken_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    with socket.create_server((LOOPBACK, 0)) as server:
        taken = server.getsockname()[1]
        file.write_text(json.dumps({"amqp": taken}))
        assert remembered_ports(file, ["amqp"])["amqp"] != taken


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"amqp": "x"}'])
def test_an_unreadable_memory_is_made_anew(tmp_path: Path, content: str) -> None:
    file = tmp_path / "ports.json"
    file.write_text(content)
    assert remembered_ports(file, ["amqp"]) == json.loads(file.read_text())
