"""Games of several states: values against recursions, histories, and draws."""

import numpy as np
import pytest
from numpy.random import default_rng
from plain_games import dirichlet

import bayesrl as b
from bayesrl.models.solve import solve
from bayesrl.multiagent import DirichletGame, FiniteGames, JointTransition, StochasticGame, play


def random_game(S, A, B, seed, gamma=0.8):
    rng = default_rng(seed)
    return StochasticGame(rng.dirichlet(np.ones(S), (S, A, B)), rng.normal(size=(S, A, B)).round(2), gamma)


def random_belief(seed, history=0, rewards="known", transitions="unknown"):
    rng, game = default_rng(seed), random_game(2, 2, 2, seed)
    values = None if rewards == "known" else [-1.0, 0.5]
    flat = DirichletGame.flat(game, history=history, values=values, known=transitions == "known")
    counts = flat.transitions if flat.known else rng.integers(1, 4, flat.transitions.shape)
    pays = flat.rewards if values is None else rng.integers(1, 4, flat.rewards.shape)
    return DirichletGame(counts, pays, rng.integers(1, 5, flat.strategy.shape), 0.8, values, flat.known)


def zero(belief, state):
    return 0.0


def mean(belief, state):
    return belief.greedy_q(state).max()


@pytest.mark.parametrize(
    "settings, depth, leaf",
    [
        ({}, 3, "zero"),
        ({"history": 1}, 2, "zero"),
        ({"rewards": "unknown"}, 2, "zero"),
        ({"transitions": "known"}, 3, "zero"),
        ({"history": 1, "rewards": "unknown", "transitions": "known"}, 2, "mean"),
        ({}, 2, "mean"),
    ],
)
def test_lookahead_equals_the_recursion(settings, depth, leaf):
    belief = random_belief(depth, **settings)
    for last in (-1, 2) if belief.history else (-1,):
        now = DirichletGame(*(getattr(belief, f) for f in FIELDS), last=last)
        agent = b.make("bayesian-marl", prior=now, choose="lookahead", depth=depth, leaf=leaf)
        found = agent.act(agent.start(), 1, default_rng(0)).info["q"]
        assert found == pytest.approx(dirichlet(now, 1, depth, zero if leaf == "zero" else mean), abs=1e-9)


FIELDS = ("transitions", "rewards", "strategy", "gamma", "values", "known")


def test_impossible_moves_are_never_counted():
    """A count of zero is impossible: the tree leaves it out, and its evidence is refused."""
    counts = np.array([1.0, 0.0]) * np.ones((2, 2, 2, 1))
    belief = DirichletGame(counts, np.ones((2, 2, 2)), np.ones((2, 2)), 0.5)
    assert belief.lookahead_q(0, 3) == pytest.approx([1.75, 1.75])
    with pytest.raises(b.errors.ImpossibleEvidence, match="does not lead there"):
        belief.update(JointTransition(0, 0, 0, 1.0, 1))
    with pytest.raises(b.errors.ImpossibleEvidence, match="this step pays 1"):
        belief.update(JointTransition(0, 0, 0, 2.0, 0))


def test_a_known_game_against_a_known_player_is_an_mdp():
    game, strategy = random_game(3, 2, 3, 5), default_rng(6).dirichlet(np.ones(3), 3)
    exact = solve(game.against(strategy)).q
    finite = FiniteGames([game], None, [strategy])
    counted = DirichletGame(game.P, game.R, 1e9 * strategy, game.gamma, known=True)
    for belief, error in ((finite, 1e-7), (counted, 1e-5)):
        for choose in ("greedy", "vpi"):
            agent = b.make("bayesian-marl", prior=belief, choose=choose, samples=3)
            found = [agent.act(agent.start(), s, default_rng(0)).info["q"] for s in range(3)]
            assert np.array(found) == pytest.approx(exact, abs=error if choose == "greedy" else 100 * error)


def test_rewards_of_next_states():
    game = b.make_world("two-agent-chain").game
    belief = DirichletGame.flat(game, known=True)
    exact = solve(game.against(np.full((5, 2), 0.5))).q
    assert np.array([belief.greedy_q(s) for s in range(5)]) == pytest.approx(exact, abs=1e-7)


def test_draws_have_the_means_of_the_belief():
    """Rewards of one step (discount 0): the mean of 4000 draws, within 5 standard errors (false alarm 1e-6 each)."""
    belief = random_belief(1, rewards="unknown")
    now = DirichletGame(belief.transitions, belief.rewards, belief.strategy, 0.0, belief.values)
    q, weight = now.value_draws(0, 4000, default_rng(3))
    assert weight.sum() == pytest.approx(1.0)
    error = q.std(axis=0) / np.sqrt(4000)
    assert (np.abs(q.mean(axis=0) - now.greedy_q(0)) < 5 * error).all()


class Copycat:
    """A player that repeats the other's last action."""

    sees_others = True

    def start(self):
        return 0

    def act(self, mind, observation, rng):
        return b.Decision(mind, mind, {})

    def learn(self, mind, transition, rng):
        return transition.other


def test_history_helps_against_a_player_that_reacts():
    """Against a copycat defecting pays once. There is one state: only the last joint action tells what it does."""
    game = StochasticGame.stage([[1.0, 0.0], [1.5, 0.1]], 0.9)
    totals = []
    for history in (0, 1):
        belief = DirichletGame.flat(game, history=history, known=True)
        one, _ = play([b.make("bayesian-marl", prior=belief, ties="first"), Copycat()], game, steps=60)
        totals.append(one.reward[20:].mean())
    assert totals[0] == pytest.approx(0.1)  # it answers a mixture, to which defecting is always better
    assert totals[1] > 0.7  # it alternates, or cooperates


def test_the_last_joint_action_is_forgotten_at_the_end_of_an_episode():
    belief = random_belief(2, history=1)
    r = float(belief.rewards[0, 1, 0])
    agent = b.make("bayesian-marl", prior=belief)
    on = agent.learn(agent.start(), JointTransition(0, 1, 0, r, 1), default_rng(0))
    ended = agent.learn(agent.start(), JointTransition(0, 1, 0, r, 1, truncated=True), default_rng(0))
    assert (on.last, ended.last) == (2, -1)
    assert (on.strategy == ended.strategy).all()
    assert on.update(JointTransition(1, 0, 1, float(belief.rewards[1, 0, 1]), 0)).strategy[1, 3, 1] == (
        belief.strategy[1, 3, 1] + 1
    )
    assert np.array_equal(on.greedy_q(1), agent.act(on, (1, 0), default_rng(0)).info["q"])


def test_swapping_twice_changes_nothing():
    game = random_game(3, 2, 4, 7)
    assert game.swapped().swapped() == game
    assert game.swapped().n_actions == 4
    assert game.swapped().P[1, 3, 0].tolist() == game.P[1, 0, 3].tolist()
