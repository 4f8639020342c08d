"""SmartSampler, BOSS with as many models as the posterior needs (Castro and Precup 2010; survey §4.6).

The number of models worth drawing depends on how uncertain the posterior still is. Each (s, a) gets its own number,

    K(s, a) = max_s' ceil( Var[P(s'|s, a)] / epsilon ),   at least 1,

so that early plans are as optimistic as those of BOSS with many models, and late ones as cheap as drawing one model.

Paper to code: K is `sample_sizes`; the merged model has K(s, a) actions for a in s: `draw_merged` in `hyper_q`.
Deviations: we had only the paper's abstract (the number is local to a pair) and the survey's formula, which lacks the
rounding. New models are drawn when the posterior of some pair has moved by more than delta standard deviations
(`sboss.py`, the rule that public code ascribes to the paper). The default 0 draws after every step that changes the
posterior, which is the survey's "per step". Unknown rewards are drawn with the models and do not enter K.
Cost: a solve of max K |A| actions whenever models are drawn; if the belief draws short rows, only the K(s, a) rows that
are used are drawn. Claims: K from the variance; rows beyond K(s, a) are not used;
equal to a transcription under the same random numbers.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import draws_must_end, state_in
from bayesrl.bamdp.sampling.merged_models import SamplesListedMDPs, Sizes, hyper_q
from bayesrl.bamdp.sampling.sboss import SBOSSPlan, distance_moved, moments_of
from bayesrl.capabilities import HasPairMoments, HasRowVariance
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.ties import first_best, size
from bayesrl.parameters import Above, AtLeast, declared
from bayesrl.registry import register

MOST = 1_000_000
"""The largest number of models: more would not fit into memory."""


class SmartSamplerNeeds(SamplesListedMDPs, HasPairMoments, HasRowVariance, Protocol):
    """A belief for SmartSampler."""


@register(
    "smart-sampler",
    kind="planner",
    survey="4.6",
    paper="castro10",
    example=lambda: SmartSampler(),
    facets=Facets(
        depth="N/A",
        actions="A x K",
        successors="all s'",
        posterior=Differs(
            "sample K per step, K = max_s' var(P(s,a,s'))/epsilon",
            here="sample K(s,a) when the posterior has moved",
            why="K is rounded up. With delta=0, the default, every step that changes the posterior draws again.",
        ),
        solution="Q solved by DP",
        guarantee="PAC-MDP",
        in_survey=True,
    ),
    reading="The paper's abstract and the survey's formula; when models are drawn again follows public code.",
    evidence=(
        "tests/bamdp/sampling/test_boss.py::test_smart_sampler_equals_its_transcription",
        "tests/bamdp/sampling/test_boss.py::test_number_of_samples_follows_the_variance",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@declared
class SmartSampler:
    """Act on the best of K(s, a) sampled models; the posterior variance of the pair sets K(s, a).

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), SmartSampler())
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    124.0
    """

    epsilon: Annotated[float, Above(0), "Variance of a transition probability that one model is worth."] = 0.01
    delta: Annotated[
        float, AtLeast(0), "Standard deviations that the posterior of a (s, a) may move before new models are drawn."
    ] = 0.0

    needs: ClassVar[tuple[type, ...]] = (SmartSamplerNeeds,)

    def check(self, belief: SmartSamplerNeeds) -> None:
        """Raise an error if the discount is 1 and the model need not end, or if epsilon asks for too many models."""
        draws_must_end("SmartSampler", belief)
        sample_sizes(belief, self.epsilon)

    def start(self) -> SBOSSPlan | None:
        """No models yet."""
        return None

    def plan(
        self,
        belief: SmartSamplerNeeds,
        observation: int,
        memory: SBOSSPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Follow the hyper-model's policy; draw new models when the posterior has moved."""
        s, sizes = state_in("SmartSampler", belief, observation), sample_sizes(belief, self.epsilon)
        if memory is None or distance_moved(*memory.then, belief.pair_means()).max() > self.delta:
            warm = None if memory is None else memory.values
            memory = SBOSSPlan(*hyper_q(belief, sizes, warm, rng), moments_of(belief))
        here = memory.q[s]
        return Decision(
            first_best(here, size(memory.values)), memory, {"q": here, "samples": sizes[belief.outcomes.group[s]]}
        )


def sample_sizes(belief: SmartSamplerNeeds, epsilon: float) -> Sizes:
    """K of each group, (G,); a group that only terminal states use is drawn once."""
    o, variance = belief.outcomes, belief.row_variance().max(axis=1)
    live = np.isin(np.arange(o.n_groups), o.group[~o.terminal])
    largest = float(variance[live].max(initial=0.0))
    if largest > MOST * epsilon:
        expected = f"at least {largest / MOST:.3g} with this belief, as at most {MOST} models are drawn"
        raise InvalidArgument("SmartSampler", "epsilon", expected, epsilon)
    return np.where(live, np.maximum(np.ceil(variance / epsilon), 1.0), 1.0).astype(np.int64)
