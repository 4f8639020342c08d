"""k-of-n: a plain transcription, linear programs over all multisets of draws, closed forms, and bad input."""

import itertools
import math
import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from plain_k_of_n import Program, k_of_n, nested, posterior
from scipy.optimize import minimize

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs, GaussianRewards, RewardBeta, UnknownRewards
from bayesrl.capabilities import Refreshes, offers
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import entries
from bayesrl.risk import Measure, _draws, k_of_n_iterations
from bayesrl.statistics import Interval

SETTINGS = {"k": 1, "n": 3, "horizon": 3}


def by_history(sets):
    """{history: index} of information sets that are histories."""
    found = {}

    def walk(i, h):
        found[h] = i
        for a in range(sets.n_actions):
            for e in range(sets.offset[i * sets.n_actions + a], sets.offset[i * sets.n_actions + a + 1]):
                walk(int(sets.child[e]), (*h, a, int(sets.seen[e])))

    for i in np.flatnonzero(sets.step == 0):
        walk(int(i), (int(sets.state[i]),))
    return found


# Oracles --------------------------------------------------------------------------------------------------------------


def worst_of_draws(returns, weights, k, n):
    """The mean of the k worst of n draws, by all sequences of draws."""
    total = 0.0
    for drawn in itertools.product(range(len(returns)), repeat=n):
        total += np.prod(weights[list(drawn)]) * np.sort(returns[list(drawn)])[:k].mean()
    return total


def walked(solution, model, horizon):
    """The return of a solution in a model, by asking its `plan` in every history."""

    def value(s, memory, last, t):
        decision = solution.plan(None, s, memory, default_rng(0), last)
        total = 0.0
        for a, p in enumerate(decision.info["probability"]):
            total += p * model.mean_reward[s, a]
            for y in np.flatnonzero(model.matrix[s * model.n_actions + a]) if t + 1 < horizon else ():
                step = b.Transition(s, a, 0.0, int(y))
                q = model.matrix[s * model.n_actions + a, y]
                total += p * q * model.gamma * value(int(y), decision.memory, step, t + 1)
        return total

    start = model.outcomes.start
    return sum(start[s] * value(int(s), solution.start(), None, 0) for s in np.flatnonzero(start))


# The algorithm --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["plus", "plain"])
def test_transcription(variant):
    """Average and current strategies equal those of plain Python on the same draws, at every history."""
    belief = posterior(1)
    made = b.make("k-of-n", k=2, n=3, horizon=3, iterations=12, variant=variant)
    drawn = default_rng(5).choice(3, 36, p=belief.posterior()).reshape(12, 3)
    start = belief.models[0].outcomes.start.tolist()
    total, _ = k_of_n(nested(belief.models), drawn.tolist(), 2, 3, 0.95, start, variant == "plus")
    solution = made.solve(belief, default_rng(5))
    index = by_history(solution.sets)
    assert set(index) == set(total)
    assert len(index) == len(solution.sets) == 2 + 12 + 72
    for h, i in index.items():
        if sum(total[h]) > 1e-12:
            np.testing.assert_allclose(solution.strategy[i], np.array(total[h]) / sum(total[h]), atol=1e-12)
    # The strategy of a drawn iteration: that iteration is drawn first, and only those before it are made.
    rng = default_rng(6)
    last = int(rng.integers(12))
    drawn = rng.choice(3, 3 * last, p=belief.posterior()).reshape(last, 3)
    _, now = k_of_n(nested(belief.models), drawn.tolist(), 2, 3, 0.95, start, variant == "plus")
    one = b.make("k-of-n", k=2, n=3, horizon=3, iterations=12, variant=variant, strategy="random")
    found = one.solve(belief, default_rng(6)).strategy
    assert 0 < last < 12
    for h, i in index.items():
        np.testing.assert_allclose(found[i], now(h), atol=1e-9)


def test_shared_transitions_equal_histories():
    """Regret matching ignores scale: in plain Python, histories that end in the same (t, s) act alike.

    So the average of occupancies is the sum of their plans, times the probability of their states.
    """
    belief = posterior(6, shared=True)
    m = belief.models[0]
    drawn = default_rng(5).choice(3, 30, p=belief.posterior()).reshape(10, 3)
    total, _ = k_of_n(nested(belief.models), drawn.tolist(), 2, 3, 0.95, m.outcomes.start.tolist())
    x = np.zeros((3, 3, 2))
    for h, plan in total.items():
        moves = zip(h[:-2:2], h[1::2], h[2::2], strict=True)
        reach = m.outcomes.start[h[0]] * np.prod([m.matrix[s * 2 + a, y] for s, a, y in moves])
        x[len(h) // 2, h[-1]] += reach * np.array(plan)
    found = b.make("k-of-n", k=2, n=3, horizon=3, iterations=10).solve(belief, default_rng(5))
    x = x.reshape(9, 2)
    reached = x.sum(axis=1) > 0.0
    assert reached.sum() == 8  # all but state 2 at once
    np.testing.assert_allclose(found.strategy[reached], x[reached] / x[reached].sum(axis=1)[:, None], atol=1e-12)


@pytest.mark.parametrize("seed, count, horizon, k, n", [(1, 3, 2, 1, 2), (2, 3, 3, 2, 4), (3, 4, 3, 1, 3)])
def test_close_to_the_linear_program_from_below(seed, count, horizon, k, n):
    check_against_the_program(posterior(seed, count), horizon, k, n)


@pytest.mark.long
@pytest.mark.parametrize("variant", ["plus", "plain"])
@pytest.mark.parametrize("seed", range(4))
def test_close_to_the_linear_program_from_below_over_four_steps(seed, variant):
    check_against_the_program(posterior(seed, 4), 4, 1 + seed % 2, 3, variant)


@pytest.mark.long
@pytest.mark.parametrize("variant, steepest", [("plus", -0.4), ("plain", -0.5)])
def test_rate(variant, steepest):
    """The loss of value falls about like T^-1/2, on average over three posteriors and three seeds."""
    budgets = 100, 1000, 10_000, 100_000
    loss = np.zeros(4)
    for seed, (k, n) in ((1, (1, 3)), (2, (1, 3)), (3, (2, 4))):
        belief = posterior(seed, 3)
        best = Program(belief, 2).best(k, n)
        for i, m in enumerate(budgets):
            made = b.make("k-of-n", k=k, n=n, horizon=2, iterations=m, variant=variant)
            loss[i] += sum(best - made.solve(belief, default_rng(s)).value for s in range(3))
    assert np.polyfit(np.log(budgets), np.log(loss), 1)[0] < steepest


def check_against_the_program(belief, horizon, k, n, variant="plain"):
    made = b.make("k-of-n", k=k, n=n, horizon=horizon, iterations=20_000, variant=variant)
    solution = made.solve(belief, default_rng(0))
    best = Program(belief, horizon).best(k, n)
    exact = b.make("percentile-measure", measure=Measure.k_of_n(k, n), horizon=horizon).solve(belief)
    assert exact.value == pytest.approx(best, abs=1e-7)
    assert best - 0.02 <= solution.value <= best + 1e-9
    returns = np.array([walked(solution, m, horizon) for m in belief.models])
    assert solution.value == pytest.approx(worst_of_draws(returns, belief.posterior(), k, n), abs=1e-10)


def test_all_of_n_is_the_bayes_adaptive_optimum():
    belief = posterior(4)
    P, R = np.array([m.dense()[0] for m in belief.models]), np.array([m.mean_reward for m in belief.models])

    def best(weight, s, t):
        """Expectimax over histories: `weight` is the probability of each model and of the states so far."""
        later = [0.0 if t == 2 else sum(best(weight * P[:, s, a, y], y, t + 1) for y in range(3)) for a in range(2)]
        return max(weight @ R[:, s, a] + 0.95 * later[a] for a in range(2))

    optimum = sum(best(p * belief.posterior(), s, 0) for s, p in ((0, 0.6), (1, 0.4)))
    found = b.make("k-of-n", k=2, n=2, horizon=3, iterations=5000).solve(belief, default_rng(0))
    assert optimum - 0.005 <= found.value <= optimum + 1e-9
    # Knowing the mean model is not enough: its optimal total is another number.
    mean = np.einsum("j,jsay->say", belief.posterior(), P), np.einsum("j,jsa->sa", belief.posterior(), R)
    V = np.zeros(3)
    for _ in range(3):
        V = (mean[1] + 0.95 * mean[0] @ V).max(axis=1)
    assert abs(0.6 * V[0] + 0.4 * V[1] - optimum) > 0.02


def test_histories_beat_every_markov_policy():
    """The first state seen tells the model. The best policy of (t, s), by many ascents, is visibly worse."""
    # State 0 leads to 1 or 2, both lead to 3 (a copy of the question), where the right action depends on the model.
    models = []
    for left in (0.9, 0.1):
        P, R = np.zeros((4, 2, 4)), np.zeros((4, 2))
        P[0, :, 1], P[0, :, 2], P[1:, :, 3] = left, 1.0 - left, 1.0
        R[3] = (1.0, -1.0) if left == 0.9 else (-1.0, 1.0)
        models.append(TabularMDP.from_dense(P, R, 1.0))
    belief = FiniteMDPs(tuple(models))
    found = b.make("k-of-n", k=1, n=2, horizon=3, iterations=2000).solve(belief, default_rng(0))
    assert Program(belief, 3).best(1, 2) == pytest.approx(0.8)
    assert 0.78 <= found.value <= 0.8

    def markov(logits):
        mu = np.exp(logits.reshape(3, 4, 2))
        mu /= mu.sum(axis=-1, keepdims=True)
        returns = []
        for m in models:
            at, total = m.outcomes.start, 0.0
            for t in range(3):
                x = at[:, None] * mu[t]
                total, at = total + (x * m.mean_reward).sum(), x.ravel() @ m.matrix
            returns.append(total)
        return -worst_of_draws(np.array(returns), np.array([0.5, 0.5]), 1, 2)

    rng = default_rng(0)
    best = max(-minimize(markov, rng.normal(size=24), method="Powell", options={"maxiter": 3}).fun for _ in range(2))
    assert best < found.value - 0.5


def test_uncertain_rewards_need_no_histories():
    """Where transitions are shared, sets are (t, s), and the optimum over all histories is no better."""
    belief = posterior(6, shared=True)
    found = b.make("k-of-n", k=1, n=3, horizon=3, iterations=20_000).solve(belief, default_rng(0))
    assert len(found.sets) == 9
    best = Program(belief, 3).best(1, 3)
    assert best - 0.02 <= found.value <= best + 1e-9
    returns = np.array([walked(found, m, 3) for m in belief.models])
    assert found.value == pytest.approx(worst_of_draws(returns, belief.posterior(), 1, 3), abs=1e-10)


# Beliefs that can only be sampled -------------------------------------------------------------------------------------


def test_two_gaussian_actions():
    """Under 1-of-2 a pure action is worth -.564190 and the even mix -.398942 (computed). False alarm 1e-4 or less."""
    one = TabularMDP.from_dense(np.ones((1, 2, 1)), np.zeros((1, 2)), 0.9)
    belief = GaussianRewards(one, np.zeros((1, 2)), np.eye(2))
    found = b.make("k-of-n", k=1, n=2, horizon=1, iterations=20_000, samples=20_000).solve(belief, default_rng(0))
    assert isinstance(found.value, Interval)
    assert found.value.n == 20_000
    assert abs(found.value.mean + 0.398942) < 2.0 * found.value.half_width + 0.002
    np.testing.assert_allclose(found.strategy, 0.5, atol=0.05)


def test_drawn_tables_are_sampled_models():
    """Draw for draw, for independent Dirichlet rows; known rows and ends included."""
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.9, 0.0]], [[0.4, 0.0, 0.6], [1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, default_rng(0).normal(size=(3, 2, 3)), 0.9, terminal=[2])
    known = np.arange(mdp.outcomes.n_groups) == 1
    for belief in (b.DirichletMDP.structured(mdp, known=known), b.DirichletMDP.flat(mdp, 0.5)):
        drawn = _draws.Drawn("f", belief, 2, 100, default_rng(0))
        assert drawn.sets.histories
        table, column = drawn.columns(4, default_rng(3))
        rng = default_rng(3)
        for j in column:
            m = belief.sample_mdp(rng)
            np.testing.assert_allclose(table.prob[:, j], m.matrix[drawn.pair, drawn.seen], atol=1e-12)
            np.testing.assert_allclose(table.reward[:, j], m.mean_reward.ravel(), atol=1e-12)
        assert table.prob.min() >= 0.0
    # Unknown rewards are drawn with their model.
    unknown = UnknownRewards(b.DirichletMDP.flat(mdp), RewardBeta(np.ones((3, 2)), np.ones((3, 2))))
    table, _ = _draws.Drawn("f", unknown, 2, 100, default_rng(0)).columns(3, default_rng(3))
    rng = default_rng(3)
    rewards = [unknown.sample_mdp(rng).mean_reward.ravel() for _ in range(3)]
    np.testing.assert_allclose(table.reward.T, rewards, atol=1e-12)


SAMPLED = [n for n, e in entries().items() if e.kind == "belief" and hasattr(e.factory, "sample_mdp") and e.example]


@pytest.mark.parametrize("name", SAMPLED)
def test_listed_next_states_are_complete(name):
    """What a belief's models can reach is in the table. No example has terminal states."""
    belief = entries()[name].example()
    if offers(belief, Refreshes):
        belief = belief.refresh(default_rng(0), 5)
    drawn = _draws.Drawn("f", belief, 2, 10_000, default_rng(0))
    assert drawn.sets.histories
    table, column = drawn.columns(3, default_rng(3))
    for j in column:
        np.testing.assert_allclose(np.bincount(drawn.pair, table.prob[:, j]), 1.0, atol=1e-9)


def test_sampled_belief(tmp_path):
    """The same seed gives the same numbers, whatever the blocks; the value is that of fresh draws."""
    belief = b.DirichletMDP.structured(b.make_world("chain-tied"))
    made = b.make("k-of-n", k=2, n=4, horizon=3, iterations=100, samples=200)
    found = made.solve(belief, default_rng(0))
    assert found == made.solve(belief, default_rng(0))
    assert found.value.low < found.value.mean < found.value.high
    assert found.value.n == 200
    b.save(found, tmp_path / "found.zip")
    assert b.load(tmp_path / "found.zip") == found == pickle.loads(pickle.dumps(found))
    record = b.run(b.BayesAgent(belief, found), b.make_world("chain-tied"), steps=9, seed=0, horizon=3)
    assert len(record) == 9


def test_blocks_do_not_matter(monkeypatch):
    belief = b.DirichletMDP.structured(b.make_world("chain-tied"))
    made = b.make("k-of-n", k=1, n=20, horizon=2, iterations=20, samples=10)
    found = made.solve(belief, default_rng(0))
    monkeypatch.setattr("bayesrl.risk.k_of_n.BLOCK", 3000)
    assert made.solve(belief, default_rng(0)) == found


def test_terminal_states_end_histories():
    """A fair coin: stop for 1, or go on for 3 with an unknown probability, and lose all otherwise."""
    models = []
    for p in (0.2, 0.9):
        P = np.zeros((3, 2, 3))
        P[0, 0, 1], P[0, 1, 0], P[0, 1, 1], P[1:, :, 1] = 1.0, p, 1.0 - p, 1.0
        R = np.zeros((3, 2, 3))
        R[0, 0], R[0, 1, 0] = 1.0, 3.0
        models.append(TabularMDP.from_dense(P, R, 1.0, terminal=[1]))
    belief = FiniteMDPs(tuple(models))
    found = b.make("k-of-n", k=1, n=2, horizon=2, iterations=20_000).solve(belief, default_rng(0))
    assert len(found.sets) == 2  # state 0 at once, and after a success
    best = Program(belief, 2).best(1, 2)
    assert best - 0.02 <= found.value <= best + 1e-9


# The theorem, and bad input -------------------------------------------------------------------------------------------


def test_iterations_of_the_theorem():
    """By hand: (1 + 2 / sqrt(.25))^2 = 25; 16 T^2 Delta^2 I^2 A / (delta^2 epsilon^2) = 16 4 9 25 2 / (1/16 1/4)."""
    assert k_of_n_iterations(2, 3.0, 5, 2, 0.25, 0.5) == 25 * 16 * 4 * 9 * 25 * 2 * 64
    assert k_of_n_iterations(1, 0.0, 1, 1, 1.0, 1.0) == 1


@pytest.mark.parametrize(
    "given, name",
    [
        ({"k": 0}, "k"), ({"k": 4}, "k"), ({"k": 1.5}, "k"), ({"k": True}, "k"), ({"n": 0}, "n"), ({"n": "3"}, "n"),
        ({"n": 100_001}, "n"), ({"horizon": 0}, "horizon"), ({"horizon": None}, "horizon"),
        ({"iterations": 0}, "iterations"), ({"iterations": math.nan}, "iterations"),
        ({"samples": 1}, "samples"), ({"nodes": 0}, "nodes"),
        ({"variant": "minus"}, "variant"), ({"strategy": "best"}, "strategy"), ({"strategy": None}, "strategy"),
    ],
)  # fmt: skip
def test_bad_parameters(given, name):
    with pytest.raises(InvalidArgument, match=f"KOfN: '{name}' must be"):
        b.make("k-of-n", **SETTINGS | given)


@pytest.mark.parametrize("missing", ["k", "n", "horizon"])
def test_parameters_without_a_default(missing):
    with pytest.raises(InvalidArgument, match=f"'{missing}' must be given"):
        b.make("k-of-n", **{name: x for name, x in SETTINGS.items() if name != missing})


def test_bad_problems():
    made, rng, world = b.make("k-of-n", **SETTINGS), default_rng(0), b.make_world("chain")
    before = rng.bit_generator.state
    for wrong in (world, world.mdp, b.make_world("gc")):
        with pytest.raises(InvalidArgument, match=r"'belief' must be a belief.*DirichletMDP.structured"):
            made.solve(wrong, rng)
    for wrong in (b.make_world("bernoulli").default_prior(), None, "chain", 3):
        with pytest.raises(Incompatible, match="sample_mdp"):
            made.solve(wrong, rng)
    for generator in (None, 0, "rng"):
        with pytest.raises(InvalidArgument, match="KOfN: 'rng' must be"):
            made.solve(b.DirichletMDP.flat(world), generator)
    with pytest.raises(InvalidArgument, match=r"KOfN: 'nodes' must be at least .*Lower 'horizon'"):
        b.make("k-of-n", k=1, n=2, horizon=9).solve(b.DirichletMDP.flat(world), rng)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    "given",
    [{"horizon": 0}, {"spread": -1.0}, {"spread": math.nan}, {"infosets": 0}, {"n_actions": 0}, {"delta": 0.0},
     {"delta": 1.5}, {"epsilon": 0.0}, {"epsilon": "small"}],
)  # fmt: skip
def test_bad_arguments_of_the_theorem(given):
    good = {"horizon": 2, "spread": 1.0, "infosets": 9, "n_actions": 2, "delta": 0.1, "epsilon": 0.1}
    with pytest.raises(InvalidArgument, match=f"k_of_n_iterations: '{next(iter(given))}' must be"):
        k_of_n_iterations(**good | given)


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_a_drawn_iteration_is_one_of_them(iterations):
    """The first one is uniform, and each of them comes."""
    belief, found = b.DirichletMDP.structured(b.make_world("machine-repair")), set()
    for seed in range(12):
        drawn = int(np.random.default_rng(seed).integers(iterations))
        solver = b.make("k-of-n", k=1, n=2, horizon=2, iterations=iterations, samples=2, strategy="random")
        solution = solver.solve(belief, np.random.default_rng(seed))
        found.add(drawn)
        uniform = np.allclose(solution.strategy, 1.0 / solution.strategy.shape[1])
        assert uniform == (drawn == 0)
    assert found == set(range(iterations))
