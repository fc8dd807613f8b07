"""Places where a test may have the process killed, to prove that no step is one too many.

`CONTACTMESH_FAULT_POINT=name:n` kills the process, as kill -9 does, the n-th time it gets there.
Without the variable a fault point is a look-up in an empty table.
"""

import os
import signal

_remaining: dict[str, int] = {}


def _read() -> None:
    setting = os.environ.get("CONTACTMESH_FAULT_POINT", "")
    if setting:
        name, _, times = setting.partition(":")
        _remaining[name] = int(times or "1")


_read()


def fault_point(name: str) -> None:
    """Die here if it is time to."""
    if name in _remaining:
        _remaining[name] -= 1
        if _remaining[name] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
