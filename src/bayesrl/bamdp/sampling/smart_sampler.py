"""SmartSampler, BOSS with as many models as the posterior needs (Castro and Precup 2010; survey §4.6).

How many models are worth drawing depends on how uncertain the posterior still is. Each (s, a) gets its own number,

    K(s, a) = max_s' ceil( Var[P(s'|s, a)] / epsilon ),   at least 1,

so that early plans are as optimistic as BOSS's with many models and late ones as cheap as drawing one.

Paper to code: K is `sample_sizes`; the merged model has K(s, a) actions for a in s: `draw_merged` in `hyper_q`.
Deviations: the paper was not at hand, only its abstract (the number is local to a pair) and the survey's formula, which
lacks the rounding. New models are drawn when the posterior of some pair has moved by more than delta standard
deviations (`sboss.py`, the rule that public code ascribes to the paper); 0, the default, is at every step that teaches
something, which is the survey's "per step". Unknown rewards are drawn with the models and do not enter K.
Cost: a solve of max K |A| actions whenever models are drawn; from a flat belief over many states (`draws_lists`) only
the K(s, a) rows that are used are drawn and looked at. Claims: K from the variance; rows beyond K(s, a) do not count;
equal to a transcription under the same random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.bamdp._greedy import draws_must_end, state_in
from bayesrl.bamdp.sampling._hyper_model import hyper_q
from bayesrl.bamdp.sampling.sboss import Plan, means, moved, spread
from bayesrl.checks import number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register

MOST = 1_000_000
"""Models at the most: nobody has the memory for more."""


@register(
    "smart-sampler",
    kind="planner",
    survey="4.6",
    paper="castro10",
    example=lambda: SmartSampler(),
    evidence=(
        "tests/bamdp/test_boss.py::test_smart_sampler_equals_its_transcription",
        "tests/bamdp/test_boss.py::test_number_of_samples_follows_the_variance",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class SmartSampler:
    """Act on the best of K(s, a) sampled models, K(s, a) from the posterior variance of the pair."""

    epsilon: float = 0.01
    """Variance of a transition probability that one model is worth, epsilon."""
    delta: float = 0.0
    """Standard deviations that the posterior of a (s, a) may move before new models are drawn."""

    needs: ClassVar[tuple[str, ...]] = ("sample_mdp", "mean_mdp", "counts", "row_variance", "outcomes")

    def __post_init__(self) -> None:
        number("SmartSampler", "epsilon", self.epsilon, 0.0, above=True)
        number("SmartSampler", "delta", self.delta, 0.0)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end, or where epsilon asks for too many models."""
        draws_must_end("SmartSampler", belief)
        sample_sizes(belief, self.epsilon)

    def start(self) -> Plan | None:
        """No models yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Plan | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Follow the hyper-model's policy; draw new models when the posterior has moved."""
        s, sizes = state_in("SmartSampler", belief, observation), sample_sizes(belief, self.epsilon)
        if memory is None or moved(memory.then, means(belief)).max() > self.delta:
            warm = None if memory is None else memory.values
            memory = Plan(*hyper_q(belief, sizes, warm, rng), spread(belief))
        here = memory.q[s]
        return Decision(int(np.argmax(here)), memory, {"q": here, "samples": sizes[belief.outcomes.group[s]]})


def sample_sizes(belief: Any, epsilon: float) -> NDArray[np.int64]:
    """K of each group, (G,); a group that only terminal states have is drawn once."""
    o, variance = belief.outcomes, belief.row_variance().max(axis=1)
    live = np.isin(np.arange(o.n_groups), o.group[~o.terminal])
    largest = float(variance[live].max(initial=0.0))
    if largest > MOST * epsilon:
        expected = f"at least {largest / MOST:.3g} with this belief, as at most {MOST} models are drawn"
        raise InvalidArgument("SmartSampler", "epsilon", expected, epsilon)
    return np.where(live, np.maximum(np.ceil(variance / epsilon), 1.0), 1.0).astype(np.int64)
