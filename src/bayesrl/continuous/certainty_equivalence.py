"""Certainty equivalence: steer as if the mean system were the true one (a baseline of section 4.8).

At each step the Riccati equation of the posterior mean is solved, and u = -Kx. The method does not explore: all (x, u)
lie on the plane of its gain, and the belief may stay wrong elsewhere. It is `exploit` for linear systems.

Deviations: none. Cost: one Riccati equation a step.
Claims: the gain is that of the mean; the figures of docs/continuous.md.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import HasMeanSystem
from bayesrl.checks import frozen
from bayesrl.continuous._linear_control import action_of, gains_of_means, state_of
from bayesrl.core import Decision, Transition
from bayesrl.parameters import declared
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "certainty-equivalence",
    kind="planner",
    survey="4.8",
    paper="abbasi15",
    example=lambda: CertaintyEquivalence(),
    evidence=("tests/continuous/test_lazy_psrl.py::test_certainty_equivalence_steers_the_mean",),
)
@declared
class CertaintyEquivalence:
    """Steer the mean system as if it were the true one.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("lq-system")
    >>> agent = b.BayesAgent(world.default_prior(), CertaintyEquivalence())
    >>> b.run(agent, world, steps=20, keep=("gain",)).gain.shape
    (20, 1, 2)
    """

    needs: ClassVar[tuple[type, ...]] = (HasMeanSystem,)
    traits: ClassVar[Traits] = Traits(batched=True)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: HasMeanSystem, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean system; u = -Kx. No system is drawn, so `resampled` is False."""
        x = state_of("CertaintyEquivalence", belief, observation)
        many = belief.theta.ndim == 3
        K = gains_of_means(belief.theta if many else belief.theta[None], belief)
        K = frozen(K if many else K[0])
        none = np.zeros(len(K), np.bool_) if many else False
        return Decision(action_of(K, x), None, {"gain": K, "resampled": none})
