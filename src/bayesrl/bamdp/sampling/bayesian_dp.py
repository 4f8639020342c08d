"""Bayesian dynamic programming (Strens 2000; survey §4.4).

The agent draws a model from the belief, solves it and acts greedily on it; it draws again every n steps. This is
Thompson sampling for MDPs: exploration comes from the random draws. Keeping a model for several steps lets the agent
carry out a plan.

Deviations: none; the paper draws again at stated intervals, and n is a parameter. Cost: one solve every n decisions.
Claims: values at a point belief equal the solved values; a new model exactly every n steps.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from numpy.random import Generator

from bayesrl.bamdp._checks import draws_must_end, state_in
from bayesrl.capabilities import SamplesMDPs
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.ties import first_best, sizes
from bayesrl.models.solve import solve
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class BayesianDPPlan(NamedTuple):
    """The action values of the model in use, their size, and for how many more steps it is used."""

    q: Floats
    size: float
    left: int


@register(
    "bayesian-dp",
    kind="planner",
    survey="4.4",
    paper="strens00",
    example=lambda: BayesianDP(),
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior=Differs(
            "sample 1 per step",
            here="sample 1 every n steps",
            why="The paper draws again at stated intervals; `every` is n, by default 1.",
        ),
        solution="Q solved by DP",
        guarantee=Differs(
            "MDP opt. in the limit, bounded expected regret",
            here="MDP opt. in the limit",
            why="The bound on the expected regret is that of `psrl`, which keeps a model for an episode.",
        ),
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_bayesian_dp_resamples_every_n_steps",
        "tests/bamdp/test_planners.py::test_sampled_action_has_its_posterior_probability",
        "tests/bamdp/test_figures.py::test_bayesian_dp_learns_the_double_loop",
    ),
)
@declared
class BayesianDP:
    """Draw a model, solve it, act on it for n steps.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), BayesianDP(every=5))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    162.0
    """

    every: Annotated[int, AtLeast(1), "Steps for which a model is used, n."] = 1

    needs: ClassVar[tuple[type, ...]] = (SamplesMDPs,)

    def check(self, belief: SamplesMDPs) -> None:
        """Raise an error if the discount is 1 and the model need not end."""
        draws_must_end("BayesianDP", belief)

    def start(self) -> BayesianDPPlan | None:
        """No model yet."""
        return None

    def plan(
        self,
        belief: SamplesMDPs,
        observation: int,
        memory: BayesianDPPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Act on the model in use, or on a new one."""
        s = state_in("BayesianDP", belief, observation)
        if memory is None or memory.left == 0:
            warm = None if memory is None else memory.q.max(axis=1)
            q = solve(belief.sample_mdp(rng), initial=warm).q
            memory = BayesianDPPlan(q, sizes(q), self.every)
        here = memory.q[s]
        return Decision(
            first_best(here, memory.size), BayesianDPPlan(memory.q, memory.size, memory.left - 1), {"q": here}
        )
