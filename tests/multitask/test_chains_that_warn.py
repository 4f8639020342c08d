"""Effective sample size and R-hat of chains over classes of tasks, and the warning of `refresh`."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing, diagnose, warn_if_poor
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.multitask import HierarchicalMDP, LinearRewardClasses
from bayesrl.parameters import unchecked

MDP = b.TabularMDP.from_dense(np.full((2, 1, 2), 0.5), np.zeros(2), gamma=0.9)
STEPS = [Transition(0, 0, 0.0, int(i < 5 + m), task=m) for m in range(3) for i in range(10)]
REWARDS = [(m, [1.0], 0.3 * m) for m in range(3)]
BELIEFS = {
    "HierarchicalMDP": HierarchicalMDP(MDP).update_many(STEPS),
    "LinearRewardClasses": LinearRewardClasses(1.0, 0.5, [[0.05]], [0.0], [[1.0]]).update_many(REWARDS),
}


@pytest.mark.parametrize("name", BELIEFS)
def test_halves_that_disagree_warn(name, recwarn):
    """A hundred draws with all tasks together, then a hundred with all apart, as of a chain between two modes."""
    belief = BELIEFS[name].refresh(default_rng(0), 300)
    found = belief.diagnostics()
    assert not recwarn
    assert found.draws == 300
    assert found.effective_sample_size.shape == found.r_hat.shape == (4,)  # the number of classes, and three tasks
    assert (found.effective_sample_size > 50.0).all()
    assert (found.r_hat < 1.1).all()
    together = unchecked(BELIEFS[name], concentration=1e-12).refresh(default_rng(1), 100)
    with pytest.warns(PoorMixing, match=f"{name}.refresh: .*more sweeps"):
        stuck = unchecked(together, concentration=1e12).refresh(default_rng(2), 100)
    assert stuck.diagnostics().r_hat.max() > 1.1
    assert stuck.diagnostics().effective_sample_size.min() < 20.0


@pytest.mark.parametrize("name", BELIEFS)
def test_a_chain_is_judged_from_two_hundred_draws_on(name, recwarn):
    """Half of the draws together and half apart, and one more: 199 say nothing, 200 warn."""
    together, apart = [[0, 0, 0]], [[0, 1, 2]]
    short = unchecked(BELIEFS[name], assignments=np.array(99 * together + 99 * apart))
    assert len(short.refresh(default_rng(3)).assignments) == 199
    assert not recwarn
    long = unchecked(BELIEFS[name], assignments=np.array(100 * together + 99 * apart))
    with pytest.warns(PoorMixing, match=f"{name}.refresh: 200 draws are worth"):
        long.refresh(default_rng(3))


@pytest.mark.parametrize("name", BELIEFS)
def test_sweeps_in_pieces_are_sweeps_at_once(name):
    """With one generator; the classes of the last sweep are where the next one begins."""
    ours, theirs = default_rng(4), default_rng(4)
    pieces, whole = BELIEFS[name].refresh(ours).refresh(ours, 4), BELIEFS[name].refresh(theirs, 5)
    assert pieces == whole
    np.testing.assert_array_equal(whole.labels, whole.assignments[-1])
    assert whole.assignments.shape == (5, 3)
    with pytest.raises(InvalidArgument, match=f"{name}.refresh: 'sweeps' must be a whole number of at least 1"):
        whole.refresh(ours, 0)


@pytest.mark.parametrize(
    ("acceptance", "advice"),
    [
        (0.05, r"take more sweeps or a smaller 'step' \(5% of the proposals were accepted\)\.$"),
        (0.95, r"take more sweeps or a larger 'step' \(95% of the proposals were accepted\)\.$"),
        (0.5, r"take more sweeps\.$"),
        (None, r"take more sweeps\.$"),
        (0.001, r"0\.1% of the proposals were accepted; take a smaller 'step'\.$"),
        (0.9999, r"100% of the proposals were accepted; take a larger 'step'\.$"),
    ],
)
def test_the_warning_says_what_to_change(acceptance, advice):
    with pytest.warns(PoorMixing, match=advice):
        warn_if_poor("X.refresh", diagnose(np.linspace(0.0, 1.0, 400)[:, None], acceptance))
