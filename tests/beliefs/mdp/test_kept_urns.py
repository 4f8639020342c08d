"""Urns that are filled incrementally hold what urns filled anew hold, whoever else uses them."""

import dataclasses
import pickle
import threading
from copy import deepcopy

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import SparseDirichletMDP
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes

SUCC = [[[1, 2, 0], [2, 0, 0]], [[0, 1, 2], [2, 0, 0]], [[1, 0, 2], [0, 1, 2]]]
GROUP, SIZE = [[0, 1], [2, 1], [0, 3]], [3, 2, 3, 3]
OUTCOMES = Outcomes(SUCC, np.zeros((3, 2, 3)), GROUP, SIZE, np.zeros(1), [1.0, 0.0, 0.0], [False] * 3)
ALPHA = np.array([[0.7, 1.3, 0.4], [2.1, 0.6, 0.0], [0.3, 0.9, 1.7], [0.2, 0.3, 0.5]])
PRIORS = {
    "dirichlet": lambda: b.DirichletMDP(OUTCOMES, ALPHA, 0.9, [False, False, False, True]),
    "sparse": lambda: SparseDirichletMDP(OUTCOMES, 0.4, 1.5, 0.9),
}
WHERE = ("first", "room")
"""Fields that say where the balls are, which differs."""


@pytest.fixture(params=PRIORS)
def prior(request):
    return PRIORS[request.param]()


def seen(belief, rng):
    s, a = rng.integers(3), rng.integers(2)
    return belief.seen_outcome(int(s), int(a), int(rng.integers(SIZE[GROUP[s][a]])))


def content(urn):
    """All that a simulation reads."""
    rows = urn.rows
    numbers = [rows[name].tolist() for name in rows.dtype.names if name not in WHERE]
    balls = [urn.balls[row.first : row.first + row.count].tolist() for row in rows]
    kinds = [urn.kinds[row.first : row.first + row.kinds].tolist() for row in rows] if hasattr(urn, "kinds") else []
    return numbers, balls, kinds


def fresh(belief, depth):
    """The urns of the same belief in another process."""
    return pickle.loads(pickle.dumps(belief)).simulate(depth)


def fits(urn):
    """Every urn has its own places, as many as a simulation may fill."""
    places = sorted((row.first, row.first + row.room) for row in urn.rows)
    ends = [0, *(end for _, end in places)]
    return all(row.limit <= row.room for row in urn.rows) and all(
        end <= first for end, (first, _) in zip(ends, places, strict=False)
    )


def test_every_posterior_of_a_run(prior):
    rng, belief = default_rng(0), prior
    for _ in range(300):
        belief = seen(belief, rng)
        urn = belief.simulate(4)
        assert content(urn) == content(fresh(belief, 4))
        assert fits(urn)
        assert len(urn.balls) >= max(row.first + row.room for row in urn.rows)
        urn.rows["count"] += 1  # a search that ends in the middle
        urn.rows["total"] -= 0.5
        del urn  # while it exists, the next one is a copy


def test_a_run_makes_few_arrays(prior):
    rng, made, last, belief = default_rng(0), 0, None, prior
    for _ in range(300):
        belief = seen(belief, rng)
        here = belief.simulate(4).balls.__array_interface__["data"][0]
        made, last = made + (here != last), here
    assert made <= 10


@pytest.mark.parametrize("gap", [1, 2, 3, 7])
def test_posteriors_that_were_not_asked(prior, gap):
    rng, belief = default_rng(gap), prior
    for i in range(150):
        belief = seen(belief, rng)
        if i % gap == 0:
            assert content(belief.simulate(3)) == content(fresh(belief, 3))


def test_other_depths_and_earlier_posteriors(prior):
    rng = default_rng(3)
    beliefs = [prior]
    for _ in range(120):
        start = beliefs[rng.integers(len(beliefs))] if rng.random() < 0.3 else beliefs[-1]
        beliefs.append(seen(start, rng))
        belief, depth = beliefs[rng.integers(len(beliefs))], int(rng.integers(1, 4))
        assert content(belief.simulate(depth)) == content(fresh(belief, depth))


def test_two_simulators_at_once(prior):
    """The one that is still in use neither changes nor is read when the belief has moved on."""
    rng, belief = default_rng(4), prior
    for _ in range(20):
        belief = seen(belief, rng)
    held = belief.simulate(2)  # its rows and balls are the fields 5 and 6
    held.rows["count"][0] += 1  # a simulation runs
    held.balls[held.rows["first"][0] + held.rows["seen"][0]] = 1
    before = deepcopy(held[5:7])
    for _ in range(30):
        belief = seen(belief, rng)
        assert content(belief.simulate(2)) == content(fresh(belief, 2))
    assert all(np.array_equal(x, y) for x, y in zip(held[5:7], before, strict=True))
    for field in (5, 6):
        part = belief.simulate(2)[field]
        assert not np.shares_memory(part, seen(belief, rng).simulate(2)[field])


def test_replaced_beliefs_have_their_own(prior):
    rng, belief = default_rng(5), prior
    for _ in range(30):
        belief = seen(belief, rng)
    belief.simulate(2)
    other = dataclasses.replace(prior, gamma=0.5)
    assert content(other.simulate(2)) == content(fresh(other, 2))
    if isinstance(prior, b.DirichletMDP):
        other = dataclasses.replace(belief, alpha=ALPHA)
        assert content(other.simulate(2)) == content(fresh(other, 2)) == content(prior.simulate(2))


def test_threads_share_a_prior(prior):
    wrong = []

    def work(seed):
        rng, belief = default_rng(seed), prior
        for _ in range(40):
            belief = seen(belief, rng)
            if content(belief.simulate(2)) != content(fresh(belief, 2)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_table_of_weights_reaches_as_far_as_a_simulation():
    belief = PRIORS["sparse"]()
    for i in range(300):
        belief = belief.seen_outcome(0, 0, i % 3)
        assert belief.simulate(9).weights.shape >= (4, i + 11)


def test_searches_decide_as_with_urns_made_anew():
    world = b.make_world("grid5")
    planner = b.make("bamcp", simulations=30, depth=8)
    for prior in (b.DirichletMDP.flat(world), SparseDirichletMDP.flat(world)):
        rng, belief, memory = default_rng(6), prior, None
        for _ in range(40):
            s, a = int(rng.integers(25)), int(rng.integers(4))
            belief = belief.seen_outcome(s, a, int(rng.integers(25)))
            one = planner.plan(belief, s, memory, default_rng(7))
            two = planner.plan(pickle.loads(pickle.dumps(belief)), s, memory, default_rng(7))
            assert np.array_equal(one.info["q"], two.info["q"])
            memory = one.memory


def test_a_known_model_needs_no_room():
    mdp = TabularMDP.from_dense(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), gamma=0.9)
    belief = b.DirichletMDP.structured(mdp, known=True)
    assert not belief.simulate(5).rows["limit"].any()
    assert len(belief.update(b.Transition(0, 0, 0.0, 1)).simulate(5).balls) == 0
