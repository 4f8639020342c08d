"""Each planted bug makes at least one of the tests named with it fail.

A bug runs in a process of its own with compilation off (so that no compiled kernel hides a changed source). Exit code 1
is "tests failed"; anything else is a fault of the suite.
"""

import pytest
from planted import bugs


@pytest.mark.parametrize("bug", list(bugs()), ids=str)
def test_planted_bug_is_caught(bug, assert_caught):
    assert_caught(bug)
