"""Values stay read-only in another process, and in a copy."""

import copy
import pickle

import numpy as np
import pytest
from actors import ACTORS, actor

import bayesrl as b
from bayesrl.registry import entries, make_world, worlds

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


def compared():
    return b.compare(b.agent("psrl", "chain"), make_world("chain"), 5, 2, progress=False)


MADE = {f"the world {e.name}": lambda e=e: make_world(e.name) for e in worlds()}
MADE |= {f"the agent {name}": lambda name=name: actor(name)[0] for name in ACTORS if entries()[name].kind == "solver"}
MADE |= {
    "a record": lambda: b.run(b.agent("psrl", "chain"), make_world("chain"), 5),
    "a record of vectors": lambda: b.run(
        b.agent("thompson-combinatorial", "combinatorial"), make_world("combinatorial"), 5
    ),
    "a comparison": compared,
    "a regret": lambda: compared().regret(make_world("chain"))["PSRL"],
}


def inside(x, path=()):
    """All arrays of a value, and of the values in it, by path."""
    if isinstance(x, np.ndarray):
        yield path, x
    elif isinstance(x, dict):
        for key, y in x.items():
            yield from inside(y, (*path, str(key)))
    elif isinstance(x, (tuple, list)):
        for i, y in enumerate(x):
            yield from inside(y, (*path, i))
    elif type(x).__module__.startswith("bayesrl.") and not isinstance(x, type):
        held = x.__getstate__()
        if isinstance(held, tuple):  # slots
            held = held[1] or held[0]
        yield from inside(held, (*path, type(x).__name__))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
@pytest.mark.parametrize("what", MADE)
def test_copies_of_whatever_is_made_are_read_only_too(what, again):
    made = MADE[what]()
    original, found = dict(inside(made)), dict(inside(again(made)))
    assert original.keys() == found.keys()
    assert [path for path, array in found.items() if array.flags.writeable and not original[path].flags.writeable] == []
