"""Policies: ways of acting that need no further thought.

    TabularPolicy     one action, or one distribution over actions, for each state
    SoftmaxPolicy     probabilities proportional to exp(theta . phi(s, a)); it has a score
    GaussianPolicy    a real action vector with mean W x and a fixed spread; it has a score
    ControllerPolicy  a finite set of nodes that say what to do, and where an observation leads

Each implements `core.Policy` (`sample`, `log_prob`) and is an agent (`start`, `act`, `learn`). So a policy can be run,
compared, saved and evaluated like every other method. `solve(mdp).policy` is a TabularPolicy.

The score is the gradient of `log_prob` in the parameters. Its mean under the policy is zero.
"""

from __future__ import annotations

from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, Ints, array, frozen, generator, indices, integer, number, rows_sum_to_one
from bayesrl.core import Decision, Policy, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models._reads_as_array import ReadsAsArray
from bayesrl.parameters import Above, AtLeast, Shape, value

Table = NDArray[Any]


@runtime_checkable
class TablePolicy(Protocol):
    """A policy over finitely many states and actions that can list its probabilities."""

    def probabilities(self) -> Floats:
        """The probability of each action in each state, shape (S, A)."""


class Memoryless(Protocol):
    """What makes a policy an agent that remembers and learns nothing."""

    def sample(self, observation: Any, rng: Generator) -> Any:
        """An action drawn from the policy."""

    def start(self) -> None:
        """No memory."""

    def act(self, mind: None, observation: Any, rng: Generator) -> Decision:
        """Sample an action."""
        return Decision(self.sample(observation, rng), None, {})

    def learn(self, mind: None, transition: Transition, rng: Generator) -> None:
        """No memory."""


@explain_failures
@value
class TabularPolicy(Memoryless, ReadsAsArray):
    """One action for each state, or one distribution over actions for each state.

    A TabularPolicy also reads like its array: it can be indexed, listed, compared with an array and handed to NumPy.

    Examples
    --------
    >>> go = TabularPolicy([1, 0], n_actions=2)
    >>> go.tolist(), go.log_prob(0, 1)
    ([1, 0], 0.0)
    >>> TabularPolicy([[0.5, 0.5], [0.0, 1.0]]).sample(1, np.random.default_rng(0))
    1
    """

    table: Annotated[Table, Shape("(S,) or (S, A)"), "The action of each state, or the probability of each action."]
    n_actions: Annotated[int | None, AtLeast(1), "Number of actions, A; None: as many as the table shows."] = None

    def __post_init__(self) -> None:
        owner, given = type(self).__name__, self.n_actions
        if self.table.ndim == 1:
            high = given or int(self.table.max()) + 1
            table: Table = indices(owner, "table", self.table, (None,), max(high, 1))
        else:
            table = array(owner, "table", self.table, (None, given), low=0.0)
            rows_sum_to_one(owner, "table", table)
            high = table.shape[1]
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "n_actions", high)

    @classmethod
    def unchecked(cls, actions: Ints, n_actions: int) -> TabularPolicy:
        """For solvers, which know that their actions are valid. The array is given up."""
        new = object.__new__(cls)
        new.__dict__.update(table=frozen(actions), n_actions=n_actions)
        return new

    # A policy --------------------------------------------------------------------------------------------------------

    def sample(self, observation: int, rng: Generator) -> int:
        """An action drawn from the policy. A deterministic policy draws no random number."""
        row = self.table[self._state(observation)]
        return int(row) if self.table.ndim == 1 else _drawn("TabularPolicy", row, rng)

    def log_prob(self, observation: int, action: int) -> float:
        """The logarithm of an action's probability; minus infinity for an action that is never taken."""
        row = self.table[self._state(observation)]
        if self.table.ndim == 1:
            return 0.0 if int(row) == self._action(action) else -np.inf
        return _log(row[self._action(action)])

    def probabilities(self) -> Floats:
        """The probability of each action in each state, shape (S, A)."""
        return np.eye(self._actions)[self.table] if self.table.ndim == 1 else self.table

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.table)

    @property
    def deterministic(self) -> bool:
        """Whether the table lists actions instead of probabilities."""
        return self.table.ndim == 1

    @property
    def _actions(self) -> int:
        assert self.n_actions is not None  # set by the constructor
        return self.n_actions

    def _state(self, observation: Any) -> int:
        return integer("TabularPolicy", "observation", observation, 0, len(self.table) - 1)

    def _action(self, action: Any) -> int:
        return integer("TabularPolicy", "action", action, 0, self._actions - 1)

    # An array --------------------------------------------------------------------------------------------------------

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Table:
        if dtype is None or np.dtype(dtype) == self.table.dtype:
            return self.table.copy() if copy else self.table
        return self.table.astype(dtype)

    def __eq__(self, other: object) -> Any:
        """With another policy: whether both are the same. With an array: entry by entry, as arrays compare."""
        if isinstance(other, TabularPolicy):
            return self.n_actions == other.n_actions and np.array_equal(self.table, other.table)
        return self.table == other


@explain_failures
@value
class SoftmaxPolicy(Memoryless):
    """Probabilities proportional to exp(theta . phi(s, a)) (Williams 1992; survey §2.3).

    Without features there is one parameter for each (s, a), so theta has shape (S, A).

    Examples
    --------
    >>> policy = SoftmaxPolicy([[0.0, 0.0], [0.0, np.log(3.0)]])
    >>> policy.probabilities().round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    >>> policy.score(1, 1).round(2).tolist()
    [0.0, 0.0, -0.25, 0.25]
    """

    theta: Annotated[Floats, Shape("(S, A), or (d,) with features"), "The parameters."]
    features: Annotated[
        Floats | None, Shape("(S, A, d)"), "phi(s, a); None: a table, one parameter for each (s, a)."
    ] = None

    def __post_init__(self) -> None:
        if self.features is None:
            array("SoftmaxPolicy", "theta", self.theta, (None, None))
        else:
            array("SoftmaxPolicy", "features", self.features, (None, None, None))
            array("SoftmaxPolicy", "theta", self.theta, (self.features.shape[2],))

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.theta if self.features is None else self.features)

    @property
    def n_actions(self) -> int:
        """A."""
        return int((self.theta if self.features is None else self.features).shape[1])

    def sample(self, observation: int, rng: Generator) -> int:
        """An action drawn from the policy."""
        return _drawn("SoftmaxPolicy", np.exp(self._log_row(observation)), rng)

    def log_prob(self, observation: int, action: int) -> float:
        """The logarithm of an action's probability."""
        return float(self._log_row(observation)[self._action(action)])

    def score(self, observation: int, action: int) -> Floats:
        """The gradient of `log_prob` in theta, shape (d,), or (S * A,) for a table: phi(s, a) less its mean."""
        p, a = np.exp(self._log_row(observation)), self._action(action)
        if self.features is not None:
            phi = self.features[observation]
            return np.asarray(phi[a] - p @ phi)
        gradient = np.zeros(self.theta.shape)
        gradient[observation] = -p
        gradient[observation, a] += 1.0
        return gradient.ravel()

    def probabilities(self) -> Floats:
        """The probability of each action in each state, shape (S, A)."""
        return np.exp([self._log_row(s) for s in range(self.n_states)])

    def _log_row(self, observation: Any) -> Floats:
        s = integer("SoftmaxPolicy", "observation", observation, 0, self.n_states - 1)
        x = self.theta[s] if self.features is None else self.features[s] @ self.theta
        x = x - x.max()
        return np.asarray(x - np.log(np.exp(x).sum()))

    def _action(self, action: Any) -> int:
        return integer("SoftmaxPolicy", "action", action, 0, self.n_actions - 1)


@explain_failures
@value
class GaussianPolicy(Memoryless):
    """A real action vector: normal with mean W x for the observation x, independent entries of one spread.

    Examples
    --------
    >>> policy = GaussianPolicy([[2.0, 0.0]], spread=0.5)
    >>> policy.score([1.0, 3.0], [2.5]).tolist()
    [2.0, 6.0]
    """

    weights: Annotated[Floats, Shape("(m, d)"), "W: from d numbers observed to the mean of m numbers chosen."]
    spread: Annotated[float, Above(0), "Standard deviation of each entry of the action."] = 1.0

    def __post_init__(self) -> None:
        array("GaussianPolicy", "weights", self.weights, (None, None))
        object.__setattr__(self, "spread", number("GaussianPolicy", "spread", self.spread, 0.0, above=True))

    def sample(self, observation: ArrayLike, rng: Generator) -> Floats:
        """An action drawn from the policy, shape (m,)."""
        mean = self._mean(observation)
        return mean + self.spread * generator("GaussianPolicy", rng).standard_normal(len(mean))

    def log_prob(self, observation: ArrayLike, action: ArrayLike) -> float:
        """The logarithm of an action's density."""
        z = self._deviation(observation, action) / self.spread
        return float(-0.5 * z @ z - len(z) * np.log(self.spread * np.sqrt(2.0 * np.pi)))

    def score(self, observation: ArrayLike, action: ArrayLike) -> Floats:
        """The gradient of `log_prob` in W, row by row, shape (m * d,)."""
        z = self._deviation(observation, action) / self.spread**2
        return np.outer(z, self._observed(observation)).ravel()

    def _observed(self, observation: ArrayLike) -> Floats:
        return array("GaussianPolicy", "observation", observation, (self.weights.shape[1],))

    def _mean(self, observation: ArrayLike) -> Floats:
        return np.asarray(self.weights @ self._observed(observation))

    def _deviation(self, observation: ArrayLike, action: ArrayLike) -> Floats:
        chosen = array("GaussianPolicy", "action", action, (len(self.weights),))
        return chosen - self._mean(observation)


@explain_failures
@value
class ControllerPolicy:
    """A finite-state controller: what to do in each node, and the node to which each observation leads.

    The policy is a distribution over actions given the node, so `sample` and `log_prob` take a node as the observation.
    As an agent its mind is the node. It starts in node 0, and again at the start of each episode.

    Examples
    --------
    >>> listen_twice = ControllerPolicy(TabularPolicy([0, 0, 1], n_actions=2), moves=[[1, 1], [2, 2], [0, 0]])
    >>> [listen_twice.sample(node, np.random.default_rng(0)) for node in range(3)]
    [0, 0, 1]
    """

    acts: TabularPolicy
    """What is done in each node: N nodes take the place of states."""
    moves: Annotated[Table, Shape("(N, O)"), "The next node after each observation."]

    def __post_init__(self) -> None:
        if not isinstance(self.acts, TabularPolicy):
            raise InvalidArgument("ControllerPolicy", "acts", "a TabularPolicy over the nodes", self.acts)
        nodes = len(self.acts)
        moves = indices("ControllerPolicy", "moves", self.moves, (nodes, None), nodes)
        object.__setattr__(self, "moves", moves)

    def sample(self, observation: int, rng: Generator) -> int:
        """An action drawn from the distribution of a node."""
        return self.acts.sample(observation, rng)

    def log_prob(self, observation: int, action: int) -> float:
        """The logarithm of an action's probability in a node."""
        return self.acts.log_prob(observation, action)

    def start(self) -> int:
        """Node 0."""
        return 0

    def act(self, mind: int, observation: Any, rng: Generator) -> Decision:
        """Sample the action of the present node."""
        return Decision(self.sample(mind, rng), mind, {"node": mind})

    def learn(self, mind: int, transition: Transition, rng: Generator) -> int:
        """The node to which the observation leads, or node 0 if the episode has ended."""
        seen = transition.next_observation
        if transition.ends_episode:
            return 0
        return int(self.moves[mind, integer("ControllerPolicy", "observation", seen, 0, self.moves.shape[1] - 1)])


def policy_matrix(owner: str, policy: Policy | ArrayLike, S: int, A: int) -> Floats:
    """A policy of S states and A actions as probabilities of actions, shape (S, A)."""
    if isinstance(policy, TabularPolicy):
        policy = policy.table
    elif isinstance(policy, TablePolicy):
        policy = policy.probabilities()
    elif isinstance(policy, Policy):
        policy = np.exp([[policy.log_prob(s, a) for a in range(A)] for s in range(S)])
    if np.ndim(policy) == 1:
        return np.eye(A)[indices(owner, "policy", policy, (S,), A)]
    weight = array(owner, "policy", policy, (S, A), low=0.0)
    return rows_sum_to_one(owner, "policy", weight, policy)


def _drawn(owner: str, p: Floats, rng: Generator) -> int:
    """An action with these probabilities, from one random number; one of probability zero is never drawn."""
    total = np.cumsum(p)
    action = int(np.searchsorted(total, generator(owner, rng).random() * total[-1], side="right"))
    return action if action < len(p) else int(np.flatnonzero(p)[-1])


def _log(p: float) -> float:
    return float(np.log(p)) if p > 0.0 else -np.inf
