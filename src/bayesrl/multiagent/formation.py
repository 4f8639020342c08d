"""How coalitions form: best reply with experimentation (Chalkiadakis and Boutilier 2010; recalled, equal shares).

A state of the process is a partition of the agents into coalitions, each with an action. In each round one agent, drawn
at random, may propose: to stay with another action, to join another coalition of the partition, or to work alone. Each
agent values an option by its own belief, in the way its agent chooses (`myopic`, `lookahead`, `vpi`). The others of the
proposed coalition accept if they value it no less than what they have. The proposer's best reply is the accepted
proposal that it values most, and it moves only if that is better than what it has. With probability `experiment` it
makes a random proposal instead. The agents that it leaves keep their action.

Deviations: the paper bargains over demands, here payoffs are shared equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.games.coalitions import Coalition, Option, TypeBelief
from bayesrl.checks import Floats, frozen, generator, integer, number, sequence
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import better, first_best
from bayesrl.multiagent.coalition_formation import CoalitionFormation
from bayesrl.parameters import Shape, value


@explain_failures
@value
class Formation:
    """A partition of the agents into coalitions."""

    options: tuple[Option, ...]
    """The coalitions and their actions, in the order of their first members."""
    values: Annotated[Floats, Shape("(n,)"), "What each agent expects of its coalition."]
    moves: Annotated[int, "Rounds in which the partition or an action changed."]
    stable: Annotated[bool, "Whether no agent has an accepted proposal that it values more."]

    def option_of(self, agent: int) -> Option:
        """The coalition of an agent, and its action."""
        i = integer("Formation.option_of", "agent", agent, 0, len(self.values) - 1)
        return next(option for option in self.options if i in option[0])


def formation(
    agents: Sequence[CoalitionFormation],
    rounds: int,
    rng: Generator,
    beliefs: Sequence[TypeBelief] | None = None,
    experiment: float = 0.05,
) -> Formation:
    """Let agents form coalitions by best replies with experimentation, first each alone with its best action.

    Agent i must have a problem with `me` = i. `beliefs` are what they believe now (default: their priors).

    >>> from numpy.random import default_rng
    >>> from bayesrl.beliefs.games.coalitions import CoalitionProblem
    >>> def outcome(action, types):  # alone an agent fails
    ...     return [0.0, 1.0] if len(types) > 1 else [1.0, 0.0]
    >>> problems = [CoalitionProblem([1, 1], outcome, [[0.0, 2.0]], me=i) for i in range(2)]
    >>> agents = [CoalitionFormation(TypeBelief.uniform(problem)) for problem in problems]
    >>> formation(agents, 20, default_rng(0)).options
    (((0, 1), 0),)
    """
    worth = _worth(agents, beliefs)
    integer("formation", "rounds", rounds, 0)
    epsilon = number("formation", "experiment", experiment, 0.0, 1.0)
    generator("formation", rng)
    n = len(worth)
    state: dict[Coalition, int] = {(i,): _best_alone(worth[i], i) for i in range(n)}
    moves = 0
    for _ in range(rounds):
        i = int(rng.integers(n))
        if rng.random() < epsilon:
            proposals = _proposals(state, worth[i], i)
            chosen = proposals[int(rng.integers(len(proposals)))]
            reply = chosen if _accepted(state, worth, chosen, i) else None
        else:
            reply = best_reply(state, worth, i)
        if reply is not None and state.get(reply[0]) != reply[1]:
            state, moves = _moved(state, reply, i), moves + 1
    options = tuple(sorted(state.items()))
    values = np.array([worth[i][_of(state, i)] for i in range(n)])
    return Formation(options, frozen(values), moves, all(best_reply(state, worth, i) is None for i in range(n)))


Worth = dict[Option, float]
"""The value that an agent expects of each option that contains it."""


def best_reply(state: dict[Coalition, int], worth: Sequence[Worth], i: int) -> Option | None:
    """The accepted proposal that agent i values most; None if it has nothing better than its present option."""
    now, mine = worth[i][_of(state, i)], worth[i]
    open_ = [x for x in _proposals(state, mine, i) if better(mine[x], now) and _accepted(state, worth, x, i)]
    return open_[first_best(np.array([mine[x] for x in open_]))] if open_ else None


def _proposals(state: dict[Coalition, int], worth: Worth, i: int) -> list[Option]:
    """All actions in the own coalition, in every other one joined by agent i, and alone."""
    joined = {tuple(sorted({*members, i})) for members in state} | {(i,)}
    return [option for option in worth if option[0] in joined]


def _accepted(state: dict[Coalition, int], worth: Sequence[Worth], option: Option, i: int) -> bool:
    """Whether every other member values the option no less than what it has."""
    return all(not better(worth[j][_of(state, j)], worth[j][option]) for j in option[0] if j != i)


def _moved(state: dict[Coalition, int], option: Option, i: int) -> dict[Coalition, int]:
    """The partition after agent i moved. The agents that it leaves keep their action."""
    joined = set(option[0])
    left = {tuple(j for j in members if j not in joined): action for members, action in state.items()}
    return {members: action for members, action in left.items() if members} | {option[0]: option[1]}


def _of(state: dict[Coalition, int], i: int) -> Option:
    return next((members, action) for members, action in state.items() if i in members)


def _best_alone(worth: Worth, i: int) -> int:
    alone = [option for option in worth if option[0] == (i,)]
    return alone[first_best(np.array([worth[option] for option in alone]))][1]


def _worth(agents: Sequence[CoalitionFormation], beliefs: Sequence[TypeBelief] | None) -> list[Worth]:
    """The value of every option to every agent that it contains."""
    owner, expected = "formation", "coalition-formation agents, agent i with a problem of its own (me=i)"
    members = sequence(owner, "agents", agents, expected)
    minds = tuple(a.start() for a in members if isinstance(a, CoalitionFormation))
    if not members or len(minds) != len(members):
        raise InvalidArgument(owner, "agents", expected, agents)
    if beliefs is not None:
        given = sequence(owner, "beliefs", beliefs, "a TypeBelief of each agent")
        if len(given) != len(members) or not all(isinstance(mind, TypeBelief) for mind in given):
            raise InvalidArgument(owner, "beliefs", "a TypeBelief of each agent", beliefs)
        minds = given
    first = minds[0].problem
    for i, mind in enumerate(minds):
        problem = mind.problem
        if problem.me != i or problem.types != first.types or not np.array_equal(problem.rewards, first.rewards):
            raise InvalidArgument(owner, "agents", expected, agents)
    if len(first.types) != len(minds):
        raise InvalidArgument(owner, "agents", f"as many as the problem has, {len(first.types)}", len(minds))
    scores = [agent.values(mind) for agent, mind in zip(members, minds, strict=True)]
    each = [q + vpi if agent.choose == "vpi" else q for agent, (q, vpi) in zip(members, scores, strict=True)]
    return [dict(zip(mind.problem.options, x.tolist(), strict=True)) for mind, x in zip(minds, each, strict=True)]
