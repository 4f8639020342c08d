"""Small problems whose gradients, Hessians and integrals are known exactly."""

import itertools

import numpy as np

from bayesrl.core import Transition, WorldStep
from bayesrl.models.policy import SoftmaxPolicy

# A chain of three states with every path listed ----------------------------------------------------------------------


class Chain:
    """Three states, two actions, episodes of three steps; every path with its probability, score, Hessian, return.

    `level` is a constant in the rewards. With `sure`, moves and start are certain.
    """

    def __init__(self, gamma=0.9, temperature=1.3, level=2.0, sure=False):
        rng = np.random.default_rng(7)
        self.gamma = gamma
        self.P = rng.dirichlet(np.ones(3), size=(3, 2))
        self.R = level + rng.normal(size=(3, 2, 3))
        self.start = np.array([0.6, 0.3, 0.1])
        if sure:
            left, right = [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
            self.P, self.start = np.stack([left, right], axis=1).astype(float), np.array([1.0, 0.0, 0.0])
        self.policy = SoftmaxPolicy.tabular(3, 2, rng.normal(size=6), temperature=temperature)
        self.pi = self.policy.probabilities()
        score = {(s, a): self.policy.score(s, a) for s in range(3) for a in range(2)}
        curve = {(s, a): self.policy.hessian(s, a) for s in range(3) for a in range(2)}
        self.logs, p, u, h, rho, steps, pairs = [], [], [], [], [], [], []
        for walk in itertools.product(range(3), *[range(2), range(3)] * 3):
            states, actions = walk[::2], walk[1::2]
            self.logs.append(
                [
                    Transition(s, a, self.R[s, a, y], y, terminated=t == 2)
                    for t, (s, a, y) in enumerate(zip(states, actions, states[1:], strict=False))
                ]
            )
            moves = list(zip(states, actions, states[1:], strict=False))
            p.append(self.start[states[0]] * np.prod([self.pi[s, a] * self.P[s, a, y] for s, a, y in moves]))
            u.append(sum(score[s, a] for s, a, _ in moves))
            h.append(sum(curve[s, a] for s, a, _ in moves))
            rho.append(sum(gamma**t * self.R[s, a, y] for t, (s, a, y) in enumerate(moves)))
            steps.append(sum(np.outer(score[s, a], score[s, a]) for s, a, _ in moves))
            pairs.append(sum(gamma**t * np.outer(score[s, a], score[s, a]) for t, (s, a, _) in enumerate(moves)))
        self.p, self.U, self.H, self.rho = np.array(p), np.array(u), np.array(h), np.array(rho)
        self.G = np.einsum("i,ij,ik->jk", self.p, self.U, self.U)
        self.G_steps = np.tensordot(self.p, steps, 1)
        self.G_pairs = np.tensordot(self.p, pairs, 1)
        self.value = self.p @ self.rho
        self.gradient = (self.p * self.rho) @ self.U
        self.hessian = np.tensordot(self.p * self.rho, np.einsum("ij,ik->ijk", self.U, self.U) + self.H, 1)

    def draw(self, rng, M):
        """The numbers of M paths."""
        return rng.choice(len(self.p), size=M, p=self.p)


CHAIN = Chain()


# The random walk -----------------------------------------------------------------------------------------------------


class Walk:
    """States in a row, start at the left end, the right end absorbs; every step costs 1 (and noise of sd .1)."""

    def __init__(self, n=10, gamma=0.99, noise=0.1):
        self.n, self.gamma, self.noise = n, gamma, noise
        self.n_states, self.n_actions = n - 1, 2

    def reset(self, rng):
        return 0, 0

    def step(self, state, action, rng):
        after = max(state - 1, 0) if action == 0 else state + 1
        return WorldStep(after, after, -1.0 + self.noise * rng.standard_normal(), after == self.n - 1)

    def policy(self, right):
        """Right with the same probability everywhere."""
        return SoftmaxPolicy.tabular(self.n - 1, 2, np.tile([0.0, np.log(right / (1.0 - right))], self.n - 1))

    def episodes(self, policy, rng, count):
        """The transitions of some episodes."""
        log, right = [], policy.probabilities()[:, 1]
        for _ in range(count):
            s, done = 0, False
            while not done:
                a = int(rng.random() < right[s])
                y, _, r, done = self.step(s, a, rng)
                log.append(Transition(s, a, r, y, done))
                s = y
        return log

    def exact(self, policy):
        """Values (S,), action values (S, A), discounted visits (S,), gradient (n,), G by pairs (n, n)."""
        pi, S = policy.probabilities(), self.n - 1
        P = np.zeros((S, 2, S))
        for s in range(S):
            P[s, 0, max(s - 1, 0)] = 1.0
            if s + 1 < S:
                P[s, 1, s + 1] = 1.0
        M = np.einsum("sa,say->sy", pi, P)
        V = np.linalg.solve(np.eye(S) - self.gamma * M, -np.ones(S))
        Q = -1.0 + self.gamma * P @ V
        nu = np.linalg.solve(np.eye(S) - self.gamma * M.T, np.eye(S)[0])
        U = self.scores(policy)
        weight = nu[:, None] * pi
        return V, Q, nu, np.einsum("sa,sa,san->n", weight, Q, U), np.einsum("sa,san,sam->nm", weight, U, U)

    def scores(self, policy):
        """u(s, a), shape (S, A, n)."""
        return np.array([[policy.score(s, a) for a in range(2)] for s in range(self.n - 1)])


WALK = Walk()
POLICY = WALK.policy(0.82)
EXACT = WALK.exact(POLICY)


def paired(first, second):
    """By how many standard errors the first errors are below the second ones, pair by pair."""
    gap = np.asarray(second) - np.asarray(first)
    return gap.mean() / (gap.std(ddof=1) / np.sqrt(len(gap)))
