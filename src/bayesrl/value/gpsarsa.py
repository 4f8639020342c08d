"""GPSARSA: control from a Gaussian-process belief about the values of pairs (Engel, Mannor, Meir 2005; survey §5.1.3).

The belief is sparse GPTD on pairs z = (s, a) of the policy that is followed. SARSA learns from the next action too, so
the last pair stays open until it is chosen: `learn` keeps (z, r); the next `act` chooses a' on the belief as it stands,
and only then adds the row Q(z) - gamma Q(z') = r. An end closes the pair at once, with Q(z) = r. A truncated episode
closes it with the action that would be taken next; then a new trajectory begins.

Three ways to choose: `epsilon` (random with probability epsilon half_life / (half_life + episodes), otherwise the best
mean; ties at random), `thompson` (the best of one joint draw over the actions) and `optimistic` (mean + bonus sd).

Actions are listed, or they are points of a box, of which `candidates` are drawn at random. If the covariance of actions
is `Direction`, actions are unit vectors and the greedy one is known: the direction of sum_i alpha_i k_s(s, s_i) a_i.

Deviations: `residuals="coloured"` is the paper's Monte-Carlo noise, which averages over every policy that was followed.
On mountain car it stays at the limit of steps; "white", the noise of deterministic transitions, learns. Each world says
which it uses. Cost: O(m^2 + m A) for a step with m pairs in the dictionary. Claims: closed pairs are those of the rows
written by hand; it learns the mountain car.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import Covariance, Direction, Discrete, Gaussian, StateAction
from bayesrl.beliefs.features import box
from bayesrl.beliefs.values.gptd_sparse import SparseGPTD
from bayesrl.beliefs.values.trajectory import state_row
from bayesrl.checks import Floats, array, frozen, generator, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import pick
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above, AtLeast, value
from bayesrl.problems import may_end
from bayesrl.registry import register


class Box(NamedTuple):
    """Actions that are vectors between two corners."""

    low: Any
    high: Any


class Open(NamedTuple):
    """A pair that waits for the next action, and the reward in between."""

    pair: Floats
    reward: float


class Mind(NamedTuple):
    """The mind of GPSARSA, carried from step to step."""

    belief: SparseGPTD
    open: Open | None
    episodes: int


Actions = int | Sequence[Any] | Floats | Box


@register(
    "gpsarsa",
    kind="agent",
    survey="5.1",
    paper="Engel05RL",
    example=lambda: GPSARSA(2, StateAction(Gaussian(scale=1.0), Discrete(), dims=1), threshold=0.01),
    evidence=(
        "tests/value/test_gpsarsa.py::test_pairs_are_the_rows_written_by_hand",
        "tests/value/test_gpsarsa.py::test_ways_to_choose",
        "tests/value/test_gpsarsa.py::test_learns_the_mountain_car",
    ),
)
@value
class GPSARSA:
    """Control from a sparse Gaussian-process belief about the values of pairs.

    Examples
    --------
    >>> from bayesrl.beliefs.covariances import Discrete, Gaussian, StateAction
    >>> agent = GPSARSA(actions=2, covariance=StateAction(Gaussian(scale=1.0), Discrete(), dims=1))
    >>> from numpy.random import default_rng
    >>> decision = agent.act(agent.start(), 0.0, default_rng(0))
    >>> decision.info["q"].tolist()  # nothing is known yet
    [0.0, 0.0]
    """

    actions: Annotated[Any, "The number of actions; or a list of actions, each a vector; or a box of low and high."]
    covariance: Annotated[Covariance, "Prior covariance of values of pairs: rows of a state, then an action."]
    noise: Annotated[float, AtLeast(0.0), "Standard deviation of a residual, sigma."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.99
    threshold: Annotated[float, AtLeast(0.0), "Variance above which a pair joins the dictionary."] = 0.1
    choose: Annotated[Literal["epsilon", "thompson", "optimistic"], "How actions are chosen."] = "epsilon"
    epsilon: Annotated[float, PROBABILITY, "Probability of a random action."] = 0.1
    half_life: Annotated[float | None, Above(0.0), "Episodes after which epsilon is halved; None: it stays."] = None
    bonus: Annotated[float, AtLeast(0.0), "Standard deviations that `optimistic` adds."] = 1.0
    residuals: Annotated[
        Literal["coloured", "white"], "Noise of Monte-Carlo returns, or of deterministic transitions."
    ] = "coloured"
    candidates: Annotated[int, AtLeast(1), "Actions of a box that are tried in each step."] = 32

    def __post_init__(self) -> None:
        owner = "GPSARSA"
        if not isinstance(self.covariance, Covariance):
            expected = "a covariance, such as StateAction(Gaussian(), Discrete(), dims=2)"
            raise InvalidArgument(owner, "covariance", expected, self.covariance)
        actions, k = _actions(owner, self.actions), self.covariance
        directions = isinstance(k, StateAction) and isinstance(k.action, Direction)
        if directions and not isinstance(actions, Box) and np.abs(np.sum(actions**2, axis=1) - 1.0).max() > 1e-6:
            expected = "unit vectors, because the covariance of actions is Direction"
            raise InvalidArgument(owner, "actions", expected, self.actions)
        object.__setattr__(self, "actions", actions)

    # An agent --------------------------------------------------------------------------------------------------------

    def start(self) -> Mind:
        """The prior; nothing is open."""
        belief = SparseGPTD(self.covariance, self.noise, self.gamma, self.threshold, self.residuals)
        return Mind(belief, None, 0)

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a discount of 1 in a world without ends. Values are infinite there, also if episodes are truncated."""
        if self.gamma == 1.0 and not may_end(world):
            raise InvalidArgument("GPSARSA", "gamma", "less than 1 where episodes do not end", self.gamma)

    def act(self, mind: Mind, observation: Any, rng: Generator) -> Decision:
        """Choose an action on the belief as it stands, then close the pair that was open."""
        s = self._state("GPSARSA.act", "observation", observation)
        action, pair, info = self._choose(mind, s, generator("GPSARSA.act", rng))
        belief = mind.belief
        if mind.open is not None:
            belief = belief.update(Transition(mind.open.pair, None, mind.open.reward, pair))
        return Decision(action, Mind(belief, None, mind.episodes), info)

    def learn(self, mind: Mind, transition: Transition, rng: Generator) -> Mind:
        """Keep the pair open, or close it if the episode has ended."""
        owner = "GPSARSA.learn"
        s = self._state(owner, "observation", transition.observation)
        pair, belief = self._pair(owner, s, transition.action), mind.belief
        reward = number(owner, "reward", transition.reward, moderate=True)
        if belief.tail is not None and not np.array_equal(belief.tail[0], pair):
            belief = belief.restart()  # another action was taken than the one that was chosen
        if not transition.ends_episode:
            return Mind(belief, Open(pair, reward), mind.episodes)
        if transition.terminated:
            last = Transition(pair, None, reward, pair, terminated=True)
        else:
            after = self._state(owner, "next_observation", transition.next_observation)
            next_pair = self._choose(Mind(belief, None, mind.episodes), after, generator(owner, rng))[1]
            last = Transition(pair, None, reward, next_pair, truncated=True)
        return Mind(belief.update(last), None, mind.episodes + 1)

    # Choosing --------------------------------------------------------------------------------------------------------

    def _choose(self, mind: Mind, s: Floats, rng: Generator) -> tuple[Any, Floats, dict[str, Floats]]:
        """An action, its pair, and the values behind the choice."""
        tried = self._tried(mind.belief, s, rng)
        pairs = np.hstack([np.repeat(s, len(tried), axis=0), tried])
        q = mind.belief.mean(pairs)
        if self.choose == "thompson":
            score = mind.belief.sample(pairs, rng)[0]
        elif self.choose == "optimistic":
            score = q + self.bonus * np.sqrt(mind.belief.variance(pairs))
        else:
            decay = 1.0 if self.half_life is None else self.half_life / (self.half_life + mind.episodes)
            explores = rng.random() < self.epsilon * decay
            score = np.zeros(len(q)) if explores else q
        i = pick(score, rng.random())
        action = frozen(tried[i].copy()) if isinstance(self.actions, Box) else i
        return action, frozen(pairs[i].copy()), {"q": q}

    def _tried(self, belief: SparseGPTD, s: Floats, rng: Generator) -> Floats:
        """The actions among which to choose, as rows: all, or candidates and, for directions, the greedy one."""
        if not isinstance(self.actions, Box):
            return np.asarray(self.actions)
        low, high = self.actions
        k = self.covariance
        if not (isinstance(k, StateAction) and isinstance(k.action, Direction)):
            return rng.uniform(low, high, (self.candidates, len(low)))
        drawn = rng.standard_normal((self.candidates, len(low)))
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        greedy = greedy_direction(belief, k, s)
        return drawn if greedy is None else np.vstack([greedy, drawn])

    def _state(self, owner: str, name: str, state: Any) -> Floats:
        """A state as a row, shape (1, d)."""
        return state_row(owner, name, state, self.covariance.dims if isinstance(self.covariance, StateAction) else None)

    def _pair(self, owner: str, s: Floats, action: Any) -> Floats:
        """The row of a state and an action that was taken."""
        if isinstance(self.actions, Box):
            low, high = self.actions
            a = array(owner, "action", action, (len(low),))
            if (a < low - 1e-9).any() or (a > high + 1e-9).any():
                raise InvalidArgument(owner, "action", "in the box of actions", action)
        else:
            a = np.asarray(self.actions)[integer(owner, "action", action, 0, len(self.actions) - 1)]
        return np.concatenate([s[0], a])


def greedy_direction(belief: SparseGPTD, k: StateAction, s: Floats) -> Floats | None:
    """The direction of the largest mean value in a state, (1, d); None if all directions have the same."""
    if len(belief.dictionary) == 0:
        return None
    states, actions = belief.dictionary[:, : k.dims], belief.dictionary[:, k.dims :]
    total = (belief.alpha * k.state.matrix(states, s)[:, 0]) @ actions
    length = float(np.linalg.norm(total))
    return None if length == 0.0 else (total / length)[None]


def _actions(owner: str, actions: Any) -> Floats | Box:
    """Listed actions as rows, or a box."""
    if isinstance(actions, (int, np.integer)) and not isinstance(actions, bool):
        return frozen(np.arange(integer(owner, "actions", actions, 1), dtype=np.float64)[:, None])
    if hasattr(actions, "low") and hasattr(actions, "high"):
        return Box(*box(owner, _vector(actions.low), _vector(actions.high)))
    try:
        listed = array(owner, "actions", actions, moderate=True)
        return frozen(np.array(listed.reshape(len(listed), -1)))
    except (InvalidArgument, TypeError):  # a single number has no length
        expected = "a number of actions, a list of at least one action, or a box of low and high"
        raise InvalidArgument(owner, "actions", expected, actions) from None


def _vector(x: ArrayLike) -> Floats:
    return np.atleast_1d(np.asarray(x, np.float64))
