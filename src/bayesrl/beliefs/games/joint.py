"""One step of a game as one player saw it."""

from __future__ import annotations

from typing import Any, NamedTuple

from bayesrl.checks import choice, integer, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument


class JointTransition(NamedTuple):
    """One step of a game: the player's own action, and the other's.

    `run` gives transitions, whose observations are then pairs (state, the other's last action): `joint_step` reads
    both. `own` is what a player learns from that does not see the other.

    >>> JointTransition(0, 1, 2, 7.0, 0).own()
    Transition(observation=0, action=1, reward=7.0, next_observation=0, terminated=False, truncated=False, task=0)
    """

    state: Any
    action: Any
    other: Any
    """The other player's action."""
    reward: Any
    next_state: Any
    terminated: bool = False
    truncated: bool = False

    def own(self) -> Transition:
        """The transition without the other's action."""
        return Transition(self.state, self.action, self.reward, self.next_state, self.terminated, self.truncated)


def joint_step(owner: str, datum: Any, S: int, A: int, B: int) -> tuple[int, int, int, float, int]:
    """(s, a, o, r, s') of a joint transition, or of a transition with pairs as observations."""
    if isinstance(datum, Transition):
        before, after = datum.observation, datum.next_observation
        if not all(isinstance(seen, tuple) and len(seen) == 2 for seen in (before, after)):
            expected = "a JointTransition, or a Transition that observes pairs (state, the other's last action)"
            raise InvalidArgument(owner, "datum", expected, datum)
        s, a, o, r, y = before[0], datum.action, after[1], datum.reward, after[0]
    elif isinstance(datum, JointTransition):
        s, a, o, r, y = datum[:5]
    else:
        raise InvalidArgument(owner, "datum", "a JointTransition", datum)
    return (
        integer(owner, "state", s, 0, S - 1),
        integer(owner, "action", a, 0, A - 1),
        integer(owner, "other", o, 0, B - 1),
        number(owner, "reward", r),
        integer(owner, "next_state", y, 0, S - 1),
    )


def state_seen(owner: str, observation: Any, S: int) -> int:
    """The state of an observation: its number, the pair (state, the other's last action), or None if there is one."""
    if observation is None and S == 1:
        return 0
    s = observation[0] if isinstance(observation, tuple) and len(observation) == 2 else observation
    return integer(owner, "observation", s, 0, S - 1)


def check_ahead(owner: str, state: Any, S: int, depth: Any, leaf: Any) -> tuple[int, int]:
    """The state and the number of steps of a lookahead; `leaf` must be a word that is known."""
    choice(owner, "leaf", leaf, ("zero", "mean"))
    return integer(owner, "state", state, 0, S - 1), integer(owner, "depth", depth, 1)
