"""Joint tests of the beliefs with a hierarchical Dirichlet process: what a sweep keeps, and calibration.

A truth (beta, rows, hidden states) is drawn from the prior, and data from it. A sweep that begins at the truth keeps
the joint distribution of all. A belief that learns the data and sweeps long enough has chains that follow the
posterior, and then the rank of the truth among them is uniform, for each quantity of the states and the model.
"""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import InfinitePOMDP, PolicyPrior
from bayesrl.beliefs.pomdp import _beam
from bayesrl.beliefs.pomdp._beam import Model, Rates
from bayesrl.core import Transition
from bayesrl.testing import assert_mean_equal, assert_uniform_ranks

PRIOR = {"row": 1.5, "stick": 1.2, "concentration": 0.6}
PAYS = (0.0, 1.0)
LENGTH = np.array([3, 2])
LENGTH.setflags(write=False)
CHAINS = 9
BELIEFS = {
    "infinite-pomdp": InfinitePOMDP(2, 2, **PRIOR, chains=CHAINS, rewards=PAYS),
    "policy-prior": PolicyPrior(2, 2, **PRIOR, chains=CHAINS),
}


def draw_truth(sizes, rng, states=25):
    """A model from the prior. Sticks are cut off after many states, which leave less than 1e-6 of beta on average."""
    v = np.append(rng.beta(1.0, PRIOR["stick"], states - 1), 1.0)
    beta = v * np.append(1.0, np.cumprod(1.0 - v)[:-1])
    moves = rng.standard_gamma(np.broadcast_to(PRIOR["row"] * beta, (states, sizes.M, states)))
    before = rng.dirichlet(np.full(sizes.V, PRIOR["concentration"]), (states, sizes.G))
    after = rng.dirichlet(np.full(sizes.Z, PRIOR["concentration"]), (states, sizes.H))
    return Model(beta, moves / moves.sum(axis=2, keepdims=True), before, after)


def lived(truth, policy, rng):
    """Hidden states, all steps (m, g, v, h, z), and the sequences of transitions that a belief is given."""
    x, steps, sequences = [], [], []

    def drawn(p):
        return int(np.searchsorted(np.cumsum(p), rng.random() * p.sum(), side="right"))

    for n in LENGTH:
        x.append(drawn(truth.beta))
        sequences.append([])
        for _ in range(n):
            m = int(rng.integers(2))  # the action, or what the expert sees
            g = 0 if policy else m
            v = drawn(truth.before[x[-1], g])
            x.append(drawn(truth.moves[x[-1], m]))
            z = drawn(truth.after[x[-1], g])
            steps.append((m, g, v, g, z))
            sequences[-1].append(Transition(-1, v, 0.0, m) if policy else Transition(-1, m, PAYS[v], z))
    steps = np.array(steps)
    steps.setflags(write=False)
    return np.array(x), steps, sequences


def visited(x, truth):
    """The truth as a chain holds it: states numbered as they appear, and all others in the rest."""
    order = list(dict.fromkeys(x.tolist()))
    others = [k for k in range(len(truth.beta)) if k not in order]

    def gathered(p):
        return np.append(p[..., order], p[..., others].sum(axis=-1, keepdims=True), axis=-1)

    def with_mean(observed):
        return np.append(observed[order], np.full((1, *observed.shape[1:]), 1.0 / observed.shape[2]), axis=0)

    rows = np.append(gathered(truth.moves[order]), gathered(np.array([[truth.beta] * 2])), axis=0)
    y = np.array([order.index(k) for k in x])
    beta = gathered(truth.beta)
    for fixed in (y, beta):
        fixed.setflags(write=False)
    return y, Model(beta, rows, with_mean(truth.before), with_mean(truth.after))


def quantities(x, model, steps, policy):
    """Of states and a model. What was not visited counts through the prior's mean only."""
    start = moved = shown = 0.0
    i = t = 0
    for L in LENGTH:
        start += model.beta[x[i]]
        for m, g, v, h, z in steps[t : t + L]:
            moved += model.moves[x[i], m, x[i + 1]]
            shown += model.before[x[i], g, v] + model.after[x[i + 1], h, z]
            i += 1
        i, t = i + 1, t + L
    observed = model.before[:, 0, 0] if policy else model.after[:, 0, 0]
    same = float((x[:, None] == x).sum())
    rest, ahead = model.moves[x[-1], 0, -1], model.moves[x[-1], 0] @ observed
    return np.array([x.max() + 1.0, same, start, model.beta[:-1].max(), moved, shown, rest, ahead])


NAMES = "states, equal states, beta of starts, largest beta, steps, signs, rest of a row, what is next"


@pytest.mark.parametrize("name", BELIEFS)
def test_a_sweep_keeps_the_joint_distribution(name):
    """From the truth, eight sweeps change no quantity on average: 2500 pairs; false alarm 1e-6 for all together."""
    prior, policy, rng = BELIEFS[name], name == "policy-prior", default_rng(1)
    sizes, rates, changes = prior._sizes, Rates(*PRIOR.values()), []
    for _ in range(2500):
        truth = draw_truth(sizes, rng)
        x, steps, _ = lived(truth, policy, rng)
        x, model = visited(x, truth)
        y, new = _beam.sweep(x, model.beta, steps, LENGTH, sizes, rates, 8, 300, rng)
        changes.append(quantities(y, new, steps, policy) - quantities(x, model, steps, policy))
    assert_mean_equal(changes, np.zeros(8), what=NAMES)


def ranks(name, replicates, sweeps, seed):
    """The rank of the truth among the chains, (replicates, quantities); ties are broken at random."""
    prior, policy, rng, found = BELIEFS[name], name == "policy-prior", default_rng(seed), []
    for _ in range(replicates):
        truth = draw_truth(prior._sizes, rng)
        x, steps, sequences = lived(truth, policy, rng)
        belief = prior
        for i, sequence in enumerate(sequences):
            belief = belief.restart() if i else belief
            for seen in sequence:
                belief = belief.update(seen)
        belief = belief.refresh(rng, sweeps)
        here = quantities(*visited(x, truth), steps, policy)
        others = np.array([quantities(y, model, steps, policy) for y, model, _ in belief.data.chains])
        below, equal = (others < here).sum(axis=0), (others == here).sum(axis=0)
        found.append(below + (rng.random(len(here)) * (equal + 1)).astype(int))
    return np.array(found)


@pytest.mark.parametrize("replicates", [100, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", BELIEFS)
def test_calibration(name, replicates):
    """Ranks are uniform, and so have their mean; false alarm 2e-6 for all quantities together."""
    found = ranks(name, replicates, 80, seed=1)
    assert_uniform_ranks(found, CHAINS + 1, what=NAMES)
    assert_mean_equal(found, np.full(8, CHAINS / 2), what=f"mean rank of {NAMES}")
