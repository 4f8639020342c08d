"""What tests of the command line share."""

import pytest

from bayesrl.cli import main


@pytest.fixture
def line(capsys):
    """Run a command line that must succeed; what it printed on standard output."""

    def run(text):
        code = main(text.split())
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return run
