"""Percentile measures (Chen and Bowling 2012, theorem 1; survey §6): the policy of largest value over percentiles.

A measure says how much each percentile of the posterior of the return counts (`risk.Measure`): the mean, the tail
(CVaR), the worst case, k of n, or a mixture of them. If its density does not increase, the best policy is the solution
of a linear program, whatever the posterior over models. With uncertain transitions it depends on the history, since
the states seen tell which model it is: for the measure `mean` it is the Bayes-adaptive optimum.

Paper to code: the measure's weights of sorted returns are `Measure.shares`; the program over realisation plans is
`_cutting_planes.py`; its information sets are `_information_sets.py`.
Deviations: the paper's program has a row for each order of the models; here the rows that matter are generated, which
also serves models of unequal weight. The paper solves k of n by sampling (`k-of-n`) and needs no list of models. A
belief that is not finite is replaced by `models` draws, so that the value holds for the draws only (`sampled`).
Cost: memory O(M N A) for M models and N information sets: S without a horizon, T S if all models share their
transitions, otherwise up to sum_t S^(t+1) A^t histories; linear programs of that size.
Claims: equal to the program with all orders; bounds `value` and `upper` that do not depend on the program's accuracy;
the policy earns `value` if it is walked history by history.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.capabilities import HasRewardMoments, ListsMDPs, SamplesMDPs, offers
from bayesrl.checks import Floats, number
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import StationarySolution
from bayesrl.parameters import AtLeast, Shape, declared, value
from bayesrl.registry import register
from bayesrl.risk._cutting_planes import Best, Plans, SetPlans, StationaryPlans, maximise
from bayesrl.risk._information_sets import (
    HistorySolution,
    InformationSets,
    histories,
    pairs_in_time,
    possible_in,
    share_transitions,
)
from bayesrl.risk.measure import Measure
from bayesrl.risk.models import Models, models_of
from bayesrl.traits import Traits

OWNER = "PercentileMeasure"


@register(
    "percentile-measure",
    kind="solver",
    survey="6",
    paper="Chen2012TO",
    example=lambda: PercentileMeasure(horizon=2, models=8),
    evidence=(
        "tests/risk/test_percentile_measure.py::test_equal_to_the_program_with_all_orders",
        "tests/risk/test_percentile_measure.py::test_the_policy_walked_through_plan_has_its_value",
        "tests/risk/test_percentile_measure.py::test_the_mean_is_the_bayes_adaptive_optimum",
        "tests/risk/test_percentile_measure.py::test_planning_against_the_adversary_earns_the_value",
        "tests/risk/test_percentile_measure.py::test_two_normal_actions",
    ),
)
@declared
class PercentileMeasure:
    """The policy of largest value for a measure over the percentiles of its return.

    Examples
    --------
    >>> import bayesrl as b
    >>> from bayesrl.models.mdp import TabularMDP
    >>> stay = [[[1.0], [1.0]]]  # one state; the second action earns 3 in one model and 0 in the other
    >>> models = [TabularMDP.from_dense(stay, R, gamma=0.0) for R in ([[1.0, 3.0]], [[1.0, 0.0]])]
    >>> solution = b.make("percentile-measure", measure=b.risk.Measure.max_min()).solve(models)
    >>> solution.value, solution.policy.tolist()
    (1.0, [[1.0, 0.0]])
    """

    measure: Annotated[Measure, "How much each percentile of the return counts; percentile 0 is the worst."] = (
        Measure.cvar(0.1)
    )
    horizon: Annotated[
        int | None, AtLeast(1), "Decisions of an episode; None: discounted, for models that share their transitions."
    ] = None
    models: Annotated[int, AtLeast(1), "Models drawn from a belief that is not finite."] = 200
    nodes: Annotated[int, AtLeast(1), "Largest number of information sets."] = 200_000

    needs: ClassVar[tuple[type, ...]] = (SamplesMDPs,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def __post_init__(self) -> None:
        if not isinstance(self.measure, Measure):
            raise InvalidArgument(OWNER, "measure", "a Measure, such as risk.Measure.cvar(0.1)", self.measure)

    def check(self, belief: SamplesMDPs) -> None:
        """Refuse unknown transitions without a horizon."""
        listed = offers(belief, ListsMDPs) and share_transitions(belief.models)
        if self.horizon is None and not (listed or offers(belief, HasRewardMoments)):
            hint = "The models differ in their transitions, so that no stationary policy is best."
            raise InvalidArgument(OWNER, "horizon", "a number of steps", None, hint)

    def solve(
        self, problem: SamplesMDPs | Sequence[TabularMDP], rng: Generator | None = None
    ) -> StationaryPlan | HistoryPlan:
        """The best policy for a belief, or for equally probable models. A belief that is not finite needs `rng`."""
        drawn = models_of(OWNER, problem, self.models, rng)
        plans = plans_of(OWNER, drawn, self.horizon, self.nodes)
        try:
            best = maximise(OWNER, plans, self.measure, drawn.weights)
        except NotConverged as failed:
            failed.best = solution_of(self, plans, failed.best, drawn)
            raise
        return solution_of(self, plans, best, drawn)


def plans_of(owner: str, drawn: Models, horizon: int | None, nodes: int) -> SetPlans | StationaryPlans:
    """The space of policies: stationary, over pairs (t, s), or over histories."""
    models, shared = drawn.models, share_transitions(drawn.models)
    if horizon is None:
        if not shared:
            hint = "The models differ in their transitions, so that no stationary policy is best."
            raise InvalidArgument(owner, "horizon", "a number of steps", None, hint)
        number(owner, "gamma", models[0].gamma, 0.0, 1.0, below=True)
        return StationaryPlans(models)
    if shared:
        return SetPlans(pairs_in_time(owner, models[0], horizon, nodes), models)
    return SetPlans(histories(owner, models[0], possible_in(models), horizon, nodes), models)


def solution_of(solver: PercentileMeasure, plans: Plans, best: Best, drawn: Models) -> StationaryPlan | HistoryPlan:
    """The solution as a planner."""
    found = (best.value, best.upper, best.returns, drawn.weights, best.adversary, drawn.sampled)
    if isinstance(plans, SetPlans):
        return HistoryPlan(solver, plans.sets, best.strategy, *found)
    return StationaryPlan(solver, best.strategy, *found)


class Proved:
    """The bounds on the value of a solution."""

    value: float
    upper: float

    @property
    def gap(self) -> float:
        """The duality gap: no policy is better by more, for these models and up to rounding."""
        return self.upper - self.value


@explain_failures
@value
class StationaryPlan(StationarySolution, Proved):
    """The best stationary policy for a measure, with its proof. It is a planner."""

    solver: PercentileMeasure
    """The solver that made it."""
    policy: Annotated[Floats, AtLeast(0), Shape("(S, A)"), "The probability of each action in each state."]
    value: Annotated[float, "The measure of its returns."]
    upper: Annotated[float, "The value of the best policy against `adversary`; no policy has a larger value."]
    returns: Annotated[Floats, Shape("(M,)"), "The return in each model."]
    weights: Annotated[Floats, AtLeast(0), Shape("(M,)"), "The probability of each model."]
    adversary: Annotated[Floats, AtLeast(0), Shape("(M,)"), "The weights of the models that prove the value."]
    sampled: Annotated[bool, "Whether the models are draws, so that the value holds for these draws."]


@explain_failures
@value
class HistoryPlan(HistorySolution, Proved):
    """The best policy over a horizon for a measure, with its proof. It is a planner over information sets."""

    solver: PercentileMeasure
    """The solver that made it."""
    sets: InformationSets
    """The information on which it may decide."""
    strategy: Annotated[Floats, AtLeast(0), Shape("(N, A)"), "The probability of each action in each information set."]
    value: Annotated[float, "The measure of its returns."]
    upper: Annotated[float, "The value of the best policy against `adversary`; no policy has a larger value."]
    returns: Annotated[Floats, Shape("(M,)"), "The return in each model."]
    weights: Annotated[Floats, AtLeast(0), Shape("(M,)"), "The probability of each model."]
    adversary: Annotated[Floats, AtLeast(0), Shape("(M,)"), "The weights of the models that prove the value."]
    sampled: Annotated[bool, "Whether the models are draws, so that the value holds for these draws."]

    def __post_init__(self) -> None:
        if self.strategy.shape != (len(self.sets), self.sets.n_actions):
            raise InvalidArgument("HistoryPlan", "strategy", "a row for each information set", self.strategy)
