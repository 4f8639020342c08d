"""Approximate policy iteration for several tasks at once (Lazaric and Ghavamzadeh 2010; survey §7.4).

Each round evaluates the policies of all tasks together: task m has H = phi(s, a) - gamma sum_b pi_m(b|s') phi(s', b),
and a solver (`multitask-gptd` or `multitask-gptd-dp`) gives the weights of its action values. The next policy is greedy
in them. Changing the policies changes which tasks are alike, so the classes are learned anew in every round.

The logs are the same in all rounds (as in least-squares policy iteration), or drawn with the current policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.beliefs.covariances import points
from bayesrl.beliefs.features import Features
from bayesrl.beliefs.log import Log
from bayesrl.checks import Floats, array, frozen, indices, integer, number, sequence
from bayesrl.errors import BrokenContract, InvalidArgument
from bayesrl.kernels import ties
from bayesrl.multitask.value_tasks import Steps, ValueTask, matrices, steps_of
from bayesrl.parameters import AtLeast, Shape, unchecked, value

OWNER = "policy_iteration"


class SolvesTasks(Protocol):
    """A solver that learns the weights of tasks together: `multitask-gptd` and `multitask-gptd-dp`."""

    def solve(self, tasks: Any, rng: Generator | None = None) -> Any:
        """A solution with `weights` (M, d)."""


@explain_failures
@value
class TaskPolicies:
    """The greedy policies of several tasks whose action values are linear in common features."""

    weights: Annotated[Floats, Shape("(M, d)"), "Weights of each task's action values."]
    features: Annotated[Any, "A table (S, A, d), or features of rows that hold a state and then an action."]
    n_actions: Annotated[int, AtLeast(1), "A."]
    solution: Annotated[Any, "What the solver found in the last round; None before the first."]
    co_class: Annotated[Floats | None, Shape("(rounds, M, M)"), "Which tasks were of one class in each round."]
    rounds: Annotated[int, AtLeast(0), "Rounds made."]
    converged: Annotated[bool, "Whether no policy changed in the last round at the states of the logs."]

    def q(self, task: int, states: ArrayLike) -> Floats:
        """Action values of a task at states, (n, A)."""
        owner = "TaskPolicies.q"
        w = self.weights[integer(owner, "task", task, 0, len(self.weights) - 1)]
        return np.asarray(pair_features(owner, self.features, states, self.n_actions) @ w)

    def act(self, task: int, state: Any) -> int:
        """The greedy action of a task; ties go to the first action."""
        return ties.first_best(self.q(task, np.asarray(state)[None])[0])

    def policy(self, task: int) -> Floats:
        """The greedy policy of a task as a table of probabilities, (S, A), if the features are a table."""
        if isinstance(self.features, Features):
            raise InvalidArgument("TaskPolicies.policy", "features", "a table (S, A, d)", self.features)
        return frozen(np.eye(self.n_actions)[ties.greedy(self.q(task, np.arange(len(self.features))))])


def policy_iteration(
    solver: SolvesTasks,
    logs: Sequence[Log] | Callable[[TaskPolicies, Generator], Sequence[Log]],
    features: Features | ArrayLike,
    gamma: float,
    rng: Generator | None = None,
    *,
    rounds: int = 20,
    n_actions: int | None = None,
) -> TaskPolicies:
    """Improve the policies of several tasks, whose action values are learned together in every round.

    `logs` has a record or transitions of each task, or it is a function `draw(policies, rng)` that returns them; then
    new steps are drawn in every round. `features` is a table (S, A, d), or features of rows that hold a state and then
    an action, for which `n_actions` is needed. The first policies are uniform; with zero weights all actions are equal.
    It stops when no policy changes, or after `rounds`: approximate policy iteration may oscillate.

    Examples
    --------
    >>> import bayesrl as b
    >>> walk = [b.Transition(0, 0, 0.0, 0), b.Transition(0, 1, 0.0, 1), b.Transition(1, 0, 0.0, 0)]
    >>> logs = [[*walk, b.Transition(1, 1, pay, 1)] for pay in (1.0, 1.2, 0.8)]
    >>> solver = b.make("multitask-gptd", noise=0.1, scale=0.1)
    >>> found = policy_iteration(solver, logs, np.eye(4).reshape(2, 2, 4), gamma=0.5)
    >>> found.converged, found.policy(0).tolist()
    (True, [[0.0, 1.0], [0.0, 1.0]])
    """
    number(OWNER, "gamma", gamma, 0.0, 1.0)
    integer(OWNER, "rounds", rounds, 1)
    if isinstance(features, Features):
        d, A = features.size, integer(OWNER, "n_actions", n_actions, 1)
    else:
        features = array(OWNER, "features", features, (None, None, None), moderate=True)
        _, A, d = features.shape
    if not hasattr(solver, "solve"):
        raise InvalidArgument(OWNER, "solver", "a solver of tasks, such as make('multitask-gptd')", solver)
    fixed = None if callable(logs) else read(logs, features, A)
    at, classes = TaskPolicies(np.zeros((1, d)), features, A, None, None, 0, False), []
    for i in range(rounds):
        steps = fixed if fixed is not None else read(logs(at, rng), features, A)  # type: ignore[operator, arg-type]
        acted = [uniform(len(x.reward), A) if i == 0 else greedy(at, m, x) for m, (x, _, _) in enumerate(steps)]
        tasks = [evaluation(x, now, after, mu, gamma) for (x, now, after), mu in zip(steps, acted, strict=True)]
        found = solver.solve(tasks, rng)
        w = np.asarray(getattr(found, "weights", None))
        if w.shape != (len(tasks), d):
            raise BrokenContract(f"{type(solver).__name__}.solve", f"return weights ({len(tasks)}, {d})", w)
        together = found.co_class() if hasattr(found, "co_class") else np.ones((len(tasks), len(tasks)))
        classes.append(together)
        at = TaskPolicies(w, features, A, found, np.array(classes), i + 1, False)
        if all(np.array_equal(greedy(at, m, x), acted[m]) for m, (x, _, _) in enumerate(steps)):
            return unchecked(at, converged=True)
    return at


Read = tuple[Steps, Floats, Floats]
"""The steps of a task, the features of their pairs (n, d), and of all actions in the next state (n, A, d)."""


def read(logs: Any, features: Features | Floats, A: int) -> list[Read]:
    """Read the log of each task."""
    given = sequence(OWNER, "logs", logs, "a log for each task")
    if not given:
        raise InvalidArgument(OWNER, "logs", "those of at least one task", logs)
    made = []
    for log in given:
        x = steps_of(OWNER, log)
        a = indices(OWNER, "action", x.action, (len(x.reward),), A)
        now, after = (pair_features(OWNER, features, states, A) for states in (x.state, x.next_state))
        made.append((x, now[np.arange(len(a)), a], after))
    return made


def uniform(n: int, A: int) -> Floats:
    """The uniform policy in n states."""
    return np.full((n, A), 1.0 / A)


def greedy(at: TaskPolicies, m: int, x: Steps) -> Floats:
    """The greedy policy of a task in the next state of each step, (n, A); uniform without weights of the task."""
    if m >= len(at.weights) or not at.rounds:
        return uniform(len(x.reward), at.n_actions)
    return np.asarray(np.eye(at.n_actions)[ties.greedy(at.q(m, x.next_state))])


def evaluation(x: Steps, now: Floats, after: Floats, mu: Floats, gamma: float) -> ValueTask:
    """The matrices that evaluate a policy, whose probabilities in the next states are mu (n, A)."""
    return matrices(OWNER, x, now, np.einsum("na,nad->nd", mu, after), gamma)


def pair_features(owner: str, features: Features | Floats, states: Any, A: int) -> Floats:
    """The features of each action in each state, (n, A, d)."""
    if not isinstance(features, Features):
        return np.asarray(features[indices(owner, "state", states, (None,), len(features))])
    x = points(owner, "states", states)
    rows = np.column_stack([np.repeat(x, A, axis=0), np.tile(np.arange(float(A)), len(x))])
    return features(rows).reshape(len(x), A, -1)
