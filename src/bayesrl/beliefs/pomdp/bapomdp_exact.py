"""The exact belief of a Bayes-adaptive POMDP (Ross, Chaib-draa, Pineau 2008; Ross and others 2011; survey §4.9).

The model and the state are unknown. The belief is a mixture of hyper-states (s, phi, psi): a state, and the counts that
the hidden path to it has left. Use it on short histories or small problems, and to check the other three beliefs.

Paper to code: one step of the Bayes-adaptive POMDP's own transition and observation functions is `step` in
`hyper_states.py`. With action a and observation o, (s, phi, psi) of weight w gives (s', phi + 1, psi + 1) the weight
w phi_sas' / phi_sa. psi_s'ao / psi_s'a. . Equal hyper-states merge.
Deviations: outcomes take the place of next states and observations, so that known and tied rows are
possible. The end of an episode is evidence.
Cost: the number of hyper-states grows by a factor of up to S with each step. More than `limit` are an error.
Claims: weights, evidence and predictives equal sums over all hidden paths with closed-form weights.
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
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register


def exact(problem: object) -> ExactBAPOMDP:
    """All hyper-states; the world says which counts are unknown."""
    return ExactBAPOMDP(unknown_part("exact", problem))


@register(
    "bapomdp-exact",
    kind="belief",
    survey="4.9",
    paper="ross11",
    example=lambda: ExactBAPOMDP(example_prior()),
    prior_for={"exact": exact},
    evidence=(
        "tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_equals_the_sum_over_hidden_paths",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class ExactBAPOMDP(OverHyperStates):
    """All hyper-states of an unknown POMDP, with their weights.

    Examples
    --------
    After hearing the tiger on the left, its door is the left one with the prior's mean accuracy. The expected accuracy
    rises only in the left state's hyper-state.

    >>> import bayesrl as b
    >>> stay, known = [[[1.0, 0.0]], [[0.0, 1.0]]], [[True], [True]]
    >>> prior = b.beliefs.DirichletPOMDP.from_dense(
    ...     stay, [[[5.0, 3.0]], [[3.0, 5.0]]], [[-1.0], [-1.0]], 0.95, known_transitions=known
    ... )
    >>> belief = b.beliefs.ExactBAPOMDP(prior).update(b.Transition(-1, 0, -1.0, 0))
    >>> belief.states()
    array([0.625, 0.375])
    >>> [(w, s, psi[0, 0].tolist(), psi[1, 0].tolist()) for w, s, phi, psi in belief.hyper_states()]
    [(0.625, 0, [6.0, 3.0], [3.0, 5.0]), (0.375, 1, [5.0, 3.0], [4.0, 5.0])]
    """

    model_prior: Annotated[DirichletPOMDP, "Counts before the first step."]
    limit: Annotated[int, AtLeast(1), "The most hyper-states."] = 100_000
    hyper: HyperStates = field(init=False, repr=False)
    log_probability: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._begin()

    def update(self, datum: Transition, rng: Generator | None = None) -> ExactBAPOMDP:
        """The posterior after an action and its observation."""
        seen = self._read(datum)
        new = step(self.rows, self.hyper, roots(self.hyper, 2, len(self.rows.mix)), *seen)
        if not len(new.weight):
            raise self._impossible(seen, "no hyper-state allows it")
        self._check(len(new.weight))
        return self._with(new, float(new.weight.sum()))

    def restart(self) -> ExactBAPOMDP:
        """The belief at the start of a new episode: the state is forgotten, counts and evidence stay."""
        return self._again()

    def _check(self, n: int) -> None:
        if n > self.limit:
            hint = "The beliefs bapomdp-bounded and bapomdp-particle stay small."
            raise InvalidArgument(
                "ExactBAPOMDP", "limit", f"at least the {n} hyper-states after this", self.limit, hint
            )
