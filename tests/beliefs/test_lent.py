"""A loan lasts as long as somebody can read the array through it, and no kept belief or model ever changes."""

import ast
import copy
import gc
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import SparseDirichletMDP
from bayesrl.beliefs.mdp._lent import Lent
from bayesrl.kernels.simulators.urn import Row

VIEWS = {
    "itself": lambda x: x,
    "slice": lambda x: x[1:],
    "slice of a slice": lambda x: x[1:][:1],
    "transpose": lambda x: x.T,
    "other shape": lambda x: x.reshape(-1),
    "other type": lambda x: x.view(np.int64),
    "field of records": lambda x: x.view([("a", float)])["a"],
    "iterator": lambda x: iter(x.flat),
    "memory": lambda x: memoryview(x),
}
WORLD = b.make_world("grid5")
PRIORS = {
    "dense": lambda: b.DirichletMDP.flat(WORLD, 0.2),
    "sparse": lambda: SparseDirichletMDP.flat(WORLD),
}


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_keeps_the_loan(name):
    lent = Lent(np.arange(6.0).reshape(3, 2))
    assert not lent.is_out
    view = VIEWS[name](lent.to_read())
    assert lent.is_out
    del view
    assert not lent.is_out


def test_a_loan_is_the_array():
    own = np.zeros(3, Row)
    lent = Lent(own)
    loan = lent.to_write()
    assert loan.dtype == own.dtype
    loan["count"] = [1, 2, 3]
    assert own["count"].tolist() == [1, 2, 3]
    table = Lent(np.ones((3, 2)))
    read, again = table.to_read(), table.to_read()
    assert np.shares_memory(read, table.own)
    assert np.shares_memory(again, read)
    assert not read.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        read.setflags(write=True)
    del read
    assert table.is_out
    assert Lent(np.zeros((0, 3))).to_read().shape == (0, 3)


def test_what_is_freed_late_is_still_out():
    """Without a collector of cycles, as on an interpreter that frees memory late, the owner waits or copies."""
    gc.disable()
    try:
        lent = Lent(np.ones(3))
        cycle = [lent.to_read()]
        cycle.append(cycle)
        del cycle
        assert lent.is_out
    finally:
        gc.enable()
    gc.collect()
    assert not lent.is_out


def test_nothing_counts_references():
    sources = Path(b.__file__).parent.rglob("*.py")
    assert not [p for p in sources if "getrefcount" in ast.unparse(ast.parse(p.read_text(encoding="utf-8")))]


@pytest.fixture(autouse=True)
def shared_for_small_models(monkeypatch):
    monkeypatch.setattr("bayesrl.beliefs.mdp._incremental_mean.SMALL", 0)


def seen(belief, rng):
    s, a, y = int(rng.integers(24)), int(rng.integers(4)), int(rng.integers(25))
    return belief.seen_outcome(s, a, y)


def read(belief):
    """All that planners read of a belief, as copies."""
    model, urn = belief.mean_mdp(), belief.simulate(3)
    values = model.prob, model.mean_reward, belief.counts(), urn.rows["seen"], urn.rows["total"]
    return [np.array(x) for x in values]


def same(one, two):
    return all(np.array_equal(x, y) for x, y in zip(one, two, strict=True))


KEEPS = {
    "the belief": lambda belief: (belief, belief.mean_mdp(), belief.simulate(3)),
    "a copy": lambda belief: (copy.copy(belief), belief.mean_mdp(), belief.simulate(3)),
    "a deep copy": lambda belief: (copy.deepcopy(belief), belief.mean_mdp(), belief.simulate(3)),
    "a pickle": lambda belief: (pickle.loads(pickle.dumps(belief)), belief.mean_mdp(), belief.simulate(3)),
    "a slice of its model": lambda belief: (belief, belief.mean_mdp().prob[3:9], belief.simulate(3).balls[2:]),
    "a copy of its model": lambda belief: (belief, copy.copy(belief.mean_mdp()), belief.simulate(3)),
}


def snapshot(thing):
    """Copies of the arrays that belong to a model, to a simulator, or to a part of one."""
    if isinstance(thing, np.ndarray):
        return [np.array(thing)]
    return [np.array(thing.rows), np.array(thing.balls)] if isinstance(thing, tuple) else [np.array(thing.prob)]


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("name", PRIORS)
def test_what_is_kept_keeps_its_values(name, keep):
    """Two branches go on from each kept belief, and read their models and simulators in turn."""
    rng, belief = default_rng(0), PRIORS[name]()
    for _ in range(30):
        belief = seen(belief, rng)
    kept, *things = KEEPS[keep](belief)
    values, before = read(kept), [snapshot(x) for x in things]
    branches = [kept, kept, belief]
    for i in range(60):
        branches[i % 3] = seen(branches[i % 3], rng)
        anew = pickle.loads(pickle.dumps(branches[i % 3]))
        assert same(read(branches[i % 3]), read(anew))
    assert same(read(kept), values)
    for thing, was in zip(things, before, strict=True):
        assert same(snapshot(thing), was)


@pytest.mark.parametrize("name", PRIORS)
def test_threads_share_a_belief(name):
    """Each thread branches off the same posterior and keeps every third model until its end."""
    start, rng = PRIORS[name](), default_rng(1)
    for _ in range(20):
        start = seen(start, rng)
    values, wrong = read(start), []

    def work(seed):
        rng, belief, held = default_rng(seed), start, []
        for i in range(40):
            belief = seen(belief, rng)
            model = belief.mean_mdp()
            if i % 3 == 0:
                held.append((model, np.array(model.prob)))
            if not same(read(belief), read(pickle.loads(pickle.dumps(belief)))):
                wrong.append(seed)
        wrong.extend(seed for model, was in held if not np.array_equal(model.prob, was))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert same(read(start), values)
