"""Games of several states: values against recursions, histories, and draws."""

import numpy as np
import pytest
from numpy.random import default_rng
from plain_games import dirichlet

import bayesrl as b
from bayesrl.models.solve import solve
from bayesrl.multiagent import DirichletGame, FiniteGames, JointTransition, RepeatedGame, StochasticGame, run_game
from bayesrl.testing import assert_mean_equal


def random_game(S, A, B, seed, gamma=0.8):
    rng = default_rng(seed)
    return StochasticGame(rng.dirichlet(np.ones(S), (S, A, B)), rng.normal(size=(S, A, B)).round(2), gamma)


def random_belief(seed, history=0, rewards="known", transitions="unknown", sizes=(2, 2, 2)):
    rng, game = default_rng(seed), random_game(*sizes, seed)
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
        ({"sizes": (3, 2, 3), "history": 1, "rewards": "unknown", "transitions": "known"}, 2, "zero"),
        ({"sizes": (3, 3, 2), "history": 1}, 2, "zero"),
        ({"sizes": (3, 2, 3), "history": 1, "rewards": "unknown"}, 1, "mean"),
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


def optimal(P, R, gamma):
    """Optimal action values of an MDP P (S, A, S), R (S, A), by value iteration."""
    q = np.zeros(R.shape)
    for _ in range(250):
        q = R + gamma * P @ q.max(axis=1)
    return q


def over_contexts(moves, paid, others, history):
    """The MDP over contexts (state, last joint action) of one game, in loops: moves (S, A, B, S), paid (S, A, B)."""
    S, A, B, _ = moves.shape
    L = A * B + 1 if history else 1
    x = others.reshape(S, L, B)
    P, R = np.zeros((S, L, A, S, L)), np.zeros((S, L, A))
    for s, last, a, o in np.ndindex(S, L, A, B):
        R[s, last, a] += x[s, last, o] * paid[s, a, o]
        for y in range(S):
            P[s, last, a, y, 1 + a * B + o if history else 0] += x[s, last, o] * moves[s, a, o, y]
    return P.reshape(S * L, A, S * L), R.reshape(S * L, A)


def drawn_rows(counts, rng):
    """Dirichlet rows by gamma variates: G(c) = G(c + 1) U^(1/c), all uniform numbers first."""
    u = rng.random(counts.shape)
    with np.errstate(divide="ignore"):
        gammas = rng.standard_gamma(counts + 1.0) * np.where(counts > 0.0, u ** (1.0 / counts), 0.0)
    return gammas / gammas.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("history", [0, 1])
@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize("transitions", ["known", "unknown"])
def test_mean_and_drawn_games_are_mdps_over_contexts(history, rewards, transitions):
    """Three states, two actions and three of the other; draws under the same random numbers: moves, pays, others."""
    belief = random_belief(5, history, rewards, transitions, (3, 2, 3))
    if transitions == "unknown":
        counts = belief.transitions.copy()
        counts[1, 0, 2, 1] = counts[2, 1, :, 0] = 0.0  # impossible
        belief = DirichletGame(counts, *(getattr(belief, f) for f in FIELDS[1:]))
    last = 3 if history else -1
    now = DirichletGame(*(getattr(belief, f) for f in FIELDS), last=last)
    c = (lambda s: 7 * s + last + 1) if history else (lambda s: s)

    def paid(pays):
        return belief.rewards if rewards == "known" else pays @ belief.values

    mean = [x / x.sum(axis=-1, keepdims=True) for x in (belief.transitions, belief.rewards, belief.strategy)]
    q = optimal(*over_contexts(mean[0], paid(mean[1]), mean[2], history), 0.8)
    for s in range(3):
        np.testing.assert_allclose(now.greedy_q(s), q[c(s)], atol=1e-7)
    n, rng, drawn = 4, default_rng(9), []
    parts = ((belief.transitions, transitions), (belief.rewards, rewards), (belief.strategy, "unknown"))
    for x, kind in parts:
        many = np.repeat(x.reshape(1, -1, x.shape[-1]), n, axis=0)
        drawn.append((drawn_rows(many, rng) if kind == "unknown" else many).reshape(n, *x.shape))
    found, weights = now.value_draws(2, n, default_rng(9))
    np.testing.assert_array_equal(weights, 0.25)
    for i in range(n):
        q = optimal(*over_contexts(drawn[0][i], paid(drawn[1][i]), drawn[2][i], history), 0.8)
        np.testing.assert_allclose(found[i], q[c(2)], atol=1e-7)
    np.testing.assert_allclose(now.strategy_mean(), mean[2])


def test_the_size_of_a_level_counts_what_is_possible(monkeypatch):
    """Of state 1 nothing leads back: after two steps from state 0 there are three beliefs, not four."""
    from bayesrl.beliefs.games import _belief_tree

    belief = DirichletGame([[[[1.0, 2.0]]], [[[0.0, 3.0]]]], np.zeros((2, 1, 1)), np.ones((2, 1)), 0.5)
    for most, fits in ((6, True), (5, False)):
        _belief_tree.grow.cache_clear()
        monkeypatch.setattr(_belief_tree, "MOST", most)
        if fits:
            belief.lookahead_q(0, 2, "mean")
        else:
            with pytest.raises(b.errors.InvalidArgument, match="3 beliefs with 2 events each after 2 steps, got 2"):
                belief.lookahead_q(0, 2, "mean")


def finite_games(seed=11, n=3):
    """Games of three states, two actions and three of the other, whose rewards depend on the next state."""
    rng, games = default_rng(seed), []
    for _ in range(n):
        R = rng.choice([-1.5, 0.4, 2.0], (3, 2, 3, 3))
        games.append(StochasticGame(rng.dirichlet(np.ones(3), (3, 2, 3)), R, 0.7))
    x = rng.dirichlet(np.ones(3), (2, 3))
    return games, FiniteGames(games, [0.2, 0.5, 0.3][:n], x, [0.35, 0.65]), x


def test_finite_games_of_several_states():
    """Mean game, all games against all strategies, and lookahead, against loops over games, rewards and next states."""
    games, belief, x = finite_games()

    def mean_q(belief):
        moves = sum(w * g.P for w, g in zip(belief.weights, games, strict=True))
        paid = sum(w * (g.P * g.R).sum(axis=3) for w, g in zip(belief.weights, games, strict=True))
        return optimal(*over_contexts(moves, paid, belief.strategy_mean(), 0), 0.7)

    def q(belief, s, depth, leaf):
        values = np.zeros(2)
        for a, o, y in np.ndindex(2, 3, 3):
            for r in {float(g.R[s, a, o, y]) for g in games}:
                w = sum(w * g.P[s, a, o, y] for w, g in zip(belief.weights, games, strict=True) if g.R[s, a, o, y] == r)
                p, later = w * (belief.strategy_weights @ x[:, s, o]), 0.0
                if p > 0.0 and (depth > 1 or leaf == "mean"):
                    after = belief.update(JointTransition(s, a, o, r, y))
                    later = (q(after, y, depth - 1, leaf) if depth > 1 else mean_q(after)[y]).max()
                values[a] += p * (r + 0.7 * later)
        return values

    np.testing.assert_allclose(belief.strategy_mean(), 0.35 * x[0] + 0.65 * x[1])
    for s in range(3):
        np.testing.assert_allclose(belief.greedy_q(s), mean_q(belief)[s], atol=1e-7)
    for depth, leaf in ((1, "zero"), (2, "zero"), (1, "mean")):
        np.testing.assert_allclose(belief.lookahead_q(2, depth, leaf), q(belief, 2, depth, leaf), atol=1e-7)
    found, weights = belief.value_draws(1, 1, default_rng(0))
    np.testing.assert_allclose(weights, [w * u for w in (0.2, 0.5, 0.3) for u in (0.35, 0.65)])
    each = [optimal(*over_contexts(g.P, (g.P * g.R).sum(axis=3), one, 0), 0.7)[1] for g in games for one in x]
    np.testing.assert_allclose(found, each, atol=1e-7)


def test_finite_games_if_nothing_is_said(monkeypatch):
    """Equal weights, and all strategies that are certain. One more entry of a level than the limit is refused."""
    from bayesrl.beliefs.games import finite_games as _finite_games

    games, belief, _ = finite_games()
    plain = FiniteGames(games)
    assert plain.weights.tolist() == [1 / 3] * 3 == plain.strategy_weights.tolist()
    np.testing.assert_array_equal(plain.strategies, np.repeat(np.eye(3)[:, None], 3, axis=1))
    for most, fits in ((162, True), (161, False)):  # 2 * 3 joint actions, 3 states, 3 games, and 3 labels of games
        monkeypatch.setattr(_finite_games, "MOST", most)
        if fits:
            belief.lookahead_q(0, 1, "mean")
        else:
            with pytest.raises(b.errors.InvalidArgument, match="'depth' must be smaller, as there are 1 beliefs"):
                belief.lookahead_q(0, 1, "mean")
    with pytest.raises(b.errors.InvalidArgument, match="'games' must be of one shape and discount"):
        FiniteGames([games[0], StochasticGame(games[1].P, games[1].R, 0.6)])
    sure = FiniteGames(games, [1.0, 0.0, 0.0], np.eye(3)[:2])
    with pytest.raises(b.errors.ImpossibleEvidence, match="no strategy with positive weight"):
        sure.update(JointTransition(0, 0, 2, float(games[0].R[0, 0, 2, 1]), 1))


@pytest.mark.parametrize("kind", ["repeated", "of states", "of next states", "counted", "finite"])
def test_rewards_are_equal_to_nine_digits(kind):
    """A reward of -7 may be off by 1e-9 of 1 + 7, and no more."""
    R = np.full((3, 2, 3), -7.0)
    game, counts = StochasticGame(np.full((3, 2, 3, 3), 1 / 3), R, 0.7), np.ones((3, 2, 3, 3))
    belief = {
        "repeated": lambda: RepeatedGame(payoff=R[0]),
        "of states": lambda: DirichletGame(counts, R, np.ones((3, 3)), 0.7),
        "of next states": lambda: DirichletGame(counts, np.full((3, 2, 3, 3), -7.0), np.ones((3, 3)), 0.7),
        "counted": lambda: DirichletGame(counts, counts, np.ones((3, 3)), 0.7, [1.0, -7.0, 5.0]),
        "finite": lambda: FiniteGames([game]),
    }[kind]()
    s = 0 if kind == "repeated" else 2
    for sign in (1.0, -1.0):
        belief.update(JointTransition(s, 1, 2, -7.0 + sign * 7.9e-9, s))
        with pytest.raises((b.errors.ImpossibleEvidence, b.errors.InvalidArgument)):
            belief.update(JointTransition(s, 1, 2, -7.0 + sign * 8.1e-9, s))
    if kind == "counted":
        assert (belief.update(JointTransition(s, 1, 2, -7.0, 1)).rewards - counts)[2, 1, 2].tolist() == [0, 1, 0]


def test_tiny_counts_make_certain_rows():
    """Gamma variates of counts of 1e-5 underflow, their shares do not: one action of the other, for certain.

    200 draws of two actions of counts 1 : 3: the mean payoff is 3/4, false alarm 1e-6.
    """
    belief = DirichletGame(np.ones((1, 1, 2, 1)), [[[0.0, 1.0]]], [[1e-5, 3e-5]], 0.0, known=True)
    q, _ = belief.value_draws(0, 200, default_rng(4))
    assert set(q.ravel().round(12)) == {0.0, 1.0}
    assert_mean_equal(q[:, 0], 0.75, false_alarm=1e-6)


def test_fields_of_a_dirichlet_game():
    """Every field at its limit, and one wrong at a time."""
    P, R, x = np.ones((2, 2, 3, 2)), np.zeros((2, 2, 3)), np.ones((2, 3))
    good = {"transitions": P, "rewards": R, "strategy": x, "gamma": 0.9}
    assert DirichletGame(**good | {"gamma": 0.0, "last": 5}).last == 5
    assert DirichletGame(**good | {"strategy": np.ones((2, 7, 3))}).history == 1
    assert DirichletGame(**good | {"transitions": P / 2, "known": True}).known
    listed = {"values": [0.0, 1.0, 2.0, 5.0], "rewards": np.ones((2, 2, 3, 4))}
    assert (DirichletGame(**good | listed).n_states, DirichletGame(**good | listed).n_others) == (2, 3)
    empty = P.copy()
    empty[1, 0, 2] = 0.0
    for name, wrong in (
        ("transitions", {"transitions": np.ones((2, 2, 3, 3))}),
        ("transitions", {"transitions": empty}),
        ("transitions", {"transitions": -P}),
        ("transitions", {"known": True}),
        ("rewards", {"rewards": np.zeros((2, 2, 2))}),
        ("rewards", {"rewards": np.zeros((2, 2, 3, 3))}),
        ("rewards", listed | {"rewards": np.ones((2, 2, 3, 3))}),
        ("rewards", listed | {"rewards": np.zeros((2, 2, 3, 4))}),
        ("rewards", listed | {"rewards": np.full((2, 2, 3, 4), 1e101)}),
        ("values", listed | {"values": [0.0, 1.0, 1.0, 5.0]}),
        ("values", listed | {"values": [[0.0, 1.0, 2.0, 5.0]]}),
        ("strategy", {"strategy": np.ones((3, 2))}),
        ("strategy", {"strategy": np.ones((2, 6, 3))}),
        ("strategy", {"strategy": 0.0 * x}),
        ("gamma", {"gamma": 1.0}),
        ("last", {"last": 6}),
        ("last", {"last": -2}),
    ):
        with pytest.raises(b.errors.InvalidArgument, match=f"DirichletGame: '{name}' must be"):
            DirichletGame(**good | wrong)
    game = StochasticGame(P / 2, R, 0.8)
    flat = DirichletGame.flat(game, 0.3, 1, [0.0, 4.0])
    for found, shape, count in (
        (flat.transitions, (2, 2, 3, 2), 0.3),
        (flat.rewards, (2, 2, 3, 2), 0.3),
        (flat.strategy, (2, 7, 3), 1.0),
    ):
        np.testing.assert_array_equal(found, np.full(shape, count))
    assert (flat.gamma, flat.known, flat.values.tolist(), flat.last) == (0.8, False, [0.0, 4.0], -1)
    for bad in (0.0, 1e101):
        with pytest.raises(b.errors.InvalidArgument, match="DirichletGame: 'concentration' must be"):
            DirichletGame.flat(game, bad)
    with pytest.raises(b.errors.InvalidArgument, match="'games' must be a sequence of StochasticGame"):
        FiniteGames([game, 3])
    for samples in (1, 0):
        if samples:
            assert flat.value_draws(1, 1, default_rng(0))[0].shape == (1, 2)
        else:
            with pytest.raises(b.errors.InvalidArgument, match="'samples' must be"):
                flat.value_draws(1, 0, default_rng(0))


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
        one, _ = run_game([b.make("bayesian-marl", prior=belief, ties="first"), Copycat()], game, steps=60)
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
