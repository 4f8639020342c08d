"""BOSS, SBOSS and SmartSampler: each against its pseudo-code in plain Python under the same random numbers."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp.optimism.pac_bounds import boss_knownness
from bayesrl.bamdp.sampling.merged_models import draw_merged, draws_short_rows, hyper_model, hyper_q, solve_each
from bayesrl.bamdp.sampling.sboss import distance_moved, moments_of
from bayesrl.bamdp.sampling.smart_sampler import sample_sizes
from bayesrl.beliefs import FiniteMDPs, RewardBeta, RewardNormal, UnknownRewards
from bayesrl.core import Transition, run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.lab.build import agent_for
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve

WORLD = b.make_world("chain", gamma=0.7)
Z = 3.89  # two-sided 1e-4


def flat():
    return b.DirichletMDP.flat(WORLD, default_rng(3).uniform(0.1, 0.6, (10, 5)))


def unknown():
    r = default_rng(4).uniform(0.5, 2.0, (2, 5, 2, 5))
    return UnknownRewards(flat(), RewardBeta(r[0], r[1]))


def tied():
    return b.DirichletMDP.structured(b.make_world("chain-semi", gamma=0.7), 0.5)


def terminal():
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.0, 1.0], [2.0, 0.5], [0, 0]], gamma=0.8, terminal=[2])
    return b.DirichletMDP.structured(mdp, 0.4)


BELIEFS = [flat, unknown, tied, terminal]


def naive_q(rows):
    """Value iteration with rows[s][a] a list of rows, a row a list of (p, r, s', gamma): the best of them counts."""
    S, Q = len(rows), None
    V = [0.0] * S
    for _ in range(10000):
        Q = [
            [max(sum(p * (r + g * V[y]) for p, r, y, g in row) for row in choices) for choices in rows[s]]
            for s in range(S)
        ]
        new = [max(q) for q in Q]
        gap, V = max(abs(x - y) for x, y in zip(new, V, strict=True)), new
        if gap < 1e-12:
            return np.array(Q)
    raise AssertionError("no convergence")


def row_of(m, s, a):
    if m.outcomes.terminal[s]:
        return [(1.0, 0.0, s, m.gamma)]
    g = m.group[s, a]
    return [(m.prob[g, k], m.reward[s, a, k], m.succ[s, a, k], m.gamma) for k in range(m.outcomes.size[g])]


def merged(models, number=None):
    """Which rows (s, a) may choose from: all models', or the first `number(s, a)` of them."""
    S, A = models[0].group.shape
    return [
        [[row_of(m, s, a) for m in models[: len(models) if number is None else number(s, a)]] for a in range(A)]
        for s in range(S)
    ]


def journey(prior, steps, seed):
    """Beliefs and transitions of an agent that acts at random in a model drawn from the prior."""
    rng = default_rng(seed)
    model, s, last, belief = prior.sample_mdp(rng), 0, None, prior
    for _ in range(steps):
        yield belief, s, last
        a = int(rng.integers(prior.n_actions))
        k = int(rng.choice(prior.outcomes.n_outcomes, p=model.prob[model.group[s, a]]))
        r = float(rng.random() < 0.5) if isinstance(prior, UnknownRewards) else float(model.reward[s, a, k])
        last = Transition(s, a, r, int(model.succ[s, a, k]))
        belief = belief.update(last)
        s = 0 if prior.outcomes.terminal[last.next_state] else last.next_state


def follows(planner, prior, steps, redraw):
    """The planner's q is that of the models that `redraw` draws, and changes when it draws; returns those times."""
    memory, rng, own, Q, drawn = planner.start(), default_rng(9), default_rng(9), None, []
    for t, (belief, s, last) in enumerate(journey(prior, steps, 5)):
        decision = planner.plan(belief, s, memory, rng, last)
        memory, rows = decision.memory, redraw(belief, last, own)
        if rows is not None:
            Q, drawn = naive_q(rows), [*drawn, t]
        np.testing.assert_allclose(decision.info["q"], Q[s], atol=1e-8)
        assert decision.action == np.argmax(decision.info["q"])
    return drawn


@pytest.mark.parametrize("prior", BELIEFS)
def test_boss_equals_its_transcription(prior):
    """K = 2, B = 3: new models at first and whenever the visits of a pair's row become 3, the data's alone."""
    visits, group = {}, prior().outcomes.group

    def redraw(belief, last, rng):
        if last is not None:
            row = int(group[last.state, last.action])
            visits[row] = visits.get(row, 0) + 1
        if last is not None and visits[row] != 3:
            return None
        return merged([belief.sample_mdp(rng) for _ in range(2)])

    drawn = follows(b.make("boss", samples=2, knownness=3), prior(), 40, redraw)
    assert 2 <= len(drawn) <= 1 + len(set(group.ravel().tolist()))


@pytest.mark.parametrize("prior", BELIEFS)
def test_sboss_equals_its_transcription(prior):
    """K = 2, delta = 2: new models when a row's means have moved by 2 of the deviations they were drawn with."""
    then = None

    def moments(belief):
        rows = belief.transitions if isinstance(belief, UnknownRewards) else belief
        for s, a in np.ndindex(5 if belief.n_states == 5 else 3, 2):
            n = rows.alpha[rows.group[s, a]]
            cells = [(x / n.sum(), x / n.sum() * (1 - x / n.sum()) / (n.sum() + 1)) for x in n if x > 0]
            if rows is not belief:
                x, y = belief.rewards.alpha[s, a], belief.rewards.beta[s, a]
                cells += list(zip(x / (x + y), x * y / ((x + y) ** 2 * (x + y + 1)), strict=True))
            yield cells

    def redraw(belief, last, rng):
        nonlocal then
        now = list(moments(belief))
        if then is not None:
            pairs = [zip(x, y, strict=True) for x, y in zip(then, now, strict=True)]
            if max(sum(abs(m2 - m1) / v1**0.5 for (m1, v1), (m2, _) in p if v1 > 0) for p in pairs) <= 2.0:
                return None
        then = now
        return merged([belief.sample_mdp(rng) for _ in range(2)])

    drawn = follows(b.make("sboss", samples=2, delta=2.0), prior(), 30, redraw)
    assert 2 <= len(drawn) < 30


@pytest.mark.parametrize("prior", BELIEFS)
def test_smart_sampler_equals_its_transcription(prior):
    """Each pair may choose among its own number of models; drawn anew at every step."""

    def redraw(belief, last, rng):
        rows = belief.transitions if isinstance(belief, UnknownRewards) else belief

        def number(s, a):
            n = rows.alpha[rows.group[s, a]]
            p = n / n.sum()
            most = max(p * (1 - p) / (n.sum() + 1))
            return 1 if rows.outcomes.terminal[s] else max(1, int(np.ceil(most / 0.02)))

        most = max(number(s, a) for s, a in np.ndindex(*rows.group.shape))
        return merged([belief.sample_mdp(rng) for _ in range(most)], number)

    assert len(follows(b.make("smart-sampler", epsilon=0.02), prior(), 10, redraw)) == 10


def test_models_that_list_different_numbers_of_outcomes_are_padded():
    """Action i A + a of the hyper-model does what action a does in model i, whatever the lists of the others."""
    short, long = ([[[1.0, 0.0, 0.0]]] * 3, [[[0.2, 0.3, 0.5]]] * 3)
    models = [TabularMDP.from_dense(P, [[1.0], [2.0], [3.0]], 0.9) for P in (short, long)]
    assert {m.outcomes.n_outcomes for m in models} == {1, 3}
    P, R = hyper_model(models).dense()
    np.testing.assert_allclose(P, np.concatenate([short, long], axis=1))
    np.testing.assert_allclose((P * R).sum(axis=2), [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


@pytest.mark.parametrize("prior", BELIEFS)
def test_hyper_model_dominates_each_model(prior):
    """V#(s) >= V_i(s), q#(s, a) >= q_i(s, a); with one model it is that model."""
    rng = default_rng(0)
    models = [prior().sample_mdp(rng) for _ in range(6)]
    q, values = hyper_q(prior(), np.full(prior().outcomes.n_groups, 6), None, default_rng(0))
    alone = [solve(m) for m in models]
    for one in alone:
        assert (values >= one.values - 1e-8).all()
        assert (q >= one.q - 1e-8).all()
    if prior in (flat, unknown):  # and more than the best of them, as each state may choose another
        assert (values > np.max([one.values for one in alone], axis=0) + 1e-3).any()
    np.testing.assert_allclose(solve(hyper_model(models[:1])).q, alone[0].q, atol=1e-8)
    assert hyper_model(models).n_actions == 6 * models[0].n_actions
    v, each = solve_each(models, values)
    np.testing.assert_allclose(v, [one.values for one in alone], atol=1e-8)
    np.testing.assert_allclose(each, [one.q for one in alone], atol=1e-8)


def test_models_of_any_shape_are_merged():
    """Finitely many MDPs need not list the same outcomes: BOSS takes them as they are."""
    P = [np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]]]), np.full((2, 2, 2), 0.5)]
    models = tuple(TabularMDP.from_dense(p, [[0.0, 1.0], [2.0, 0.0]], 0.8) for p in P)
    belief, rng = FiniteMDPs(models), default_rng(0)
    q = b.make("boss", samples=12).plan(belief, 0, None, rng).info["q"]
    np.testing.assert_allclose(q, naive_q(merged(models))[0], atol=1e-8)
    np.testing.assert_allclose(solve_each(models, None)[1], [solve(m).q for m in models], atol=1e-8)
    with pytest.raises(Incompatible, match="'pair_means'"):
        b.BayesAgent(belief, b.make("sboss"))


def large():
    """70 states, of which each action leads to four, one of them often; rewards of all triples; 300 random steps."""
    rng, S = default_rng(7), 70
    P = np.zeros((S, 2, S))
    for s, a in np.ndindex(S, 2):
        P[s, a, rng.choice(S, 4, replace=False)] = [0.7, 0.1, 0.1, 0.1]
    mdp, belief, s = TabularMDP.from_dense(P, rng.random((S, 2, S)), 0.9), None, 0
    belief = b.DirichletMDP.flat(mdp, 1 / S)
    for _ in range(300):
        a = int(rng.integers(2))
        y = int(rng.choice(S, p=P[s, a]))
        belief = belief.update(Transition(s, a, float(belief.reward[s, a, y]), y))
        s = y
    return belief


def dense_q(belief, sizes, rng):
    """Value iteration on the rows that are drawn for `sizes` models of each group, written out."""
    rows = np.repeat(np.arange(belief.outcomes.n_groups), sizes)
    P = np.zeros((len(rows), belief.n_states))
    for p, n, k, x in zip(P, *belief.sample_rows(rows, rng), strict=True):
        np.add.at(p, k[:n], x[:n])
    r = (P * belief.reward.reshape(-1, belief.n_states)[rows]).sum(axis=1)
    V, Q = np.zeros(belief.n_states), np.empty(len(sizes))
    for _ in range(400):
        Q[:] = -np.inf
        np.maximum.at(Q, rows, r + belief.gamma * P @ V)
        V = Q.reshape(-1, 2).max(axis=1)
    return Q.reshape(-1, 2)


def test_lists_are_the_models_they_stand_for():
    """From a flat belief over many states: the model of `sample_mdp`, its rewards, its solution."""
    belief = large()
    assert draws_short_rows(belief)
    drawn, whole = draw_merged(belief, np.ones(140, int), default_rng(1)), belief.sample_mdp(default_rng(1))
    assert drawn.outcomes.n_outcomes < 70
    np.testing.assert_allclose(drawn.matrix, whole.prob, atol=1e-15)
    np.testing.assert_allclose(drawn.mean_reward, whole.mean_reward, atol=1e-12)
    listed = np.einsum("sak,sak->sa", drawn.prob[drawn.group], drawn.reward)
    np.testing.assert_allclose(listed, whole.mean_reward, atol=1e-12)
    np.testing.assert_allclose(solve(drawn).q, solve(whole).q, atol=1e-8)
    np.testing.assert_allclose(solve(drawn).q, dense_q(belief, np.ones(140, int), default_rng(1)), atol=1e-8)


def test_each_pair_may_choose_among_as_many_lists_as_it_has():
    """One, two or three rows for a pair, none of them drawn in vain; from zero and from values given."""
    belief, rng = large(), default_rng(2)
    for sizes in (np.full(140, 3), rng.integers(1, 4, size=140)):
        Q = dense_q(belief, sizes, default_rng(3))
        for warm in (None, rng.random(70)):
            own = default_rng(3)
            q, values = hyper_q(belief, sizes, warm, own)
            np.testing.assert_allclose(q, Q, atol=1e-8)
            np.testing.assert_allclose(values, Q.max(axis=1), atol=1e-8)
            after = default_rng(3)
            belief.sample_rows(np.repeat(np.arange(140), sizes), after)
            assert own.random() == after.random()
        model = draw_merged(belief, sizes, default_rng(3))
        inside = np.arange(model.prob.shape[1]) < model.outcomes.size[:, None]
        assert (model.prob[~inside] == 0.0).all()
        assert (model.prob[inside] > 0.0).all()
        np.testing.assert_allclose(model.prob[: sizes.sum()].sum(axis=1), 1.0)
        assert model.outcomes.size[sizes.sum() :].tolist() == [0] * int(sizes.min() < sizes.max())


def test_planners_act_on_lists():
    """Each planner that draws models: its q is that of the rows it should have drawn."""
    belief, seen = large(), Transition(0, 0, 0.0, 1)
    one = np.ones(140, int)
    for name, params, sizes in [
        ("bayesian-dp", {}, one),
        ("boss", {"samples": 2}, 2 * one),
        ("sboss", {"samples": 2}, 2 * one),
        ("smart-sampler", {"epsilon": 0.02}, sample_sizes(belief, 0.02)),
    ]:
        q = b.make(name, **params).plan(belief, 5, None, default_rng(4), seen).info["q"]
        np.testing.assert_allclose(q, dense_q(belief, sizes, default_rng(4))[5], atol=1e-8)
    rng = default_rng(4)
    rng.random()  # whether the episode ends
    q = b.make("psrl").plan(belief, 5, None, default_rng(4)).info["q"]
    np.testing.assert_allclose(q, dense_q(belief, one, rng)[5], atol=1e-8)
    assert sample_sizes(belief, 0.02).max() > sample_sizes(belief, 0.02).min()


def test_number_of_samples_follows_the_variance():
    """Var = p (1 - p) / (n + 1): Beta(1, 1) has 1/12, which is 9 of .01; a known row is drawn once."""
    mdp = TabularMDP.from_dense([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.3, 0.7]]], np.zeros((2, 2)), 0.9)
    alpha = [[1.0, 1.0], [10.0, 10.0], [0.01, 0.01], [1.0, 1.0]]
    prior = b.DirichletMDP.structured(mdp, alpha, known=np.array([False, False, False, True]))
    assert sample_sizes(prior, 0.01).tolist() == [9, 2, 25, 1]
    assert b.make("smart-sampler", epsilon=0.01).plan(prior, 0, None, default_rng(0)).info["samples"].tolist() == [9, 2]


def test_unknown_rewards_move_the_posterior():
    """Where only rewards are unknown, SBOSS draws anew because of them; an infinite variance counts as no distance."""
    known = b.DirichletMDP.structured(WORLD, known=True)
    before = UnknownRewards(known, RewardBeta(np.ones((5, 2)), np.ones((5, 2))))
    after = before.update(Transition(0, 0, 1.0, 1))
    expected = np.zeros((5, 2))
    expected[0, 0] = (2 / 3 - 1 / 2) / np.sqrt(1 / 12)
    np.testing.assert_allclose(distance_moved(*moments_of(before), after.pair_means()), expected)
    planner, rng = b.make("sboss", delta=0.5), default_rng(0)
    first = planner.plan(before, 0, None, rng)
    assert planner.plan(before, 0, first.memory, rng).memory.q is first.memory.q
    assert planner.plan(after, 0, first.memory, rng).memory.q is not first.memory.q
    vague = UnknownRewards(known, RewardNormal.strens((5, 2)))
    assert distance_moved(*moments_of(vague), vague.update(Transition(0, 0, 3.0, 1)).pair_means()).max() == 0.0


def totals(method, world, runs, prior, **params):
    agent = agent_for(method, world, prior, params)
    return np.array([run(agent, world, 1000, seed=11, replicate=i).total for i in range(runs)])


def agrees(x, value, error):
    both = np.hypot(x.std(ddof=1) / np.sqrt(len(x)), error)
    assert abs(x.mean() - value) < Z * both, (
        f"{x.mean():.2f} against {value}, standard error of the difference {both:.2f}"
    )


def test_returns_of_public_code():
    """The code of BAMCP's author, standard errors and runs in brackets; false alarm 1e-4 each.

    SBOSS on the double-loop, K = 4, delta = 3: 371.2 (1.62, 30 runs); a shift of 12 is seen. On Grid5, K = 2: 45.4
    (1.5, not stated); 15. BOSS on the double-loop, B = 2, K = 2: 178.2 (34.1, 20 runs), K = 5: 188.9 (29.3, 20 runs);
    as most runs never find the long loop and the others soon, 200.
    """
    loop, grid = b.make_world("double-loop"), b.make_world("grid5")
    agrees(totals("sboss", loop, 10, "flat:1/9", samples=4, delta=3.0), 371.2, 1.62)
    agrees(totals("sboss", grid, 6, "flat:1/25", samples=2, delta=3.0), 45.4, 1.5)
    agrees(totals("boss", loop, 20, "flat:1/9", samples=2, knownness=2), 178.2, 34.057)
    agrees(totals("boss", loop, 20, "flat:1/9", samples=5, knownness=2), 188.9, 29.291)


@pytest.mark.long
def test_a_return_of_public_code_from_few_runs():
    """BOSS, K = 5, B = 10, on the double-loop: 360.4 (2.0) on a number of runs that is not stated, elsewhere 20 or 30.

    One run in twenty never finds the long loop and earns less than 220, the others 334 to 387. A sample of 20 has no
    such run with probability .4 and then a standard error near 2.0, which says nothing of what it missed: a test by
    both standard errors does not hold its level. What is asked of all our runs, none left out: do samples of 20 of them
    with a standard error of 2.0 or less lie above 360.4, and below, with probability .001 at least? 200 runs; simulated
    false alarm less than 1e-3; a shift of -5 or +10 is seen with probability .99.
    """
    x = totals("boss", b.make_world("double-loop"), 200, "flat:1/9", samples=5, knownness=10)
    samples = default_rng(0).choice(x, (20000, 20))
    means, narrow = samples.mean(axis=1), samples.std(axis=1, ddof=1) / np.sqrt(20) < 2.05
    assert ((means >= 360.4) & narrow).mean() > 0.001
    assert ((means <= 360.4) & narrow).mean() > 0.001


def test_knownness_by_theory():
    B = boss_knownness(5, 2, 0.7, 5)
    planner = b.make("boss", knownness="theory")
    assert planner._knownness(flat()) == B > 10**9
    memory, rng = None, default_rng(0)
    for belief, s, last in journey(flat(), 15, 1):
        new = planner.plan(belief, s, memory, rng, last).memory
        assert memory is None or new.q is memory.q
        memory = new


def test_a_theorem_that_asks_for_nothing_is_refused_at_once():
    ending = b.DirichletMDP.flat(TabularMDP.from_dense(np.full((2, 1, 2), 0.5), np.eye(2, 1), 1.0, terminal=[1]))
    with pytest.raises(InvalidArgument, match=r"boss_knownness: 'gamma' must be in \[0, 1\), got 1.0"):
        b.BayesAgent(ending, b.make("boss", knownness="theory"))


def test_more_models_than_there_is_memory_for_are_refused_at_once():
    """Var[P] = 1/5 4/5 / 6 = .02667 under a Dirichlet of ones over five states, a million models at most."""
    prior = b.DirichletMDP.flat(b.make_world("chain"), 1.0)
    for epsilon in (1e-100, 1e-99, 2.66e-8):
        with pytest.raises(InvalidArgument) as error:
            b.BayesAgent(prior, b.make("smart-sampler", epsilon=epsilon))
        expected = "at least 2.67e-08 with this belief, as at most 1000000 models are drawn"
        assert str(error.value) == f"SmartSampler: 'epsilon' must be {expected}, got {epsilon}."
        with pytest.raises(InvalidArgument):
            b.make("smart-sampler", epsilon=epsilon).plan(prior, 0, None, default_rng(0))
    assert sample_sizes(prior, 2.67e-8).max() == np.ceil(2 / 75 / 2.67e-8)


def test_bad_arguments():
    whole = "'knownness' must be a whole number of at least 1"
    for name, params, sentence in [
        ("boss", {"samples": 0}, "BOSS: 'samples' must be a whole number of at least 1, got 0."),
        ("boss", {"knownness": "always"}, "BOSS: 'knownness' must be a whole number or \"theory\", got 'always'."),
        ("boss", {"knownness": np.array([1, 2])}, f"BOSS: {whole}, got an array of shape (2,)."),
        ("boss", {"knownness": np.array(["theory", "x"])}, f"BOSS: {whole}, got an array of shape (2,)."),
        ("boss", {"knownness": 2.0}, f"BOSS: {whole}, got 2.0."),
        ("boss", {"knownness": True}, f"BOSS: {whole}, got True."),
        (
            "sboss",
            {"samples": np.array([1, 2])},
            f"SBOSS: {whole.replace('knownness', 'samples')}, got an array of shape (2,).",
        ),
        ("sboss", {"delta": np.inf}, "SBOSS: 'delta' must be at least 0, got inf."),
        ("sboss", {"delta": -1}, "SBOSS: 'delta' must be at least 0, got -1."),
        ("smart-sampler", {"epsilon": 0}, "SmartSampler: 'epsilon' must be greater than 0, got 0."),
    ]:
        with pytest.raises(InvalidArgument) as error:
            b.make(name, **params)
        assert str(error.value) == sentence
