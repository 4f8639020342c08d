"""Policies under a posterior: what each earns in common drawn models, and the policies of several criteria.

    assess(belief, {"best guess": policy, "safe": solution}, epsilon=0.05)   mean, percentile, CVaR and guarantee
    policies_for(belief, ("percentile", "cvar"), epsilon, rng)               a policy for each criterion

`plots/risk.py` draws the first, `bayesrl risk` prints both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl._shown import shown
from bayesrl.capabilities import HasMeanMDP, ListsOutcomes, SamplesMDPs
from bayesrl.checks import Floats, generator, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solve import solve
from bayesrl.registry import make
from bayesrl.risk.guarantee import guaranteed, samples_needed
from bayesrl.risk.local_ascent import ascended, drawn
from bayesrl.risk.measure import Measure
from bayesrl.risk.models import require_belief
from bayesrl.risk.samples import value_samples

CRITERIA = ("percentile", "cvar", "max-min", "mean")
SAMPLES, CONFIDENCE = 20_000, 0.99
SCENARIOS = 100
"""Scenarios of max-min."""
MODELS, CELLS = 2000, 20_000_000
"""Models on which CVaR and the mean are maximised; fewer, at least 100, if their arrays would be larger than this."""


class Drawable(ListsOutcomes, SamplesMDPs, Protocol):
    """A belief whose policies can be assessed."""


class Solvable(Drawable, HasMeanMDP, Protocol):
    """A belief whose mean model can be solved, too."""


class Assessment(NamedTuple):
    """The return of one policy under a posterior."""

    mean: float
    quantile: float
    """The epsilon-percentile, estimated."""
    cvar: float
    """The mean of the worst returns, a share epsilon of all."""
    guarantee: float
    """A lower limit of the percentile; it holds with the given confidence."""
    returns: Floats
    """The return in each drawn model; model i is the same for all policies that are assessed together."""

    def __repr__(self) -> str:
        return shown(self)


def assess(
    belief: Drawable,
    policies: Mapping[str, Any],
    epsilon: float = 0.05,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    rng: Generator | None = None,
) -> dict[str, Assessment]:
    """The return of each policy under the posterior, in common drawn models.

    A policy is an array of actions (S,) or probabilities (S, A), a policy object, or a solution that has one.
    """
    owner = "assess"
    require_belief(owner, belief, Drawable)
    rng = generator(owner, rng)
    epsilon = number(owner, "epsilon", epsilon, 0.0, 0.5, above=True)
    confidence = number(owner, "confidence", confidence, 0.0, 1.0, above=True, below=True)
    n = integer(owner, "samples", samples, 1)
    if not isinstance(policies, Mapping) or not policies:
        raise InvalidArgument(owner, "policies", "a mapping from names to policies", policies)
    start, tail, found = belief.outcomes.start, Measure.cvar(epsilon), {}
    for name, policy in policies.items():
        mu = policy_matrix(owner, getattr(policy, "policy", policy), belief.n_states, belief.n_actions)
        returns = value_samples(belief, mu, n, deepcopy(rng)) @ start
        limit = guaranteed(owner, returns, epsilon, confidence)
        found[str(name)] = Assessment(
            float(returns.mean()), float(np.quantile(returns, epsilon)), tail.value(returns), limit, returns
        )
    return found


def policies_for(belief: Solvable, criteria: Iterable[str], epsilon: float, rng: Generator) -> dict[str, Floats]:
    """The optimal policy of the mean model, and a stationary policy for each criterion, (S, A).

    Max-min is rectangular. CVaR and the mean are local optima on drawn models, where they are at least as good as the
    policies before them.
    """
    nominal = np.eye(belief.n_actions)[np.asarray(solve(belief.mean_mdp()).policy)]
    found = {"nominal": nominal}
    for criterion in criteria:
        if criterion == "percentile":
            few = max(100, int(samples_needed(epsilon, CONFIDENCE)))  # its own percentiles are not used
            found[criterion] = make("percentile", epsilon=epsilon, samples=few).solve(belief, rng).policy
        elif criterion == "max-min":
            solver = make("scenario-max-min", form="rectangular", scenarios=SCENARIOS)
            found[criterion] = solver.solve(belief, rng).policy
        else:
            measure = Measure.cvar(epsilon) if criterion == "cvar" else Measure.mean()
            uniform = np.full_like(nominal, 1.0 / belief.n_actions)
            found[criterion] = ascended([*found.values(), uniform], drawn(belief, models_drawn(belief), rng), measure)
    return found


def models_drawn(belief: Drawable) -> int:
    """The number of models on which CVaR and the mean are maximised."""
    return int(np.clip(CELLS // (belief.n_states**2 * belief.n_actions), 100, MODELS))
