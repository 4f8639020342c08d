"""The most probable hyper-states of a Bayes-adaptive POMDP (Ross and others 2011, section 4.2; survey §4.9).

After each exact step the `particles` heaviest hyper-states are kept. Nothing is random. Use it if few hidden paths have
nearly all the weight. If many have a little, `bapomdp-particle` represents them better.

Paper to code: `update` is the paper's second filter.
Deviations: of equal weights the ones that were made first are kept. The evidence is the product of what the kept
hyper-states predicted.
Cost: O(N k) for k outcomes and observations of a step, and a sort. Claims: the exact belief while all hyper-states fit.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from numpy.random import Generator

from bayesrl.beliefs._problems import Particles, unknown_part
from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.hyper_states import Branches, HyperStates, roots, step
from bayesrl.beliefs.pomdp.over_hyper_states import OverHyperStates, example_prior
from bayesrl.core import Transition
from bayesrl.kernels.ties import largest
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register


def most_probable(problem: object, particles: Particles = 1000) -> MostProbableBAPOMDP:
    """A number of hyper-states; the world says which counts are unknown."""
    return MostProbableBAPOMDP(unknown_part("most-probable", problem), particles)


@register(
    "bapomdp-most-probable",
    kind="belief",
    survey="4.9",
    paper="ross11",
    example=lambda: MostProbableBAPOMDP(example_prior(), particles=50),
    prior_for={"most-probable": most_probable},
    evidence=("tests/beliefs/pomdp/test_bapomdp_beliefs.py::test_the_heaviest_are_kept",),
)
@value
class MostProbableBAPOMDP(OverHyperStates):
    """The heaviest hyper-states of an unknown POMDP.

    Examples
    --------
    >>> import bayesrl as b
    >>> stay, known = [[[1.0, 0.0]], [[0.0, 1.0]]], [[True], [True]]
    >>> prior = b.beliefs.DirichletPOMDP.from_dense(
    ...     stay, [[[5.0, 3.0]], [[3.0, 5.0]]], [[-1.0], [-1.0]], 0.95, known_transitions=known
    ... )
    >>> belief = b.beliefs.MostProbableBAPOMDP(prior, particles=1).update(b.Transition(-1, 0, -1.0, 0))
    >>> belief.states()
    array([1., 0.])
    """

    model_prior: Annotated[DirichletPOMDP, "Counts before the first step."]
    particles: Annotated[int, AtLeast(1), "Hyper-states that are kept, K."] = 1000
    hyper: HyperStates = field(init=False, repr=False)
    log_probability: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._begin()

    def update(self, datum: Transition, rng: Generator | None = None) -> MostProbableBAPOMDP:
        """The heaviest hyper-states after an action and its observation."""
        seen = self._read(datum)
        new = step(self.rows, self.hyper, roots(self.hyper, 2, len(self.rows.mix)), *seen)
        if not len(new.weight):
            raise self._impossible(seen, "no hyper-state that was kept allows it, and more particles may")
        probability = float(new.weight.sum())
        if len(new.weight) > self.particles:
            kept = largest(new.weight, self.particles)
            new = Branches(new.weight[kept], new.state[kept], new.root[kept], new.path[kept], new.key[kept])
        return self._with(new, probability)

    def restart(self) -> MostProbableBAPOMDP:
        """The belief at the start of a new episode: the state is forgotten, counts and evidence stay."""
        return self._again()
