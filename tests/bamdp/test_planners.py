import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import softmax

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs, RewardBeta, UnknownRewards
from bayesrl.capabilities import offers
from bayesrl.core import Transition, run
from bayesrl.errors import Incompatible, InvalidArgument, show
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.registry import entries
from bayesrl.testing import assert_frequencies, assert_mean_equal, check_agent, check_planner, check_point_belief

METHODS = {e.name: e for e in entries().values() if e.package == "bamdp" and e.kind in ("planner", "solver", "agent")}
PLANNERS = {name: e for name, e in METHODS.items() if e.kind == "planner"}
# No values, values of a finite horizon or of the average reward, or values that only approach the exact ones.
SEARCHES = (
    "random", "bamcp", "forward-search", "branch-and-bound", "bop", "hmdp", "sparse-sampling", "uct", "fsss",
    "bayesian-sparse-sampling", "bfs3", "tsmdp",
)  # fmt: skip
WORLD = b.make_world("chain", gamma=0.9)
GOOD = {"observation": 0, "action": 0, "reward": 0.0, "next_observation": 1}


def belief(concentration=0.5):
    return b.DirichletMDP.flat(WORLD, concentration).update(Transition(0, 0, 0.0, 1))


def unknown():
    return UnknownRewards(belief(), RewardBeta(np.ones((5, 2)), np.ones((5, 2))))


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize("prior", [belief, unknown])
def test_planner_laws(name, prior):
    planner = PLANNERS[name].example()
    if all(offers(prior(), need) for need in planner.needs):
        check_planner(planner, prior(), 2, rng=default_rng(0))
    else:
        with pytest.raises(Incompatible):
            b.BayesAgent(prior(), planner)


def acting(name, prior):
    """An agent of this name; a solver's plans are for this prior."""
    made = METHODS[name].example()
    return b.BayesAgent(prior, made.solve(prior, default_rng(0)) if METHODS[name].kind == "solver" else made)


@pytest.mark.parametrize("name", [n for n in METHODS if n != "random"])  # which does not look where it is
def test_what_is_no_state_is_refused(name):
    """The sentence says what was expected, nothing is drawn, and a NumPy number is a number."""
    rng, before = default_rng(0), default_rng(0).bit_generator.state
    agent = (
        acting(name, belief()) if METHODS[name].kind != "agent" else b.make(name, n_states=5, n_actions=2, gamma=0.9)
    )
    for observation in (-1, 5, 1.5, np.nan, np.inf, None, True, "2", (0, 0), np.array([1, 2]), np.float64(2.0)):
        with pytest.raises(InvalidArgument) as error:
            agent.act(agent.start(), observation, rng)
        said = f": 'observation' must be a whole number of at least 0 and at most 4, got {show(observation)}."
        assert str(error.value).endswith(said)
    assert rng.bit_generator.state == before
    assert agent.act(agent.start(), np.int64(2), rng).action == agent.act(agent.start(), 2, default_rng(0)).action


@pytest.mark.parametrize("name", ["q-learning", "bayesian-q-learning"])
def test_what_is_no_transition_is_refused(name):
    """Nothing is learnt from it; the state after the end is not looked at."""
    agent, rng = b.make(name, n_states=5, n_actions=2, gamma=0.9), default_rng(0)
    for field, bad in [("state", -1), ("state", 5), ("action", 2), ("reward", np.nan), ("next_state", 5)]:
        with pytest.raises(InvalidArgument, match=f"Learning: '{field}' must be a .*, got {bad}"):
            agent.learn(agent.start(), Transition(**(GOOD | {field.replace("state", "observation"): bad})), rng)
    agent.learn(agent.start(), Transition(0, 0, 1.0, None, terminated=True), rng)


MODEL_SOLVERS = (
    "psrl", "bayesian-dp", "boss", "sboss", "smart-sampler", "value-of-information", "exploit", "epsilon-greedy",
    "softmax", "beb", "vbrb",
)  # fmt: skip


@pytest.mark.parametrize("name", MODEL_SOLVERS)
def test_neither_a_discount_nor_an_end_is_refused_at_once(name):
    """Also where a state pays nothing for ever, which is an end; what a finite belief draws is not known before."""
    planner, rng = PLANNERS[name].example(), default_rng(0)
    with pytest.raises(InvalidArgument) as error:
        b.BayesAgent(b.DirichletMDP.flat(b.make_world("chain", gamma=1.0)), planner)
    assert str(error.value).startswith(
        f"{type(planner).__name__}: 'belief' must be one in which every state can come to"
    )
    P = np.array([[[0.5, 0.5]], [[0.0, 1.0]]])
    absorbing = b.DirichletMDP.structured(TabularMDP.from_dense(P, [[-1.0], [0.0]], 1.0))
    ending = b.DirichletMDP.flat(TabularMDP.from_dense(P, [[-1.0], [0.0]], 1.0, terminal=[1]))
    for prior in (ending,) if name in ("beb", "vbrb") else (absorbing, ending):  # a bonus has no end there
        agent = b.BayesAgent(prior, planner)
        assert agent.act(agent.start(), 0, rng).action == 0


@pytest.mark.parametrize("name", ["psrl", "bayesian-dp", "boss", "value-of-information"])
def test_models_with_different_ends(name):
    """State 1 is the end of one model and state 2 that of the other: the mean has none, and what is drawn has."""
    P, Q = np.zeros((3, 1, 3)), np.zeros((3, 1, 3))
    P[0, 0, 1] = P[1, 0, 1] = P[2, 0, 0] = Q[0, 0, 2] = Q[2, 0, 2] = Q[1, 0, 0] = 1.0
    R, S = np.array([[-1.0], [0.0], [-1.0]]), np.array([[-1.0], [-1.0], [0.0]])
    either = FiniteMDPs((TabularMDP.from_dense(P, R, 1.0), TabularMDP.from_dense(Q, S, 1.0)))
    agent = b.BayesAgent(either, PLANNERS[name].example())
    assert agent.act(agent.start(), 0, default_rng(0)).info["q"].tolist() == [-1.0]
    with pytest.raises(InvalidArgument, match="Exploit: 'belief' must be one in which every state can come to an end"):
        b.BayesAgent(either, b.make("exploit"))


def test_psrl_over_a_horizon_needs_no_end():
    endless = b.DirichletMDP.flat(b.make_world("chain", gamma=1.0))
    assert b.BayesAgent(endless, b.make("psrl", horizon=3)).planner.horizon == 3


@pytest.mark.parametrize("name", PLANNERS)
def test_agents_are_reproducible(name):
    check_agent(b.BayesAgent(belief(), PLANNERS[name].example()), WORLD)


@pytest.mark.parametrize("name", [n for n in PLANNERS if n not in SEARCHES])
def test_point_belief_gives_solved_values(name):
    point = b.DirichletMDP.structured(WORLD, known=True)
    check_point_belief(PLANNERS[name].example(), point, solve(WORLD).q)


def test_psrl_over_a_horizon_gives_finite_horizon_values():
    point = b.DirichletMDP.structured(WORLD, known=True)
    planner, memory = b.make("psrl", horizon=4), None
    for to_go in (4, 3, 2, 1, 4):
        decision = planner.plan(point, 3, memory, default_rng(0))
        np.testing.assert_allclose(decision.info["q"], finite_horizon(WORLD, to_go).q[3])
        memory = decision.memory


def test_psrl_draws_one_model_per_episode():
    planner, rng = b.make("psrl", horizon=3), default_rng(0)
    seen, memory, last = [], planner.start(), None
    for t in range(9):
        decision = planner.plan(belief(), 2, memory, rng, last)
        memory = decision.memory
        seen.append(memory.q)
        last = Transition(2, 0, 0.0, 3, truncated=t == 4)  # the episode from 3 is cut short after 4
    starts = [t for t in range(9) if t == 0 or seen[t] is not seen[t - 1]]
    assert starts == [0, 3, 5, 8]


def test_psrl_without_horizon_has_geometric_episodes():
    """A new model with probability 1 - gamma: 4000 steps at .9; false alarm 1e-6."""
    planner, rng = b.make("psrl"), default_rng(0)
    prior, memory, renewed = belief(), None, []
    for _ in range(4000):
        decision = planner.plan(prior, 2, memory, rng)
        renewed.append(memory is None or decision.memory.q is not memory.q)
        memory = decision.memory
    assert_mean_equal(np.array(renewed[1:], float), 0.1)


def test_bayesian_dp_resamples_every_n_steps():
    planner, rng = b.make("bayesian-dp", every=3), default_rng(0)
    memory, seen = planner.start(), []
    for _ in range(7):
        memory = planner.plan(belief(), 2, memory, rng).memory
        seen.append(memory.q)
    assert [t for t in range(7) if t == 0 or seen[t] is not seen[t - 1]] == [0, 3, 6]


@pytest.mark.parametrize("name", ["bayesian-dp", "psrl"])
def test_sampled_action_has_its_posterior_probability(name):
    """Thompson's law: an action is chosen with the probability that it is best; 1500 draws each, false alarm 1e-6."""
    prior, planner = belief(1.0), b.make(name)
    rng, other = default_rng(1), default_rng(2)
    chosen = [planner.plan(prior, 4, None, rng).action for _ in range(1500)]
    best = [int(solve(prior.sample_mdp(other)).policy[4]) for _ in range(1500)]
    assert_mean_equal(np.array(chosen, float) - np.array(best, float), 0.0)


def test_beb_equals_its_transcription():
    """The paper's equation written out: plain value iteration on the mean model with beta / (1 + sum of counts)."""
    prior = b.DirichletMDP.flat(WORLD, default_rng(0).uniform(0.1, 1.0, (10, 5)))
    for t in run(b.BayesAgent(prior, b.make("random")), WORLD, 30).to_frame().itertuples():
        prior = prior.update(Transition(t.observation, t.action, t.reward, t.next_observation))
    alpha, R = prior.alpha.reshape(5, 2, 5), WORLD.dense()[1]
    V = np.zeros(5)
    for _ in range(2000):
        Q = np.array(
            [
                [
                    sum(alpha[s, a, y] / alpha[s, a].sum() * (R[s, a, y] + 0.9 * V[y]) for y in range(5))
                    + 3.0 / (1.0 + alpha[s, a].sum())
                    for a in range(2)
                ]
                for s in range(5)
            ]
        )
        if np.abs(Q.max(axis=1) - V).max() < 1e-12:
            break
        V = Q.max(axis=1)
    for s in range(5):
        info = b.make("beb", beta=3.0).plan(prior, s, None, default_rng(0)).info
        np.testing.assert_allclose(info["q"], Q[s], atol=1e-8)


def test_beb_with_the_theorems_beta():
    """2 H^2 times the range of rewards, H the steps after which a discount of .9 leaves a hundredth."""
    H = int(np.ceil(np.log(0.01) / np.log(0.9)))
    theory, number = b.make("beb", beta="theory"), b.make("beb", beta=2 * H**2 * 10.0)
    q = [p.plan(belief(), 1, None, default_rng(0)).info["q"] for p in (theory, number)]
    np.testing.assert_allclose(q[0], q[1])


def test_beb_counts_what_is_less_known_where_rewards_are_unknown():
    prior = unknown()
    n = np.minimum(prior.transitions.counts(), prior.rewards.reward_counts())
    plain = solve(prior.mean_mdp(), bonus=2.0 / (1.0 + n))
    np.testing.assert_allclose(b.make("beb", beta=2.0).plan(prior, 1, None, default_rng(0)).info["q"], plain.q[1])


def test_ties():
    """On a flat prior nothing tells the actions of a new state apart; 1000 draws, false alarm 1e-6."""
    flat, rng = b.DirichletMDP.flat(WORLD), default_rng(0)
    assert {b.make("exploit", ties="first").plan(flat, 1, None, rng).action for _ in range(20)} == {0}
    at_random = [b.make("exploit", ties="random").plan(flat, 1, None, rng).action for _ in range(1000)]
    assert_frequencies(np.bincount(at_random, minlength=2), [0.5, 0.5])


def test_epsilon_greedy_frequencies():
    point, rng = b.DirichletMDP.structured(WORLD, known=True), default_rng(0)
    decisions = [b.make("epsilon-greedy", epsilon=0.3).plan(point, 4, None, rng) for _ in range(2000)]
    assert_frequencies(np.bincount([d.action for d in decisions], minlength=2), [0.85, 0.15])
    np.testing.assert_allclose(decisions[0].info["probability"], [0.85, 0.15])
    tied = b.make("epsilon-greedy", epsilon=0.3).plan(b.DirichletMDP.flat(WORLD), 1, None, rng)
    np.testing.assert_allclose(tied.info["probability"], [0.5, 0.5])


def test_softmax_frequencies():
    point, rng = b.DirichletMDP.structured(WORLD, known=True), default_rng(0)
    expected = softmax(solve(WORLD).q[0] / 0.5)
    decisions = [b.make("softmax", temperature=0.5).plan(point, 0, None, rng) for _ in range(2000)]
    assert_frequencies(np.bincount([d.action for d in decisions], minlength=2), expected)
    np.testing.assert_allclose(decisions[0].info["probability"], expected)


def test_random_frequencies():
    rng = default_rng(0)
    actions = [b.make("random").plan(belief(), 0, None, rng).action for _ in range(2000)]
    assert_frequencies(np.bincount(actions, minlength=2), [0.5, 0.5])
