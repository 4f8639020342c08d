"""`python -m bayesrl.cli` is the command `bayesrl`."""

import sys

from bayesrl.cli import main

if __name__ == "__main__":
    sys.exit(main())
