"""Episodes as paths: their scores, returns and Hessians under a policy.

A path ends in s_T and has T actions and T rewards (ERRATA 33). Its score is the sum of the scores of its T actions. An
episode that is truncated, or still open at the end of a log, is a path too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesrl.checks import Floats, array, number, same
from bayesrl.core import DifferentiablePolicy, Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument


class Path(NamedTuple):
    """One episode under a policy."""

    steps: tuple[Transition, ...]
    scores: Floats
    """The score of each action, shape (T, n)."""
    rewards: Floats
    """Shape (T,)."""

    @property
    def terminated(self) -> bool:
        """Whether the episode came to its end, and not only the record of it."""
        return bool(self.steps[-1].terminated)

    def gain(self, gamma: float) -> float:
        """The discounted return."""
        return float(self.rewards @ gamma ** np.arange(len(self.rewards)))


Known = dict[tuple[int, int], Any]
"""Results for numbered states and actions, to be used again."""


def path_of(owner: str, steps: Sequence[Transition], policy: DifferentiablePolicy, known: Known | None = None) -> Path:
    """The transitions of one episode as a path. Scores of numbered states and actions are computed once in `known`."""
    known = {} if known is None else known
    rewards = np.array([number(owner, "reward", step.reward, moderate=True) for step in steps])
    return Path(tuple(steps), np.array([_of_step(owner, "score", policy, s, known) for s in steps]), rewards)


def paths_of(owner: str, transitions: Iterable[Transition], policy: DifferentiablePolicy) -> list[Path]:
    """The episodes of a log of transitions as paths."""
    demand_policy(owner, policy, "score")
    known: Known = {}
    return [path_of(owner, steps, policy, known) for steps in episodes(owner, transitions)]


def path_hessian(owner: str, path: Path, policy: DifferentiablePolicy, known: Known | None = None) -> Floats:
    """The Hessian of the log-probability of a path, shape (n, n)."""
    demand_policy(owner, policy, "hessian")
    known = {} if known is None else known
    return np.asarray(sum(_of_step(owner, "hessian", policy, step, known) for step in path.steps))


def demand_policy(owner: str, policy: object, *names: str) -> None:
    """Refuse a policy that lacks one of these methods, or one of those that every policy has."""
    missing = [name for name in ("sample", "log_prob", *names) if not hasattr(policy, name)]
    if missing:
        raise Incompatible(owner, type(policy).__name__, missing, kind="policy")


def episodes(owner: str, transitions: Iterable[Transition]) -> list[list[Transition]]:
    """A log cut where episodes end. Within an episode a transition starts where the one before ended."""
    try:
        log = list(transitions)
    except TypeError:
        raise InvalidArgument(owner, "transitions", "transitions", transitions) from None
    made: list[list[Transition]] = []
    last: Transition | None = None
    for step in log:
        if not isinstance(step, Transition):
            raise InvalidArgument(owner, "transitions", "transitions", step)
        if last is None:
            made.append([])
        elif not same(last.next_observation, step.observation):
            hint = "Mark the last transition of an episode as terminated or truncated."
            raise InvalidArgument(owner, "transitions", "a log without gaps", step.observation, hint)
        made[-1].append(step)
        last = None if step.ends_episode else step
    if not made:
        raise InvalidArgument(owner, "transitions", "at least one transition", log)
    return made


def _of_step(owner: str, what: str, policy: DifferentiablePolicy, step: Transition, known: Known) -> Floats:
    """The score or Hessian of an action; one of probability zero is refused."""
    s, a = step.observation, step.action
    numbered = isinstance(s, (int, np.integer)) and isinstance(a, (int, np.integer))
    if numbered and (s, a) in known:
        return np.asarray(known[s, a])
    chance = policy.log_prob(s, a)
    if chance == -np.inf or (numbered and np.exp(chance) == 0.0):
        raise ImpossibleEvidence(owner, f"Action {a!r}", "the policy never takes it there")
    found = array(owner, what, getattr(policy, what)(s, a))
    if numbered:
        known[s, a] = found
    return found
