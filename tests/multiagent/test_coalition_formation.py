"""Coalitions against enumeration in exact arithmetic: posteriors, values, look-ahead, value of information."""

from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import Transition
from bayesrl.errors import BayesRLError, ImpossibleEvidence, InvalidArgument
from bayesrl.multiagent import CoalitionFormation, CoalitionProblem, TypeBelief
from bayesrl.testing import check_belief

TYPES = (1, 2, 3)
REWARDS = [[0, 1, 3], [-1, 0, 8]]
MARGINALS = [[F(1)], [F(1, 4), F(3, 4)], [F(1, 2), F(1, 3), F(1, 6)]]


def law(action, types):
    """Failure, partial success, success, in fractions. The order of the members matters a little."""
    able = 1 + sum((i + 1) * t for i, t in enumerate(types))
    p = F(able, able + 2 + 3 * action)
    return [(1 - p) ** 2, 2 * p * (1 - p), p * p]


def problem(me=0, gamma=1.0, types=TYPES):
    return CoalitionProblem(types, lambda a, t: [float(p) for p in law(a, t)], np.array(REWARDS, float), me, gamma)


def prior(**kw):
    return TypeBelief.independent(problem(**kw), [[float(p) for p in row] for row in MARGINALS])


# The oracle: dictionaries of fractions over full profiles ------------------------------------------------------------


def start():
    profiles = product(*map(range, TYPES))
    return {t: MARGINALS[0][t[0]] * MARGINALS[1][t[1]] * MARGINALS[2][t[2]] for t in profiles}


def options(me=0, n=3):
    subsets = [c for k in range(1, n + 1) for c in combinations(range(n), k) if me in c]
    return [(c, a) for c in subsets for a in range(len(REWARDS))]


def chance(option, t):
    return law(option[1], tuple(t[i] for i in option[0]))


def share(option, t):
    return sum(p * r for p, r in zip(chance(option, t), REWARDS[option[1]], strict=True)) / F(len(option[0]))


def after(belief, option, o):
    weights = {t: w * chance(option, t)[o] for t, w in belief.items()}
    total = sum(weights.values())
    return total, {t: w / total for t, w in weights.items()} if total else None


def value_of(belief, option, depth=1, gamma=1, among=None):
    now = sum(w * share(option, t) for t, w in belief.items())
    if depth == 1:
        return now
    among, later = among or options(), 0
    for o in range(3):
        p, posterior = after(belief, option, o)
        later += p * max(value_of(posterior, other, depth - 1, gamma, among) for other in among)
    return now + gamma * later


def vpi_of(belief):
    q = {m: value_of(belief, m) for m in options()}
    ranked = sorted(q.values(), reverse=True)
    best = max(q, key=q.get)
    gain = {}
    for m in options():
        if m == best:
            gain[m] = sum(w * max(ranked[1] - share(m, t), 0) for t, w in belief.items())
        else:
            gain[m] = sum(w * max(share(m, t) - ranked[0], 0) for t, w in belief.items())
    return gain


def info(belief, **kw):
    agent = b.make("coalition-formation", prior=belief, **kw)
    return agent.act(agent.start(), None, default_rng(0))


def equal(x, exact):
    np.testing.assert_allclose(x, [float(y) for y in exact], rtol=1e-12, atol=1e-12)


# Values --------------------------------------------------------------------------------------------------------------


def test_values_equal_enumeration():
    """Expected shares and VPI of all options, at the prior and after two outcomes."""
    belief, exact = prior(), start()
    for option, o in (None, None), (((0, 1, 2), 1), 2), (((0, 2), 0), 0):
        if option is not None:
            belief, exact = belief.update((*option, o)), after(exact, option, o)[1]
        for choose in ("myopic", "vpi"):
            decision = info(belief, choose=choose)
            assert list(decision.info["options"]) == options()
            q = [value_of(exact, m) for m in options()]
            vpi = list(vpi_of(exact).values())
            equal(decision.info["q"], q)
            equal(decision.info["vpi"], vpi)
            score = [x + y for x, y in zip(q, vpi, strict=True)] if choose == "vpi" else q
            assert decision.action == options()[score.index(max(score))]
    assert max(vpi) > 0


@pytest.mark.parametrize("depth, gamma", [(1, F(1)), (2, F(1)), (2, F(9, 10)), (2, F(0))])
def test_lookahead_equals_expectimax_in_fractions(depth, gamma):
    found = info(prior(gamma=float(gamma)), choose="lookahead", depth=depth).info["q"]
    equal(found, [value_of(start(), m, depth, gamma) for m in options()])


@pytest.mark.parametrize("gamma", [F(1), F(9, 10)])
def test_three_rounds_of_two_agents(gamma):
    """Agents 0 and 2 of the problem alone: four options, so that fractions are fast to depth 3."""
    two = problem(types=(1, 3), gamma=float(gamma))
    belief = TypeBelief.independent(two, [[1.0], [float(p) for p in MARGINALS[2]]])
    among = [m for m in options() if m[0] in ((0,), (0, 2))]
    found = info(belief, choose="lookahead", depth=3).info["q"]
    equal(found, [value_of(start(), m, 3, gamma, among) for m in among])


def test_looking_further_never_lowers_the_value():
    belief = prior()
    best = [info(belief, choose="lookahead", depth=d).info["q"].max() / d for d in (1, 2, 3)]
    assert best[0] <= best[1] + 1e-12
    assert best[1] <= best[2] + 1e-12


def test_information_has_no_value_where_types_are_known():
    belief = TypeBelief.independent(problem(), [[1.0], [0.0, 1.0], [0.0, 0.0, 1.0]])
    one, two = (info(belief, choose=choose, depth=3).info for choose in ("myopic", "lookahead"))
    np.testing.assert_allclose(two["q"], one["q"] + 2 * one["q"].max())
    assert not one["vpi"].any()


def test_one_option_has_no_rival():
    alone = CoalitionProblem([2], lambda a, t: [1.0 - t[0] / 2, t[0] / 2], [[0.0, 1.0]])
    assert info(TypeBelief.uniform(alone), choose="vpi").info["vpi"].tolist() == [0.0]


# Beliefs -------------------------------------------------------------------------------------------------------------


def test_types_become_dependent():
    """The joint posterior is the enumerated one, and it is not the product of its marginals."""
    belief = prior().update(((0, 1, 2), 1, 2))
    exact = after(start(), ((0, 1, 2), 1), 2)[1]
    for t, w in exact.items():
        assert belief.joint[t] == pytest.approx(float(w), abs=1e-14)
    for i in range(3):
        want = [float(sum(w for t, w in exact.items() if t[i] == k)) for k in range(TYPES[i])]
        np.testing.assert_allclose(belief.marginal(i), want, atol=1e-14)
    product_of_marginals = np.multiply.outer(belief.marginal(1), belief.marginal(2))
    assert np.abs(belief.joint[0] - product_of_marginals).max() > 0.01
    # Decisions need it: a product of marginals predicts the next outcome of the same coalition wrongly.
    factored = TypeBelief(belief.problem, product_of_marginals[None])
    gap = belief.predictive((0, 1, 2), 1) - factored.predictive((0, 1, 2), 1)
    exact_next = [float(after(exact, ((0, 1, 2), 1), o)[0]) for o in range(3)]
    np.testing.assert_allclose(belief.predictive((0, 1, 2), 1), exact_next, atol=1e-14)
    assert np.abs(gap).max() > 1e-3


def test_a_transition_is_read_as_its_outcome():
    belief = prior()
    left = belief.update(((2, 0), 1, 2))  # members in any order
    right = belief.update(Transition(0, ((0, 2), 1), 4.0, 2))
    assert left == right == belief.update(Transition(0, 5, 4.0, 2))  # the number of the option
    agent = CoalitionFormation(belief)
    assert agent.learn(agent.start(), Transition(0, ((0, 2), 1), 4.0, 2), default_rng(0)) == left


def test_labels_and_me_are_those_of_the_caller():
    """Labels reach the function; agent 1 sees its own coalitions."""
    seen = set()

    def outcome(action, types):
        seen.add(types)
        return [1.0, 0.0] if "weak" in types else [0.0, 1.0]

    two = CoalitionProblem([["weak", "strong"], ["strong"]], outcome, [[0.0, 1.0]], me=1)
    assert two.coalitions == ((1,), (0, 1))
    assert seen == {("strong",), ("weak", "strong"), ("strong", "strong")}
    assert two.types == (2, 1)
    assert two.payoffs.tolist() == [[1.0, 0.0], [1.0, 0.5]]


class TypesProbe:
    """Truths are profiles; options of data are uniform; the quantities are indicators of single types."""

    def draw(self, belief, rng):
        return belief.sample(rng)

    def datum(self, belief, theta, rng):
        m = int(rng.integers(len(belief.problem.options)))
        flat = int(np.ravel_multi_index(theta, belief.joint.shape))
        o = int(rng.choice(belief.problem.rewards.shape[1], p=belief.problem.laws[m, flat]))
        return (*belief.problem.options[m], o)

    def read(self, belief, theta):
        return np.concatenate([np.eye(T)[t] for t, T in zip(theta, belief.joint.shape, strict=True)])

    def expect(self, belief):
        return np.concatenate([belief.marginal(i) for i in range(belief.joint.ndim)])


def test_belief_laws():
    # False-alarm rate 1e-6 for each statistical law.
    check_belief(prior(), TypesProbe(), rng=default_rng(3))


def test_impossible_outcomes_are_refused():
    sure = CoalitionProblem([2, 2], lambda a, t: [1.0, 0.0] if 0 in t else [0.0, 1.0], [[0.0, 1.0]])
    belief = TypeBelief.independent(sure, [[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(ImpossibleEvidence, match="no type profile allows this outcome"):
        belief.update(((0, 1), 0, 1))
    assert belief == TypeBelief.independent(sure, [[1.0, 0.0], [0.5, 0.5]])


# Tables and limits ---------------------------------------------------------------------------------------------------


def test_the_tables_of_a_problem():
    """Outcomes, laws and payoffs of agent 2, for every option and profile; a table is taken as it is."""
    two = problem(me=2, gamma=0.9)
    among = [(c, a) for c in ((2,), (0, 2), (1, 2), (0, 1, 2)) for a in (0, 1)]
    assert list(two.options) == among == options(me=2)
    profiles = list(product(*map(range, TYPES)))
    for m, (members, a) in enumerate(among):
        for t, profile in enumerate(profiles):
            expected = [float(p) for p in law(a, tuple(profile[i] for i in members))]
            np.testing.assert_allclose(two.laws[m, t], expected, rtol=1e-12)
            assert two.payoffs[t, m] == pytest.approx(float(share((members, a), profile)), rel=1e-12)
            assert two.option("f", members[::-1], a) == two.read("f", (list(members), a)) == two.read("f", m) == m
    again = CoalitionProblem(TYPES, two.outcome, np.array(REWARDS, float), 2, 0.9)
    assert again == two
    for wrong in (two.outcome[:, :, :, ::-1] * [1.0, 1.0, 1.1], -two.outcome):
        with pytest.raises(InvalidArgument, match="'outcome' must be"):
            CoalitionProblem(TYPES, wrong, np.array(REWARDS, float), 2)
    for action in (-1, 8, (0,), ((0, 2), 0, 0), True, "ab"):
        with pytest.raises(InvalidArgument, match=r"f: '(action|coalition)' must be"):
            two.read("f", action)
    for coalition in ((0, True), (0, 1), (2, 2), (2, 3), (2, 0.0), ()):
        with pytest.raises(InvalidArgument, match="f: 'coalition' must be different agents from 0 to 2, among them 2"):
            two.option("f", coalition, 0)
    for action in (-1, 2):
        with pytest.raises(InvalidArgument, match="f: 'action' must be a whole number of at least 0 and at most 1"):
            two.option("f", (2,), action)


def test_beliefs_about_types_by_sums():
    """Uniform and independent priors, marginals and predictions of a joint with no structure, and its draws."""
    rng = default_rng(6)
    joint = rng.dirichlet(np.ones(6)).reshape(TYPES)
    belief = TypeBelief(problem(), joint)
    for i in range(3):
        want = [sum(joint[t] for t in product(*map(range, TYPES)) if t[i] == k) for k in range(TYPES[i])]
        np.testing.assert_allclose(belief.marginal(i), want)
    for option in options():
        want = sum(joint[t] * np.array([float(p) for p in chance(option, t)]) for t in product(*map(range, TYPES)))
        np.testing.assert_allclose(belief.predictive(*option), want)
    ours, theirs = default_rng(7), default_rng(7)
    for _ in range(20):
        flat = theirs.choice(6, p=joint.ravel())
        assert belief.sample(ours) == (0, flat // 3, flat % 3)
    np.testing.assert_allclose(TypeBelief.uniform(problem()).joint, np.full(TYPES, 1 / 6))
    nearly = TypeBelief.independent(problem(), [[1.0], [0.25, 0.75], [0.5, 0.3, 0.2 + 5e-10]])  # sums are made exact
    assert nearly.joint.sum() == pytest.approx(1.0, abs=1e-15)
    with pytest.raises(InvalidArgument, match="'agent' must be a whole number of at least 0 and at most 2"):
        belief.marginal(-1)


def test_the_largest_problem_and_the_deepest_look(monkeypatch):
    """Two coalitions, one action, four profiles and two outcomes are 16 entries; later rounds multiply."""
    from bayesrl.beliefs.games import coalitions as _coalitions
    from bayesrl.multiagent import coalition_formation

    for most, fits in ((16, True), (15, False)):
        monkeypatch.setattr(_coalitions, "MOST", most)
        if fits:
            assert make().outcome.size == 16
        else:
            with pytest.raises(InvalidArgument, match="'types' must be so few that coalitions"):
                make()
    monkeypatch.setattr(_coalitions, "MOST", 1000)
    M, N, O = prior().problem.laws.shape
    for depth in (1, 2, 3):
        entries = (M * O) ** (depth - 1) * N
        monkeypatch.setattr(coalition_formation, "MOST", entries + 0.5)
        CoalitionFormation(prior(), "lookahead", depth)
        monkeypatch.setattr(coalition_formation, "MOST", entries - 0.5)
        CoalitionFormation(prior(), "vpi", depth)
        with pytest.raises(InvalidArgument, match="'depth' must be so small that look-ahead visits"):
            CoalitionFormation(prior(), "lookahead", depth)


# Bad input -----------------------------------------------------------------------------------------------------------


def half(action, types):
    return [0.5, 0.5]


def make(types=(2, 2), outcome=half, rewards=((0.0, 1.0),), **kw):
    return CoalitionProblem(types, outcome, rewards, **kw)


BELIEF = TypeBelief.uniform(make())
BAD = {
    "no agents": ("types", lambda: make(())),
    "types of nobody": ("types", lambda: make(3)),
    "no type": ("types", lambda: make((2, 0))),
    "no label": ("types", lambda: make((2, []))),
    "text for types": ("types", lambda: make("ab")),
    "types of NaN": ("types", lambda: make((2, float("nan")))),
    "too many": ("types", lambda: make((50,) * 20)),
    "outcome is no function": ("outcome", lambda: make(outcome=0.5)),
    "outcome fails": ("outcome", lambda: make(outcome=lambda a, t: 1 / 0)),
    "outcomes do not sum to one": ("outcome", lambda: make(outcome=lambda a, t: [0.5, 0.4])),
    "outcomes of another number": ("outcome", lambda: make(outcome=lambda a, t: [1.0])),
    "negative outcomes": ("outcome", lambda: make(outcome=lambda a, t: [1.5, -0.5])),
    "NaN among outcomes": ("outcome", lambda: make(outcome=lambda a, t: [float("nan"), 1.0])),
    "no outcomes": ("outcome", lambda: make(outcome=lambda a, t: None)),
    "a table of another shape": ("outcome", lambda: make(outcome=np.ones((2, 2)))),
    "rewards of one action without its axis": ("rewards", lambda: make(rewards=(0.0, 1.0))),
    "NaN among rewards": ("rewards", lambda: make(rewards=((0.0, float("nan")),))),
    "text for rewards": ("rewards", lambda: make(rewards="x")),
    "me is nobody": ("me", lambda: make(me=2)),
    "me is negative": ("me", lambda: make(me=-1)),
    "me is text": ("me", lambda: make(me="x")),
    "discount": ("gamma", lambda: make(gamma=1.5)),
    "marginals do not sum to one": ("marginals", lambda: TypeBelief.independent(make(), [[0.5, 0.5], [0.5, 0.4]])),
    "negative marginals": ("marginals", lambda: TypeBelief.independent(make(), [[0.5, 0.5], [1.5, -0.5]])),
    "zero counts": ("marginals", lambda: TypeBelief.independent(make(), [[0.5, 0.5], [0.0, 0.0]])),
    "marginals of one agent": ("marginals", lambda: TypeBelief.independent(make(), [[0.5, 0.5]])),
    "marginals of other types": ("marginals", lambda: TypeBelief.independent(make(), [[0.5, 0.5], [1.0]])),
    "no marginals": ("marginals", lambda: TypeBelief.independent(make(), None)),
    "no problem": ("problem", lambda: TypeBelief.independent(None, [[1.0]])),
    "uniform without a problem": ("problem", lambda: TypeBelief.uniform(3)),
    "a joint of another shape": ("joint", lambda: TypeBelief(make(), np.full(4, 0.25))),
    "a joint that does not sum to one": ("joint", lambda: TypeBelief(make(), np.full((2, 2), 0.2))),
    "a belief without a problem": ("problem", lambda: TypeBelief("x", np.ones(1))),
    "a coalition without me": ("coalition", lambda: BELIEF.update(((1,), 0, 0))),
    "an empty coalition": ("coalition", lambda: BELIEF.update(((), 0, 0))),
    "a member twice": ("coalition", lambda: BELIEF.update(((0, 0), 0, 0))),
    "a member that is none": ("coalition", lambda: BELIEF.update(((0, 2), 0, 0))),
    "a member that is text": ("coalition", lambda: BELIEF.update(("0", 0, 0))),
    "a coalition that is a number": ("coalition", lambda: BELIEF.update((0, 0, 0))),
    "an action that is none": ("action", lambda: BELIEF.update(((0,), 1, 0))),
    "an outcome that is none": ("outcome", lambda: BELIEF.update(((0,), 0, 2))),
    "a negative outcome": ("outcome", lambda: BELIEF.update(((0,), 0, -1))),
    "a datum of two": ("datum", lambda: BELIEF.update(((0,), 0))),
    "no datum": ("datum", lambda: BELIEF.update(None)),
    "a transition without a coalition": ("action", lambda: BELIEF.update(Transition(0, "x", 0.0, 0))),
    "an option that is none": ("action", lambda: BELIEF.update(Transition(0, 2, 0.0, 0))),
    "an agent that is none": ("agent", lambda: BELIEF.marginal(2)),
    "no prior": ("prior", lambda: b.make("coalition-formation", prior=None)),
    "another prior": ("prior", lambda: b.make("coalition-formation", prior=[0.5, 0.5])),
    "an unknown way to choose": ("choose", lambda: b.make("coalition-formation", prior=BELIEF, choose="greedy")),
    "depth 0": ("depth", lambda: b.make("coalition-formation", prior=BELIEF, choose="lookahead", depth=0)),
    "depth of text": ("depth", lambda: b.make("coalition-formation", prior=BELIEF, depth="x")),
    "a depth without end": ("depth", lambda: b.make("coalition-formation", prior=BELIEF, choose="lookahead", depth=50)),
    "a mind of another kind": ("mind", lambda: CoalitionFormation(BELIEF).act(None, 0, default_rng(0))),
    "nothing to learn": ("transition", lambda: CoalitionFormation(BELIEF).learn(BELIEF, None, default_rng(0))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_in_one_sentence(name):
    before = BELIEF.joint.copy()
    argument, call = BAD[name]
    with pytest.raises(InvalidArgument) as error:
        call()
    assert isinstance(error.value, BayesRLError)
    assert f": '{argument}' must be" in str(error.value)
    assert error.value.__cause__ is None or name == "outcome fails"  # checked, not found after a failure
    assert "\n" not in str(error.value)
    np.testing.assert_array_equal(BELIEF.joint, before)
