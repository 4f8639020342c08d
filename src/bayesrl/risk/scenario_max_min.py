"""Max-min over scenarios (Bertuccelli, Wu, How 2012; survey §6): the best policy for the worst of finitely many models.

    max_mu min_j P0 . V_j(mu),     j = 1, ..., n

The scenarios are draws from a belief, the models of a belief over finitely many, or a sequence of models. A Dirichlet
belief allows every distribution. Its own worst case is therefore useless. The survey's formula is the static problem:
nature chooses one scenario, for all steps. This problem is NP-hard. The survey solves it by dynamic programming, which
assumes that nature chooses anew in every step. That is another problem, with a lower value (ERRATA 38). `form` names
the problem.

- "rectangular": nature chooses for each pair (s, a). The optimum is deterministic.
- "state-rectangular": nature chooses for each state, before the action is drawn. The optimum is random.
- "static": nature chooses once. `policies` says whether the policy may be random. The best policy of all would depend
  on the history, so that stationary policies are a restriction.

rectangular <= state-rectangular <= static stationary, and rectangular <= static deterministic <= static stationary.

Discount 1: every policy must end with probability one in every scenario, from every state. In the forms that let nature
choose anew it must also end whatever she mixes; the static form does not need this. A problem that need not end is
refused with the state.

Paper to code: min-max dynamic programming `rectangular` (_rectangular.py).
Deviations: ours are the other two forms (_state_rectangular.py, _static_max_min.py), and values of chains between the
backups.
Cost: a backup takes O(n S A K), and about ten of them are made. A matrix game of more than two actions is a linear
program for each state. The mixed-integer program has S A binary and n S other variables; its time grows exponentially.
Claims: the order above; equal to enumeration; with one scenario the nominal optimum; on the product set rectangular and
static are equal; more scenarios never help; values within `error_bound`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.capabilities import ListsMDPs, SamplesMDPs
from bayesrl.checks import Floats, frozen, generator
from bayesrl.errors import NotConverged
from bayesrl.kernels.ties import first_best, greedy
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solvers.proper import must_be_proper
from bayesrl.models.stationary_solution import StationarySolution
from bayesrl.parameters import Above, AtLeast, Shape, declared, value
from bayesrl.registry import register
from bayesrl.risk._rectangular import Robust, Scenarios, must_end, rectangular, scenarios_of
from bayesrl.risk._state_rectangular import state_rectangular
from bayesrl.risk._static_max_min import (
    Dense,
    ascend,
    best_deterministic,
    dense_of,
    informed_bound,
    random_policies,
    relaxed_bound,
    values_of,
)
from bayesrl.risk.models import models_of, require_ends
from bayesrl.traits import Traits

OWNER = "ScenarioMaxMin"
Form = Literal["rectangular", "state-rectangular", "static"]
Policies = Literal["deterministic", "stationary"]


@explain_failures
@value
class MaxMin(StationarySolution):
    """A max-min policy with limits of what any policy can guarantee. It is a planner."""

    policy: Annotated[Floats, Shape("(S, A)"), "Probabilities of actions."]
    values: Annotated[Floats, Shape("(S,)"), "Worst values: of nature's choices, or of the worst scenario if static."]
    value: Annotated[float, "The worst return, P0 . values."]
    lower: Annotated[float, "The optimum of this problem is at least this."]
    upper: Annotated[float, "The optimum of this problem is at most this."]
    form: Annotated[Form, "What nature may choose, and when."]
    policies: Annotated[Policies, "Whether policies may be random; decided by the form unless it is static."]
    scenarios: Annotated[int, AtLeast(1), "The number of scenarios, n."]

    @property
    def error_bound(self) -> float:
        """The optimum and `value` differ by at most this; in the rectangular forms so do all values."""
        return max(self.upper - self.value, self.value - self.lower)


@register(
    "scenario-max-min",
    kind="solver",
    survey="6",
    paper="Bertuccelli12RA",
    example=lambda: ScenarioMaxMin(scenarios=20),
    evidence=(
        "tests/risk/test_scenario_max_min.py::test_three_scenarios_of_two_states",
        "tests/risk/test_scenario_max_min.py::test_order_of_the_forms",
        "tests/risk/test_scenario_max_min.py::test_program_equals_enumeration",
        "tests/risk/test_scenario_max_min.py::test_static_is_rectangular_on_the_product_set",
        "tests/risk/test_undiscounted_risk.py::test_rectangular_is_enumerated",
    ),
)
@declared
class ScenarioMaxMin:
    """Find the policy with the best worst case over finitely many models.

    With discount 1 every policy must end in every model, and in all that nature can mix of them, unless she chooses
    once.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.DirichletMDP.structured(b.make_world("machine-repair"), concentration=5)
    >>> solution = ScenarioMaxMin(scenarios=20).solve(belief, default_rng(0))
    >>> solution.policy.tolist(), round(solution.value, 2)
    ([[0.0, 1.0], [1.0, 0.0]], 13.55)
    """

    form: Annotated[
        Form,
        "When nature chooses a scenario: for each pair of state and action, for each state, or once for all steps.",
    ] = "rectangular"
    policies: Annotated[Policies, "The policies of the static form. The other forms need no choice."] = "deterministic"
    scenarios: Annotated[int, AtLeast(1), "Models drawn from a belief that is not finite, n."] = 100
    restarts: Annotated[int, AtLeast(0), "Random starts of the ascent to a stationary policy."] = 10
    branches: Annotated[int, AtLeast(1), "The most nodes of the branch and bound of the mixed-integer program."] = (
        10_000
    )
    tol: Annotated[float, Above(0), "How far values of the rectangular forms may be from the optimum."] = 1e-9

    needs: ClassVar[tuple[type, ...]] = (SamplesMDPs,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def check(self, belief: SamplesMDPs) -> None:
        """Refuse a discount of 1 if episodes need not end."""
        require_ends(OWNER, belief)

    def solve(self, problem: SamplesMDPs | ListsMDPs | Sequence[TabularMDP], rng: Generator | None = None) -> MaxMin:
        """Solve the max-min problem over the scenarios of a belief or a sequence of models."""
        models = models_of(OWNER, problem, self.scenarios, rng).models
        for m in models:
            must_be_proper(OWNER, "problem", m)
        outcomes, x = models[0].outcomes, scenarios_of(models)
        if self.form != "static":
            must_end(OWNER, "problem", x, outcomes.terminal)
        if self.form == "rectangular":
            return self._robust(rectangular(x, self.tol), outcomes.start, len(models))
        if self.form == "state-rectangular":
            return self._robust(state_rectangular(x, self.tol), outcomes.start, len(models))
        return self._static(x, dense_of(x, outcomes.start, outcomes.terminal), rng)

    def _robust(self, found: Robust, start: Floats, n: int) -> MaxMin:
        value, error = float(start @ found.values), found.error_bound
        policies: Policies = "deterministic" if self.form == "rectangular" else "stationary"
        solution = MaxMin(found.policy, found.values, value, value - error, value + error, self.form, policies, n)
        if not found.converged:
            raise NotConverged(OWNER, solution, error, "as many backups as gained anything")
        return solution

    def _static(self, x: Scenarios, d: Dense, rng: Generator | None) -> MaxMin:
        upper = informed_bound(d)
        mixed = bool(np.isfinite(x.lasts).all())  # with discount 1: whether mixtures of scenarios end
        first = rectangular(x, self.tol).policy if mixed else np.eye(d.r.shape[2])[greedy(d.best[0])]
        mu, limit, solved = best_deterministic(d, self.branches, first)
        if self.policies == "stationary":
            _, S, A = d.r.shape
            starts = [mu, state_rectangular(x, self.tol).policy] if mixed else [mu]
            starts += random_policies(self.restarts, S, A, generator(OWNER, rng)) if self.restarts else []
            mu, limit, solved = ascend(d, starts), relaxed_bound(d), True
        V = values_of(d, mu)
        worst = V[first_best(-(V @ d.start))]
        value = float(worst @ d.start)
        upper = max(value, min(upper, limit))
        solution = MaxMin(frozen(mu), frozen(worst), value, value, upper, self.form, self.policies, len(V))
        if not solved:
            raise NotConverged(OWNER, solution, upper - value, f"a program of at most {self.branches} branches")
        return solution
