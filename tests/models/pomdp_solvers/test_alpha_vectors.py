"""Solutions as planners, the general `solve`, and alpha-vector files."""

import numpy as np
import pytest
from known_pomdps import random_pomdp, tiger
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import DirichletMDP, POMDPFilter
from bayesrl.errors import Incompatible, InvalidArgument, UnreadableFile
from bayesrl.models import (
    PBVI,
    AlphaVectors,
    Perseus,
    POMDPValueIteration,
    read_alpha_vectors,
    read_pomdp,
    write_alpha_vectors,
)
from bayesrl.models.solve import finite_horizon
from bayesrl.testing import assert_mean_equal

TIGER = tiger()


@pytest.fixture(scope="module")
def exact():
    return POMDPValueIteration().solve(TIGER)


# Planning ------------------------------------------------------------------------------------------------------------


def test_it_plans_on_a_filter(exact):
    """Listen until one side was heard twice more often; then open the other door."""
    belief = POMDPFilter(TIGER)
    for heard, action in ((1, 0), (1, 1)):
        belief = belief.update(b.Transition(-1, 0, -1.0, heard))
        decision = exact.plan(belief, heard, exact.start(), default_rng(0))
        assert decision.action == action
        np.testing.assert_allclose(decision.info["q"], exact.q(belief.states()))
        assert decision.info["value"] == pytest.approx(exact.value(belief.states()))
        assert decision.info["value"] <= decision.info["q"].max() + 1e-9  # one step ahead is never less


class Here:
    """A belief that is only a distribution over states."""

    def __init__(self, states):
        self.now = states

    def states(self):
        return self.now


def test_at_the_horizon_all_answers_agree():
    """Tiger at .97 with one decision left: the door is opened, by `action` and by `plan`, and is worth the same."""
    last = POMDPValueIteration(horizon=1).solve(TIGER)
    decision = last.plan(Here([0.97, 0.03]), -1, None, default_rng(0))
    assert decision.action == last.action([0.97, 0.03]) == 2
    assert decision.info["q"].max() == decision.info["value"] == pytest.approx(0.97 * 10 - 0.03 * 100)
    np.testing.assert_allclose(last.q([0.97, 0.03]), TIGER.mean_reward.T @ [0.97, 0.03])


@pytest.mark.parametrize("made", [TIGER, tiger(episodic=True), random_pomdp(1), random_pomdp(2, S=4, A=3, ends=1)])
@pytest.mark.parametrize("horizon", [1, 2, 3, None])
def test_value_action_and_plan_agree(made, horizon):
    """The largest q of `plan` is its value and `value`, and its action is `action`, except where actions tie."""
    solution = POMDPValueIteration(horizon=horizon, tol=1e-8).solve(made)
    slack = 1e-9 if horizon else solution.error_bound + 1e-9
    for states in default_rng(0).dirichlet(np.ones(made.n_states), 40):
        states = np.where(made.terminal, 0.0, states) / states[~made.terminal].sum()
        decision = solution.plan(Here(states), -1, None, default_rng(0))
        q = decision.info["q"]
        np.testing.assert_array_equal(q, solution.q(states))
        assert decision.info["value"] == solution.value(states)
        assert q.max() == pytest.approx(solution.value(states), abs=slack)
        gap = np.diff(np.sort(q))[-1]
        assert gap <= 2.0 * slack or decision.action == solution.action(states) == np.argmax(q)


def test_other_answers_to_a_horizon_agree():
    """The values of `finite_horizon` are the largest of its q, where its first actions are. The same for the BAMDP."""
    chain = b.make_world("chain")
    found = finite_horizon(chain, 4)
    np.testing.assert_allclose(found.q.max(axis=1), found.values[-1], rtol=1e-15)
    np.testing.assert_array_equal(found.q.argmax(axis=1), found.policy[0])
    prior = b.DirichletMDP.structured(b.make_world("chain-tied"))
    solved = b.make("bamdp-exact", horizon=3).solve(prior)
    for s in range(prior.n_states):
        decision = solved.plan(prior, s, solved.start(), default_rng(0))
        np.testing.assert_array_equal(decision.info["q"], solved.q[s])
        assert decision.action == solved.q[s].argmax()


def test_a_step_ahead_is_better_than_the_vectors():
    """With a single vector, whose action is to listen, doors are opened where the tiger is known to be."""
    dull = AlphaVectors(TIGER, [[0.0, 0.0]], [0])
    for states, action in (([1.0, 0.0], 2), ([0.0, 1.0], 1), ([0.5, 0.5], 0)):
        assert dull.action(states) == 0
        at = POMDPFilter(b.TabularPOMDP.from_dense(*TIGER.dense(), 0.95, start=states))
        assert dull.plan(at, -1, None, default_rng(0)).action == action


def test_of_equal_vectors_the_first_action():
    """Whatever their order, and to within rounding; a better vector has its own action."""
    for actions in ([2, 1, 0], [1, 2, 0], [1, 0, 2]):
        same = AlphaVectors(TIGER, [[1.0, 3.0], [2.0, 2.0], [3.0 * (1.0 + 1e-16), 1.0]], actions)
        assert same.action([0.5, 0.5]) == 0
        assert same.action([0.0, 1.0]) == actions[0]
        assert same.action([1.0, 0.0]) == actions[2]


def test_it_earns_what_it_promises(exact):
    """Returns of the tiger over 150 steps (what comes after is at most .09); false alarm 1e-6, detects about 8."""
    agent, world = b.BayesAgent(POMDPFilter(TIGER), exact), b.make_world("tiger")
    discount = 0.95 ** np.arange(150)
    returns = [discount @ b.run(agent, world, steps=150, seed=i).reward for i in range(150)]
    assert_mean_equal(returns, 19.371368, false_alarm=1e-6)


def test_a_belief_without_states_is_refused(exact):
    chain = b.make_world("chain")
    with pytest.raises(Incompatible, match="'states'"):
        b.BayesAgent(DirichletMDP.flat(chain), exact)
    with pytest.raises(InvalidArgument, match="about the problem that was solved"):
        b.BayesAgent(POMDPFilter(random_pomdp(0)), exact)


def test_it_holds_what_it_is_given():
    with pytest.raises(InvalidArgument, match="'vectors' must be an array of shape"):
        AlphaVectors(TIGER, [[1.0, 2.0, 3.0]], [0])
    with pytest.raises(InvalidArgument, match="'actions' must be whole numbers from 0 to 2"):
        AlphaVectors(TIGER, [[1.0, 2.0]], [3])
    with pytest.raises(InvalidArgument, match="zero in terminal states"):
        AlphaVectors(tiger(episodic=True), [[1.0, 2.0, 3.0]], [0])
    with pytest.raises(InvalidArgument, match="'pomdp' must be a TabularPOMDP"):
        AlphaVectors(None, [[1.0, 2.0]], [0])


# The general solve ---------------------------------------------------------------------------------------------------


def test_solve():
    """A POMDP, a filter and a world; by name; two states exactly, more by points."""
    world = b.make_world("tiger")
    for problem in (TIGER, POMDPFilter(TIGER), world):
        solution = b.solve(problem)
        assert solution.method == "pomdp-value-iteration"
        assert solution.start_value == pytest.approx(19.371368, abs=2e-6)
        assert solution.error_bound <= 1e-6
    assert b.solve(tiger(episodic=True)).method == "pomdp-value-iteration"
    assert b.solve(random_pomdp(0)).method == "pbvi"
    for name in ("pbvi", "perseus"):
        assert b.solve(TIGER, tol=1e-4, method=name).method == name
    fine = b.solve(TIGER, tol=1e-12)  # as accurate as rounding allows
    assert fine.error_bound < 1e-7
    with pytest.raises(InvalidArgument, match="'method' must be one of auto, pomdp-value-iteration, pbvi, perseus"):
        b.solve(TIGER, method="policy-iteration")
    with pytest.raises(InvalidArgument, match="'bonus' must be None for a POMDP"):
        b.solve(TIGER, bonus=np.zeros((2, 3)))
    with pytest.raises(InvalidArgument, match="'method' must be one of"):
        b.solve(b.make_world("chain"), method="pbvi")


@pytest.mark.parametrize("solver", [PBVI(size=8), Perseus(size=8), POMDPValueIteration(tol=1e-3)])
def test_solvers_take_worlds_and_filters(solver):
    values = [solver.solve(problem).start_value for problem in (TIGER, POMDPFilter(TIGER), b.make_world("tiger"))]
    assert values[0] == values[1]
    assert values[0] == pytest.approx(values[2], abs=2e-3)  # it lists its signs in another order
    assert solver.solve(TIGER, default_rng(3)) == solver.solve(TIGER, default_rng(3))
    assert b.make("pbvi", size=8) == PBVI(size=8)


@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_where_nothing_can_be_done(gamma):
    """All states are terminal; or the first step is the last."""
    P, O = [[[1.0, 0.0]], [[1.0, 0.0]]], np.ones((2, 1, 1))
    over = b.TabularPOMDP.from_dense(P, O, [[1.0], [1.0]], gamma, start=0, terminal=[0, 1])
    last = b.TabularPOMDP.from_dense(P, O, [[5.0], [2.0]], gamma, terminal=[0])
    for solver in (POMDPValueIteration(), POMDPValueIteration(horizon=3), PBVI(size=3), Perseus(size=3)):
        assert solver.solve(over).start_value == 0.0
        assert solver.solve(over).error_bound == 0.0
        assert solver.solve(last).vectors.tolist() == [[0.0, 2.0]]
        assert solver.solve(last).error_bound < 1e-9


# Files ---------------------------------------------------------------------------------------------------------------


def test_files_come_back(tmp_path, exact):
    """To the last digit; nothing is claimed about the error; names of actions are read where there are some."""
    write_alpha_vectors(exact, tmp_path / "tiger.alpha")
    again = read_alpha_vectors(tmp_path / "tiger.alpha", TIGER)
    np.testing.assert_array_equal(again.vectors, exact.vectors)
    np.testing.assert_array_equal(again.actions, exact.actions)
    assert again.error_bound == np.inf
    assert (tmp_path / "tiger.alpha").read_text().splitlines()[:3:2] == [str(exact.actions[0]), ""]
    named = read_pomdp("discount: .5 states: 2 actions: wait go observations: 1 T: * identity O: * uniform")
    text = "go\r\n1 -2.5e0\r\n\r\n0\r\n0 0\r\n"
    assert read_alpha_vectors(text, named).actions.tolist() == [1, 0]
    assert read_alpha_vectors(text, named).vectors.tolist() == [[1.0, -2.5], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: it is empty"),
        ("\n \n", "line 1: it is empty"),
        ("0\n1.0 2.0\n\n1\n", "line 4: the vector of the last action is missing"),
        ("0\n1.0\n", "line 2: 2 numbers must be here, not 1"),
        ("0\n1.0 2.0 3.0\n", "line 2: 2 numbers must be here, not 3"),
        ("3\n1.0 2.0\n", "line 1: an action must be here, a number from 0 to 2, not '3'"),
        ("-1\n1.0 2.0\n", "line 1: an action must be here"),
        ("open\n1.0 2.0\n", "line 1: an action must be here"),
        ("0\n1.0 2.0\n0.5 0.5\n1 2\n", "line 3: an action must be here"),
        ("0\n1.0 nan\n", "line 2: 'nan' is not a number"),
        ("0\n1.0 1e999\n", "line 2: 1e999 is not finite"),
        ("0\n1.0 two\n", "line 2: 'two' is not a number"),
        ("0\n1.0 \x00\x01\n", "line 2: it is binary, not text"),
    ],
)
def test_files_that_cannot_be_read(text, says):
    with pytest.raises(UnreadableFile) as error:
        read_alpha_vectors(text, TIGER)
    assert says in str(error.value)


def test_files_that_are_not_there(tmp_path, exact):
    with pytest.raises(UnreadableFile, match="there is no such file"):
        read_alpha_vectors(tmp_path / "no.alpha", TIGER)
    with pytest.raises(UnreadableFile, match="a terminal state has a value that is not zero"):
        read_alpha_vectors("0\n1 2 3\n", tiger(episodic=True))
    for call in (lambda: read_alpha_vectors(3, TIGER), lambda: write_alpha_vectors(3, tmp_path / "x.alpha")):
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(InvalidArgument, match="'path' must be a file that can be written"):
        write_alpha_vectors(exact, tmp_path / "no" / "x.alpha")
