"""Four very different things through one `run`. Thrown away afterwards; docs/adr/0001 says what it taught."""

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesrl.core import BayesAgent, Decision, run


# 1. Search with unknown rewards: an urn over (next state) and (reward) for each (s, a) ------------------------------
@dataclass(frozen=True, eq=False)
class UrnBelief:
    n_states: int
    n_actions: int
    gamma: float
    seen: tuple = ()  # ((s, a, s', r), ...)

    def update(self, t, rng=None):
        return dataclasses.replace(self, seen=(*self.seen, (t.state, t.action, t.next_state, t.reward)))


@dataclass(frozen=True)
class Search:
    simulations: int = 100
    depth: int = 15
    c: float = 3.0
    needs = ("seen", "n_actions")

    def start(self):
        return None

    def plan(self, belief, s, memory, rng, last=None):
        S, A = belief.n_states, belief.n_actions
        real = {}
        for s0, a0, s1, r in belief.seen:
            real.setdefault((s0, a0), []).append((s1, r))
        N, Q = {}, {}

        def step(s, a, own):
            pool = real.get((s, a), ())
            mine = own.get((s, a), ())
            i = int(rng.random() * (1.0 + len(pool) + len(mine))) - 1  # one unit of prior mass
            if i < 0:
                out = (int(rng.integers(S)), float(rng.random() < 0.5))
            else:
                out = pool[i] if i < len(pool) else mine[i - len(pool)]
            own.setdefault((s, a), []).append(out)
            return out

        def simulate(h, s, d, own):
            if d == self.depth:
                return 0.0
            if h not in N:
                N[h], Q[h] = np.zeros(A), np.zeros(A)
            n = N[h]
            a = int(np.argmax(np.where(n == 0, np.inf, Q[h] + self.c * np.sqrt(np.log(n.sum() + 1) / np.maximum(n, 1)))))
            s1, r = step(s, a, own)
            g = r + belief.gamma * simulate((*h, a, s1, r), s1, d + 1, own)
            n[a] += 1
            Q[h][a] += (g - Q[h][a]) / n[a]
            return g

        for _ in range(self.simulations):
            simulate((), s, 0, {})
        return Decision(int(np.argmax(Q[()])), None, {"q": Q[()], "n": N[()]})


@dataclass(frozen=True, eq=False)
class TwoState:
    gamma: float = 0.9

    def reset(self, rng):
        return 0, 0

    def step(self, s, a, rng):
        s1 = a if rng.random() < 0.9 else 1 - a
        return s1, s1, float(s1 == 1 and rng.random() < 0.8), False


# 2. Batched Thompson sampling: a belief of shape (replicates, arms) is a thousand experiments in lockstep ------------
@dataclass(frozen=True, eq=False)
class Betas:
    a: np.ndarray
    b: np.ndarray

    def batch(self, n):
        return Betas(np.tile(self.a, (n, 1)), np.tile(self.b, (n, 1)))

    def update(self, t, rng=None):
        a, b = self.a.copy(), self.b.copy()
        where = (np.arange(len(a)), t.action) if a.ndim == 2 else (t.action,)
        a[where] += t.reward
        b[where] += 1 - t.reward
        return Betas(a, b)


@dataclass(frozen=True)
class Thompson:
    needs = ("a",)

    def start(self):
        return None

    def plan(self, belief, seen, memory, rng, last=None):
        q = rng.beta(belief.a, belief.b)
        return Decision(q.argmax(-1), None, {"q": q})


@dataclass(frozen=True, eq=False)
class Bandit:
    means: np.ndarray
    gamma: float = 1.0

    def reset(self, rng):
        return None, 0

    def step(self, state, action, rng):
        p = np.take_along_axis(self.means, np.expand_dims(action, -1), -1)[..., 0]
        return None, 0, (rng.random(p.shape) < p).astype(float), False


# 3. A world drawn anew for each run ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class BanditFamily:
    arms: int = 10
    replicates: int | None = None
    gamma: float = 1.0

    def batch(self, n):
        return dataclasses.replace(self, replicates=n)

    def draw(self, rng):
        return Bandit(rng.random(self.arms if self.replicates is None else (self.replicates, self.arms)))


# 4. A POMDP filter: the tiger ---------------------------------------------------------------------------------------
class Filter(NamedTuple):
    left: float = 0.5

    def update(self, t, rng=None):
        if t.action != 0:
            return Filter(0.5)
        like = (0.85, 0.15) if t.next_state == 0 else (0.15, 0.85)
        p = like[0] * self.left
        return Filter(p / (p + like[1] * (1 - self.left)))

    def restart(self):
        return Filter(0.5)


@dataclass(frozen=True)
class Threshold:
    needs = ("left", "restart")

    def start(self):
        return None

    def plan(self, belief, seen, memory, rng, last=None):
        p = belief.left
        return Decision(0 if 0.04 < p < 0.96 else (1 if p < 0.04 else 2), None, {})


@dataclass(frozen=True)
class Tiger:
    gamma: float = 0.95

    def reset(self, rng):
        return int(rng.random() < 0.5), 0

    def step(self, s, a, rng):
        if a == 0:
            return s, (s if rng.random() < 0.85 else 1 - s), -1.0, False
        return s, 0, (-100.0 if a - 1 == s else 10.0), True


if __name__ == "__main__":
    r = run(BayesAgent(UrnBelief(2, 2, 0.9), Search()), TwoState(), 100)
    print("search, unknown rewards:", r.total, "of about 72")
    f = BanditFamily()
    agent = BayesAgent(Betas(np.ones(10), np.ones(10)), Thompson())
    print("one bandit:", run(agent, f, 1000).total)
    r = run(agent.batch(1000), f.batch(1000), 1000)
    print("a thousand:", r.total.mean(), "reward", r.reward.shape)
    r = run(BayesAgent(Filter(), Threshold()), Tiger(), 3000, horizon=50)
    print("tiger:", r.total / r.terminated.sum(), "per episode,", r.terminated.sum(), "episodes")
