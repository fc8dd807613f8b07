"""Where the process starts: Ctrl-C is answered even while everything else is still loading."""

import sys

INTERRUPTED = 130
"""As `exit_codes.ExitCode.INTERRUPTED`, which is not loaded yet."""


def main() -> None:
    """Run the command line that the process was started with, and exit with its status."""
    try:
        from contactmesh.cli.app import app  # noqa: PLC0415 - loading takes a second

        app(prog_name="contactmesh")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
