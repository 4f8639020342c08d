"""Boltzmann exploration on the mean model (survey §4.2).

Actions are drawn with probability proportional to exp(q / temperature), where q are the mean model's action values.
(The public C++ benchmark does not normalise its soft-max, so it always plays action 0.)

Deviations: none. Cost: one warm-started solve per decision. Claims: action frequencies; values at a point belief.
"""

from __future__ import annotations

from typing import Annotated, Any

from numpy.random import Generator
from scipy.special import softmax

from bayesrl.bamdp._mean_model import OnMeanModel
from bayesrl.checks import Floats
from bayesrl.facets import Facets
from bayesrl.models.policy import draw_action
from bayesrl.parameters import Above, declared
from bayesrl.registry import register


@register(
    "softmax",
    kind="planner",
    survey="4.2",
    paper="Sutton98IR",
    example=lambda: Softmax(),
    facets=Facets(
        depth="N/A",
        actions="a ~ exp(Q/temperature)",
        successors="all s'",
        posterior="N/A",
        solution="Q solved by DP",
        guarantee="none",
    ),
    evidence=(
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_softmax_frequencies",
    ),
)
@declared
class Softmax(OnMeanModel):
    """Draw an action from the Boltzmann distribution of the mean model's action values.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> known = b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), known=True)
    >>> decision = Softmax(temperature=0.5).plan(known, 0, None, default_rng(0))
    >>> decision.info["probability"].round(2)
    array([0.7, 0.3])
    """

    temperature: Annotated[float, Above(0), "Temperature tau: greedy near 0, uniform as it grows."] = 1.0

    def choose(self, q: Floats, values: Floats, rng: Generator) -> tuple[int, dict[str, Any]]:
        """An action drawn from the Boltzmann distribution."""
        p = softmax(q / self.temperature)
        return draw_action("Softmax", p, rng), {"probability": p}
