"""Whether a Docker Engine runs here, and what it has."""

import shutil
import subprocess

_ANSWER_SECONDS = 10


def engine_has_image(image: str) -> bool:
    """Tell whether a Docker Engine answers and already has ``image``; nothing is downloaded."""
    program = shutil.which("docker")
    if program is None:
        return False
    try:
        inspection = subprocess.run(
            [program, "image", "inspect", image],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return inspection.returncode == 0
