"""Run a program that the kernel kills when the process that started it is gone.

Run as a script, ``die_with_parent.py PARENT_PID PROGRAM [ARGUMENT...]``: it asks the kernel for the
signal and then becomes the program, so that the program's process id is its own.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>; survives execve


def main() -> None:
    """Ask for SIGKILL at the parent's death, then become the program."""
    parent = int(sys.argv[1])
    # SIGKILL because nobody is left to follow up a request that is not heeded.
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    if os.getppid() != parent:  # it died before the kernel was asked
        sys.exit(1)
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606  no shell is the point


if __name__ == "__main__":
    main()
