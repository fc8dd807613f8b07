"""What processes wrote stays with whoever runs them."""

import os
from pathlib import Path

from contactmesh.local.log_file import LogFile


def test_only_its_owner_reads_a_log_also_one_that_was_there(tmp_path: Path) -> None:
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    old.touch(mode=0o644)
    before = os.umask(0)
    try:
        for path in (new, old):
            log = LogFile(path)
            log.write("a line")
            log.close()
    finally:
        os.umask(before)
    for path in (new, old):
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.read_text() == "a line\n"
