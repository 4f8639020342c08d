"""Values stay read-only in another process."""

import pickle

import numpy as np
import pytest

from bayesrl.registry import entries

BELIEFS = {name: entry.example for name, entry in entries().items() if entry.kind == "belief" and entry.example}


def arrays_in(things):
    """All arrays of a mapping or a tuple, and of the tuples in it, by path."""
    for name, thing in things.items() if isinstance(things, dict) else enumerate(things):
        if isinstance(thing, np.ndarray):
            yield (name,), thing
        elif isinstance(thing, tuple):
            yield from (((name, *path), array) for path, array in arrays_in(thing))


@pytest.mark.parametrize("name", BELIEFS)
def test_pickled_beliefs_are_read_only_too(name):
    belief = BELIEFS[name]()
    original, copy = dict(arrays_in(vars(belief))), dict(arrays_in(vars(pickle.loads(pickle.dumps(belief)))))
    assert [path for path, array in copy.items() if array.flags.writeable and not original[path].flags.writeable] == []
