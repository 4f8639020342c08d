"""Bayesian inverse reinforcement learning with PolicyWalk (Ramachandran and Amir 2007; survey §7.2).

An expert takes action a in state s with probability proportional to exp(c Q*(s, a)), where Q* are the optimal values
of its reward and c is its `rationality`. The belief is about the weights w of that reward, R(s, a) = w . phi(s, a). A
Markov chain walks on the lattice low + j `step` of weights. A proposal moves one weight, chosen uniformly, by one step
up or down, and is accepted with probability min(1, posterior ratio). One that leaves the box is rejected. A sweep is
as many proposals as there are weights, and gives one draw. Use the belief where the uncertainty about the reward
matters: every planner or solver that draws models works on it.

Paper to code: its figure 3, PolicyWalk, is `policy_walk` (_policy_walk.py): step 2 `restart`, 3(a) the proposal, 3(b)
`shift`, 3(c) `improve` where the policy is no longer optimal. Its priors are in beliefs/rewards/reward_priors.py. The
policy that is optimal for the posterior mean of the reward (its section 5) is `apprentice`.
Deviations: the likelihood is normalised for each pair. The paper's product of exp(c Q*) is not, and prefers larger
rewards everywhere. Rewards are linear in features; by default each state has one. A `FinitePrior` is exact.
Cost: a proposal O(S A) if the policy stays optimal, else O(S^2) for each state whose action changes. With more than
200 states, a sparse factorisation for each accepted change of the policy.
Claims: the posterior equals enumeration with a `FinitePrior`, and draws agree with enumerated lattices; the same draws
as a transcription; calibration; rounding errors stay below 1e-9; speed (docs/inverse.md).
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.rewards._on_lattice import OnLattice
from bayesrl.beliefs.rewards.reward_priors import LaplacePrior, UniformPrior
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, Ints
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import Above, Shape, value
from bayesrl.registry import register


def _example() -> BIRL:
    """Action 1 moves to the other of two states. Its cost and the value of being in state 1 are unknown."""
    problem = TabularMDP.from_dense([[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.8, 0.2]]], [0.0, 0.0], gamma=0.7)
    features = np.array([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]])
    return BIRL(problem, features, LaplacePrior(0.6), rationality=2.0, step=1.0)


@register(
    "birl",
    kind="belief",
    survey="7.2",
    paper="Ramachandran07BI",
    example=_example,
    taken_by="bayesrl irl",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_birl.py::test_exact_values_of_the_facts",
        "tests/beliefs/rewards/test_birl.py::test_draws_follow_the_enumerated_lattice",
        "tests/beliefs/rewards/test_undiscounted_rewards.py::test_the_posterior_over_listed_rewards_is_enumerated",
    ),
)
@value
class BIRL(OnLattice):
    """A belief about an expert's reward, learnt from what it did. Draws come from a walk on a lattice of weights.

    `refresh` makes draws; `update` and `update_many` drop those of the old posterior. The chain goes on where it stood.
    With discount 1 every policy must end, so that the optimal values of all rewards are finite.

    Examples
    --------
    An expert that always goes right probably wants to be at the right end. Three steps leave much open:

    >>> import bayesrl as b
    >>> P = [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]
    >>> line = b.TabularMDP.from_dense(P, [0.0, 0.0], gamma=0.5)
    >>> belief = BIRL(line, step=0.5).update_many([(0, 1), (1, 1), (1, 1)])
    >>> belief = belief.refresh(np.random.default_rng(0), sweeps=20_000)
    >>> belief.mean().round(1).tolist(), belief.apprentice().tolist()
    ([-0.3, 0.3], [1, 1])
    """

    problem: Annotated[Any, "A TabularMDP, or a world that has one: the dynamics are known."] = field(repr=False)
    features: Annotated[
        Floats | None, Shape("(S, d) or (S, A, d)"), "Features phi of the rewards; None: one for each state."
    ] = field(default=None, repr=False)
    reward_prior: Annotated[RewardPrior, "The prior of the weights."] = UniformPrior(-1.0, 1.0)
    rationality: Annotated[
        float, Above(0), "Rationality c of the expert: the larger, the more it prefers good actions."
    ] = 1.0
    step: Annotated[float, Above(0), "Distance of the lattice's values of a weight."] = 0.05
    initial: Annotated[
        Floats | None, Shape("(d,)"), "Where the chain starts, on the lattice; None: in the middle of the box."
    ] = None
    demonstrations: Ints = field(init=False, repr=False)
    """Pairs (state, action), (N, 2), oldest first."""
    draws: Floats = field(init=False, repr=False)
    """Weights drawn from the posterior, (n, d)."""
    accepted: Ints = field(init=False, repr=False)
    """Accepted proposals and all proposals of these draws, (2,)."""
    at: Ints = field(init=False, repr=False)
    """Where the chain stands: the number j of the value of each weight, (d,)."""

    def __post_init__(self) -> None:
        self._begin_walk()

    def refresh(self, rng: Generator, sweeps: int = 1) -> BIRL:
        """The belief after further sweeps of its chain, one draw each. A chain that has not mixed warns."""
        return self._walked(rng, sweeps, np.ones(self.n_weights))
