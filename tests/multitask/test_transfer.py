"""What a new task gains from twelve others, beside a flat prior: related tasks gain, unrelated ones lose nothing.

Worlds are drawn from `random-mdp` with 13 tasks. Twelve have logs of random actions; the thirteenth is new. The
concentration c of the classes is 1, or it is learnt. The flat prior has weight P(new class) in the mixture, so the log
score loses at most -ln P(new class). If the twelve tasks are in twelve classes, P is c / (12 + c), or its mean over the
posterior of c.
"""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import Transition
from bayesrl.multitask import HierarchicalMDP, LogUniform

TASKS, LOG, STEPS = 12, 150, 50
KNOWN, LEARNT = 0, 1


def walked(world, steps, task, rng):
    """The transitions of random actions."""
    state, found = world.reset(rng)[0], []
    for _ in range(steps):
        action = int(rng.integers(world.n_actions))
        after, _, reward, _ = world.step(state, action, rng)
        found.append(Transition(state, action, reward, after, task=task))
        state = after
    return found


def most_lost():
    """-ln P(new class) if twelve tasks are in twelve classes, for c = 1 and for a learnt c; in plain sums."""
    c = LogUniform().values
    apart = np.prod([c / (c + i) for i in range(TASKS)], axis=0)
    return np.log(TASKS + 1.0), -np.log((apart * c / (c + TASKS)).sum() / apart.sum())


def transfer(seed, classes, planner="psrl"):
    """Gains in (log score, return) of the thirteenth task over its first 50 steps: c = 1 and c learnt, (2, 2).

    All priors score the same random steps, and act with the same seed.
    """
    rng = default_rng([seed, 7])
    family = b.make_world("random-mdp", classes=classes, tasks=TASKS + 1)
    tasks = family.draw(rng).tasks
    log = [step for m in range(TASKS) for step in walked(tasks[m], LOG, m, rng)]
    priors = [
        HierarchicalMDP(family, c, alpha=family.concentration).update_many(log).refresh(luck, 150).new_task(draws=20)
        for c, luck in ((1.0, rng), (LogUniform(), default_rng([seed, 8])))
    ]
    new, ahead, found = tasks[TASKS], walked(tasks[TASKS], STEPS, 0, rng), []
    for prior in (*priors, family.default_prior()):
        earned = 0.0
        if planner is not None:
            earned = b.run(b.BayesAgent(prior, b.make(planner)), new, STEPS, seed=seed).reward.sum()
        found.append((prior.update_many(ahead).log_evidence(), earned))
    return np.array(found[:2]) - found[2]


def gains(seeds, classes, planner="psrl"):
    """Mean gains (2, 2) and their standard errors."""
    gain = np.array([transfer(seed, classes, planner) for seed in seeds])
    return gain.mean(axis=0), gain.std(axis=0, ddof=1) / np.sqrt(len(gain))


def test_a_new_task_gains_from_related_ones():
    """Six worlds of three classes: the log score gains more than three standard errors; 22 nats were measured."""
    gain, error = gains(range(6), 3, None)
    assert (gain[:, 0] > 3.0 * error[:, 0]).all()


def test_what_unrelated_tasks_can_lose_is_bounded():
    """By 2.56 nats for c = 1, whatever the classes, and by .038 nats for a learnt c, if the twelve tasks are apart."""
    assert np.round(most_lost(), 3).tolist() == [2.565, 0.038]
    for seed in range(3):
        assert (transfer(seed, classes=None, planner=None)[:, 0] >= -np.array(most_lost()) - 1e-9).all()


@pytest.mark.long
def test_gains_over_seeds():
    """150 worlds: related tasks gain in both by three standard errors, unrelated ones lose no return beyond one.

    With a learnt c, unrelated tasks lose no log score beyond a rounding of -ln P(new class). A correct program fails
    the claim about returns with probability .16 if nothing is lost. The seeds are fixed: it is a measurement, whose
    numbers are in docs/multitask.md.
    """
    related, error = gains(range(150), classes=3)
    print("related, c = 1 and learnt: log score, return", related.round(3).tolist(), error.round(3).tolist())
    assert (related > 3.0 * error).all()
    apart, error = gains(range(150), classes=None)
    print("unrelated, c = 1 and learnt: log score, return", apart.round(4).tolist(), error.round(4).tolist())
    assert (apart[:, 1] > -error[:, 1]).all()
    assert apart[KNOWN, 0] > -most_lost()[KNOWN] - 1e-9
    assert apart[LEARNT, 0] > -most_lost()[LEARNT] - 1e-3
