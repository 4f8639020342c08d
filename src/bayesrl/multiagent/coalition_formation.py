"""Bayesian coalition formation (Chalkiadakis and Boutilier 2010; survey §7.3).

An agent chooses, again and again, with whom to work and what to do. It does not know how able the others are. It has a
joint belief about the types of all agents. The outcome of every coalition changes that belief, so a choice is also an
experiment. Use it where partners must be found by trying them.

Three ways to choose among options m = (C, a), coalitions that contain `me` and their actions:
    myopic      Q(m) = sum_t b(t) q(m, t), where q(m, t) is the expected share, payoff / |C|, given the types t
    lookahead   Q_d(m) = Q(m) + gamma sum_o Pr(o | b, m) max_n Q_{d-1}(n) at the belief after (m, o), to `depth` rounds
    vpi         Q(m) + VPI(m), VPI(m) = sum_t b(t) gain: q(m, t) exceeds the best Q, or the best option's q(m, t) falls
                below the second-best Q (ERRATA 3)

Paper to code: the belief update `TypeBelief.update`; the expected value of an option, the look-ahead and the value of
perfect information `values`, `lookahead`, `value_of_perfect_information`. Negotiation is `multiagent.formation`.
Deviations (the paper as recalled): payoffs are shared equally, where the paper bargains over demands. An agent expects
that others agree to its options, where the paper weighs options by the probability of the coalition structure. `depth`
may exceed the paper's one step; nothing is paid beyond it. The best option is the first of equal ones. The papers add
VPI to discounted sums; with types known after the first round both have the same factor, so the ranking is that of one
round.
Cost: options * profiles for myopic and vpi, times (options * outcomes)^(depth - 1) for look-ahead.
Claims: values, VPI and posteriors equal enumeration in fractions; look-ahead never has a lower value than myopic.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.choices import value_of_perfect_information
from bayesrl.beliefs.games.coalitions import CoalitionProblem, TypeBelief
from bayesrl.checks import Floats, frozen
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register

__all__ = ["CoalitionFormation", "CoalitionProblem", "TypeBelief"]

MOST = 100_000_000
"""Largest number of posterior entries that a look-ahead may visit."""


def _example() -> CoalitionFormation:
    def outcome(action: int, types: tuple[int, ...]) -> list[float]:
        p = (1 + sum(types)) / (4 + 2 * action)
        return [1.0 - p, p]

    problem = CoalitionProblem((1, 2, 2), outcome, np.array([[0.0, 1.0], [0.0, 2.0]]))
    return CoalitionFormation(TypeBelief.uniform(problem))


@register(
    "coalition-formation",
    kind="agent",
    survey="7.3",
    paper="chalkiadakis10",
    example=_example,
    reading="The survey; how coalitions form is recalled, and equal shares replace the paper's bargaining.",
    evidence=(
        "tests/multiagent/test_coalition_formation.py::test_values_equal_enumeration",
        "tests/multiagent/test_coalition_formation.py::test_lookahead_equals_expectimax_in_fractions",
        "tests/multiagent/test_coalition_formation.py::test_types_become_dependent",
    ),
)
@value
class CoalitionFormation:
    """Choose a coalition and its action under a joint belief about the types of the other agents.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> def outcome(action, types):  # success needs able partners; the bold action (1) needs more of them
    ...     p = sum(types) / (2 + action)
    ...     return [1.0 - p, p]
    >>> problem = b.multiagent.CoalitionProblem([[1], [0, 1]], outcome, rewards=[[0.0, 2.0], [0.0, 8.0]])
    >>> belief = b.multiagent.TypeBelief.independent(problem, [[1.0], [0.5, 0.5]])
    >>> agent = b.make("coalition-formation", prior=belief, choose="vpi")
    >>> decision = agent.act(agent.start(), None, default_rng(0))
    >>> decision.action
    ((0,), 1)
    >>> [(option, round(float(q), 3)) for option, q in zip(decision.info["options"], decision.info["q"])]
    [(((0,), 0), 1.0), (((0,), 1), 2.667), (((0, 1), 0), 0.75), (((0, 1), 1), 2.0)]
    """

    prior: Annotated[TypeBelief, "Joint belief about the types before the first round."]
    choose: Annotated[Literal["myopic", "lookahead", "vpi"], "How options are compared."] = "myopic"
    depth: Annotated[int, AtLeast(1), "Rounds that look-ahead plans, this one included."] = 2

    def __post_init__(self) -> None:
        _check_types("CoalitionFormation", "prior", self.prior)
        M, N, O = self.prior.problem.laws.shape
        if self.choose == "lookahead" and (self.depth - 1) * np.log(M * O) + np.log(N) > np.log(MOST):
            expected = f"so small that look-ahead visits at most {MOST} entries ({M * O} posteriors of each belief)"
            raise InvalidArgument("CoalitionFormation", "depth", expected, self.depth)

    def start(self) -> TypeBelief:
        """The prior: a belief is all that it remembers."""
        return self.prior

    def act(self, mind: TypeBelief, observation: Any, rng: Generator) -> Decision:
        """Choose an option. The belief says it all, so the observation is not used."""
        q, vpi = self.values(mind)
        score = q + vpi if self.choose == "vpi" else q
        options = mind.problem.options
        return Decision(options[first_best(score)], mind, {"options": options, "q": q, "vpi": vpi})

    def learn(self, mind: TypeBelief, transition: Transition, rng: Generator) -> TypeBelief:
        """Update the joint belief by (coalition, action, outcome); the outcome is the next observation."""
        _check_types("CoalitionFormation.learn", "mind", mind)
        if not isinstance(transition, Transition):
            raise InvalidArgument("CoalitionFormation.learn", "transition", "a Transition", transition)
        return mind.update(transition)

    def values(self, mind: TypeBelief) -> tuple[Floats, Floats]:
        """Q and VPI of every option, (options,) each. Q is that of `depth` rounds for look-ahead, else of one."""
        _check_types("CoalitionFormation.values", "mind", mind)
        problem, b = mind.problem, mind.joint.ravel()
        _, vpi = value_of_perfect_information(problem.payoffs, b)
        depth = self.depth if self.choose == "lookahead" else 1
        return frozen(lookahead(problem, b[None], depth)[0]), frozen(vpi)


def lookahead(problem: CoalitionProblem, b: Floats, depth: int) -> Floats:
    """Q of every option over `depth` rounds, (n, options), at beliefs (n, profiles) that need not sum to one.

    V(c b) = c V(b), so posteriors keep their probability as their sum and nothing is divided.
    """
    q = b @ problem.payoffs
    if depth > 1 and problem.gamma > 0.0:
        for i in range(len(b)):  # all posteriors of one belief at once
            after = np.einsum("n,mno->mon", b[i], problem.laws)
            best = lookahead(problem, after.reshape(-1, b.shape[1]), depth - 1).max(axis=1)
            q[i] += problem.gamma * best.reshape(after.shape[:2]).sum(axis=1)
    return q


def _check_types(owner: str, name: str, x: object) -> None:
    if not isinstance(x, TypeBelief):
        raise InvalidArgument(owner, name, "a TypeBelief", x)
