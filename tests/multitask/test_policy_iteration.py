"""Policy iteration for several tasks: exact policies from complete logs, re-clustering, and nonsense."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.beliefs.features import RBF
from bayesrl.core import Transition
from bayesrl.errors import BrokenContract, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.multitask import policy_iteration

S, A, GAMMA = 4, 2, 0.8
PAIRS = np.eye(S * A).reshape(S, A, S * A)


def deterministic(seed):
    """A deterministic MDP: next states and rewards (S, A)."""
    rng = np.random.default_rng(seed)
    return rng.integers(S, size=(S, A)), rng.normal(size=(S, A))


def complete_log(move, pay):
    """Every pair once."""
    return [Transition(s, a, pay[s, a], int(move[s, a])) for s in range(S) for a in range(A)]


def test_complete_logs_of_deterministic_tasks_give_the_optimal_policies():
    """With little noise and a wide prior a round evaluates exactly, so that it is policy iteration."""
    made = [deterministic(seed) for seed in range(3)]
    logs = [complete_log(*one) for one in made]
    found = policy_iteration(b.make("multitask-gptd", noise=1e-5, scale=100.0, tol=1e-2), logs, PAIRS, GAMMA)
    assert found.converged
    for m, (move, pay) in enumerate(made):
        optimum = solve(TabularMDP.from_dense(np.eye(S)[move], pay, GAMMA))
        np.testing.assert_allclose(found.q(m, np.arange(S)), optimum.q, atol=1e-5)
        np.testing.assert_array_equal(found.policy(m).argmax(axis=1), optimum.policy)
        assert found.act(m, 0) == optimum.policy[0]


def test_classes_are_learned_anew_in_every_round():
    """Two rewards, twice each: two classes. The classes of each round are kept."""
    made = [deterministic(seed) for seed in (0, 0, 5, 5)]
    rng = np.random.default_rng(0)
    solver = b.make("multitask-gptd-dp", noise=0.05, strength=0.05, degrees=S * A + 2.0, scale=0.1, sweeps=150)
    found = policy_iteration(solver, [complete_log(*one) for one in made], PAIRS, GAMMA, rng)
    assert found.co_class.shape == (found.rounds, 4, 4)
    assert found.rounds > 1
    np.testing.assert_array_equal(found.co_class[-1], found.solution.co_class())
    assert found.co_class[-1][0, 1] > 0.5 > found.co_class[-1][0, 2]


def test_steps_drawn_with_the_current_policies():
    """A function draws the logs of a round; the first policies are uniform."""
    asked = []

    def draw(policies, rng):
        asked.append(policies.rounds)
        return [complete_log(*deterministic(seed)) for seed in range(2)]

    solver = b.make("multitask-gptd", noise=0.1, tol=1e-6)
    found = policy_iteration(solver, draw, PAIRS, GAMMA, np.random.default_rng(0), rounds=30)
    same = policy_iteration(solver, draw(found, None), PAIRS, GAMMA, rounds=30)
    assert asked[: found.rounds] == list(range(found.rounds))
    np.testing.assert_array_equal(found.weights, same.weights)


def test_features_of_rows_with_states_and_actions():
    """RBF features of (state, action): equal to the table of the same features."""
    centres = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    features, logs = RBF(centres), [complete_log(*deterministic(seed)) for seed in range(2)]
    rows = np.array([[s, a] for s in range(S) for a in range(A)], float)
    solver = b.make("multitask-gptd", noise=0.3, tol=1e-6)
    by_rows = policy_iteration(solver, logs, features, GAMMA, n_actions=A)
    by_table = policy_iteration(solver, logs, features(rows).reshape(S, A, 3), GAMMA)
    np.testing.assert_allclose(by_rows.weights, by_table.weights, atol=1e-12)
    with pytest.raises(InvalidArgument, match="'features' must be a table"):
        by_rows.policy(0)


class Ridge:
    """A solver of each task alone: weights (H'H + I)^-1 H'r. It keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def solve(self, tasks, rng=None):
        self.asked.append(tasks)
        w = [np.linalg.solve(H.T @ H + np.eye(H.shape[1]), H.T @ r) for H, r, _ in tasks]
        return type("Found", (), {"weights": np.array(w)})()


@pytest.mark.parametrize("rounds", [1, 2, 20])
def test_rounds_against_a_transcription(rounds):
    """H of each round by loops: features of a pair minus gamma times those of the policy in the next state, ends apart.

    Three actions, five features; the first policies are uniform, the later ones greedy, until none changes.
    """
    rng, A, gamma = np.random.default_rng(5), 3, 0.85
    phi = rng.normal(size=(S, A, 5))
    logs = [
        [Transition(*map(int, rng.integers((S, A))), rng.normal(), int(rng.integers(S)), bool(rng.random() < 0.2))
         for _ in range(12)]
        for _ in range(2)
    ]  # fmt: skip
    solver = Ridge()
    found = policy_iteration(solver, logs, phi, gamma, rounds=rounds)
    policies = [np.full((S, A), 1 / A)] * 2
    for n in range(1, rounds + 1):
        weights = []
        for m, log in enumerate(logs):
            H = [phi[x.state, x.action] - gamma * (not x.terminated) * policies[m][x.next_state] @ phi[x.next_state]
                 for x in log]  # fmt: skip
            np.testing.assert_allclose(solver.asked[n - 1][m].H, H, atol=1e-12)
            r = np.array([x.reward for x in log])
            weights.append(np.linalg.solve(np.transpose(H) @ H + np.eye(5), np.transpose(H) @ r))
        new = [np.eye(A)[(phi @ w).argmax(axis=1)] for w in weights]
        at = [[x.state if x.terminated else x.next_state for x in log] for log in logs]
        same = all((new[m][at[m]] == policies[m][at[m]]).all() for m in range(2))
        policies = new
        if same:
            break
    assert (found.rounds, found.converged, len(solver.asked)) == (n, same, n)
    assert found.converged == (rounds == 20)
    np.testing.assert_allclose(found.weights, weights, atol=1e-10)
    np.testing.assert_array_equal(found.co_class, np.ones((n, 2, 2)))
    for m in range(2):
        np.testing.assert_allclose(found.q(m, [2, 0]), phi[[2, 0]] @ weights[m], atol=1e-10)
        np.testing.assert_array_equal(found.policy(m), policies[m])
        assert [found.act(m, s) for s in range(S)] == policies[m].argmax(axis=1).tolist()
    for task in (-1, 2):
        with pytest.raises(InvalidArgument, match="'task' must be a whole number of at least 0 and at most 1"):
            found.q(task, [0])


def test_one_action_and_both_ends_of_the_discount():
    """A single action has one policy, which never changes: one round; discounts 0 and 1 are accepted."""
    log = [Transition(0.5, 0, 1.0, 1.5), Transition(1.5, 0, 2.0, 0.5, terminated=True)]
    features = RBF([[0.0, 0.0], [1.0, 0.0]])
    for gamma in (0.0, 1.0):
        found = policy_iteration(Ridge(), [log], features, gamma, n_actions=1)
        assert (found.rounds, found.converged, found.n_actions) == (1, True, 1)
    with pytest.raises(InvalidArgument, match="'n_actions' must be a whole number of at least 1"):
        policy_iteration(Ridge(), [log], features, 0.5, n_actions=0)


def test_saved(tmp_path):
    solver = b.make("multitask-gptd", noise=0.3, tol=1e-6)
    found = policy_iteration(solver, [complete_log(*deterministic(1))], PAIRS, GAMMA, rounds=1)
    assert not found.converged
    b.save(found, tmp_path / "kept.zip")
    assert b.load(tmp_path / "kept.zip") == found


LOG = complete_log(*deterministic(0))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"solver": "multitask-gptd"}, "'solver'"),
        ({"logs": []}, "'logs' must be those of at least one task"),
        ({"logs": None}, "'logs'"),
        ({"logs": [[]]}, "'log' must be at least one step"),
        ({"logs": [[Transition(0, 2, 0.0, 1)]]}, "'action'"),
        ({"logs": [[Transition(7, 0, 0.0, 1)]]}, "'state'"),
        ({"logs": [[Transition(0, 0, np.nan, 1)]]}, "'reward'"),
        ({"features": np.eye(4)}, "'features'"),
        ({"features": RBF([[0.0, 0.0]])}, "'n_actions'"),
        ({"gamma": 1.2}, "'gamma'"),
        ({"gamma": None}, "'gamma'"),
        ({"rounds": 0}, "'rounds'"),
    ],
)  # fmt: skip
def test_refused(changed, sentence):
    given = {"solver": b.make("multitask-gptd"), "logs": [LOG], "features": PAIRS, "gamma": GAMMA} | changed
    with pytest.raises(InvalidArgument, match=sentence):
        policy_iteration(**given)


def test_a_solver_without_weights():
    class Silent:
        def solve(self, tasks, rng=None):
            return None

    with pytest.raises(BrokenContract, match=r"Silent.solve does not return weights \(1, 8\)"):
        policy_iteration(Silent(), [LOG], PAIRS, GAMMA)
