"""Planning with the mean model: its values, and the planners that choose among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from numpy.random import Generator

from bayesrl.bamdp._checks import must_end, state_in
from bayesrl.capabilities import HasMeanMDP
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.models.solve import solve


def mean_model_q(belief: HasMeanMDP, warm: Floats | None, bonus: Floats | None = None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model; the solve starts from the values `warm` of the last step."""
    solution = solve(belief.mean_mdp(), initial=warm, bonus=bonus)
    return solution.q, solution.values


class OnMeanModel(ABC):
    """A planner that chooses among the mean model's values in the present state."""

    __slots__ = ()
    needs: ClassVar[tuple[type, ...]] = (HasMeanMDP,)

    def check(self, belief: HasMeanMDP) -> None:
        """Raise an error if the discount is 1 and the model need not end."""
        must_end(type(self).__name__, belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self,
        belief: HasMeanMDP,
        observation: int,
        memory: Floats | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Solve the mean model, from the values of the last step on, and choose among the actions."""
        s = state_in(type(self).__name__, belief, observation)
        q, values = mean_model_q(belief, memory)
        action, more = self.choose(q[s], values, rng)
        return Decision(action, values, {"q": q[s], **more})

    @abstractmethod
    def choose(self, q: Floats, values: Floats, rng: Generator) -> tuple[int, dict[str, Any]]:
        """An action by its value `q`, (A,), and what else to report; `values` are those of all states, (S,)."""
