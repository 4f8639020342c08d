"""Tabular policies: an action, or a distribution over actions, for each state."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, Ints, array, frozen, indices, integer, rows_sum_to_one
from bayesrl.models.policies.sampling import Memoryless, draw_action
from bayesrl.models.reads_as_array import ReadsAsArray
from bayesrl.parameters import AtLeast, Shape, value

Table = NDArray[Any]


@explain_failures
@value
class TabularPolicy(Memoryless, ReadsAsArray):
    """One action for each state, or one distribution over actions for each state.

    A TabularPolicy can be used like its array: it can be indexed, listed, compared with an array and passed to NumPy.

    Examples
    --------
    >>> go = TabularPolicy([1, 0], n_actions=2)
    >>> go.tolist(), go.log_prob(0, 1)
    ([1, 0], 0.0)
    >>> TabularPolicy([[0.5, 0.5], [0.0, 1.0]]).sample(1, np.random.default_rng(0))
    1
    """

    table: Annotated[Table, Shape("(S,) or (S, A)"), "The action of each state, or the probability of each action."]
    n_actions: Annotated[int | None, AtLeast(1), "Number of actions, A; None to infer it from the table."] = None

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
        """Make a policy without checks, for solvers. The caller must not write to the array any more."""
        new = object.__new__(cls)
        new.__dict__.update(table=frozen(actions), n_actions=n_actions)
        return new

    # A policy --------------------------------------------------------------------------------------------------------

    def sample(self, observation: int, rng: Generator) -> int:
        """An action drawn from the policy. A deterministic policy draws no random number."""
        row = self.table[self._state(observation)]
        return int(row) if self.table.ndim == 1 else draw_action("TabularPolicy", row, rng)

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


def _log(p: float) -> float:
    return float(np.log(p)) if p > 0.0 else -np.inf
