"""Bayes-UCB (Kaufmann, Cappé and Garivier 2012; survey §3.2).

At step t play the arm whose posterior quantile of order 1 - 1 / (t (log n)^c) is largest, where
n is the horizon. The regret bound matches that of Lai and Robbins. It is proved for c = 5 (`BayesUCB.theorem`). The
authors advise c = 0, the default, which needs no horizon.

Deviations: ties go to the first arm. Cost: K quantiles. Claims: equal to a naive transcription; Bayesian regret with 10
uniform Bernoulli arms over 1000 steps 22.8.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from numpy.random import Generator

from bayesrl.bandits.thompson import best
from bayesrl.capabilities import HasQuantiles
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "bayes-ucb",
    kind="planner",
    survey="3.2",
    paper="Kaufmann12BU",
    example=lambda: BayesUCB(),
    evidence=(
        "tests/bandits/test_planners.py::test_planner_equals_naive_transcription",
        "tests/bandits/test_regret.py::test_bayesian_regret_beside_the_reference",
    ),
)
@declared
class BayesUCB:
    """Play the arm with the largest posterior quantile. The order of the quantile grows with time.

    Examples
    --------
    >>> import bayesrl as b
    >>> shop = b.make_world("online-shop")
    >>> agent = b.BayesAgent(shop.default_prior(), BayesUCB())
    >>> b.run(agent, shop, steps=50).action[:10]
    array([0, 2, 2, 1, 2, 2, 1, 2, 2, 1])
    """

    c: Annotated[float, AtLeast(0.0), "Power of log n in the order of the quantile; 5 in the theorem."] = 0.0
    horizon: Annotated[int | None, AtLeast(3), "Number of steps in the run, n. It is needed if c is not 0."] = None

    needs: ClassVar[tuple[type, ...]] = (HasQuantiles,)
    traits: ClassVar[Traits] = Traits(batched=True)

    def __post_init__(self) -> None:
        if self.horizon is None and self.c > 0.0:
            raise InvalidArgument("BayesUCB", "horizon", "given if c is not 0", None)

    @classmethod
    def theorem(cls, horizon: int) -> BayesUCB:
        """The version whose regret bound is proved: c = 5."""
        return cls(5.0, horizon)

    def start(self) -> int:
        """Steps taken."""
        return 0

    def plan(
        self, belief: HasQuantiles, observation: Any, memory: int, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """The largest quantile."""
        t = memory + 1
        q = belief.quantile(_order(self.horizon, self.c, t), observation)
        return Decision(best(q), t, {"q": q})

    def order(self, t: int) -> float:
        """The order of the quantile at step t = 1, 2, ..."""
        return _order(self.horizon, self.c, t)


def _order(horizon: int | None, c: float, t: int) -> float:
    """1 - 1 / (t (log n)^c), at least 0."""
    log_n = math.log(horizon) if horizon is not None else 1.0
    rate = t * math.pow(log_n, c)
    return 1.0 - 1.0 / rate if rate > 1.0 else 0.0
