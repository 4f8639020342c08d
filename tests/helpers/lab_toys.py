"""Small worlds and agents for the lab's tests; a module of its own, because worker processes must import them."""

import contextlib
import dataclasses
import os
import signal
import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from bayesrl.core import Decision
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.traits import Traits


@value
class Arms:
    """A Bernoulli bandit, means (K,) or (replicates, K)."""

    means: np.ndarray
    gamma: float = 0.9

    def reset(self, rng):
        return None, 0

    def step(self, state, action, rng):
        p = np.take_along_axis(np.asarray(self.means), np.expand_dims(action, -1), -1)[..., 0]
        return None, 0, (rng.random(p.shape) < p).astype(float)[()], False

    def batch(self, n):
        return dataclasses.replace(self, means=np.tile(self.means, (n, 1)))

    def gap(self, state, action):
        return self.means.max(-1) - np.take_along_axis(self.means, np.expand_dims(action, -1), -1)[..., 0]


@value
class Paying:
    """Pays a list of rewards in turn, whatever is done, and declares its largest average reward."""

    rewards: tuple[float, ...]
    average_reward: float
    gamma: float = 0.9

    def reset(self, rng):
        return 0, 0

    def step(self, state, action, rng):
        new = (state + 1) % len(self.rewards)
        return new, new, self.rewards[state], False


@dataclass(frozen=True)
class UniformArms:
    """Bandits whose means are drawn uniformly."""

    arms: int = 3
    replicates: int | None = None
    gamma: float = 0.9

    def batch(self, n):
        return dataclasses.replace(self, replicates=n)

    def draw(self, rng):
        return Arms(rng.random(self.arms if self.replicates is None else (self.replicates, self.arms)), self.gamma)


@value
class Betas:
    a: np.ndarray
    b: np.ndarray

    @classmethod
    def ones(cls, arms):
        return cls(np.ones(arms), np.ones(arms))

    def batch(self, n):
        return Betas(np.tile(self.a, (n, 1)), np.tile(self.b, (n, 1)))

    def update(self, t, rng=None):
        a, b = self.a.copy(), self.b.copy()
        where = (np.arange(len(a)), t.action) if a.ndim == 2 else (t.action,)
        a[where] += t.reward
        b[where] += 1 - t.reward
        return Betas(a, b)


class HasBetas(Protocol):
    """A belief with Beta distributions."""

    a: np.ndarray
    b: np.ndarray


@dataclass(frozen=True)
class Draws:
    """Thompson sampling that runs one by one."""

    needs = (HasBetas,)

    def start(self):
        return None

    def plan(self, belief, seen, memory, rng, last=None):
        action = rng.beta(belief.a, belief.b).argmax(-1)
        return Decision(action if np.ndim(action) else int(action), None, {"who": np.array([1, 2])})


@dataclass(frozen=True)
class DrawsTogether(Draws):
    """Thompson sampling that says it broadcasts."""

    traits = Traits(batched=True)


@dataclass(frozen=True)
class Always:
    """An agent that always does the same."""

    action: int = 0

    def start(self):
        return None

    def act(self, mind, seen, rng):
        return Decision(self.action, mind, {})

    def learn(self, mind, transition, rng):
        return mind


@dataclass(frozen=True)
class Exhausting(Always):
    """Runs out of memory."""

    def act(self, mind, seen, rng):
        raise MemoryError


@dataclass(frozen=True)
class Says(Always):
    """Keeps a vector of random length."""

    def act(self, mind, seen, rng):
        return Decision(0, mind, {"dice": np.arange(1 + rng.integers(4))})


@dataclass(frozen=True)
class Fails(Always):
    """Fails in the replicates whose first thought is small."""

    often: float = 1.0

    def act(self, mind, seen, rng):
        if rng.random() < self.often:
            raise InvalidArgument("Fails", "thought", "large", 0.25, "On purpose.")
        return Decision(0, mind, {})


@dataclass(frozen=True)
class Interrupts(Always):
    """Presses Ctrl-C once, in the hundredth replicate; in another thread it then waits until the rest is cancelled."""

    cancelled: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    started: list = field(default_factory=list, compare=False)

    def act(self, mind, seen, rng):
        self.started.append(1)
        if len(self.started) >= 100:
            main = threading.main_thread()
            if len(self.started) == 100:
                signal.pthread_kill(main.ident, signal.SIGINT)
            if threading.current_thread() is not main:
                self.cancelled.wait()
        return Decision(0, mind, {})


@dataclass(frozen=True)
class Counts(Always):
    """Writes down that it started, in a list that all share; it does not go on before the rest is cancelled."""

    cancelled: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    started: list = field(default_factory=list, compare=False)

    def start(self):
        self.started.append(1)
        self.cancelled.wait()


@dataclass(frozen=True)
class Noise:
    """A world whose rewards are the world's luck alone, and whose observation is a pair."""

    gamma: float = 0.5

    def reset(self, rng):
        return 0.0, np.zeros(2)

    def step(self, state, action, rng):
        x = rng.normal()
        return x, np.array([x, state]), x, bool(rng.random() < 0.1)


@dataclass(frozen=True)
class Dies(Always):
    """Ends its process without a word."""

    def act(self, mind, seen, rng):
        os._exit(1)


@dataclass(frozen=True)
class DiesOnce(Always):
    """Ends its process in two replicates, once in each; files in a folder say that it has."""

    folder: str = ""

    def act(self, mind, seen, rng):
        luck = f"{rng.random():.9f}"
        if luck[2] in "234567" and len(os.listdir(self.folder)) < 2 and luck not in os.listdir(self.folder):
            (Path(self.folder) / luck).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Decision(0, mind, {})


@dataclass(frozen=True)
class DiesSending(Always):
    """Ends its process once, in the middle of a message; a file in a folder says that it has."""

    folder: str = ""

    def act(self, mind, seen, rng):
        with contextlib.suppress(FileExistsError):
            (Path(self.folder) / "sending").touch(exist_ok=False)
            Connection._send = send_half_and_die
        return Decision(0, mind, {})


def send_half_and_die(pipe, message, *_):
    os.write(pipe.fileno(), message[: len(message) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Busy(Always):
    """Takes a short time for each of endless steps; a file in a folder says that a run has begun."""

    folder: str = ""

    def start(self):
        (Path(self.folder) / f"{os.getpid()}-{threading.get_ident()}").touch()

    def act(self, mind, seen, rng):
        time.sleep(0.01)
        return Decision(0, mind, {})


class Seen(NamedTuple):
    """What the tiger's world shows: a sound, and the oracle's answer with how sure it is."""

    sound: str
    answer: int
    trust: float


@dataclass(frozen=True)
class OracleTiger:
    """The tiger behind one of two doors; an action is (door or listen, whether to ask the oracle)."""

    gamma: float = 0.95
    hidden: bool = True

    def reset(self, rng):
        return int(rng.integers(2)), Seen("", -1, float("nan"))

    def step(self, state, action, rng):
        door, ask = action
        if door < 2:
            return int(rng.integers(2)), Seen("", -1, float("nan")), -100.0 if door == state else 10.0, True
        heard = state if rng.random() < 0.85 else 1 - state
        said = Seen(("left", "right")[heard], state if ask else -1, 0.9 if ask else float("nan"))
        return state, said, -1.0 - ask, False


@dataclass(frozen=True)
class Listens:
    """Listens twice, then opens a door; says a value for each action."""

    def start(self):
        return 0

    def act(self, mind, observation, rng):
        action = (2, mind % 2 == 1) if mind % 3 < 2 else (int(rng.integers(2)), False)
        return Decision(action, mind + 1, {"q": np.array([1.0, np.nan, float(mind)])})

    def learn(self, mind, transition, rng):
        return mind
