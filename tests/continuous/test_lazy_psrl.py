"""Lazy posterior sampling and certainty equivalence: when systems are drawn, which gains are used, what is refused."""

from itertools import islice, pairwise

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.continuous import CertaintyEquivalence, LazyPSRL, LinearGaussianDynamics, lq_solution
from bayesrl.core import Streams, Transition, draw_world, play, run
from bayesrl.errors import Incompatible, InvalidArgument, NotConverged
from bayesrl.lab.build import agent_for
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.measures.regret import regret
from bayesrl.testing import check_agent, check_planner

X = [0.0, 0.34, -0.459, -0.213, -0.108, 1.13, 0.039, 0.425, 0.226]
U = [1.0, -1.0, 0.5, 0.0, 2.0, -2.0, 1.0, 0.0]
WORLD = b.make_world("lq-system")
PRIOR = WORLD.default_prior()
ONE = np.array([[1.0]])


def gain_of(A, B, belief):
    return lq_solution(A, B, belief.Q, belief.R).gain


def facts():
    return LinearGaussianDynamics([[0.5], [1.0]], np.diag([2.0, 1.0]), 0.2, ONE, ONE)


def test_sampling_times_of_the_facts():
    """det V is 2, 4, 6.2312, ..., 38.0299: exactly twice the first at step 1, where logs need something to spare."""
    belief, planner, memory, drawn = facts(), LazyPSRL(), None, []
    for t, (x, y) in enumerate(pairwise(X)):
        decision = planner.plan(belief, [x], memory, default_rng(t))
        memory = decision.memory
        if decision.info["resampled"]:
            drawn.append(t)
        assert decision.info["log_det"] == pytest.approx(np.log(np.linalg.det(belief.precision)))
        belief = belief.update(Transition([x], [U[t]], 0.0, [y]))
    assert drawn == [0, 1, 5, 7]


@pytest.mark.parametrize("factor", [1.5, 2.0, 8.0])
def test_transcription(factor):
    """A run, and the rule on its own log with the same random numbers: times, gains and actions."""
    record = run(b.BayesAgent(PRIOR, LazyPSRL(factor)), WORLD, 150, seed=3, keep=("resampled", "gain", "log_det"))
    V, theta, rng, last, K = PRIOR.precision, PRIOR.theta, Streams.of(3).planner, None, None
    C = np.linalg.cholesky(PRIOR.noise)
    for t in range(150):
        x, u, y = record.observation[t], record.action[t], record.next_observation[t]
        due = last is None or np.log(np.linalg.det(V)) >= last + np.log(factor) - 1e-9
        assert record.resampled[t] == due
        if due:
            last = np.log(np.linalg.det(V))
            L = np.linalg.cholesky(V)
            drawn = theta + np.linalg.inv(L).T @ rng.standard_normal((3, 2)) @ C.T
            K = gain_of(drawn[:2].T, drawn[2:].T, PRIOR)
        np.testing.assert_allclose(record.gain[t], K, rtol=1e-6)
        np.testing.assert_allclose(u, -K @ x, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(record.log_det[t], np.log(np.linalg.det(V)), atol=1e-9)
        z = np.concatenate([x, u])
        V = V + np.outer(z, z)
        theta = theta + np.outer(np.linalg.solve(V, z), y - theta.T @ z)
    assert 1 < record.resampled.sum() < 75


@pytest.mark.parametrize("schedule, times", [("every", [0, 1, 2, 3, 4, 5, 6]), (3, [0, 3, 6]), (1, list(range(7)))])
def test_other_schedules(schedule, times):
    record = run(b.BayesAgent(PRIOR, LazyPSRL(schedule=schedule)), WORLD, 7, keep=("resampled",))
    assert np.flatnonzero(record.resampled).tolist() == times


def test_factor_1_draws_at_every_step():
    assert run(b.BayesAgent(PRIOR, LazyPSRL(1.0)), WORLD, 9, keep=("resampled",)).resampled.all()


@pytest.mark.parametrize("planner", [LazyPSRL(), CertaintyEquivalence()])
def test_at_a_certain_belief_the_gain_is_the_riccati_gain(planner):
    """Whatever the discount: the criterion is the average cost."""
    for gamma in (0.5, 1.0):
        theta = np.hstack([WORLD.A, WORLD.B]).T
        belief = LinearGaussianDynamics(theta, 1e18 * np.eye(3), WORLD.noise, WORLD.Q, WORLD.R, gamma=gamma)
        decision = planner.plan(belief, [1.0, -2.0], planner.start(), default_rng(0))
        np.testing.assert_allclose(decision.info["gain"], [[2.761715, 2.649102]], rtol=1e-6)
        np.testing.assert_allclose(decision.action, [-2.761715 + 2.0 * 2.649102], rtol=1e-6)


def test_certainty_equivalence_steers_the_mean():
    record = run(b.BayesAgent(PRIOR, CertaintyEquivalence()), WORLD, 12, keep=("gain", "resampled"))
    assert not record.resampled.any()
    belief = PRIOR
    for t in range(12):
        K = gain_of(belief.theta[:2].T, belief.theta[2:].T, belief)
        np.testing.assert_allclose(record.gain[t], K, rtol=1e-9)
        np.testing.assert_allclose(record.action[t], -K @ record.observation[t], atol=1e-12)
        belief = belief.update(Transition(record.observation[t], record.action[t], 0.0, record.next_observation[t]))


def test_draws_outside_are_drawn_again():
    """The first accepted draw of the stream is used, and the others are counted."""
    small = LazyPSRL(accept=lambda A, B: abs(A[0, 1]) < 0.01)
    decision = small.plan(PRIOR, [0.0, 1.0], None, default_rng(1))
    rng, rejected = default_rng(1), 0
    A, B = PRIOR.sample_system(rng)
    while abs(A[0, 1]) >= 0.01:
        A, B = PRIOR.sample_system(rng)
        rejected += 1
    assert rejected > 0
    assert (decision.info["rejected"], decision.info["of_mean"]) == (rejected, False)
    np.testing.assert_allclose(decision.info["gain"], gain_of(A, B, PRIOR))


def test_after_so_many_tries_the_mean_is_used():
    none = LazyPSRL(tries=3, accept=lambda A, B: False)
    decision = none.plan(PRIOR, [0.0, 1.0], None, default_rng(1))
    assert (decision.info["rejected"], decision.info["of_mean"], decision.info["resampled"]) == (3, True, True)
    np.testing.assert_allclose(decision.info["gain"], gain_of(PRIOR.theta[:2].T, PRIOR.theta[2:].T, PRIOR))
    rng = default_rng(1)
    for _ in range(3):
        PRIOR.sample_system(rng)
    again = default_rng(1)
    none.plan(PRIOR, [0.0, 1.0], None, again)
    assert again.bit_generator.state == rng.bit_generator.state


def test_systems_that_cannot_be_stabilised_are_outside():
    """Certain of B = 0 and of growth: every draw is rejected, the mean too is of no use, and the error says so."""
    belief = LinearGaussianDynamics([[1.2], [0.0]], 1e30 * np.eye(2), 0.1, ONE, ONE)
    flat = LinearGaussianDynamics([[1.2], [0.0]], np.diag([1e30, 1.0]), 0.1, ONE, ONE)
    assert LazyPSRL().plan(flat, [1.0], None, default_rng(0)).info["rejected"] == 0
    for planner in (LazyPSRL(accept=lambda A, B: False, tries=2), CertaintyEquivalence()):
        with pytest.raises(NotConverged, match=r"which leave a closed loop of spectral radius 1\.2;"):
            planner.plan(belief, [1.0], None, default_rng(0))


class Smooth:
    """A belief of another family: its precision grows by M(x, u) = (1 + x^2) I in place of zz'."""

    Q, R, theta = ONE, ONE, np.array([[0.5], [1.0]])

    def __init__(self, precision):
        self.precision = precision

    def update(self, datum, rng=None):
        return Smooth(self.precision + (1.0 + datum.observation[0] ** 2) * np.eye(2))

    def sample_system(self, rng):
        return np.array([[0.5]]), np.array([[1.0]])


def test_other_families_add_their_own_measure():
    agent, world = b.BayesAgent(Smooth(np.eye(2)), LazyPSRL()), b.make_world("lq").draw(default_rng(0))
    record = run(agent, world, 60, keep=("resampled",))
    M, last, due = 1.0, None, []
    for x in record.observation[:, 0]:
        due.append(last is None or 2.0 * np.log(M / last) >= np.log(2.0) - 1e-9)
        last = M if due[-1] else last
        M += 1.0 + x**2
    assert record.resampled.tolist() == due
    assert 5 < sum(due) < 20


# Lockstep and regret -------------------------------------------------------------------------------------------------


def test_lockstep_equals_its_transcription():
    """Each replicate follows the rule by itself. Those that need a system share the numbers of one stream."""
    family = b.make_world("lq")
    accept = suggestions_for(family)["lazy-psrl"]["accept"]
    agent = agent_for("lazy-psrl", family)
    record = run(agent, family, 40, seed=2, lockstep=5, keep=("resampled", "gain", "rejected", "of_mean"))
    beliefs, rng, last = [family.default_prior()] * 5, Streams.of(2, 0, True).planner, [-np.inf] * 5
    rejected = 0
    for t in range(40):
        now = [np.log(np.linalg.det(belief.precision)) for belief in beliefs]
        left = [i for i in range(5) if now[i] >= last[i] + np.log(2.0) - 1e-9]
        assert np.flatnonzero(record.resampled[t]).tolist() == left
        kept = [i for i in range(5) if i not in left]
        np.testing.assert_array_equal(record.gain[t, kept], record.gain[t - 1, kept])
        for i in left:
            last[i] = now[i]
        while left:
            E = rng.standard_normal((len(left), 2, 1))
            for i, normal in list(zip(left, E, strict=True)):
                drawn = beliefs[i].theta + np.linalg.solve(beliefs[i].root.T, 0.1 * normal)
                A, B = drawn[:1], drawn[1:]
                if accept(A, B):
                    np.testing.assert_allclose(record.gain[t, i], gain_of(A, B, beliefs[i]), rtol=1e-7)
                    left.remove(i)
            rejected += len(left)
        x, u, y = record.observation[t], record.action[t], record.next_observation[t]
        np.testing.assert_allclose(u, -(record.gain[t] @ x[:, :, None])[:, :, 0])
        steps = [Transition(x[i], u[i], 0.0, y[i]) for i in range(5)]
        beliefs = [belief.update(step) for belief, step in zip(beliefs, steps, strict=True)]
    assert record.rejected.sum() == rejected > 0
    assert not record.of_mean.any()


def test_a_replicate_whose_draws_are_all_rejected_uses_its_mean():
    family = b.make_world("lq")
    agent = b.BayesAgent(family.default_prior(), LazyPSRL(tries=1, accept=lambda A, B: A.item() < 0.7))
    record = run(agent, family, 1, lockstep=40, keep=("of_mean", "gain", "rejected"))
    assert 5 < record.of_mean.sum() < 35
    np.testing.assert_array_equal(record.of_mean, record.rejected == 1)
    mean = gain_of(np.array([[0.7]]), np.array([[0.6]]), family.default_prior())
    np.testing.assert_allclose(record.gain[record.of_mean], np.broadcast_to(mean, (record.of_mean.sum(), 1, 1)))


def test_each_replicate_uses_its_own_mean():
    """Those whose draw is rejected, among others; the beliefs differ after the first step."""
    family = b.make_world("lq")
    planner = LazyPSRL(tries=1, schedule="every", accept=lambda A, B: A.item() < 0.7)
    steps = islice(play(*together(family, planner, 6), lockstep=6), 6)
    for step in steps:
        info, theta = step.decision.info, step.decision.memory.belief.theta
        for i in np.flatnonzero(info["of_mean"]):
            expected = gain_of(theta[i][:1], theta[i][1:], family.default_prior())
            np.testing.assert_allclose(info["gain"][i], expected, rtol=1e-7)


def together(family, planner, n):
    """An agent and a world of replicates, and their streams."""
    streams = Streams.of(0, 0, True)
    return b.BayesAgent(family.default_prior(), planner).batch(n), draw_world(family, streams, n), streams


def curves(method, steps, systems, seed, **params):
    """Regret in units of the optimal cost of a step, (steps, systems), and the draws up to each step."""
    family = b.make_world("lq")
    record = run(agent_for(method, family, params=params), family, steps, seed, lockstep=systems, keep=("resampled",))
    J = -draw_world(family, Streams.of(seed, 0, True), systems).optimum()
    lost = regret(record, family).curve
    np.testing.assert_allclose(lost[-1], -(record.reward + J).sum(axis=0))
    return lost / J, np.cumsum(record.resampled, axis=0)


def test_regret_on_the_family():
    """Beside the reference, 12.9 and 21.1 (standard errors 1.6, 2.2; 400 systems) after 100 and 400 steps.

    Ours has 300 systems. A difference of 4.5 joint standard errors fails; false alarm about 1e-5. Draws grow
    like log T: about 2.4 more for four times the steps.
    """
    lost, drawn = curves("lazy-psrl", 400, 300, 11)
    for t, expected, error in ((100, 12.9, 1.6), (400, 21.1, 2.2)):
        ours = lost[t - 1]
        assert abs(ours.mean() - expected) < 4.5 * np.hypot(error, ours.std() / np.sqrt(300))
    counts = [drawn[t - 1].mean() for t in (25, 100, 400)]
    assert 1.5 < counts[1] - counts[0] < 3.5
    assert 1.5 < counts[2] - counts[1] < 3.5


def test_the_command_line_says_the_regret():
    done = b.lab.experiment(["lazy-psrl"], "lq", steps=30, runs=3)
    (page,) = done.pages()
    assert (page["prior"], page["steps"], page["runs"]) == ("linear", 30, 3)
    assert np.isfinite(page["regret"]["mean"])


# Laws and refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "planner", [LazyPSRL(), LazyPSRL(schedule="every"), LazyPSRL(schedule=2), CertaintyEquivalence()]
)
def test_laws(planner):
    check_planner(planner, PRIOR, [0.5, -1.0], rng=default_rng(0))
    check_agent(b.BayesAgent(PRIOR, planner), WORLD)


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"factor": 0.99}, "LazyPSRL: 'factor' must be at least 1, got 0.99."),
        ({"tries": 0}, "LazyPSRL: 'tries' must be a whole number of at least 1, got 0."),
        ({"schedule": 0}, "LazyPSRL: 'schedule' must be a whole number of at least 1, got 0."),
        (
            {"schedule": "never"},
            "LazyPSRL: 'schedule' must be a whole number or \"determinant\" or \"every\", got 'never'.",
        ),
        ({"accept": 3}, "LazyPSRL: 'accept' must be a function of (A, B), or None, got 3."),
    ],
)
def test_bad_settings(given, sentence):
    with pytest.raises(InvalidArgument) as wrong:
        LazyPSRL(**given)
    assert str(wrong.value) == sentence


@pytest.mark.parametrize("name", ["lazy-psrl", "certainty-equivalence"])
def test_what_is_no_state_is_refused(name):
    rng, before = default_rng(0), default_rng(0).bit_generator.state
    for observation in (np.nan, [1.0], [1.0, np.inf], "x", None, [[1.0, 2.0]]):
        with pytest.raises(InvalidArgument, match="'observation' must be"):
            b.make(name).plan(PRIOR, observation, None, rng)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("name", ["lazy-psrl", "certainty-equivalence"])
def test_beliefs_without_costs_are_refused_when_the_agent_is_made(name):
    with pytest.raises(Incompatible, match=r"needs a belief with 'Q', 'R', which .* lacks\. It was given no costs"):
        b.BayesAgent(LinearGaussianDynamics([[0.5], [1.0]], np.eye(2), 0.2), b.make(name))
    with pytest.raises(Incompatible, match="'Q', 'R', 'theta'"):
        b.BayesAgent(b.DirichletMDP.flat(b.make_world("chain")), b.make(name))
