"""What `contactmesh terminal rotate-secret` and `access-log` say."""

from typing import Final

from contactmesh.contracts.identity import AccessKind

HELP_ROTATE = (
    "Change this terminal's secret.\n\n"
    "The old one is void afterwards, and nothing else changes. Do it when somebody may have read "
    "the terminal's folder. Stop 'terminal watch' first; a terminal that the operator tells to "
    "change its secret does so by itself."
)
ROTATED = "{terminal_id} has another secret; the old one is void."

HELP_ACCESS_LOG = (
    "Show what happened to your terminals: codes, enrolments, other secrets, failed attempts.\n\n"
    "Kept for 90 days. Attempts are counted by the hour. Who looked at your numbers is shown by "
    "'contactmesh terminal looks'."
)
COLUMNS_ACCESS = ("When", "Last", "Times", "What", "Terminal")
NO_ACCESS = "Nothing happened to your terminals in the last 90 days."
INTEGRATOR = "The program {name} gets all changes of these scopes since {since}: {scopes}."
KINDS: Final = {
    AccessKind.CODE_MINTED: "a code was minted for one more terminal",
    AccessKind.CODE_WRONG: "a wrong code was tried",
    AccessKind.ENROLLED: "a terminal enrolled",
    AccessKind.REVOKED: "a terminal was revoked",
    AccessKind.ROTATION_BEGUN: "a terminal asked for another secret",
    AccessKind.ROTATED: "a terminal's secret changed",
    AccessKind.ROTATION_DEMANDED: "the operator demanded another secret",
    AccessKind.REFUSED: "a wrong secret was tried",
}
