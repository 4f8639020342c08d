"""`LiveAgent`: an agent in a running service.

    shop = LiveAgent(BayesAgent(BetaBernoulli.uniform(3), Thompson()), actions=["book", "film", "game"])
    shop.warm_start(frame, action="suggested", reward="bought")
    suggestion = shop.act()
    ...                                             # the customer decides, now or next week
    shop.learn(suggestion, reward=1.0)
    shop.probability()                              # how often each would be suggested now

All other objects of this library are immutable values. In a service one part of the program asks for a suggestion, and
another part reports a purchase later; passing a mind and a generator between them would be inconvenient. `LiveAgent` is
therefore mutable. It holds a mind and the streams of `run`, and a loop of `act` and `learn` gives the same actions as
`run(agent, world, seed=seed)`. A call that fails changes nothing.

Threads may share it. `act`, `learn` and `warm_start` wait for each other, so that no reward is lost. Questions
(`probability`, `explain`, `belief`) read one mind and wait for nobody. With several threads, the order of calls is that
of their arrival, so a seed fixes the actions only together with that order. A copy, a pickle, a file and a forked
process hold an agent between two calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from threading import RLock
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.log import Log, columns
from bayesrl.capabilities import (
    HasMeans,
    HasPrices,
    HasQuantiles,
    LearnsLogs,
    ListsArms,
    SamplesMeans,
    TakesFeatures,
    offers,
)
from bayesrl.checks import Floats, array, as_array, integer, number, sequence
from bayesrl.core import Agent, Mind, Streams, Transition
from bayesrl.errors import Incompatible, InvalidArgument, UnknownName

T = TypeVar("T")
DRAWS = 1000
"""Number of draws for an estimated probability, whose standard error is then at most .016."""


class Outlook(NamedTuple):
    """The belief about one action, and how probable it is to be chosen."""

    action: Hashable
    mean: float
    """Expected reward."""
    low: float
    high: float
    """The ends of a credible interval of the mean reward."""
    probability: float
    """The probability that this action is chosen now."""


class LiveAgent:
    """An agent that stores its own mind. Call `act` and `learn` at any time and in any order.

    A context is what the belief accepts: an integer, or a matrix with a row of features for each arm. If actions are
    named, it may also be a vector x about the customer. Then each of the K actions has its own weights on x, and the
    belief needs K * len(x) weights, for example `LogisticLaplaceArms.isotropic(K * len(x))`.

    Parameters
    ----------
    agent: an agent, usually BayesAgent(prior, planner)
    seed = 0: whole number at least 0
    actions = None: the names of the arms, words or whole numbers; None: arms are numbered from 0

    Examples
    --------
    >>> import bayesrl as b
    >>> from bayesrl.beliefs import BetaBernoulli
    >>> shop = LiveAgent(b.BayesAgent(BetaBernoulli.uniform(2), b.make("thompson")), actions=["book", "film"])
    >>> shop.learn("film", reward=1.0)
    >>> [(row.action, round(row.mean, 2)) for row in shop.explain()]
    [('book', 0.5), ('film', 0.67)]
    """

    def __init__(self, agent: Agent[Any], seed: int = 0, actions: Sequence[Hashable] | None = None) -> None:
        if not isinstance(agent, Agent):
            hint = "A planner needs a belief: BayesAgent(prior, planner)." if hasattr(agent, "plan") else ""
            raise InvalidArgument("LiveAgent", "agent", "an agent (start, act, learn)", agent, hint)
        self.agent = agent
        self.seed = integer("LiveAgent", "seed", seed, 0, any_length=True)
        self.actions = None if actions is None else _names(actions)
        self._number = {name: a for a, name in enumerate(self.actions or ())}
        self.mind: Any = agent.start()
        self.streams = Streams.of(self.seed)
        self._guard()
        known = _number_of_arms(self._belief)
        if self.actions is not None and known not in (None, len(self.actions)):
            raise InvalidArgument("LiveAgent", "actions", f"{known} names, one for each arm", list(self.actions))

    def __repr__(self) -> str:
        return f"LiveAgent({self.agent!r}, seed={self.seed}, actions={self.actions})"

    def _guard(self) -> None:
        """Make the lock that `act`, `learn` and `warm_start` take in turn, and that a fork waits for."""
        self._lock = RLock()
        with _LISTING:
            _AGENTS.add(self)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = self.__dict__ | {"streams": deepcopy(self.streams)}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._guard()

    @property
    def _belief(self) -> object:
        """The belief, or None if the agent has none."""
        mind = self.mind
        return mind.belief if isinstance(mind, Mind) else None

    @property
    def belief(self) -> Any:
        """The current belief."""
        return self._belief_of(self.mind)

    def _belief_of(self, mind: Any) -> Any:
        if not isinstance(mind, Mind):
            raise InvalidArgument("LiveAgent", "agent", "a BayesAgent to have a belief", self.agent)
        return mind.belief

    # Choosing and learning -------------------------------------------------------------------------------------------

    def act(self, context: Any = None) -> Any:
        """The action to take now: an arm's number or its name, or a list of them if the planner chooses sets."""
        seen = self.observation(context)

        def choose(rng: Generator) -> tuple[Any, Any]:
            action, mind, _ = self.agent.act(self.mind, seen, rng)
            return self._named(action), mind

        if _WANTED:
            _give_way()
        with self._lock:
            action, self.mind = _call_or_restore(self.streams.planner, choose)
        return action

    def learn(self, action: Any, reward: Any, context: Any = None) -> None:
        """Learn the reward of an action in that context. It need not be an action that `act` returned.

        The reward of a set of actions is a list of their rewards, in the same order, or the sum if only that is known.
        """
        step = self._step(action, reward, context)
        if _WANTED:
            _give_way()
        with self._lock:
            self.mind = _call_or_restore(self.streams.learning, lambda rng: self.agent.learn(self.mind, step, rng))

    def warm_start(
        self, log: Log, action: str = "action", reward: str = "reward", context: str | Sequence[str] | None = None
    ) -> None:
        """Learn from a whole log: a data frame, a mapping of columns, or a record, with these columns.

        `context` names the column of contexts, or the columns that form a vector about the customer.
        """
        self._belief_of(self.mind)
        table = self._columns(log, action, reward, context)

        def learnt(rng: Generator) -> Any:
            belief = self.belief
            if offers(belief, LearnsLogs):
                return belief.update_many(table, rng)
            new = belief
            for row in zip(*table.values(), strict=True):
                new = new.update(
                    Transition(**{"observation": None, "next_observation": 0} | dict(zip(table, row, strict=True))), rng
                )
            return new

        with self._lock:
            self.mind = self.mind._replace(belief=_call_or_restore(self.streams.learning, learnt))

    # Inspection: nothing below changes the agent ---------------------------------------------------------------------

    def probability(self, context: Any = None, draws: int = DRAWS) -> Floats:
        """The probability that each arm is chosen now, or that it is in the chosen set.

        It is exact if the planner reports it or does not randomise. Otherwise it is estimated from `draws` decisions,
        with standard error sqrt(p (1 - p) / draws). The draws come from a separate stream, so that repeated calls give
        the same result and do not change what `act` does next.
        """
        return self._probability(self.mind, context, draws)

    def _probability(self, mind: Any, context: Any, draws: int) -> Floats:
        draws = integer("LiveAgent.probability", "draws", draws, 1)
        seen, rng = self.observation(context), Streams.of(self.seed).draw
        untouched = rng.bit_generator.state
        action, _, info = self.agent.act(mind, seen, rng)
        if "probability" in info:
            return np.array(info["probability"], np.float64)
        known = len(self.actions) if self.actions else np.shape(info["q"])[-1] if "q" in info else None
        K = self._belief_of(mind).n_actions if known is None else known
        chosen = [action]
        if rng.bit_generator.state != untouched:
            chosen += [self.agent.act(mind, seen, rng).action for _ in range(draws - 1)]
        return np.bincount(np.ravel(chosen), minlength=K) / len(chosen)

    def observation(self, context: Any) -> Any:
        """Convert a context to an observation of the belief. A vector becomes a matrix with a block for each action."""
        if context is None:
            return None
        scalar = not isinstance(context, (list, tuple)) and as_array(context).ndim == 0
        if not (scalar and context == 0):  # worlds without contexts show 0
            self._check_contextual("LiveAgent", context)
        if scalar:
            return context
        x = array("LiveAgent", "context", context)
        if x.ndim != 1 or self.actions is None:
            self._check_rows("LiveAgent", x, x.shape[:-1])
            return x
        self._check_size("LiveAgent", len(x))
        return np.kron(np.eye(len(self.actions)), x)

    def explain(self, context: Any = None, confidence: float = 0.95, draws: int = DRAWS) -> list[Outlook]:
        """The expected reward of each arm, a credible interval of this probability, and `probability`.

        `pandas.DataFrame(agent.explain())` makes a table of it. If a belief has no quantiles, draws estimate them.
        """
        confidence = number("LiveAgent.explain", "confidence", confidence, 0.0, 1.0, above=True, below=True)
        mind = self.mind
        chance, seen = self._probability(mind, context, draws), self.observation(context)
        belief = self._belief_of(mind)
        ends = (0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence)
        if not offers(belief, HasMeans):
            raise Incompatible("LiveAgent.explain", type(belief).__name__, ["mean"])
        if offers(belief, HasQuantiles):
            low, high = (belief.quantile(p, seen) for p in ends)
        else:
            if not offers(belief, SamplesMeans):
                raise Incompatible("LiveAgent.explain", type(belief).__name__, ["sample_means"])
            rng = Streams.of(self.seed).draw
            low, high = np.quantile([belief.sample_means(seen, rng) for _ in range(draws)], ends, axis=0)
        names = self.actions or range(len(chance))
        table = np.array([belief.mean(seen), low, high, chance])
        return [Outlook(name, *column) for name, column in zip(names, table.T.tolist(), strict=True)]

    # Names, contexts, rewards ----------------------------------------------------------------------------------------

    def _named(self, action: Any) -> Any:
        if self.actions is None:
            return action.tolist() if isinstance(action, np.ndarray) else action
        if np.ndim(action):
            return [self.actions[a] for a in action]
        return self.actions[action]

    def _arm(self, action: Any) -> Any:
        """The index of the arm with this name, or the indices of a set."""
        if isinstance(action, np.ndarray) and action.ndim == 0:
            action = action.item()
        if isinstance(action, (list, tuple, np.ndarray)):
            return as_array([self._arm(one) for one in action])
        if self.actions is None:
            return action
        name = action.item() if isinstance(action, np.generic) else action
        if not isinstance(name, (str, int)) or name not in self._number:
            raise UnknownName("action", name, map(str, self.actions))
        return self._number[name]

    def _step(self, action: Any, reward: Any, context: Any) -> Transition:
        arm, seen = self._arm(action), self.observation(context)
        paid = array("LiveAgent.learn", "reward", reward)
        if paid.ndim and paid.shape != np.shape(arm):
            raise InvalidArgument("LiveAgent.learn", "reward", f"a number for each of {action}", reward)
        return Transition(seen, arm, float(paid.sum()), paid if paid.ndim else 0)

    def _check_contextual(self, owner: str, context: object) -> None:
        """Refuse a context if the belief about arms has none."""
        belief = self._belief
        if offers(belief, HasMeans) and not offers(belief, TakesFeatures):
            expected = f"left out: {type(belief).__name__} has no contexts"
            raise InvalidArgument(owner, "context", expected, context)

    def _check_size(self, owner: str, d: int) -> None:
        """Refuse a vector if the belief does not have d weights for each action."""
        K, belief = len(self.actions or ()), self._belief
        if not offers(belief, TakesFeatures) or belief.n_weights == K * d:
            return
        n = belief.n_weights
        if n % K:
            expected = f"a matrix of shape ({K}, {n}), because {n} weights do not divide among {K} arms"
        else:
            expected = f"of {n // K} numbers ({n} weights for {K} arms)"
        raise InvalidArgument(owner, "context", expected, d if n % K == 0 else f"a vector of {d} numbers")

    def _check_rows(self, owner: str, x: Floats, rows: tuple[int, ...]) -> None:
        """Refuse a matrix that does not have a row for each arm."""
        belief = self._belief
        K = len(self.actions) if self.actions else _number_of_arms(belief)
        if K is not None and offers(belief, TakesFeatures) and (not rows or rows[-1] != K):
            raise InvalidArgument(owner, "context", f"a matrix with a row for each of {K} arms", x)

    def _columns(self, log: Log, action: str, reward: str, context: str | Sequence[str] | None) -> dict[str, Any]:
        """Convert a log to the columns that the belief accepts."""
        owner = "LiveAgent.warm_start"
        told_by = (context,) if isinstance(context, str) else () if context is None else context
        named = sequence(owner, "context", told_by, "names of columns")
        for role, name in (("action", action), ("reward", reward), *(("context", name) for name in named)):
            if not isinstance(name, str):
                raise InvalidArgument(owner, role, "the name of a column", name)
        actions, rewards, *told = columns(owner, log, action, reward, *map(str, named))
        if not len(actions):
            return {"action": np.zeros(0, np.int64), "reward": np.zeros(0)}
        arm, paid = self._arm(actions), array(owner, reward, rewards)
        table: dict[str, Any] = {"action": arm, "reward": paid}
        if paid.ndim == 2:
            if paid.shape != arm.shape:
                raise InvalidArgument(owner, reward, f"a number for each of {arm.shape}", paid)
            table |= {"reward": paid.sum(axis=1), "next_observation": paid}
        if not told:
            return table
        self._check_contextual(owner, context)
        seen = told[0] if isinstance(context, str) else np.column_stack(told)
        if seen.ndim == 1 and seen.dtype.kind in "iu":
            return table | {"observation": seen}
        x = array(owner, "context", seen.tolist())
        if x.ndim != 2 or self.actions is None:
            self._check_rows(owner, x, x.shape[1:-1])
            return table | {"observation": x}
        n, d, K = *x.shape, len(self.actions)
        self._check_size(owner, d)
        belief = self._belief
        if not offers(belief, TakesFeatures) or belief.features is not None or offers(belief, HasPrices):
            return table | {"observation": np.einsum("ab,nd->nabd", np.eye(K), x).reshape(n, K, K * d)}
        # The posterior depends on the features of the chosen arm only, so a matrix of one row is enough.
        rows = np.zeros((n, K, d))
        rows[np.arange(n), arm] = x
        return {"action": np.zeros(n, np.int64), "reward": table["reward"], "observation": rows.reshape(n, 1, K * d)}


# Forks ---------------------------------------------------------------------------------------------------------------
#
# A forked process has only the thread that forked. A lock that another thread held would stay locked in it, and the
# call under the lock would never end. So a fork waits until no call is running. An agent may ask another one, so a fork
# takes all locks at once or none, and calls that have not begun let it go first.

_AGENTS: WeakSet[LiveAgent] = WeakSet()
"""Every agent of this process."""
_LISTING = RLock()
"""Held while `_AGENTS` is used."""
_FORKS = RLock()
"""Held from the beginning of a fork to its end."""
_WANTED: list[Any] = []
"""The locks that a fork waits for, and then holds."""
PATIENCE = 1.0
"""Seconds that a call waits for a fork; the fork may wait for a call that waits for this one in another thread."""


def _before_fork() -> None:
    _FORKS.acquire()
    while (busy := _take_all()) is not None:
        with busy:  # wait for the call that runs
            pass


def _take_all() -> Any:
    """Take the locks of all agents, or return one that another thread holds."""
    _LISTING.acquire()
    _WANTED[:] = [agent._lock for agent in _AGENTS]
    for n, lock in enumerate(_WANTED):
        if not lock.acquire(blocking=False):
            _release(n)
            return lock
    return None


def _release(n: int) -> None:
    for lock in _WANTED[:n]:
        lock.release()
    _LISTING.release()


def _after_fork() -> None:
    _release(len(_WANTED))
    _WANTED.clear()
    _FORKS.release()


def _give_way() -> None:
    """Let a fork go first, unless it waits for a call of this thread."""
    if not any(lock._is_owned() for lock in _WANTED) and _FORKS.acquire(timeout=PATIENCE):
        _FORKS.release()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _call_or_restore(rng: Generator, call: Callable[[Generator], T]) -> T:
    """The result of a call. If it fails, the state of the generator is restored."""
    kept = rng.bit_generator.state
    try:
        return call(rng)
    except BaseException:
        rng.bit_generator.state = kept
        raise


def _names(actions: Any) -> tuple[Any, ...]:
    listed = [] if isinstance(actions, str) or as_array(actions).ndim != 1 else list(actions)
    names = tuple(name.item() if isinstance(name, np.generic) else name for name in listed)
    if not names or not all(isinstance(name, (str, int)) for name in names) or len(set(names)) < len(names):
        raise InvalidArgument("LiveAgent", "actions", "different words or whole numbers", actions)
    return names


def _number_of_arms(belief: object) -> int | None:
    """K if the belief has a fixed number of arms, else None."""
    try:
        return belief.n_actions if offers(belief, ListsArms) else None
    except InvalidArgument:  # a contextual belief, where each context determines the number of arms
        return None
