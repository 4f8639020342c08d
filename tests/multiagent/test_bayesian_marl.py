"""Games of one state: exact totals, the best response, value of information, and what is refused."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import default_rng
from plain_games import fractions, myopic, repeated

import bayesrl as b
from bayesrl.core import Transition
from bayesrl.errors import BayesRLError
from bayesrl.multiagent import DirichletGame, FiniteGames, JointTransition, RepeatedGame, StochasticGame, run_game
from bayesrl.testing import assert_mean_equal

ALPHA, BETA, OTHER = [[6, 6], [1, 1]], [[5, 5], [1, 1]], [9, 1]
FACT = RepeatedGame(alpha=ALPHA, beta=BETA, strategy=OTHER)


def info(belief, **settings):
    agent = b.make("bayesian-marl", prior=belief, **settings)
    return agent.act(agent.start(), 0, default_rng(0)).info


@pytest.mark.parametrize("depth, total", [(1, 0.545455), (2, 1.093182), (3, 1.694387)])
def test_computed_totals(depth, total):
    """Beta (6, 5), (6, 5), (1, 1), (1, 1), the other's counts (9, 1): the totals of the fact sheet."""
    q = info(FACT, choose="lookahead", depth=depth)["q"]
    assert q.max() == pytest.approx(total, abs=5e-7)
    assert info(FACT, choose="greedy")["q"] == pytest.approx([6 / 11, 0.5], abs=1e-12)


def test_what_the_myopic_agent_gets():
    """1.642215 of 1.694387 over three rounds: it never tries what it does not know."""
    alpha, beta, other = fractions(ALPHA), fractions(BETA), fractions(OTHER)
    q = repeated(alpha, beta, other, 3, act=myopic)
    assert float(q[myopic(alpha, beta, other)]) == pytest.approx(1.642215, abs=5e-7)


@pytest.mark.parametrize(
    "alpha, beta, other, depth",
    [
        (ALPHA, BETA, OTHER, 4),
        ([[2, 1], [1, 3]], [[1, 2], [2, 1]], [1, 2], 3),
        ([[1, 2, 1], [3, 1, 1]], [[1, 1, 2], [1, 2, 2]], [2, 1, 1], 3),
        ([[2], [1], [3]], [[2], [2], [4]], [5], 3),
    ],
)
def test_lookahead_in_exact_arithmetic(alpha, beta, other, depth):
    exact = repeated(fractions(alpha), fractions(beta), fractions(other), depth)
    assert all(isinstance(x, Fraction) for x in exact)
    q = info(RepeatedGame(alpha=alpha, beta=beta, strategy=other), choose="lookahead", depth=depth)["q"]
    assert q == pytest.approx([float(x) for x in exact], abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_known_payoffs_make_the_best_response_optimal(depth):
    """The other is seen whatever one does, so there is nothing to learn by an action: `depth` times the best payoff."""
    rng = default_rng(depth)
    payoff, counts = rng.normal(size=(3, 2)), rng.integers(1, 6, 2)
    game = RepeatedGame(payoff=payoff, strategy=counts)
    now = info(game, choose="greedy")["q"]
    assert now == pytest.approx(payoff @ (counts / counts.sum()), abs=1e-12)
    q = info(game, choose="lookahead", depth=depth)["q"]
    later = q - now  # the same after every action: what the best responses to what is seen will pay
    assert later == pytest.approx(np.full(3, later[0]), abs=1e-12)
    assert np.argmax(q) == np.argmax(now)
    assert later[0] >= (depth - 1) * now.max() - 1e-12  # answering what was seen cannot be worse than one fixed answer


def test_beliefs_count_what_was_seen():
    step = JointTransition(0, 1, 0, 1.0, 0)
    after = FACT.update(step).update(JointTransition(0, 0, 1, 0.0, 0))
    assert after.alpha.tolist() == [[6, 6], [2, 1]]
    assert after.beta.tolist() == [[5, 6], [1, 1]]
    assert after.strategy_mean().tolist() == [10 / 12, 2 / 12]
    assert FACT.alpha.tolist() == ALPHA
    pairs = Transition((0, -1), 1, 1.0, (0, 0))
    assert FACT.update(pairs) == FACT.update(step)
    known = RepeatedGame(payoff=[[1.0, 2.0]]).update(JointTransition(0, 0, 1, 2.0, 0))
    assert known.strategy.tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(after)) == after
    # What is expected now is what will be expected on average.
    mean = sum(
        FACT.strategy_mean()[o] * p * FACT.update(JointTransition(0, 1, o, r, 0)).greedy_q(0)
        for o in (0, 1)
        for r, p in ((0.0, 0.5), (1.0, 0.5))
    )
    assert mean == pytest.approx(FACT.greedy_q(0), abs=1e-12)


# Value of information -------------------------------------------------------------------------------------------------


def stages(*payoffs, gamma=0.5):
    return [StochasticGame.stage(payoff, gamma) for payoff in payoffs]


def test_vpi_by_enumeration():
    """Every game against every strategy by hand: q = r + gamma max r / (1 - gamma); gains as in ERRATA 3."""
    payoffs = np.array([[[4.0, 0.0], [1.0, 1.5]], [[0.0, 1.0], [1.0, 2.0]]])
    w, x, u = [0.25, 0.75], np.array([[0.9, 0.1], [0.4, 0.6]]), [0.5, 0.5]
    found = info(FiniteGames(stages(*payoffs), w, x, u), choose="vpi")
    q, weight = [], []
    for payoff, wi in zip(payoffs, w, strict=True):
        for strategy, ui in zip(x, u, strict=True):
            r = payoff @ strategy
            q.append(r + 0.5 * r.max() / 0.5)
            weight.append(wi * ui)
    q, weight = np.array(q), np.array(weight)
    mean = weight @ q
    best, other = np.argmax(mean), np.argmin(mean)
    gain = np.zeros(2)
    gain[best] = weight @ np.maximum(mean[other] - q[:, best], 0.0)
    gain[other] = weight @ np.maximum(q[:, other] - mean[best], 0.0)
    assert found["q"] == pytest.approx(mean, abs=1e-8)
    assert found["vpi"] == pytest.approx(gain, abs=1e-8)
    assert (gain > 0.0).all()


def test_vpi_of_draws_approaches_the_integral():
    """Beta(1, 1) against .6: VPI is E max(r - .6, 0) = .08 and E max(.5 - .6, 0) = 0. 20000 draws: standard error
    below .001, so .005 is five of them (false-alarm rate below 1e-6)."""
    game = RepeatedGame(alpha=[[1.0], [600_000.0]], beta=[[1.0], [400_000.0]], strategy=[1.0])
    found = info(game, choose="vpi", samples=20_000)
    assert found["vpi"] == pytest.approx([0.08, 0.0], abs=0.005)
    assert found["q"] == pytest.approx([0.5, 0.6], abs=0.012)


def test_draws_have_the_moments_of_the_belief():
    """Payoff Beta and strategy Dirichlet are independent: means and variances of a round (false alarm 1e-6 each)."""
    game = RepeatedGame(alpha=[[2.0, 1.0], [1.0, 3.0]], beta=[[1.0, 2.0], [1.0, 1.0]], strategy=[3.0, 2.0])
    q, weight = game.value_draws(0, 20_000, default_rng(0))
    np.testing.assert_allclose(weight, 1.0 / 20_000)
    n = game.alpha + game.beta
    p, second = game.alpha / n, game.alpha * (game.alpha + 1) / (n * (n + 1))
    u, uu = np.array([0.6, 0.4]), np.array([[12.0, 6.0], [6.0, 6.0]]) / 30.0  # E x x' of Dirichlet(3, 2)
    for a in range(2):
        assert_mean_equal(q[:, a], p[a] @ u, false_alarm=1e-6)
        joint = np.outer(p[a], p[a])
        np.fill_diagonal(joint, second[a])
        assert_mean_equal(q[:, a] ** 2, (joint * uu).sum(), false_alarm=1e-6)


def test_finite_games_to_depth_three():
    """Lookahead over weights against the recursion that enumerates all paths of joint actions and rewards."""
    games = stages([[4.0, 0.0], [0.0, 3.0]], [[0.0, 4.0], [3.0, 1.0]], [[4.0, 1.0], [0.0, 2.0]], gamma=0.8)
    belief = FiniteGames(games, [0.2, 0.5, 0.3], [[0.9, 0.1], [0.1, 0.9]], [0.4, 0.6])
    after = belief.update(JointTransition(0, 0, 0, 4.0, 0))
    assert after.weights == pytest.approx([0.4, 0.0, 0.6])
    assert after.strategy_weights == pytest.approx([6 / 7, 1 / 7])

    def q(belief, depth):
        values = np.zeros(2)
        for a in range(2):
            for o in range(2):
                for r in {float(game.R[0, a, o]) for game in games}:
                    w = belief.weights @ [game.R[0, a, o] == r for game in games]
                    p = w * belief.strategy_mean()[0, o]
                    if p > 0.0:
                        after = belief.update(JointTransition(0, a, o, r, 0))
                        values[a] += p * (r + 0.8 * (q(after, depth - 1).max() if depth > 1 else 0.0))
        return values

    for depth in (1, 2, 3):
        assert info(belief, choose="lookahead", depth=depth)["q"] == pytest.approx(q(belief, depth), abs=1e-10)
    certain = FiniteGames(games[:1], None, [[0.75, 0.25]])
    solved = info(certain, choose="greedy")["q"]
    for settings in ({"choose": "vpi"}, {"choose": "lookahead", "leaf": "mean", "depth": 2}):
        assert info(certain, **settings)["q"] == pytest.approx(solved, abs=1e-7)


# Play -----------------------------------------------------------------------------------------------------------------


def test_two_players_see_each_other():
    game = StochasticGame.stage([[2.0, 0.0], [0.0, 1.0]], 0.9, other=[[1.0, 0.0], [0.0, 2.0]])
    players = [b.make("bayesian-marl", prior=RepeatedGame(payoff=x.R[0])) for x in (game, game.swapped())]
    one, two = run_game(players, game, steps=30, seed=1)
    assert (one.action == two.other).all()
    assert (two.action == one.other).all()
    assert (one.reward == game.R[0, one.action, two.action]).all()
    assert (two.reward == game.R_other[0, one.action, two.action]).all()
    again = run_game(players, game, steps=30, seed=1)
    assert (one, two) == again
    assert run_game(players, game, steps=30, seed=2)[0] != one
    assert len(one) == 30


class Scripted:
    """A player that acts and learns by its random numbers, and writes everything down."""

    def __init__(self, actions, sees_others):
        self.actions, self.sees_others, self.told = actions, sees_others, []

    def start(self):
        return ("mind", 0)

    def act(self, mind, observation, rng):
        u = rng.random()
        self.told.append((mind, observation, u))
        return b.Decision(int(u * self.actions), ("memory", mind[1]), {})

    def learn(self, mind, transition, rng):
        self.told.append((mind, transition, rng.random()))
        return ("mind", mind[1] + 1)


def test_play_against_a_transcription():
    """Five streams: luck, two for acting, two for learning. Three states, two actions, four of the second player."""
    rng, S, A, B = default_rng(5), 3, 2, 4
    P, R, other = rng.dirichlet(np.ones(S), (S, A, B)), rng.normal(size=(S, A, B, S)), rng.normal(size=(S, A, B, S))
    game = StochasticGame(P, R, 0.9, other, start=1)
    one, two = Scripted(A, True), Scripted(B, False)
    records = run_game([one, two], game, steps=12, seed=7, replicate=3)
    luck, *streams = map(default_rng, np.random.SeedSequence(7, spawn_key=(3,)).spawn(5))
    s, told, columns = 1, ([], []), ([], [])
    for t in range(12):
        u = [streams[i].random() for i in (0, 1)]
        a, o = int(u[0] * A), int(u[1] * B)
        y = int(np.searchsorted(np.cumsum(P[s, a, o]), luck.random(), side="right"))
        steps = (JointTransition(s, a, o, R[s, a, o, y], y), Transition(s, o, other[s, a, o, y], y))
        for i in (0, 1):
            told[i].append((("mind", t), s, u[i]))
            told[i].append((("memory", t), steps[i], streams[2 + i].random()))
        columns[0].append((s, a, o, R[s, a, o, y], y))
        columns[1].append((s, o, a, other[s, a, o, y], y))
        s = y
    assert (one.told, two.told) == told
    for i, record in enumerate(records):
        names = ("observation", "action", "other", "reward", "next_observation")
        assert list(zip(*(record.columns[name].tolist() for name in names), strict=True)) == columns[i]
        assert record.gamma == 0.9
        numbers = record.provenance | record.provenance.get("settings", {})
        assert {"steps": 12, "seed": 7, "replicate": 3, "player": i}.items() <= numbers.items()


def test_limits_of_play():
    """One step and any seed are enough; who cannot act, and actions beyond the last one, are refused."""
    game = StochasticGame.stage(np.arange(6.0).reshape(2, 3), 0.9)
    two = [Scripted(2, True), Scripted(3, True)]
    assert [len(record) for record in run_game(two, game, 1, 2**200)] == [1, 1]
    for bad, name in (((two, game, 0), "steps"), ((two, game, 1, -1), "seed"), (([two[0], 3], game, 1), "agents")):
        with pytest.raises(BayesRLError, match=f"run_game: '{name}' must be"):
            run_game(*bad)
    with pytest.raises(BayesRLError, match="run_game: 'replicate' must be"):
        run_game(two, game, 1, replicate=-1)
    for i, top in ((0, 2), (1, 3)):
        wild = list(two)
        wild[i] = Scripted(2, True)
        wild[i].act = lambda mind, observation, rng, top=top: b.Decision(top, mind, {})
        with pytest.raises(BayesRLError, match=f"'action' must be a whole number of at least 0 and at most {top - 1}"):
            run_game(wild, game, 1)


def test_an_agent_that_does_not_see_the_other_can_play():
    game = b.make_world("penalty-game", k=0)
    deaf = b.make("q-learning", n_states=1, n_actions=3, gamma=0.95)
    mine = b.make("bayesian-marl", prior=game.default_prior(), choose="vpi", samples=5)
    one, two = run_game([mine, deaf], game, steps=10, seed=0)
    assert (one.reward == two.reward).all()


def test_play_records_are_kept(tmp_path):
    game = b.make_world("climbing-game")
    agent = b.make("bayesian-marl", prior=RepeatedGame(payoff=game.payoff))
    one, _ = run_game([agent, agent], game, steps=3)
    b.save(one, tmp_path / "one.zip")
    assert b.load(tmp_path / "one.zip") == one


# What is refused ------------------------------------------------------------------------------------------------------

STAGE = StochasticGame.stage(np.eye(2), 0.9)
WIDE = np.ones((40, 40))
GAMES = FiniteGames([STAGE], None, [[0.5, 0.5]])
TWO_STATES = DirichletGame.flat(StochasticGame(np.full((2, 1, 1, 2), 0.5), np.zeros((2, 1, 1)), 0.9))
COUNTED = DirichletGame.flat(STAGE, values=[0.0, 1.0], known=True)
BAD = {
    "other too large": (lambda: FACT.update(JointTransition(0, 0, 2, 1.0, 0)), "RepeatedGame: 'other' must be"),
    "other negative": (lambda: COUNTED.update(JointTransition(0, 0, -1, 1.0, 0)), "DirichletGame: 'other' must be"),
    "action": (lambda: GAMES.update(JointTransition(0, 5, 0, 1.0, 0)), "FiniteGames: 'action' must be"),
    "reward outside": (lambda: FACT.update(JointTransition(0, 0, 0, 0.5, 0)), "'reward' must be 0 or 1"),
    "reward nan": (lambda: FACT.update(JointTransition(0, 0, 0, np.nan, 0)), "'reward' must be a finite number"),
    "reward not listed": (lambda: COUNTED.update(JointTransition(0, 0, 0, 3.0, 0)), r"must be one of \[0.0, 1.0\]"),
    "reward of no game": (lambda: GAMES.update(JointTransition(0, 0, 0, 3.0, 0)), "has probability zero"),
    "known payoff": (
        lambda: RepeatedGame(payoff=[[1.0]]).update(JointTransition(0, 0, 0, 3.0, 0)), "has probability zero"),
    "state": (lambda: FACT.update(JointTransition(1, 0, 0, 1.0, 0)), "'state' must be"),
    "plain transition": (lambda: FACT.update(Transition(0, 0, 1.0, 0)), "'datum' must be a JointTransition"),
    "no datum": (lambda: FACT.update(None), "'datum' must be a JointTransition"),
    "zero counts": (lambda: RepeatedGame(payoff=np.eye(2), strategy=[0, 1]), "'strategy' must be greater than 0"),
    "zero beta": (lambda: RepeatedGame(alpha=ALPHA, beta=[[0, 1], [1, 1]]), "'beta' must be greater than 0"),
    "counts and payoff": (lambda: RepeatedGame(alpha=ALPHA, payoff=np.eye(2)), "'alpha' must be left out"),
    "one count": (lambda: RepeatedGame(alpha=ALPHA), "'beta' must be given"),
    "nothing": (RepeatedGame, "'alpha' must be given"),
    "shape": (lambda: RepeatedGame(alpha=ALPHA, beta=[[1, 1]]), "'beta' must be an array of shape"),
    "strategy shape": (lambda: RepeatedGame(payoff=np.eye(2), strategy=[1, 1, 1]), "'strategy' must be an array"),
    "text": (lambda: RepeatedGame(payoff="x"), "'payoff' must be an array of numbers"),
    "sum": (lambda: FiniteGames([STAGE], None, [[0.5, 0.6]]), "'strategies' must be rows that sum to 1"),
    "weights": (lambda: FiniteGames([STAGE], [0.5], [[0.5, 0.5]]), "'weights' must be rows that sum to 1"),
    "negative weight": (lambda: FiniteGames([STAGE] * 2, [-0.5, 1.5], [[0.5, 0.5]]), "'weights' must be at least 0"),
    "no games": (lambda: FiniteGames([]), "'games' must be a sequence of StochasticGame"),
    "mixed games": (lambda: FiniteGames([STAGE, StochasticGame.stage(np.eye(3), 0.9)]), "of one shape and discount"),
    "no strategies": (lambda: FiniteGames([STAGE], None, []), "'strategies' must be"),
    "choose": (lambda: b.make("bayesian-marl", prior=FACT, choose="best"), "'choose' must be one of greedy"),
    "depth": (lambda: b.make("bayesian-marl", prior=FACT, depth=0), "'depth' must be a whole number of at least 1"),
    "samples": (lambda: b.make("bayesian-marl", prior=FACT, samples=0), "'samples' must be"),
    "prior": (lambda: b.make("bayesian-marl", prior=3), "BayesianMARL needs a belief with"),
    "prior of an MDP": (
        lambda: b.make("bayesian-marl", prior=b.DirichletMDP.flat(b.make_world("chain"))), "BayesianMARL needs"),
    "observation": (lambda: info_at(FACT, 1), "'observation' must be"),
    "nothing seen of two states": (lambda: info_at(TWO_STATES, None), "'observation' must be"),
    "state beyond the last": (lambda: info_at(TWO_STATES, 2), "'observation' must be"),
    "mind": (lambda: b.make("bayesian-marl", prior=FACT).act(None, 0, default_rng(0)), "'mind' must be one that start"),
    "rng": (lambda: b.make("bayesian-marl", prior=FACT).act(FACT, 0, 3), "'rng' must be a numpy Generator"),
    "leaf": (lambda: info(FACT, choose="lookahead", leaf="mean"), "RepeatedGame: 'leaf' must be"),
    "no draws": (lambda: FACT.value_draws(0, 0, default_rng(0)), "'samples' must be"),
    "leaf word": (lambda: COUNTED.lookahead_q(0, 2, "best"), "'leaf' must be one of zero, mean"),
    "odd depth": (lambda: GAMES.lookahead_q(0, 0), "'depth' must be"),
    "odd state": (lambda: COUNTED.greedy_q(1), "'state' must be"),
    "too deep": (
        lambda: info(RepeatedGame(alpha=WIDE, beta=WIDE), choose="lookahead", depth=4), "'depth' must be smaller"),
    "discount": (lambda: StochasticGame.stage(np.eye(2), 1.0), r"'gamma' must be in \[0, 1\)"),
    "rows": (lambda: StochasticGame(np.ones((2, 1, 1, 2)), np.zeros((2, 1, 1)), 0.9), "'P' must be rows that sum"),
    "not square": (lambda: StochasticGame(np.ones((1, 1, 1, 2)), np.zeros((1, 1, 1)), 0.9), r"of shape \(S, A, B, S\)"),
    "R": (lambda: StochasticGame(np.ones((1, 1, 1, 1)), np.zeros((1, 2)), 0.9), "'R' must be of shape"),
    "start": (lambda: StochasticGame(np.ones((1, 1, 1, 1)), np.zeros((1, 1, 1)), 0.9, start=1), "'start' must be"),
    "history": (lambda: DirichletGame.flat(STAGE, history=2), "'history' must be"),
    "flat of nothing": (lambda: DirichletGame.flat(3), "'game' must be a StochasticGame"),
    "same values": (lambda: DirichletGame.flat(STAGE, values=[1.0, 1.0]), "'values' must be different rewards"),
    "one agent": (lambda: run_game([b.make("bayesian-marl", prior=FACT)], STAGE, 3), "'agents' must be two agents"),
    "no agents": (lambda: run_game(None, STAGE, 3), "'agents' must be two agents"),
    "no game": (lambda: run_game([b.make("bayesian-marl", prior=FACT)] * 2, 3, 3), "'game' must be a StochasticGame"),
    "no steps": (lambda: run_game([b.make("bayesian-marl", prior=FACT)] * 2, STAGE, 0), "'steps' must be"),
}  # fmt: skip


def info_at(belief, observation):
    agent = b.make("bayesian-marl", prior=belief)
    return agent.act(agent.start(), observation, default_rng(0)).info


def test_a_game_of_one_state_needs_no_observation():
    assert info_at(FACT, None)["q"] == pytest.approx(info_at(FACT, 0)["q"], abs=0.0)
    assert len(info_at(TWO_STATES, 1)["q"]) == 1


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, sentence = BAD[name]
    with pytest.raises(BayesRLError, match=sentence):
        call()


def test_the_largest_level(monkeypatch):
    """After two of three rounds there are 36 beliefs with 8 events each: 288 entries."""
    from bayesrl.beliefs.games import _belief_tree

    for most, fits in ((288, True), (287, False)):
        _belief_tree.grow.cache_clear()
        monkeypatch.setattr(_belief_tree, "MOST", most)
        if fits:
            FACT.lookahead_q(0, 3)
        else:
            with pytest.raises(BayesRLError, match="36 beliefs with 8 events each after 2 steps, got 3"):
                FACT.lookahead_q(0, 3)


def test_known_payoffs_make_a_small_tree(monkeypatch):
    """Only the other's actions are counted: three beliefs with four events each after two of three rounds."""
    from bayesrl.beliefs.games import _belief_tree

    known = RepeatedGame(payoff=[[1.0, -2.0], [0.5, 3.0]])
    for most, fits in ((12, True), (11, False)):
        _belief_tree.grow.cache_clear()
        monkeypatch.setattr(_belief_tree, "MOST", most)
        if fits:
            known.lookahead_q(0, 3)
        else:
            with pytest.raises(BayesRLError, match="3 beliefs with 4 events each after 2 steps, got 3"):
                known.lookahead_q(0, 3)


def test_which_argument_of_a_game_is_wrong():
    """The sentence names the argument and its range."""
    for call, said in (
        (lambda: RepeatedGame(payoff=[1.0, 2.0]), "RepeatedGame: 'payoff' must be"),
        (lambda: RepeatedGame(alpha=[1.0, 2.0], beta=[1.0, 2.0]), "RepeatedGame: 'alpha' must be"),
        (lambda: RepeatedGame(payoff=[[1.0, 2.0]], beta=[[1.0, 2.0]]), "'beta' must be left out"),
        (lambda: RepeatedGame(payoff=[[1.0, 2.0]], strategy=[1.0]), "'strategy' must be an array of shape"),
        (lambda: TWO_STATES.greedy_q(2), "'state' must be a whole number of at least 0 and at most 1"),
        (lambda: TWO_STATES.greedy_q(-1), "'state' must be a whole number of at least 0 and at most 1"),
        (lambda: TWO_STATES.value_draws(2, 3, default_rng(0)), "'state' must be a whole number of at least 0 and at"),
        (lambda: TWO_STATES.lookahead_q(2, 1), "'state' must be a whole number of at least 0 and at most 1"),
        (lambda: FACT.lookahead_q(1, 1), "'state' must be a whole number of at least 0 and at most 0"),
        (lambda: GAMES.update(JointTransition(0, 0, 0, 1.0, 1)), "'next_state' must be a whole number"),
        (lambda: FACT.update(Transition((0, -1), 0, 1.0, 0)), "'datum' must be a JointTransition, or a Transition"),
        (lambda: FACT.update(Transition((0, -1, 2), 0, 1.0, (0, 1))), "'datum' must be a JointTransition, or a Trans"),
    ):
        with pytest.raises(BayesRLError, match=said):
            call()
    assert len(FACT.value_draws(0, 1, default_rng(0))[0]) == 1
