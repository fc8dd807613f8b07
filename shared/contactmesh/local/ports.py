"""Free TCP ports on the loopback interface, remembered so that a restarted stack keeps its own.

A terminal stores the broker's address when it enrols, so a stack that came back on another port
would be lost to every terminal it knows.
"""

import json
import random
import socket
from collections.abc import Iterable
from pathlib import Path

from contactmesh.local.private_files import write_private

# Below the range from which the kernel picks source ports (32768 upwards on Linux): a port chosen
# here cannot be taken by somebody's outgoing connection while its server is being restarted.
LOWEST_PORT = 20_000
HIGHEST_PORT = 32_000

LOOPBACK = "127.0.0.1"


def ports_file(data: Path) -> Path:
    """Where the stack on the folder ``data`` keeps the choice of its ports."""
    return data / "ports.json"


def is_free(port: int) -> bool:
    """Tell whether a server could listen on the loopback ``port`` now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # A server that restarts may take over connections in TIME_WAIT, and so may the probe.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_ports(count: int, *, avoiding: Iterable[int] = ()) -> list[int]:
    """Choose ``count`` different free loopback ports, none of them in ``avoiding``.

    The choice is random, so that stacks which start at the same moment do not meet.
    """
    chosen: list[int] = []
    taken = set(avoiding)
    while len(chosen) < count:
        port = random.randint(LOWEST_PORT, HIGHEST_PORT)  # noqa: S311  no secret
        if port not in taken and is_free(port):
            taken.add(port)
            chosen.append(port)
    return chosen


def kept_ports(file: Path) -> dict[str, int]:
    """Read what ``remembered_ports`` keeps in ``file``; nothing if it is missing or unreadable."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {name: port for name, port in content.items() if isinstance(port, int)}


def remembered_ports(file: Path, names: Iterable[str]) -> dict[str, int]:
    """Give each of ``names`` the port it had before if that is free, else a new one.

    Args:
        file: Where the choice is kept, a JSON object; made if missing, made anew if unreadable.
        names: What listens. Names that are kept in the file but not asked for stay reserved.
    """
    kept = kept_ports(file)
    ports: dict[str, int] = {}
    for name in names:
        port = kept.get(name)
        if port is None or port in ports.values() or not is_free(port):
            (port,) = free_ports(1, avoiding=[*kept.values(), *ports.values()])
        ports[name] = port
    write_private(file, json.dumps(kept | ports, indent=2))
    return ports
