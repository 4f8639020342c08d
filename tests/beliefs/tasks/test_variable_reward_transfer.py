"""The cache of policies against all policies of a three-state problem, and what it saves."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.models.solvers.average_reward import average_reward
from bayesrl.multitask import VariableReward
from bayesrl.parameters import unchecked

S, A, K, GAMMA = 3, 2, 2, 0.9
P = default_rng(0).dirichlet(np.full(S, 0.5), (S, A))
F = default_rng(1).standard_normal((S, A, K))
MDP = TabularMDP.from_dense(P, np.zeros((S, A)), GAMMA)
TASKS = default_rng(2).standard_normal((60, K))
ALL = list(product(range(A), repeat=S))


def rewarded(w, gamma=GAMMA, features=F, rows=P):
    return TabularMDP.from_dense(rows, features @ w, gamma)


def vectors_of(pi):
    """Values of each feature, by the sum of a thousand powers."""
    rows, f = P[range(S), pi], F[range(S), pi]
    total, now = np.zeros((S, K)), f.copy()
    for _ in range(1000):
        total, now = total + now, GAMMA * rows @ now
    return total


def gains_of(pi):
    """The average features of a policy: a high power of its rows."""
    return np.linalg.matrix_power(P[range(S), pi], 4096)[0] @ F[range(S), pi]


EXACT = {pi: vectors_of(pi) for pi in ALL}
GAINS = {pi: gains_of(pi) for pi in ALL}


def best_value(w):
    return np.max([V @ w for V in EXACT.values()], axis=0)


def test_the_cache_against_enumerated_policies():
    """Vectors are those of the policies; the value is their maximum, below V*, and exact at every task seen."""
    belief = VariableReward(MDP, F)
    for i, w in enumerate(TASKS[:6]):
        belief = belief.update(w)
        for pi, V in zip(belief.policies, belief.vectors, strict=True):
            np.testing.assert_allclose(V, EXACT[tuple(pi)], atol=1e-9)
        np.testing.assert_allclose(belief.value(w), best_value(w), atol=1e-9)
        for other in TASKS:
            cached = np.array([EXACT[tuple(pi)] @ other for pi in belief.policies])
            np.testing.assert_allclose(belief.value(other), cached.max(axis=0), atol=1e-9)
            assert (belief.value(other) <= best_value(other) + 1e-9).all()
            for s in range(S):
                assert cached[belief.best(other, s), s] == pytest.approx(cached[:, s].max(), abs=1e-9)
        for seen in TASKS[: i + 1]:
            np.testing.assert_allclose(belief.value(seen), solve(rewarded(seen)).values, atol=1e-8)
    assert belief.tasks.tolist() == TASKS[:6].tolist()


def test_a_complete_cache_solves_every_task():
    """All optimal policies of a circle of weights are found; then no task needs a policy, and none is kept."""
    belief = VariableReward(MDP, F)
    for angle in np.linspace(0.0, 2.0 * np.pi, 400):
        belief = belief.update([np.cos(angle), np.sin(angle)])
    optimal = {tuple(solve(rewarded(w)).policy) for w in default_rng(3).standard_normal((2000, K))}
    assert {tuple(pi) for pi in belief.policies} >= optimal
    for w in TASKS:
        np.testing.assert_allclose(belief.value(w), best_value(w), atol=1e-9)
        after = belief.update(w)
        assert len(after.policies) == len(belief.policies)
        assert after.iterations[-1] == 0


def test_values_of_mixed_policies_are_improved():
    """U may come from two policies and be below V* although no other action is better for U.

    From state 0 the only action leads to state 1 or 2; one cached policy is good in 1, the other in 2. U(0) is that of
    one of them, and V*(0) uses both.
    """
    rows = np.zeros((3, 2, 3))
    rows[0, :, 1:] = 0.5
    rows[1, :, 1] = rows[2, :, 2] = 1.0
    f = np.zeros((3, 2, 3))
    f[1, 0, 0] = f[2, 0, 1] = 1.0  # action 0 pays in state 1 by the first weight, in state 2 by the second
    f[1:, 1, 2] = 0.5  # action 1 pays by the third
    mdp = TabularMDP.from_dense(rows, np.zeros((3, 2)), 0.5)
    belief = VariableReward(mdp, f).update([1.0, 0.0, 1.0]).update([0.0, 1.0, 1.0])
    w = np.array([1.0, 1.0, 1.0])
    assert belief.value(w).tolist() == [0.75, 2.0, 2.0]
    np.testing.assert_allclose(belief.update(w).value(w), [1.0, 2.0, 2.0])


def test_values_are_convex_and_scale_with_the_weights():
    belief = VariableReward(MDP, F).update(TASKS[0]).update(TASKS[1]).update(TASKS[2])
    for u, w in zip(TASKS[:20], TASKS[20:40], strict=True):
        assert (belief.value(0.3 * u + 0.7 * w) <= 0.3 * belief.value(u) + 0.7 * belief.value(w) + 1e-12).all()
        np.testing.assert_allclose(belief.value(2.5 * u), 2.5 * belief.value(u))


def test_a_policy_that_gains_nothing_is_not_kept_again():
    """The same task twice gains exactly 0, which is not more than a tolerance of 0."""
    for w in TASKS[:5]:
        assert len(VariableReward(MDP, F, 0.0).update(w).update(w).policies) == 1


def test_tolerance_keeps_the_cache_small():
    """The value of a task seen may be wrong by at most the tolerance, and fewer policies are kept for it."""
    sizes = []
    for tolerance in (0.0, 3.0, 1e6):
        belief = VariableReward(MDP, F, tolerance)
        for w in TASKS:
            belief = belief.update(w)
            assert (best_value(w) - belief.value(w)).max() <= tolerance + 1e-9
        sizes.append(len(belief.policies))
    assert sizes[0] > sizes[1] > sizes[2] == 1


def test_average_reward():
    """Gains and bias vectors of all cached policies, and the best gain of each task, against enumeration."""
    belief = VariableReward(MDP, F, criterion="average")
    for w in TASKS:
        belief = belief.update(w)
        best = max(g @ w for g in GAINS.values())
        np.testing.assert_allclose(belief.value(w), np.full(S, best), atol=1e-8)
        assert best == pytest.approx(average_reward(rewarded(w)).gain, abs=1e-8)
    for pi, g, h in zip(belief.policies, belief.gains, belief.vectors, strict=True):
        np.testing.assert_allclose(g, GAINS[tuple(pi)], atol=1e-9)
        np.testing.assert_allclose(F[range(S), pi] + P[range(S), pi] @ h, g + h, atol=1e-9)
    assert len({tuple(pi) for pi in belief.policies}) == len(belief.policies) > 1
    assert belief.best(TASKS[0], 0) == int(np.argmax(belief.gains @ TASKS[0]))


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**50])
def test_features_in_any_unit(unit):
    """Gains and bias vectors have the unit of the features, also beside a feature that is zero in some states."""
    f = F.copy()
    f[1, :, 1] = 0.0
    for w in TASKS[:4]:
        plain = VariableReward(MDP, f, criterion="average").update(w)
        scaled = VariableReward(MDP, unit * f, criterion="average").update(w / unit)
        np.testing.assert_array_equal(scaled.policies, plain.policies)
        np.testing.assert_allclose(scaled.gains, unit * plain.gains, rtol=1e-9)
        np.testing.assert_allclose(scaled.vectors, unit * plain.vectors, rtol=1e-9)


def test_a_task_may_be_a_problem():
    belief, w = VariableReward(MDP, F), TASKS[0]
    weights, problem = belief.update(w), belief.update(rewarded(w))
    np.testing.assert_allclose(problem.tasks, weights.tasks, atol=1e-12)
    np.testing.assert_array_equal(problem.policies, weights.policies)
    assert belief.update((MDP, w)) == weights
    assert len(belief.policies) == 0


def test_terminal_states_are_worth_nothing():
    ends = TabularMDP.from_dense([[[0.5, 0.5]], [[0.0, 1.0]]], np.zeros((2, 1)), 0.9, terminal=[1])
    belief = VariableReward(ends, np.ones((2, 1, 1))).update([2.0])
    np.testing.assert_allclose(belief.value([1.0]), [1.0 / (1.0 - 0.45), 0.0])


class PlainCache:
    """Policy iteration from a cache, in loops over states; gains and biases by the stationary distribution."""

    def __init__(self, rows, features, gamma, average, tolerance):
        self.P, self.F, self.gamma, self.average, self.tolerance = rows, features, gamma, average, tolerance
        self.kept, self.counts = [], []  # (policy, vectors, gain)

    def evaluate(self, pi):
        n = len(pi)
        rows, f = self.P[range(n), pi], self.F[range(n), pi]
        if not self.average:
            return np.linalg.inv(np.eye(n) - self.gamma * rows) @ f, np.zeros(f.shape[1])
        gain = np.linalg.matrix_power(rows, 2**12)[0] @ f
        h = np.linalg.lstsq(np.eye(n) - rows, f - gain, rcond=None)[0]
        return h - h[-1], gain

    def update(self, w):
        n, R = len(self.P), self.F @ w
        value = [np.full(n, gain @ w) if self.average else vectors @ w for _, vectors, gain in self.kept]
        if self.kept:
            best = [max(range(len(value)), key=lambda c, s=s: value[c][s]) for s in range(n)]
            pi = [self.kept[c][0][s] for s, c in enumerate(best)]
            V, gain = np.array([self.kept[c][1][s] for s, c in enumerate(best)]), self.kept[best[0]][2]
        else:
            pi, V, gain = R.argmax(axis=1).tolist(), np.zeros((n, self.F.shape[2])), np.zeros(self.F.shape[2])
        count = 0
        while True:
            q = R + (1.0 if self.average else self.gamma) * self.P @ (V @ w)
            better = [s for s in range(n) if q[s].max() > q[s, pi[s]] + 1e-9]
            reached = all(q[s, pi[s]] - gain @ w <= V[s] @ w + 1e-9 for s in range(n))
            if not better and (count > 0 or (self.kept and reached)):
                break
            pi = [int(q[s].argmax()) if s in better else pi[s] for s in range(n)]
            V, gain = self.evaluate(pi)
            count += 1
        now = np.full(n, gain @ w) if self.average else V @ w
        if not self.kept or (now - np.max(value, axis=0)).max() > self.tolerance:
            self.kept.append((pi, V, gain))
        self.counts.append(count)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("tolerance", [1e-9, 0.3])
def test_the_whole_cache_against_a_transcription(average, tolerance):
    """Twelve tasks of five states, three actions and three features: policies, vectors, gains and counts; an end."""
    rng = default_rng(21)
    rows, f = rng.dirichlet(np.full(5, 0.6), (5, 3)), rng.standard_normal((5, 3, 3))
    end = [] if average else [3]
    problem = TabularMDP.from_dense(rows, np.zeros((5, 3)), 0.83, terminal=end)
    belief = VariableReward(problem, f, tolerance, "average" if average else "discounted")
    paid, moved = f.copy(), rows.copy()
    paid[end], moved[end] = 0.0, np.eye(5)[end][:, None]
    plain = PlainCache(moved, paid, 0.83, average, tolerance)
    for w in rng.standard_normal((12, 3)):
        belief = belief.update(w)
        plain.update(w)
    policies, vectors, gains = zip(*plain.kept, strict=True)
    np.testing.assert_array_equal(np.delete(belief.policies, end, axis=1), np.delete(policies, end, axis=1))
    np.testing.assert_allclose(belief.vectors, vectors, atol=1e-8)
    np.testing.assert_allclose(belief.gains, gains, atol=1e-9)
    assert belief.iterations.tolist() == plain.counts
    assert len(policies) > 1
    assert max(plain.counts) > 1


@pytest.mark.parametrize("criterion", ["discounted", "average"])
def test_too_few_policies(criterion, monkeypatch):
    """With a limit of one policy: the error has the policy that was evaluated, and what it still gains in one step."""
    from bayesrl.beliefs.tasks import variable_reward_transfer as module

    belief, hard = VariableReward(MDP, F, criterion=criterion), None
    for w in TASKS:
        if belief.update(w).iterations[0] > 1:
            hard = w
    monkeypatch.setattr(module, "POLICIES", 1)
    with pytest.raises(NotConverged, match="1 policies") as stopped:
        belief.update(hard)
    pi = tuple(stopped.value.best)
    first, R = PlainCache(P, F, GAMMA, criterion == "average", 0.0), F @ hard
    start = R.argmax(axis=1)
    assert pi == tuple(start)
    q = R + (GAMMA if criterion == "discounted" else 1.0) * P @ (first.evaluate(list(pi))[0] @ hard)
    expected = max(q[s].max() - q[s, pi[s]] for s in range(S))
    assert stopped.value.residual == pytest.approx(expected, rel=1e-9)
    assert expected > 1e-3


def test_limits_of_a_task():
    """Rewards may miss the features by 1e-9 of 1 + their size, and rows of the dynamics by 1e-12."""
    w = 50.0 * TASKS[0]
    R = F @ w
    size = 1e-9 * (1.0 + np.abs(R).max())
    off = np.linalg.svd(F.reshape(6, 2))[0][:, 2].reshape(3, 2)  # no weights give a part of it
    off /= np.abs(off).max()
    for miss, fits in ((0.98 * size, True), (1.02 * size, False)):
        problem = TabularMDP.from_dense(P, R + miss * off, GAMMA)
        if fits:
            np.testing.assert_allclose(BELIEF.update(problem).tasks[-1], w, rtol=1e-9)
        else:
            with pytest.raises(InvalidArgument, match="'problem' must be one whose rewards are weights of the feat"):
                BELIEF.update(problem)
    for miss, fits in ((0.9e-12, True), (1.1e-12, False)):
        rows = P.copy()
        rows[0, 0] += miss * np.array([1.0, -1.0, 0.0])
        if fits:
            BELIEF.update((TabularMDP.from_dense(rows, R, GAMMA), w))
        else:
            with pytest.raises(InvalidArgument, match="'problem' must be one with the same dynamics and discount"):
                BELIEF.update((TabularMDP.from_dense(rows, R, GAMMA), w))
    ends = TabularMDP.from_dense(P, R, GAMMA, terminal=[1])
    with pytest.raises(InvalidArgument, match="'problem' must be one without terminal states"):
        VariableReward(ends, F, criterion="average")
    for wrong, name in (([1e101, 0.0], "weights"), (None, "weights")):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            BELIEF.update(wrong)
    with pytest.raises(InvalidArgument, match="'features' must be of moderate size"):
        VariableReward(MDP, 1e101 * F)


@pytest.mark.parametrize("name", ["policies", "vectors", "gains", "tasks", "iterations"])
def test_fields_that_do_not_belong_together(name):
    """Each grown field one row longer, or not finite; actions from 0 to A - 1 alone."""
    belief = VariableReward(MDP, F).update(TASKS[0]).update(TASKS[3])
    belief.check_grown()
    x = getattr(belief, name)
    wrong = [np.repeat(x, 2, axis=0) if name in ("vectors", "gains", "iterations") else np.hstack([x, x[:, :1]])]
    if x.dtype.kind == "f":
        wrong.append(np.where(np.arange(x.size).reshape(x.shape) == 1, np.nan, x))
    if name == "policies":
        for action in (-1, A):
            wrong.append(x.copy())
            wrong[-1][0, 1] = action
        unchecked(belief, policies=np.where(x == x, A - 1, x)).check_grown()
        unchecked(belief, policies=0 * x).check_grown()
    for bad in wrong:
        with pytest.raises(InvalidArgument, match=f"VariableReward: '{name}' must be"):
            unchecked(belief, **{name: bad}).check_grown()


def test_states_of_the_best_policy():
    for state in (-1, S):
        with pytest.raises(InvalidArgument, match="'state' must be a whole number of at least 0 and at most 2"):
            BELIEF.best(TASKS[0], state)
    assert BELIEF.best(TASKS[0], S - 1) == 0


def random_problem(rng, states=20, actions=4, k=3):
    rows = rng.dirichlet(np.full(states, 0.1), (states, actions))
    return TabularMDP.from_dense(rows, np.zeros((states, actions)), 0.95), rng.standard_normal((states, actions, k))


def test_later_tasks_need_fewer_policies():
    """Tasks 21 to 30 against the same tasks from scratch in 8 problems: fewer by three standard errors."""
    saved = []
    for seed in range(8):
        rng = default_rng(seed)
        mdp, features = random_problem(rng)
        belief = fresh = VariableReward(mdp, features)
        for w in rng.standard_normal((30, 3)):
            belief = belief.update(w)
        scratch = [fresh.update(w).iterations[0] for w in belief.tasks[20:]]
        saved.append(np.mean(scratch) - belief.iterations[20:].mean())
    assert np.mean(saved) > 3.0 * np.std(saved, ddof=1) / np.sqrt(8)


TWO = TabularMDP.from_dense([[[1.0, 0.0]], [[0.0, 1.0]]], np.zeros((2, 1)), 0.9)
ODD = TabularMDP.from_dense(P, np.arange(6.0).reshape(3, 2), GAMMA)
OTHER = TabularMDP.from_dense(P[::-1], F @ TASKS[0], GAMMA)
BELIEF = VariableReward(MDP, F).update(TASKS[0])
BAD = {
    "no problem": lambda: VariableReward(None, F),
    "a family": lambda: VariableReward(b.make_world("gc"), F),
    "features of states": lambda: VariableReward(MDP, F[:, 0]),
    "features of other states": lambda: VariableReward(MDP, F[:2]),
    "features of other actions": lambda: VariableReward(MDP, F[:, :1]),
    "NaN among features": lambda: VariableReward(MDP, np.full((S, A, K), np.nan)),
    "no features": lambda: VariableReward(MDP, np.zeros((S, A, 0))),
    "text": lambda: VariableReward(MDP, "x"),
    "negative tolerance": lambda: VariableReward(MDP, F, -0.1),
    "tolerance of NaN": lambda: VariableReward(MDP, F, float("nan")),
    "another criterion": lambda: VariableReward(MDP, F, criterion="total"),
    "discount 1": lambda: VariableReward(TabularMDP.from_dense(P, np.zeros((S, A)), 1.0), F),
    "several classes": lambda: VariableReward(TWO, np.ones((2, 1, 1)), criterion="average").update([1.0]),
    "weights of another length": lambda: BELIEF.update([1.0, 2.0, 3.0]),
    "a number for weights": lambda: BELIEF.update(1.0),
    "no weights": lambda: BELIEF.update(None),
    "NaN among weights": lambda: BELIEF.update([float("nan"), 1.0]),
    "text for weights": lambda: BELIEF.update("ab"),
    "other dynamics": lambda: BELIEF.update(OTHER),
    "other dynamics with weights": lambda: BELIEF.update((OTHER, TASKS[0])),
    "another discount": lambda: BELIEF.update(rewarded(TASKS[0], gamma=0.8)),
    "another size": lambda: BELIEF.update(TWO),
    "rewards that no weights give": lambda: BELIEF.update(ODD),
    "values of weights of another length": lambda: BELIEF.value([1.0]),
    "values before any task": lambda: VariableReward(MDP, F).value(TASKS[0]),
    "the best of none": lambda: VariableReward(MDP, F).best(TASKS[0], 0),
    "a state that is none": lambda: BELIEF.best(TASKS[0], 3),
    "a state of text": lambda: BELIEF.best(TASKS[0], "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_in_one_sentence(name):
    before = BELIEF.vectors.copy()
    with pytest.raises(InvalidArgument, match="must be") as error:
        BAD[name]()
    assert "\n" not in str(error.value)
    np.testing.assert_array_equal(BELIEF.vectors, before)
