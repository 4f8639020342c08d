"""BIRL that moves the weights that matter (Michini and How 2012, ICRA; survey §7.2).

Demonstrations visit few states, and weights far from them keep their prior. The chain of `birl` spends most of its
proposals on those. This one chooses a weight with probability proportional to its relevance. That of a state is

    rho(s) = sum over demonstrated states s_n of k(s, s_n),

where the kernel k says how similar two states are. A weight with relevance 0 is never chosen: it stays at `initial`,
and the posterior is that of the other weights given it. If all are positive, the law of the chain is that of `birl`:
the choice of a weight does not depend on where the chain stands, so a move and its way back are equally probable. A
cooling schedule lets a new chain move freely at first. Use it with one weight per state and few demonstrations.

Paper to code: its state relevance function is `relevances`; its algorithm 2 is `policy_walk` (_policy_walk.py) with
these probabilities; its cooling schedule is the rising factor of the log posterior in the first `cooling` sweeps.
Deviations: weights may belong to features. A weight's relevance is then the sum over states of rho(s) times the mean
size of its feature over actions; with one feature for each state this is rho(s). The paper's schedule is a temperature
that falls; here the factor rises linearly, and these draws are dropped. Before the first demonstration all weights
count the same. With a `FinitePrior` the posterior is exact, there is no chain, and relevance changes nothing.
Cost: that of `birl`; relevances O(S N) for each refresh.
Claims: relevance > 0 leaves the enumerated posterior unchanged; relevance 0 gives the conditional posterior; the same
draws as a transcription; calibration.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.rewards._on_lattice import OnLattice
from bayesrl.beliefs.rewards.reward_priors import LaplacePrior, UniformPrior
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, Ints, array
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import Above, AtLeast, Shape, value
from bayesrl.registry import register


def _example() -> ModifiedBIRL:
    """The example of `birl`, with a relevance."""
    problem = TabularMDP.from_dense([[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.8, 0.2]]], [0.0, 0.0], gamma=0.7)
    features = np.array([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]])
    return ModifiedBIRL(
        problem, features, LaplacePrior(0.6), rationality=2.0, step=1.0, relevance=np.array([1.0, 2.0]), cooling=3
    )


@register(
    "modified-birl",
    kind="belief",
    survey="7.2",
    paper="Michini12IE",
    example=_example,
    taken_by="bayesrl irl",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_modified_birl.py::test_positive_relevance_leaves_the_law_unchanged",
        "tests/beliefs/rewards/test_modified_birl.py::test_transcription",
        "tests/beliefs/rewards/test_undiscounted_rewards.py::test_the_posterior_over_listed_rewards_is_enumerated",
    ),
)
@value
class ModifiedBIRL(OnLattice):
    """A belief about an expert's reward whose chain mostly moves the weights near the demonstrations.

    With discount 1 every policy must end, so that the optimal values of all rewards are finite.

    Examples
    --------
    >>> import bayesrl as b
    >>> P = [[np.eye(4)[max(s - 1, 0)], np.eye(4)[min(s + 1, 3)]] for s in range(4)]
    >>> line = b.TabularMDP.from_dense(P, np.zeros(4), gamma=0.8)
    >>> near = np.exp(-np.abs(np.subtract.outer(np.arange(4), np.arange(4))))
    >>> belief = ModifiedBIRL(line, step=1.0, rationality=3.0, kernel=near).update_many([(0, 1), (0, 1)])
    >>> belief.relevances().round(2).tolist()
    [2.0, 0.74, 0.27, 0.1]
    >>> belief.refresh(np.random.default_rng(0), sweeps=10_000).mean().round(1).tolist()
    [-0.5, 0.2, 0.1, 0.1]
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
    relevance: Annotated[
        Floats | None, AtLeast(0), Shape("(d,)"), "Relevance of each weight, rho; None: from the kernel."
    ] = None
    kernel: Annotated[
        Floats | None, AtLeast(0), Shape("(S, S)"), "Similarity k of two states; None: Gaussian in their features."
    ] = field(default=None, repr=False)
    length: Annotated[float, Above(0), "Distance of features at which the Gaussian kernel falls to exp(-1/2)."] = 1.0
    cooling: Annotated[int, AtLeast(0), "Sweeps of a new chain with a rising factor; they give no draws."] = 0
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
        S, d = self.n_states, self.n_weights
        for name, shape in (("relevance", (d,)), ("kernel", (S, S))):
            given = getattr(self, name)
            if given is not None:
                array("ModifiedBIRL", name, given, shape, low=0.0)
                if not given.any():
                    raise InvalidArgument("ModifiedBIRL", name, "positive somewhere", given)
        if self.relevance is not None and self.kernel is not None:
            raise InvalidArgument("ModifiedBIRL", "kernel", "None beside a relevance", self.kernel)

    def refresh(self, rng: Generator, sweeps: int = 1) -> ModifiedBIRL:
        """The belief after further sweeps of its chain, one draw each. A chain that has not mixed warns."""
        return self._walked(rng, sweeps, self.relevances(), self.cooling)

    def relevances(self) -> Floats:
        """rho: weights are chosen in proportion to it, (d,)."""
        if self.relevance is not None:
            return self.relevance
        if not len(self.demonstrations):
            return np.ones(self.n_weights)
        rho = self._similar(self.demonstrations[:, 0]).sum(axis=1)
        found = np.asarray(rho @ np.abs(self.rewards.features).mean(axis=1))
        if not found.any():
            expected = "positive between a demonstrated state and one that has a feature"
            raise InvalidArgument("ModifiedBIRL.refresh", "kernel", expected, self.kernel)
        return found

    def _similar(self, states: Ints) -> Floats:
        """k(s, s_n), (S, N)."""
        if self.kernel is not None:
            return np.asarray(self.kernel[:, states])
        phi = self.rewards.features.mean(axis=1)
        apart = ((phi[:, None] - phi[None]) ** 2).sum(axis=2)[:, states]
        return np.exp(-0.5 * apart / self.length**2)
