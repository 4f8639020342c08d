"""The particle belief of a Bayes-adaptive POMDP (Ross, Chaib-draa, Pineau 2008; Ross and others 2011; survey §4.9).

The belief is a sample of hyper-states. Its cost does not grow with the history, so it is the usual choice.

Paper to code: `update` is the paper's Monte-Carlo filter. For each particle an outcome is drawn from the mean of its
phi. The weight is multiplied by the mean of its psi for the observation *that came*, under the counts before it. Then
both are counted up. (A public implementation counts a simulated observation first. This gives the wrong posterior.)
Deviations: systematic resampling, below half the effective sample size. If several outcomes of a group show the same
observation, the outcome is drawn. Before its first update the belief is the prior itself, and after a restart states
are drawn from the start with the next update.
Cost: O(N (K + L + log M)) for N particles with lists of M counts, and copies of the lists. Claims: the error to the
exact posterior falls as N^-1/2 (slopes -.513 and -.522 on two problems, 95% intervals -.533 to -.494 and -.546 to
-.496).
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import Particles, unknown_part
from bayesrl.beliefs.pomdp._hyper_samples import draw_step, resampled
from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.hyper_states import FRESH, HyperStates
from bayesrl.beliefs.pomdp.over_hyper_states import OverHyperStates, example_prior
from bayesrl.checks import all_frozen, generator
from bayesrl.core import Transition
from bayesrl.kernels.ties import better
from bayesrl.parameters import AtLeast, unchecked, value
from bayesrl.registry import register


def particle(problem: object, particles: Particles = 1000) -> ParticleBAPOMDP:
    """A number of hyper-states; the world says which counts are unknown."""
    return ParticleBAPOMDP(unknown_part("particle", problem), particles)


@register(
    "bapomdp-particle",
    kind="belief",
    survey="4.9",
    paper="Ross08BAPOMDP",
    example=lambda: ParticleBAPOMDP(example_prior(), particles=200),
    prior_for={"particle": particle},
    evidence=(
        "tests/beliefs/pomdp/test_bapomdp_particle.py::test_the_error_falls_as_the_root_of_the_particles",
        "tests/beliefs/pomdp/test_bapomdp_particle.py::test_the_observation_that_came_is_weighed_and_counted",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class ParticleBAPOMDP(OverHyperStates):
    """A sample of hyper-states of an unknown POMDP.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> stay, known = [[[1.0, 0.0]], [[0.0, 1.0]]], [[True], [True]]
    >>> prior = b.beliefs.DirichletPOMDP.from_dense(
    ...     stay, [[[5.0, 3.0]], [[3.0, 5.0]]], [[-1.0], [-1.0]], 0.95, known_transitions=known
    ... )
    >>> belief = b.beliefs.ParticleBAPOMDP(prior).update(b.Transition(-1, 0, -1.0, 0), default_rng(0))
    >>> belief.n_hyper_states, bool(abs(belief.states()[0] - 0.625) < 0.05)
    (1000, True)
    """

    model_prior: Annotated[DirichletPOMDP, "Counts before the first step."]
    particles: Annotated[int, AtLeast(1), "Hyper-states in the sample, N."] = 1000
    hyper: HyperStates = field(init=False, repr=False)
    log_probability: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._begin()

    def update(self, datum: Transition, rng: Generator | None = None) -> ParticleBAPOMDP:
        """The sample after an action and its observation."""
        seen = self._read(datum)
        rng = generator("ParticleBAPOMDP.update", rng)
        new = draw_step(self.rows, self.hyper, self.particles, *seen, rng)
        probability = float(new.weight.sum())
        if probability == 0.0:
            why = f"none of {self.particles} particles explains it, and more particles may"
            raise self._impossible(seen, why)
        if better(0.5 * self.particles * float(new.weight @ new.weight), probability**2):
            new = resampled(new, rng)
        return self._with(new, probability)

    def restart(self) -> ParticleBAPOMDP:
        """The belief at the start of a new episode: states are drawn with the next update, counts and evidence stay."""
        hyper = self.hyper._replace(state=np.full(len(self.hyper.state), FRESH))
        return unchecked(self, hyper=all_frozen(hyper))
