"""The exact belief of a Bayes-adaptive POMDP whose counts are bounded (Ross and others 2011, section 3.3; survey §4.9).

A row of counts is counted up only while its total is below `bound`. Then there are finitely many hyper-states, and the
belief stays small if few rows are unknown. The error of optimal values falls with the bound (`bounded_error`).

Paper to code: `update` is that of `bapomdp-exact`, with the bound in the step.
Deviations: this is the survey's rule. The paper projects a vector of counts that is too large to the nearest bounded
one, so that later observations still move a mean.
Cost: an update is linear in the number of hyper-states, which is at most S times the number of bounded vectors of
counts. Claims: the exact belief while no total has reached the bound; searched values within `bounded_error`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from numpy.random import Generator

from bayesrl.beliefs._problems import unknown_part
from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.hyper_states import HyperStates, roots, step
from bayesrl.beliefs.pomdp.over_hyper_states import OverHyperStates, example_prior
from bayesrl.core import Transition
from bayesrl.parameters import Above, AtLeast, value
from bayesrl.registry import register

MORE = 20
"""The default bound is the largest total of the prior's counts and this many."""


def bounded(
    problem: object,
    bound: Annotated[
        int | None, AtLeast(1), "Rows are counted up to this total; None: 20 more than the largest total of the prior."
    ] = None,
) -> BoundedBAPOMDP:
    """Hyper-states with bounded counts; the world says which counts are unknown."""
    prior = unknown_part("bounded", problem)
    largest = max(float(counts.sum(axis=1).max()) for counts in (prior.phi, prior.psi))
    return BoundedBAPOMDP(prior, largest + MORE if bound is None else bound)


@register(
    "bapomdp-bounded",
    kind="belief",
    survey="4.9",
    paper="ross11",
    example=lambda: BoundedBAPOMDP(example_prior(), bound=30),
    prior_for={"bounded": bounded},
    evidence=(
        "tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_rows_are_counted_up_to_the_bound",
        "tests/bapomdp/test_bapomdp_search.py::test_bounded_counts_have_exact_values_from_the_bound_on",
        "tests/bapomdp/test_bapomdp_search.py::test_bounded_counts_come_nearer_and_stay_within_the_bound",
    ),
)
@value
class BoundedBAPOMDP(OverHyperStates):
    """Hyper-states of an unknown POMDP whose rows of counts stop at a total.

    Examples
    --------
    The counts of what is heard stop at a total of 9.

    >>> import bayesrl as b
    >>> stay, known = [[[1.0, 0.0]], [[0.0, 1.0]]], [[True], [True]]
    >>> prior = b.beliefs.DirichletPOMDP.from_dense(
    ...     stay, [[[5.0, 3.0]], [[3.0, 5.0]]], [[-1.0], [-1.0]], 0.95, known_transitions=known
    ... )
    >>> belief = b.beliefs.BoundedBAPOMDP(prior, bound=9)
    >>> for _ in range(3):
    ...     belief = belief.update(b.Transition(-1, 0, -1.0, 0))
    >>> belief.n_hyper_states, belief.states().round(3)
    (2, array([0.789, 0.211]))
    """

    model_prior: Annotated[DirichletPOMDP, "Counts before the first step."]
    bound: Annotated[float, Above(0), "A row is counted up while its total is below this, N."]
    hyper: HyperStates = field(init=False, repr=False)
    log_probability: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._begin()

    def update(self, datum: Transition, rng: Generator | None = None) -> BoundedBAPOMDP:
        """The posterior after an action and its observation."""
        seen = self._read(datum)
        new = step(self.rows, self.hyper, roots(self.hyper, 2, len(self.rows.mix)), *seen)
        if not len(new.weight):
            raise self._impossible(seen, "no hyper-state allows it")
        return self._with(new, float(new.weight.sum()))

    def restart(self) -> BoundedBAPOMDP:
        """The belief at the start of a new episode: the state is forgotten, counts and evidence stay."""
        return self._again()
