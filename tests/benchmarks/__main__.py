"""Every benchmark, one after the other: `python -m tests.benchmarks`."""

import subprocess
import sys
from pathlib import Path


def main() -> None:
    for file in sorted(Path(__file__).parent.glob("bench_*.py")):
        sys.stdout.write(f"\n{file.stem}\n")
        sys.stdout.flush()
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{file.stem}"], check=True)


if __name__ == "__main__":
    main()
