"""What the tests of contacts share: the sample files and short ways to read and write."""

from __future__ import annotations

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "data" / "vcf"


def sample_files() -> list[Path]:
    return sorted(SAMPLES.glob("*.vcf"))


@pytest.fixture(params=sample_files(), ids=lambda path: path.stem)
def sample(request: pytest.FixtureRequest) -> Path:
    """Each sample export of a real producer in turn."""
    path = request.param
    assert isinstance(path, Path)
    return path
