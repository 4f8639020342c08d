"""The share of expressions that mypy knows to be `Any` in the whole library: `python tests/typing/any_share.py`.

It prints the modules with most of them and fails if the share is above `LIMIT`. It runs mypy without its cache, because
mypy reports only the modules that it has just read, and takes half a minute. `make check` runs it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 0.06
SHOWN = 25
ROOT = Path(__file__).parents[2]
LINE = re.compile(r"\s*(\S+)\s+(\d+)\s+(\d+)\s+[\d.]+%")


def counted() -> dict[str, tuple[int, int]]:
    """For each module, and for `Total`: expressions of type Any, and all expressions."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mypy", "--any-exprs-report", folder, "--cache-dir", f"{folder}/cache"]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)  # errors are `make check`'s
        lines = map(LINE.fullmatch, (Path(folder) / "any-exprs.txt").read_text().splitlines())
    return {found[1]: (int(found[2]), int(found[3])) for found in lines if found}


def main() -> int:
    """Print the table; 1 if the share is above the limit."""
    counts = counted()
    anys, total = counts.pop("Total")
    for name, (some, all_) in sorted(counts.items(), key=lambda item: -item[1][0])[:SHOWN]:
        print(f"{name:60} {some:5} of {all_:5} {some / all_:7.1%}")
    share = anys / max(total, 1)
    print(f"Any in typed expressions: {anys} of {total}, {share:.2%} (at most {LIMIT:.0%})")
    return int(total == 0 or share > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
