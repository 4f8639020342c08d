"""Thompson sampling (Thompson 1933; Agrawal and Goyal 2012; survey §3.3, Algorithm 1).

Draw the arms' mean rewards from the belief and play the arm that is best in the draw. Each arm is then played with the
posterior probability that it is the best one. Any belief with `sample_means` can be used: Bernoulli, Gaussian, linear,
logistic, correlated. The observation is the context, if there is one. For rewards anywhere in [0, 1] use a
`BinarisedRewards` belief, which is Agrawal and Goyal's Algorithm 2.

Deviations: ties go to the first arm (they have probability zero under continuous beliefs). Cost: one draw of the
belief. Claims: equal to a naive transcription under the same random numbers; Bayesian regret with 10 uniform Bernoulli
arms over 1000 steps 28.1; slope of the regret in log T near the Lai-Robbins constant.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.random import Generator

from bayesrl.capabilities import SamplesMeans, offers
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best, greedy
from bayesrl.parameters import declared
from bayesrl.problems import ChoosesSeveral, name_of
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "thompson",
    kind="planner",
    survey="3.3",
    paper="Thompson33TS",
    example=lambda: Thompson(),
    evidence=(
        "tests/bandits/test_planners.py::test_planner_equals_naive_transcription",
        "tests/bandits/test_planners.py::test_thompson_matches_the_probability_of_being_best",
        "tests/bandits/test_regret.py::test_bayesian_regret_beside_the_reference",
    ),
)
@declared
class Thompson:
    """Play the arm that is best in a model drawn from the belief.

    Examples
    --------
    >>> import bayesrl as b
    >>> shop = b.make_world("online-shop")
    >>> agent = b.BayesAgent(shop.default_prior(), Thompson())
    >>> b.run(agent, shop, steps=50).action[:10]
    array([2, 2, 2, 2, 1, 0, 1, 2, 1, 1])
    """

    needs: ClassVar[tuple[type, ...]] = (SamplesMeans,)
    traits: ClassVar[Traits] = Traits(
        elsewhere="Thompson is for bandits; 'psrl' is the same idea for MDPs.", batched=True
    )

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a bandit of which several arms are chosen at once."""
        if offers(world, ChoosesSeveral):
            raise InvalidArgument("Thompson", "world", "one in which one action is chosen", name_of(world))

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: SamplesMeans, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw and choose."""
        q = belief.sample_means(observation, rng)
        return Decision(best(q), None, {"q": q})


def best(q: Floats) -> Any:
    """The first arm of largest index: an integer, or one integer for each replicate. Rounding decides no tie."""
    return first_best(q) if q.ndim == 1 else greedy(q)
