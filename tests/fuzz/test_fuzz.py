"""Nonsense gets a result or one of our own errors: a short fuzz, drawn parameters, and the calls that once went wrong.

`python tests/fuzz/fuzz.py each` takes minutes and is run by hand.
"""

# ruff: noqa: E501
import importlib.util
import inspect
import signal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.typing import ArrayLike

import bayesrl as b
from bayesrl import checks
from bayesrl.beliefs import RewardBeta, RewardDirichlet, RewardNormal, RowColumnBeta, SparseDirichletMDP
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.core import Transition
from bayesrl.errors import BayesRLError, InvalidArgument
from bayesrl.models.policy import TabularPolicy
from bayesrl.parameters import declarations
from bayesrl.registry import entries

_spec = importlib.util.spec_from_file_location("fuzz", Path(__file__).with_name("fuzz.py"))
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)

CHAIN = b.make_world("chain")
HUGE, SMALL = (
    "Numbers beyond 1e+100 are refused, because their sums and squares overflow.",
    "Positive numbers below 1e-100 are refused, because their reciprocals overflow.",
)


def test_a_short_fuzz_finds_nothing():
    assert fuzz.fuzz(fuzz.drawn_calls(1500, seed=11)) == ([], 1500)


@pytest.mark.long
def test_fifty_thousand_calls_find_nothing():
    assert fuzz.fuzz(fuzz.drawn_calls(50_000, seed=0)) == ([], 50_000)


@pytest.mark.long
def test_what_accepts_an_odd_argument_works_with_it():
    findings, made = fuzz.fuzz(fuzz.odd_instances())
    assert findings == []
    assert made > 10_000


def _shout(n=0):
    if n == 0:
        raise KeyError("not ours")
    return np.nan


@pytest.mark.parametrize(("given", "what"), [({"n": 0}, "KeyError"), ({"n": 1}, "NaN in the result")])
def test_the_fuzz_sees_foreign_errors_and_nan(given, what):
    assert fuzz.attempt("shout", _shout, given).what.startswith(what)


def test_the_fuzz_sees_hangs(monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 0.05)

    def hangs():
        while True:
            pass

    assert fuzz.attempt("hangs", hangs, {}).what.startswith("TooLong")
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0


# Parameters as they are declared -------------------------------------------------------------------------------------

DECLARED = {name: e.factory for name, e in entries().items() if inspect.isclass(e.factory) and declarations(e.factory)}
ODD = st.one_of(
    st.none(), st.text(max_size=3), st.booleans(), st.floats(), st.integers(), st.complex_numbers(), st.binary(max_size=2),
    st.lists(st.floats(), max_size=3), st.dictionaries(st.text(max_size=1), st.integers(), max_size=2),
)  # fmt: skip


def drawn(declaration):
    """Values near what is declared, and anything else."""
    bounds, kinds = declaration.bounds, [ODD]
    kinds += [st.sampled_from([*declaration.words])] if declaration.words else []
    for edge in (bounds.low, bounds.high):
        if np.isfinite(edge):
            kinds.append(st.sampled_from([edge, int(edge), np.nextafter(edge, np.inf), np.nextafter(edge, -np.inf)]))
    if declaration.kind is np.ndarray:
        kinds.append(st.lists(st.floats(), min_size=1, max_size=3).map(np.array))
    return st.one_of(kinds)


@pytest.mark.parametrize("name", DECLARED)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_constructor_works_or_says_what_is_wrong(name, data):
    """Every parameter by itself, the others as in an example or by default: nothing but our own errors comes out."""
    entry, factory = entries()[name], DECLARED[name]
    made = fuzz.example(entry)
    told = declarations(factory)
    good = {d.name: getattr(made, d.name) for d in told} if made is not None else {}
    good = {k: v for k, v in good.items() if k in entry.parameters}
    one = data.draw(st.sampled_from([d for d in told if d.name in entry.parameters]))
    with np.errstate(all="ignore"):
        try:
            factory(**good | {one.name: data.draw(drawn(one))})
        except BayesRLError:
            pass
        except TypeError as wrong:  # Python's own, about arguments that were left out
            if "missing" not in str(wrong):
                raise


# What arithmetic cannot carry ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda c: b.DirichletMDP.flat(CHAIN, c),
        lambda c: b.DirichletMDP.structured(b.make_world("chain-tied"), c),
        lambda c: b.DirichletMDP(CHAIN.mdp.outcomes.flat(), np.full((10, 5), c), 0.9),
        lambda c: SparseDirichletMDP.flat(CHAIN, c),
        lambda c: BetaBernoulli(np.full(2, c), np.ones(2)),
        lambda c: BetaBernoulli(np.ones(2), np.full(2, c)),
        lambda c: NormalArm(np.zeros(2), np.full(2, c)),
        lambda c: NormalArm(np.zeros(2), np.ones(2), noise=c),
        lambda c: RewardBeta(np.full((5, 2), c), np.ones((5, 2))),
        lambda c: RewardDirichlet(np.array([0.0, 1.0]), np.full((5, 2, 2), c)),
        lambda c: RewardNormal(np.zeros((5, 2)), *(np.full((5, 2), c) for _ in range(3))),
        lambda c: RowColumnBeta(rows=(c, 1.0)),
    ],
)
def test_counts_that_arithmetic_cannot_carry_are_refused(make):
    for count in (1e308, 1e101, 1e-310):
        with pytest.raises(InvalidArgument) as refused:
            make(count)
        assert str(refused.value).endswith(f"got {count}. {HUGE if count > 1.0 else SMALL}")


@pytest.mark.parametrize("count", [1e100, 1e-100])
@pytest.mark.parametrize("name", ["bamcp", "bfs3"])
def test_searches_survive_the_most_extreme_counts(name, count):
    """`bamcp` and `bfs3` once crashed the interpreter on counts whose rows overflow."""
    belief = b.DirichletMDP.flat(CHAIN, count)
    with np.errstate(all="ignore"):
        assert b.make(name, simulations=50, depth=5).plan(belief, 0, None, default_rng(0)).action in (0, 1)
    assert np.isfinite(belief.mean_mdp().prob).all()
    assert np.isfinite(belief.sample_mdp(default_rng(0)).prob).all()
    assert np.isfinite(belief.row_variance()).all()


@pytest.mark.parametrize("reward", [1e308, -1e101, 10**400])
def test_rewards_that_arithmetic_cannot_carry_are_refused(reward):
    with pytest.raises(InvalidArgument, match=r"NormalArm.update: 'reward' must be"):
        NormalArm(np.zeros(2), np.ones(2)).update(Transition(0, 1, reward, 0))


# The bad calls of the audit ------------------------------------------------------------------------------------------


class Undiscounted:
    """A world that does not say its discount."""

    gamma = None

    def reset(self, rng):
        return 0, 0

    def step(self, state, action, rng):
        return 0, 0.0, 0, False


ARMS = b.BayesAgent(BetaBernoulli.uniform(2), b.make("thompson"))
TABLE = b.make("q-learning", n_states=2, n_actions=2, gamma=0.9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: BetaBernoulli.uniform(2).update(Transition(0, 0, "1", 0)), "BetaBernoulli.update: 'reward' must be a finite number, got '1'."),
        (lambda: BetaBernoulli.uniform(2).update([]), "BetaBernoulli.update: 'datum' must be a Transition, got []."),
        (lambda: b.DirichletMDP.flat(CHAIN).update(Transition(0, 0, "x", 0)), "DirichletMDP.update: 'reward' must be a finite number, got 'x'."),
        (lambda: b.make([]), "make: 'name' must be the name of a method or a world, got []."),
        (lambda: b.LiveAgent(ARMS).warm_start(None), "LiveAgent.warm_start: 'log' must be transitions, a record, or columns observation, action, reward, next_observation, got None."),
        (lambda: b.LiveAgent(ARMS).warm_start({}, context=3), "LiveAgent.warm_start: 'context' must be names of columns, got 3."),
        (lambda: BetaBernoulli.uniform(2).quantile(1.5), "BetaBernoulli.quantile: 'p' must be in [0, 1], got 1.5."),
        (lambda: BetaBernoulli.uniform(2).batch(2**70), "BetaBernoulli.batch: 'replicates' must be a whole number of at least 1 and at most 50000000, got 1180591620717411303424."),
        (lambda: b.make("bamcp", simulations=2**70), "BAMCP: 'simulations' must be a whole number of at most 9223372036854775807, got 1180591620717411303424."),
        (lambda: b.run(ARMS, b.make_world("bernoulli"), steps=2**70), "run: 'steps' must be a whole number of at most 9223372036854775807, got 1180591620717411303424."),
        (lambda: b.DirichletMDP.flat(CHAIN).simulate(-1), "DirichletMDP.simulate: 'depth' must be a whole number of at least 0 and at most 10000000, got -1."),
        (lambda: b.DirichletMDP.flat(CHAIN).predictive_row(9, 0), "DirichletMDP.predictive_row: 'state' must be a whole number from 0 to 4, got 9."),
        (lambda: b.DirichletMDP.flat(CHAIN).sample_rows(np.array([0]), default_rng(0)), "DirichletMDP.sample_rows: 'belief' must be one that draws_short_rows, got DirichletMDP(states=5, actions=2, groups=10, outcomes=5, seen=0, gamma=0.95)."),
        (lambda: ARMS.act(3, None, default_rng(0)), "BayesAgent.act: 'mind' must be one that start, act or learn gave, got 3."),
        (lambda: TABLE.act(np.full((2, 2, 2), 0.5), 0, default_rng(0)), "QLearning: 'mind' must be an array of floats of shape (2, 2), got an array of shape (2, 2, 2)."),
        (lambda: TABLE.act(np.eye(2, dtype=np.float32), 0, default_rng(0)), "QLearning: 'mind' must be an array of floats of shape (2, 2), got an array of shape (2, 2)."),
        (lambda: TABLE.learn(np.ones((2, 3)), Transition(0, 0, 0.0, 0), default_rng(0)), "QLearning: 'mind' must be an array of floats of shape (2, 2), got an array of shape (2, 3)."),
        (lambda: b.make("value-of-information").draw(b.DirichletMDP.flat(CHAIN), np.array(3), default_rng(0)), "solve_each: 'warm' must be an array of shape (5,), got 3."),
        (lambda: b.bandits.finite_horizon_index([1, 2, 3], 1, [1, 2]), "finite_horizon_index: 'alpha, beta, horizon' must be arrays whose shapes broadcast, got [(3,), (), (2,)]."),
        (lambda: b.bandits.finite_horizon_index(1, 1, 1e9), "finite_horizon_index: 'horizon' must be a whole number of at most 1000000, got 1000000000.0."),
        (lambda: b.bandits.finite_horizon_index(1e308, 1, 2), f"finite_horizon_index: 'alpha' must be of moderate size everywhere, got 1e+308. {HUGE}"),
        (lambda: b.bandits.gittins_index(1, 1, 0.999999), "gittins_index: 'gamma' must be so far below 1 that no more than 1000000 plays ahead matter, got 0.999999."),
        (lambda: b.bandits.gittins_index(1, 1, 1.0 - 1e-16), "gittins_index: 'gamma' must be so far below 1 that no more than 1000000 plays ahead matter, got 0.9999999999999999."),
        (lambda: b.bandits.gittins_index_normal(0, 1, 1.0 - 1e-12), "gittins_index_normal: 'gamma' must be so far below 1 that no more than 1000000 plays ahead matter, got 0.999999999999."),
        (lambda: b.make("bamcp").plan(b.DirichletMDP.flat(CHAIN), 0, None, default_rng(0), Transition(0, 0, "1", 0)), "plan: 'reward' must be a finite number, got '1'."),
        (lambda: b.make("softmax", temperature=1e-320), f"Softmax: 'temperature' must be greater than 0, got 1e-320. {SMALL}"),
        (lambda: b.make("bayesian-q-learning", n_states=2, n_actions=2, gamma=0.9, shape=1e10), "BayesianQLearning: 'shape' must be in (1, 1e+09], got 10000000000.0."),
        (lambda: b.bandits.bandit_bounds([0.1, 0.2], 3, belief=3), "bandit_bounds: 'belief' must be a belief about arms that knows its best arm, got 3."),
        (lambda: b.bandits.bayes_optimal_value([["a", 1.0]], 2), "bayes_optimal_value: 'arms' must be a belief with finitely many outcomes, such as BetaBernoulli, or pairs (alpha, beta), got [['a', 1.0]]."),
        (lambda: b.DirichletMDP(CHAIN.mdp.outcomes.flat(), np.ones((10, 5)), 0.9, known=[[1], [2, 3]]), "DirichletMDP: 'known' must be an array of 10 truth values, got [[1], [2, 3]]."),
        (lambda: SparseDirichletMDP.flat(CHAIN).update(Transition(0, 0, 10**400, 0)), "SparseDirichletMDP.update: 'reward' must be a finite number, got 1" + 76 * "0" + "...."),
        (lambda: b.LiveAgent(ARMS, actions=[[], []]), "LiveAgent: 'actions' must be different words or whole numbers, got [[], []]."),
        (lambda: b.LiveAgent(ARMS, actions=[(1,), "b"]), "LiveAgent: 'actions' must be different words or whole numbers, got [(1,), 'b']."),
        (lambda: b.make("bnirl", problem=CHAIN.mdp).update_many(np.ma.masked_all(2)), "BNIRL.update_many: 'demonstrations' must be a record, transitions, or pairs (state, action), got 0.0."),
        (lambda: b.TabularMDP.from_gymnasium({0: 1.0}, 0.9), "TabularMDP: 'P' must be a table of every state and action, numbered from 0, got [0]."),
        (lambda: b.TabularMDP.from_gymnasium({0: [[(1.0, 0, 0.0)]]}, 0.9), "TabularMDP: 'P[0][0]' must be a list of (probability, next state, reward, terminated), got (1.0, 0, 0.0)."),
        (lambda: b.TabularMDP.from_gymnasium({0: [[(-1.0, 0, 0.0, False)]]}, 0.9), "TabularMDP: 'P[0][0], a probability' must be at least 0, got -1.0."),
        (lambda: b.TabularMDP.from_gymnasium({0: [[(1.0, 0, "1", False)]]}, 0.9), "TabularMDP: 'P[0][0], a reward' must be a finite number, got '1'."),
        (lambda: b.TabularMDP.from_gymnasium({0: [[]]}, 0.9), "TabularMDP: 'P' must be a table of outcomes, one of them with a positive probability, got {0: [[]]}."),
        (lambda: b.run(b.BayesAgent(b.DirichletMDP.flat(CHAIN), b.make("exploit")), Undiscounted(), steps=3), "run: 'world.gamma' must be in [0, 1], got None."),
        (lambda: checks.array("f", "x", None), "f: 'x' must be an array of numbers, got None."),
        (lambda: b.make_world("machine-costs", setting=3), "MachineCosts: 'setting' must be a Setting, got 3."),
        (lambda: next(b.play(ARMS, CHAIN, 0)), "play: 'streams' must be four generators, such as Streams.of(0), got 0."),
    ],
)  # fmt: skip
def test_bad_calls_are_answered_in_one_sentence(call, sentence):
    with pytest.raises(InvalidArgument) as refused:
        call()
    assert str(refused.value) == sentence


def test_a_thing_with_a_method_gamma_is_no_world():
    with pytest.raises(InvalidArgument, match="run: 'world' must be a world"):
        b.run(ARMS, default_rng(0), steps=3)


def test_numbers_of_other_libraries_become_plain_numbers():
    """Compiled code takes them, and a record of the run can be saved."""
    odd = b.make("percentile", epsilon=Fraction(1, 4), samples=np.int16(300), confidence=np.float32(0.5))
    assert [type(x) for x in (odd.epsilon, odd.samples, odd.confidence)] == [float, int, float]
    assert (odd.epsilon, odd.samples, odd.confidence) == (0.25, 300, 0.5)
    assert type(b.make("softmax", temperature=2**70).temperature) is float
    assert type(b.make("softmax", temperature=2**53).temperature) is int
    assert np.copysign(1.0, b.make_world("random-walk", spread=-0.0).spread) == 1.0
    one = b.run(ARMS, b.make_world("bernoulli"), steps=np.array(3), seed=np.array(5), replicate=np.int8(1))
    assert one.provenance == b.run(ARMS, b.make_world("bernoulli"), steps=3, seed=5, replicate=1).provenance
    assert all(type(one.provenance[name]) is int for name in ("steps", "seed", "replicate"))


@pytest.mark.parametrize("rows", [np.eye(2, dtype=bool), np.arange(4).reshape(2, 2), np.ones((2, 2), np.float32)])
def test_variances_of_rows_may_be_of_any_number_type(rows):
    belief = fuzz.example(entries()["dirichlet-mdp"])
    rows = np.resize(rows, belief.row_variance().shape)
    assert (belief.reward_variance(rows) == belief.reward_variance(rows.astype(float))).all()


@pytest.mark.parametrize("name", ["bolt", "pot", "hmdp"])
@pytest.mark.parametrize("memory", [np.ones(3), np.ones((2, 2))])
def test_a_memory_of_another_problem_does_not_reach_compiled_code(name, memory):
    with pytest.raises(InvalidArgument, match=r"'memory' must be"):
        b.make(name).plan(b.DirichletMDP.flat(CHAIN), 0, memory, default_rng(0))


def test_what_a_live_agent_cannot_learn_from_is_refused():
    with pytest.raises(BayesRLError):
        b.LiveAgent(ARMS).learn(np.array(3), 1.0)


def test_long_seeds_stay_allowed():
    assert len(b.run(ARMS, b.make_world("bernoulli"), steps=2, seed=2**100)) == 2


def test_an_exception_of_ours_is_not_blamed_on_the_caller():
    """If every argument fits its type, what went wrong is a bug, and its exception comes out as it is."""

    class Broken(BetaBernoulli):
        def mean(self, context=None):
            return 1 / 0

        def half(self, x: float):
            return 1 / 0

    from bayesrl._explained import explain_failures

    explain_failures(Broken)
    with pytest.raises(ZeroDivisionError):
        Broken(np.ones(2), np.ones(2)).mean()
    with pytest.raises(ZeroDivisionError):
        Broken(np.ones(2), np.ones(2)).half(0.5)


def test_an_index_of_ours_is_not_blamed_on_the_caller():
    """A state below its number, or any number, cannot make an index wrong; an array can."""
    from bayesrl._explained import explain_failures

    @explain_failures
    class Broken:
        n_states = 3

        def row(self, state: "int", share: "float" = 0.5):
            return [][state]

        def rows(self, x: "ArrayLike"):
            return [][len(x)]

    for call in (lambda: Broken().row(2), lambda: Broken().row(2, 0.1)):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(InvalidArgument, match="'state' must be a whole number from 0 to 2"):
        Broken().row(3)
    with pytest.raises(InvalidArgument, match="'x' must be one that fits"):
        Broken().rows(np.ones(2))


SHAPE = SimpleNamespace(n_states=5, n_actions=2)
GOOD_AND_BAD = [
    ("rng", "Generator", np.random.default_rng(0), np.random, "a numpy Generator, such as numpy.random.default_rng(0)"),
    ("rng", "Any", np.random.default_rng(0), 3, "a numpy Generator, such as numpy.random.default_rng(0)"),
    ("draw", "Generator | None", np.random.default_rng(0), 3, "a numpy Generator, such as numpy.random.default_rng(0)"),
    ("transition", "Any", Transition(0, 0, 0.0, 0), 3, "a Transition"),
    ("last", "Any", Transition(0, 0, 0.0, 0), (0, 0, 0.0, 0), "a Transition"),
    ("datum", "Transition", Transition(0, 0, 0.0, 0), 3, "a Transition"),
    ("last", "Transition | None", Transition(0, 0, 0.0, 0), "x", "a Transition"),
    ("x", "Floats", np.ones(2), [1.0, 2.0], "an array of numbers"),
    ("x", "ArrayLike", np.ones(2, bool), np.array(["a"]), "an array of numbers"),
    ("x", "Floats | float", 3.0, "3", "an array of numbers"),
    ("x", "NDArray[Any]", np.arange(3), None, "an array of numbers"),
    ("x", "Floats", np.ma.array([1.0], mask=[False]), np.ma.array([1.0], mask=[True]), "an array of numbers"),
    ("n", "int", 3, -1, f"a whole number from 0 to {2**63 - 1}"),
    ("n", "int", np.int32(3), 3.0, f"a whole number from 0 to {2**63 - 1}"),
    ("n", "int", 0, True, f"a whole number from 0 to {2**63 - 1}"),
    ("state", "int", 4, 5, "a whole number from 0 to 4"),
    ("a", "int", 1, 2, "a whole number from 0 to 1"),
    ("x", "float", 0.5, "0.5", "a number"),
    ("x", "float", np.float32(1.0), np.nan, "a number"),
    ("x", "float | None", 3, np.inf, "a number"),
    ("flag", "bool", True, 1, "True or False"),
    ("flag", "bool", np.False_, "no", "True or False"),
    ("name", "str", "x", 3, "text"),
    ("other", "Self", SHAPE, 3, "a SimpleNamespace"),
    ("other", "SimpleNamespace", SHAPE, {}, "a SimpleNamespace"),
    ("policy", "TabularPolicy", TabularPolicy([0, 1], 2), [0, 1], "a TabularPolicy"),
]


@pytest.mark.parametrize(("name", "hint", "good", "bad", "expected"), GOOD_AND_BAD)
def test_what_an_argument_must_be(name, hint, good, bad, expected):
    from bayesrl._explained import misfit_of

    assert misfit_of(name, good, hint, SHAPE, uses_a_policy) is None
    assert misfit_of(name, bad, hint, SHAPE, uses_a_policy) == expected


def uses_a_policy(policy: TabularPolicy):
    """Its module knows the class by this name."""


def test_general_types_say_nothing():
    from bayesrl._explained import misfit_of

    for hint in ("Any", "object", "Planner", "int | str", "Unheard"):
        assert misfit_of("x", object(), hint, SHAPE, uses_a_policy) is None
