"""Thompson sampling of M arms out of K (Gopalan, Mannor and Mansour 2014; survey §3.3, several suggestions).

Draw the arms' means from the belief and choose the M arms with the largest means in the draw. If a set pays the sum of
its arms, this is the best set in the drawn model, and the K-over-M sets need not be listed. The belief decides how the
agent learns: from every arm's reward (`SemiBandit` around any belief about arms) or from the sum only (`FullBandit` for
Gaussian rewards; `FiniteModels(BernoulliSums(...))`, exact for finitely many models).

Deviations: none. Cost: one draw of the belief and a partial sort. Claims: the set chosen is the best of all sets in the
drawn model; learns under both kinds of feedback.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import SamplesMeans, offers
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, declared
from bayesrl.problems import ChoosesSeveral, name_of
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "thompson-combinatorial",
    kind="planner",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: ThompsonCombinatorial(2),
    evidence=(
        "tests/bandits/test_planners.py::test_combinatorial_set_is_the_best_of_all_sets",
        "tests/bandits/test_planners.py::test_combinatorial_learns_under_both_kinds_of_feedback",
    ),
)
@declared
class ThompsonCombinatorial:
    """Choose the M arms that are best in a model drawn from the belief.

    Examples
    --------
    >>> import bayesrl as b
    >>> shop = b.make_world("online-shop-several", suggestions=2)
    >>> agent = b.BayesAgent(shop.default_prior(), ThompsonCombinatorial(suggestions=2))
    >>> b.run(agent, shop, steps=50).action[:3]
    array([[1, 2],
           [0, 1],
           [0, 2]])
    """

    suggestions: Annotated[int, AtLeast(1), "How many arms are chosen at once, M."] = 3

    needs: ClassVar[tuple[type, ...]] = (SamplesMeans,)
    traits: ClassVar[Traits] = Traits(
        elsewhere="ThompsonCombinatorial is for bandits; 'psrl' is the same idea for MDPs.", batched=True
    )

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a world in which another number of arms is chosen."""
        if not offers(world, ChoosesSeveral) or world.suggestions != self.suggestions:
            expected = f"a bandit of which {self.suggestions} arms are chosen at once"
            raise InvalidArgument("ThompsonCombinatorial", "world", expected, name_of(world))

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: SamplesMeans, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw and choose. The action lists the set in increasing order."""
        q = belief.sample_means(observation, rng)
        M, K = self.suggestions, q.shape[-1]
        if M > K:
            raise InvalidArgument("ThompsonCombinatorial", "suggestions", f"at most {K}, the number of arms", M)
        chosen = np.sort(np.argsort(-q, axis=-1, kind="stable")[..., :M], axis=-1)
        return Decision(chosen, None, {"q": q})
