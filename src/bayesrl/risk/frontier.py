"""Mean against tail (survey §6): what the mean of the return costs in its worst part, and the reverse.

For each weight lam, the best policy for the measure (1 - lam) mean + lam CVaR is found by linear programs
(percentile_measure.py), on the same models for all weights. As lam grows, the mean falls and the tail rises. At lam = 1
and lam = 0 several policies may be best. Further programs then choose the one of the largest mean, or tail, among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.capabilities import SamplesMDPs
from bayesrl.checks import Floats, array, frozen, number
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import PROBABILITY, Above, Shape, value
from bayesrl.risk._cutting_planes import maximise, then_maximise
from bayesrl.risk.measure import Measure
from bayesrl.risk.models import models_of
from bayesrl.risk.percentile_measure import HistoryPlan, PercentileMeasure, StationaryPlan, plans_of, solution_of


@explain_failures
@value
class Frontier:
    """Means and tails of the best policies for several weights of the tail."""

    level: Annotated[float, Above(0), "The share of the worst returns that the tail averages."]
    weights: Annotated[Floats, PROBABILITY, Shape("(L,)"), "The weight of the tail, lam, for each policy."]
    mean: Annotated[Floats, Shape("(L,)"), "The mean of each policy's returns."]
    tail: Annotated[Floats, Shape("(L,)"), "The mean of the worst part of each policy's returns, CVaR."]
    solutions: tuple[StationaryPlan | HistoryPlan, ...] = field(repr=False)
    """The solutions, which are planners."""

    @property
    def policies(self) -> tuple[Any, ...]:
        """Policies (S, A) if there is no horizon; otherwise the solutions, whose policies depend on the history."""
        return tuple(one.policy if isinstance(one, StationaryPlan) else one for one in self.solutions)

    @property
    def sampled(self) -> bool:
        """Whether the models are draws from a belief that is not finite."""
        return self.solutions[0].sampled


def frontier(
    belief: SamplesMDPs | Sequence[TabularMDP],
    level: float,
    weights: ArrayLike,
    horizon: int | None = None,
    rng: Generator | None = None,
) -> Frontier:
    """The policies that maximise (1 - lam) mean + lam CVaR of the return, for each lam in `weights`.

    `level` is the share of worst returns in the CVaR. Models are those of `percentile-measure`: all models of a finite
    belief, or 200 draws, the same for all weights. Ties go to the larger mean at lam = 1, and to the larger tail at 0.

    >>> rewards = ([[1.0, 3.0]], [[1.0, 0.0]])  # the second action earns 3 in one model and 0 in the other
    >>> found = frontier([TabularMDP.from_dense([[[1.0], [1.0]]], R, gamma=0.0) for R in rewards], 0.5, [0, 1])
    >>> found.mean.round(6).tolist(), found.tail.round(6).tolist()
    ([1.5, 1.0], [0.0, 1.0])
    """
    owner = "frontier"
    level = number(owner, "level", level, 0.0, 1.0, above=True)
    lam = array(owner, "weights", weights, (None,), low=0.0)
    if lam.max() > 1.0:
        raise InvalidArgument(owner, "weights", "at most 1 everywhere", float(lam.max()))
    mean, tail = Measure.mean(), Measure.cvar(level)
    solver = PercentileMeasure(mean, horizon)
    drawn = models_of(owner, belief, solver.models, rng)
    plans = plans_of(owner, drawn, horizon, solver.nodes)
    solutions = []
    for weight in lam.tolist():
        measure = {0.0: mean, 1.0: tail}.get(weight) or Measure.mixture([mean, tail], [1.0 - weight, weight])
        best = maximise(owner, plans, measure, drawn.weights)
        if weight in (0.0, 1.0):
            best = then_maximise(plans, measure, best, mean if weight else tail, drawn.weights)
        solutions.append(solution_of(PercentileMeasure(measure, horizon), plans, best, drawn))
    returns = np.array([one.returns for one in solutions])
    tails = frozen(np.array([tail.value(v, drawn.weights) for v in returns]))
    return Frontier(level, lam, frozen(returns @ drawn.weights), tails, tuple(solutions))
