"""The climbing game, the penalty game and the chain of two players."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import chisquare, kstest

import bayesrl as b
from bayesrl.errors import BayesRLError
from bayesrl.worlds.games._game_world import GameWorld


def test_payoffs():
    climbing, penalty = b.make_world("climbing-game"), b.make_world("penalty-game")
    assert climbing.payoff.tolist() == [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]
    assert penalty.payoff.tolist() == [[10, 0, -100], [0, 2, 0], [-100, 0, 10]]
    assert b.make_world("penalty-game", k=-20).payoff[0, 2] == -20
    assert (penalty.payoff == penalty.payoff.T).all()
    assert (climbing.n_actions, climbing.game.n_others) == (3, 3)
    assert climbing == b.make_world("climbing-game")
    assert climbing != b.make_world("climbing-game", gamma=0.5)


@pytest.mark.parametrize("name", ["climbing-game", "penalty-game"])
def test_a_game_is_a_world_against_its_partner(name):
    """The partner's actions have its law (2000 draws, chi-square, false-alarm rate 1e-4) and pay as the matrix says."""
    world, rng = b.make_world(name, partner=[0.5, 0.2, 0.3]), default_rng(1)
    state, seen = world.reset(rng)
    assert (state, seen) == (0, (0, -1))
    steps = [world.step(0, 1, rng) for _ in range(2000)]
    other = np.array([step.observation[1] for step in steps])
    assert chisquare(np.bincount(other, minlength=3), [1000, 400, 600]).pvalue > 1e-4
    assert [step.reward for step in steps] == world.payoff[1, other].tolist()
    assert world.optimum(10) == pytest.approx(10 * (world.payoff @ [0.5, 0.2, 0.3]).max())


def test_an_agent_learns_in_a_world():
    """Against a partner that plays 0 for certain, the best response pays 11 a round once it is found."""
    world = b.make_world("climbing-game", partner=[1.0, 0.0, 0.0])
    agent = b.make("bayesian-marl", prior=world.default_prior(), choose="vpi", samples=20)
    record = b.run(agent, world, steps=30, seed=0)
    assert record.observation.tolist()[:2] == [[0, -1], [0, 0]]
    assert (record.reward[-15:] == 11.0).all()


def test_two_agent_chain_by_hand():
    game = b.make_world("two-agent-chain", slip=0.25).game
    R = game.rewards()
    assert game.P[2, 0, 0].tolist() == [0.25, 0, 0, 0.75, 0]
    assert game.P[2, 1, 1].tolist() == [0.75, 0, 0, 0.25, 0]
    assert game.P[2, 0, 1].tolist() == game.P[4, 1, 0].tolist() == [1, 0, 0, 0, 0]
    assert game.P[4, 0, 0].tolist() == [0.25, 0, 0, 0, 0.75]
    assert (R[4, 0, 0, 4], R[4, 0, 0, 0], R[4, 1, 1, 4], R[3, 0, 0, 4], R[3, 0, 1, 0]) == (10, 2, 10, 0, 0)
    both = game.against(np.tile([1.0, 0.0], (5, 1)))
    assert b.solve(both).policy.tolist() == [0] * 5
    # If both always agree it is the chain of one player.
    chain = b.make_world("chain", gamma=0.95)
    agreed = b.make_world("two-agent-chain").game
    assert np.array_equal(agreed.P[:, [0, 1], [0, 1]].round(12), chain.dense()[0].round(12))


def test_partners_have_their_law():
    """Uniform on [0, 1] with counts of 1: 400 draws, Kolmogorov-Smirnov, false-alarm rate 1e-4."""
    family, rng = b.make_world("two-agent-chain"), default_rng(2)
    draws = np.array([family.draw(rng).partner[:, 0] for _ in range(80)])
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-4
    record = b.run(b.make("bayesian-marl", prior=family.default_prior()), family, steps=10, seed=1)
    assert record.observation.shape == (10, 2)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: b.make_world("climbing-game", partner=[0.5, 0.6, 0.0]), "'partner' must be rows that sum to 1"),
        (lambda: b.make_world("climbing-game", partner=[0.5, 0.5]), "'partner' must be of shape"),
        (lambda: b.make_world("penalty-game", k=np.nan), "'k' must be a finite number"),
        (lambda: b.make_world("two-agent-chain", slip=2.0), "'slip' must be in"),
        (lambda: b.make_world("two-agent-chain").draw(default_rng(0)).payoff, "a game of one state"),
        (lambda: b.make_world("climbing-game").step(0, 3, default_rng(0)), "'action' must be"),
        (lambda: b.make_world("climbing-game").step(0, 0, None), "'rng' must be"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(BayesRLError, match=sentence):
        call()


@pytest.mark.parametrize("seed", range(3))
def test_a_partner_acts_by_the_row_of_the_present_state(seed):
    """In each state another action, for sure; and the joint action of that state moves and pays."""
    game = b.make_world("two-agent-chain").game
    actions = np.random.default_rng(seed).permutation([0, 1, 0, 1, 1])
    world = GameWorld("mine", game, np.eye(2)[actions])
    for s in range(5):
        for a in range(2):
            after, (seen, other), reward, _ = world.step(s, a, np.random.default_rng(seed))
            assert (seen, other) == (after, actions[s])
            assert game.P[s, a, other, after] > 0.0
            assert reward == game.R[s, a, other, after]
