"""Forward search on a belief about continuous dynamics (Ross et al. 2008, Dallaire et al. 2009; survey §4.8).

Expectimax with samples. For each action of a list, `width` next observations are drawn from the predictive
distribution, and the belief learns each of them before the next decision is valued. So the values count what will be
learnt on the way, about the dynamics and about a hidden state. Depth counts decisions. The reward of a decision is its
expectation under the belief at its node, in closed form. After the last decision the value is `leaf`.

The same random numbers serve all actions of a node: the differences between actions are less noisy than the values. A
belief of particles is thinned to `inner` of them inside the tree.

The maximum of noisy averages is biased upwards. The bias is O(1/sqrt(width)) where actions nearly tie, and O(1/width)
where one action is clearly the best; docs/continuous.md draws both.

Paper to code: Q_d(b, z, a) = E r + gamma/C sum_i max_a' Q_{d-1}(b + (z, a, z_i), z_i, a') is `action_values`.
Deviations: the papers' trees could not be re-read. Random numbers are common to all actions, and draws are stratified:
of 32 `width` draws, ordered, one of each 32 is taken at random (beliefs/dynamics/strata.py). This changes no
expectation, and the error of a search is about half where a state has one coordinate. A reward inside the tree is its
expectation, so that a belief about rewards learns nothing from it. Ties go to the first action.
Cost: (A width)^(depth - 1) updates. A belief about Gaussian processes grows the whole tree in compiled code, and where
the state is seen and the reward known the last decision needs no update.
Claims: depth-2 values are closed forms and depth-3 values quadrature as the width grows, with an unknown drift and with
a Gaussian process; the compiled tree is the plain one, draw for draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import points
from bayesrl.beliefs.dynamics.strata import OVER, one_of_each_stratum
from bayesrl.capabilities import offers
from bayesrl.checks import Floats, Ints, called, frozen, returned
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register

MOST = 10**8
"""The most branches of a tree."""


@runtime_checkable
class DrawsObservations(Protocol):
    """A belief that can draw what will be seen next, learn it, and value a decision. Forward searches ask this."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def update(self, datum: Transition, rng: Generator | None = None) -> Self:
        """The posterior after a transition."""

    def draw(self, observation: Any, action: Any, rng: Generator, n: int = 1) -> Floats:
        """Next observations drawn from the predictive distribution, each under its own model, (n, d)."""

    def expected_reward(self, observation: Any, action: Any) -> float:
        """The expected reward of an action now: over the state where it is hidden, over the reward where it is learned.

        `Incompatible` if the belief was given no reward.
        """


@runtime_checkable
class GrowsTrees(Protocol):
    """A belief that grows the tree of a forward search in one call."""

    def grow_tree(self, observation: Any, actions: Floats, width: int, seeds: tuple[Ints, ...]) -> list[Floats]:
        """The observations of each level, (1, d), (A C, d), ..., distributed as draws of `draw`.

        On each path the belief learns an observation before it draws the next one.
        Child i of action a of a node has row (node A + a) C + i. `seeds` are those of the nodes of each level, (1,),
        (C,), ...: one for all nodes that differ only in the actions before.
        """


@runtime_checkable
class RewardsStates(Protocol):
    """A belief whose expected rewards depend on the state seen alone. What a search's tree learns changes none."""

    def expected_rewards(self, observations: Any, action: Any) -> Floats:
        """The expected reward of an action in several states, (n, d): (n,)."""


@runtime_checkable
class Thins(Protocol):
    """A particle belief that searches can make smaller."""

    def thinned(self, particles: int, rng: Generator) -> Self:
        """The same belief with at most this many particles, drawn by their weights."""


class Grows(GrowsTrees, RewardsStates, Protocol):
    """A belief that grows the tree and knows the rewards in it."""


@register(
    "continuous-forward-search",
    kind="planner",
    survey="4.8",
    paper="ross08icra",
    example=lambda: ContinuousForwardSearch([-1.0, 0.0, 1.0], width=2, inner=10),
    reading="The survey; the papers' trees could not be read again, and common and stratified draws are ours.",
    evidence=(
        "tests/continuous/test_continuous_forward_search.py::test_two_decisions_are_the_closed_form",
        "tests/continuous/test_continuous_forward_search.py::test_three_decisions_are_quadrature",
    ),
)
@value
class ContinuousForwardSearch:
    """Sampled lookahead on a belief about continuous dynamics, which learns inside the tree.

    Examples
    --------
    Nothing is known of the blimp but its reward. After 60 steps it is held.

    >>> import bayesrl as b
    >>> from bayesrl.lab.priors import prior_for
    >>> world = b.make_world("blimp")
    >>> planner = ContinuousForwardSearch([-1.0, 0.0, 1.0], depth=3, width=2)
    >>> record = b.run(b.BayesAgent(prior_for(world), planner), world, steps=70, seed=0)
    >>> round(float(record.reward[:10].mean()), 1), round(float(record.reward[60:].mean()), 1)
    (0.2, 1.0)
    """

    actions: Annotated[Any, "The actions, (A, e), or a function of rng that draws such rows for each decision."]
    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, d."] = 2
    width: Annotated[int, AtLeast(1), "Next observations drawn for each node and action, C."] = 16
    leaf: Annotated[Any, "The value after the last decision: None (zero), or a function from rows (n, d) to (n,)."] = (
        None
    )
    inner: Annotated[int, AtLeast(1), "Particles of a belief inside the tree."] = 50

    needs: ClassVar[tuple[type, ...]] = (DrawsObservations,)

    def __post_init__(self) -> None:
        owner, n = "ContinuousForwardSearch", 1
        if self.leaf is not None and not callable(self.leaf):
            raise InvalidArgument(owner, "leaf", "None or a function", self.leaf)
        if not callable(self.actions):
            object.__setattr__(self, "actions", frozen(points(owner, "actions", self.actions)))
            n = len(self.actions)
        if (self.depth - 1) * np.log(float(n) * self.width) > np.log(MOST):
            raise InvalidArgument(owner, "depth", f"such that the tree has at most {MOST:.0e} branches", self.depth)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: DrawsObservations, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search `depth` decisions ahead."""
        owner, A = "ContinuousForwardSearch", self.actions
        A = points(owner, "actions", called(owner, "actions", A, rng)) if callable(A) else A
        drawn = self.depth if self.leaf is not None else self.depth - 1  # decisions after which something is drawn
        seeds = tuple(rng.integers(2**63, size=self.width**level) for level in range(drawn))
        tree = Tree(A, self.depth, self.width, belief.gamma, self.leaf, seeds)
        if offers(belief, Grows):
            q = grown_values(tree, belief, observation)
        else:
            rewards = np.array([belief.expected_reward(observation, a) for a in A])  # of all particles
            small = belief.thinned(self.inner, rng) if offers(belief, Thins) else belief
            q = action_values(tree, small, observation, rewards, 0, 0)
        return Decision(A[first_best(q)].copy(), None, {"q": q})


class Tree(NamedTuple):
    """The settings of a search."""

    actions: Floats  # (A, e)
    depth: int
    width: int
    gamma: float
    leaf: Callable[[Floats], ArrayLike] | None
    seeds: tuple[Ints, ...]  # of the nodes of a level, common to all actions: (1,), (C,), (C^2,), ...

    def leaves(self, observations: Floats) -> Floats:
        """The value of observations, (n, d), after the last decision."""
        assert self.leaf is not None
        return returned("ContinuousForwardSearch", "leaf", self.leaf, (len(observations),), observations)


def action_values(
    t: Tree, belief: DrawsObservations, observation: Any, rewards: Floats, level: int, node: int
) -> Floats:
    """Q_d(b, z, a) of each action; `rewards` are those of this decision, and `node` counts what was drawn before."""
    if level == t.depth - 1 and t.leaf is None:
        return rewards
    q = np.empty(len(t.actions))
    for k, a in enumerate(t.actions):
        rng = default_rng(int(t.seeds[level][node]))  # the same random numbers for each action
        many = belief.draw(observation, a, rng, OVER * t.width)
        drawn = many[one_of_each_stratum(many, t.width, rng)]
        if level == t.depth - 1:
            after = t.leaves(drawn)
        elif level == t.depth - 2 and t.leaf is None and offers(belief, RewardsStates):
            after = np.max([belief.expected_rewards(drawn, b) for b in t.actions], axis=0)
        else:
            after = np.empty(t.width)
            for i, z in enumerate(drawn):
                new = belief.update(Transition(observation, a, float(rewards[k]), z), rng)
                paid = np.array([new.expected_reward(z, b) for b in t.actions])
                after[i] = action_values(t, new, z, paid, level + 1, node * t.width + i).max()
        q[k] = rewards[k] + t.gamma * after.mean()
    return q


def grown_values(t: Tree, belief: Grows, observation: Any) -> Floats:
    """The same values from a tree that the belief has grown, level by level from its end."""
    levels = belief.grow_tree(observation, t.actions, t.width, t.seeds)
    decided = np.concatenate(levels[: t.depth])
    q = np.array([belief.expected_rewards(decided, a) for a in t.actions]).T
    after, end = None if t.leaf is None else t.leaves(levels[-1]), len(decided)
    for seen in levels[t.depth - 1 :: -1]:
        here = q[end - len(seen) : end]
        if after is not None:
            here += t.gamma * after.reshape(len(seen), len(t.actions), t.width).mean(axis=2)
        after, end = here.max(axis=1), end - len(seen)
    return np.array(q[0])
