"""What runs on this machine, as the kernel tells it."""

from collections.abc import Iterable
from pathlib import Path

_LISTEN = "0A"
_LOOPBACK_4 = "0100007F"
_LOOPBACK_6 = "00000000000000000000000001000000"
_LOOPBACK_4_IN_6 = "0000000000000000FFFF00000100007F"


def runs(pid: int) -> bool:
    """Tell whether `pid` runs; one that is dead and not yet collected does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def processes_naming(text: str) -> dict[int, str]:
    """Give the command line of each process that names `text` in it or in its environment."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            environment = (process / "environ").read_bytes().decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if (text in command or text in environment) and runs(int(process.name)):
            found[int(process.name)] = command.replace("\0", " ")
    return found


def listening_elsewhere(pids: Iterable[int]) -> set[str]:
    """Give the addresses, as the kernel writes them, of listeners that are not on the loopback."""
    sockets = {
        link.readlink().name
        for pid in pids
        for link in Path(f"/proc/{pid}/fd").glob("*")
        if link.readlink().name.startswith("socket:[")
    }
    listeners = [
        fields
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == _LISTEN and f"socket:[{fields[9]}]" in sockets
    ]
    assert listeners, "these processes listen somewhere"
    addresses = {fields[1].partition(":")[0] for fields in listeners}
    return addresses - {_LOOPBACK_4, _LOOPBACK_6, _LOOPBACK_4_IN_6}
