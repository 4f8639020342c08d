"""A prior over finitely many MDPs (Gopalan and Mannor 2015; survey §3.3).

One of N models is the true one. A transition multiplies the weight of each model by the probability of its next state
and reward. Gopalan and Mannor analyse posterior sampling with this belief. finite_models.py does the same for bandits.

Deviations: none. Cost: update O(N k) for k outcomes of a (s, a); mean_mdp O(N S^2 A). Claims: weights equal Bayes'
rule by hand; the mean model's rows are the weighted rows.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs._one_of_many import OneOfMany
from bayesrl.beliefs._problems import Draws, needed
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.capabilities import offers
from bayesrl.checks import Floats, Ints, frozen, generator, integer, number
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes, reached_state
from bayesrl.parameters import unchecked, value
from bayesrl.problems import Family, HasMDP
from bayesrl.registry import register


def _example() -> FiniteMDPs:
    stay, go = [1.0, 0.0], [0.0, 1.0]
    R = [[0.0, 0.0], [1.0, 0.0]]
    rows = ([[stay, go], [stay, go]], [[go, stay], [[0.5, 0.5], go]], [[[0.3, 0.7], stay], [stay, [0.6, 0.4]]])
    return FiniteMDPs(tuple(TabularMDP.from_dense(P, R, 0.9) for P in rows), np.array([0.5, 0.3, 0.2]))


def prior_for(problem: object, models: Draws = 20, rng: Generator | None = None) -> FiniteMDPs:
    """Models drawn from a family, or with the outcomes of a known MDP and probabilities drawn uniformly."""
    rng = generator("finite-mdps", rng)
    if offers(problem, Family):
        drawn = (needed("finite-mdps", problem.draw(rng), HasMDP).mdp for _ in range(models))
        return FiniteMDPs(tuple(drawn))
    rows = DirichletMDP.structured(needed("finite-mdps", problem, HasMDP))
    return FiniteMDPs(tuple(rows.sample_mdp(rng) for _ in range(models)))


@register(
    "finite-mdps",
    kind="belief",
    survey="3.3",
    paper="GopalanMannor15",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_finite_models.py::test_mdp_weights_are_bayes_rule",
        "tests/beliefs/arms/test_finite_models.py::test_mean_mdp_is_the_weighted_model",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class FiniteMDPs(OneOfMany):
    """An MDP that is one of finitely many, with a weight for each.

    Examples
    --------
    >>> left, right = (TabularMDP.from_dense([[[p, 1 - p]]] * 2, [[0.0]] * 2, gamma=0.9) for p in (0.9, 0.2))
    >>> belief = FiniteMDPs((left, right)).update(Transition(0, 0, 0.0, 1))
    >>> belief.posterior().round(2).tolist()
    [0.11, 0.89]
    """

    models: Annotated[
        tuple[TabularMDP, ...],
        "N MDPs with the same numbers of states and actions, discount and terminal states.",
    ] = field(repr=False)
    weights: Annotated[ArrayLike | None, "Prior probability of each model, (N,); None if all are equally probable."] = (
        None
    )
    log_joint: Floats = field(init=False, repr=False)
    """Log of prior weight times the likelihood of the data, shape (N,)."""

    def __post_init__(self) -> None:
        def form(m: TabularMDP) -> tuple[object, ...]:
            return m.group.shape, m.gamma, m.outcomes.terminal.tolist()

        self._begin(TabularMDP, form, "states, actions, discount and terminal states")

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> FiniteMDPs:
        """The posterior after a transition."""
        S, A = self.models[0].group.shape
        s = integer("FiniteMDPs.update", "state", datum.state, 0, S - 1)
        a = integer("FiniteMDPs.update", "action", datum.action, 0, A - 1)
        y = integer("FiniteMDPs.update", "next_state", datum.next_state, 0, S - 1)
        r = number("FiniteMDPs.update", "reward", datum.reward)
        y = reached_state("FiniteMDPs", self.models[0].outcomes, y, datum)
        succ, reward, prob = self._tables
        same = (succ[:, s, a] == y) & (np.abs(reward[:, s, a] - r) <= 1e-9 * (1.0 + abs(r)))
        with np.errstate(divide="ignore"):
            joint = self.log_joint + np.log(np.sum(prob[:, s, a] * same, axis=-1))
        if joint.max() == -np.inf:
            seen = f"({s}, {a}) -> {y} with reward {r:g}"
            raise ImpossibleEvidence("FiniteMDPs", seen, "no model with positive weight allows it")
        return unchecked(self, log_joint=frozen(joint))

    def update_many(self, log: Log, rng: Generator | None = None) -> FiniteMDPs:
        """The posterior after a log of transitions."""
        new = self
        for datum in transitions("FiniteMDPs.update_many", log):
            new = new.update(datum)
        return new

    @cached_property
    def _tables(self) -> tuple[Ints, Floats, Floats]:
        """Next states, rewards and probabilities of all models' outcomes, each (N, S, A, k), padded with zeros."""
        S, A = self.models[0].group.shape
        K = max(m.outcomes.n_outcomes for m in self.models)
        shape = (len(self.models), S, A, K)
        succ, reward, prob = np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape)
        for i, m in enumerate(self.models):
            k = m.outcomes.n_outcomes
            succ[i, ..., :k], reward[i, ..., :k], prob[i, ..., :k] = m.succ, m.reward, m.prob[m.group]
        return succ, reward, prob

    # Capabilities ----------------------------------------------------------------------------------------------------

    @cached_property
    def outcomes(self) -> Outcomes:
        """Flat outcomes: any state may follow any (s, a)."""
        return self.models[0].outcomes.flat()

    @property
    def rewards_known(self) -> bool:
        """True, since each model lists its rewards."""
        return True

    def visit_groups(self) -> Ints:
        """The index of each pair, (S, A): every pair has its own counter."""
        return self.outcomes.group

    @property
    def same_support(self) -> bool:
        """False, since each model has its own outcomes."""
        return False

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward in any of the models."""
        low, high = zip(*(m.outcomes.reward_range for m in self.models), strict=True)
        return min(low), max(high)

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief."""
        generator("FiniteMDPs.sample_mdp", rng)
        below = np.cumsum(self.posterior())
        return self.models[int(np.searchsorted(below, rng.random() * below[-1], side="right"))]

    def mean_mdp(self) -> TabularMDP:
        """The model of posterior mean probabilities; rewards are expectations given (s, a, s')."""
        S, A = self.models[0].group.shape
        P, PR = np.zeros((S, A, S)), np.zeros((S, A, S))
        at = np.arange(S * A).reshape(S, A, 1) * S
        for w, m in zip(self.posterior(), self.models, strict=True):
            p = w * m.prob[m.group]
            np.add.at(P.reshape(-1), at + m.succ, p)
            np.add.at(PR.reshape(-1), at + m.succ, p * m.reward)
        R = np.divide(PR, P, out=self.models[0].outcomes.rewards(), where=P > 0.0)
        o = self.models[0].outcomes
        terminal = np.flatnonzero(o.terminal).tolist()
        return TabularMDP.from_dense(P / P.sum(axis=2, keepdims=True), R, self.gamma, o.start, terminal)
