"""Asks for known vulnerabilities of what is locked; run by `make check`.

The advisories are on the network. Where they cannot be had, that is said and nothing fails: an
audit that did not take place is no fault of the code. One that found something fails.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120


def main() -> int:
    """Audit `requirements.lock`; gives the exit status."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "requirements.lock")]
    command += ["--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return _say("the advisories cannot be reached. Nothing was audited.", 0)
    audited = [one for one in found if "skip_reason" not in one]
    for one in audited:
        for known in one["vulns"]:
            mended = ", ".join(known["fix_versions"]) or "no release"
            _say(f"{one['name']} {one['version']}: {known['id']}, mended in {mended}", 1)
    if any(one["vulns"] for one in audited):
        return 1
    if len(audited) < len(found):
        unknown = len(found) - len(audited)
        return _say(f"no advisories for {unknown} of {len(found)} packages: not audited.", 0)
    return _say(f"no known vulnerability in {len(found)} packages.", 0)


def _say(what: str, status: int) -> int:
    sys.stdout.write(f"audit: {what}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
