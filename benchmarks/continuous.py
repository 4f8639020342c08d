"""Beliefs about continuous dynamics beside peers: processor time, in one run, BLAS on one thread.

Times are medians over repeats that alternate between the libraries. Compilation and imports are excluded. A peer that
is not installed is left out with a message.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs import GPRegression, NormalWishart
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.dynamics._gp_tree import numbers_of
from bayesrl.capabilities import DrawsObservations
from bayesrl.continuous import ContinuousForwardSearch, GPDynamics, GPSparseSampling, NormalWishartDynamics
from bayesrl.core import Transition
from bayesrl.testing.stripped import stripped

SCALES = (0.5, 0.8)
NOISE, MORE = 0.1, 9


def seconds(call: Callable[[], object]) -> float:
    """Processor time of one call."""
    began = time.process_time()
    call()
    return time.process_time() - began


# Gaussian-process dynamics -------------------------------------------------------------------------------------------


def log(n: int) -> list[Transition]:
    """Transitions of two coordinates and one action."""
    rng = default_rng(0)
    s, a = rng.uniform(-1.0, 1.0, (n, 2)), rng.uniform(-1.0, 1.0, (n, 1))
    after = s + 0.1 * np.column_stack([s[:, 1], np.sin(3.0 * s[:, 0]) + a[:, 0]]) + NOISE * rng.standard_normal((n, 2))
    return [Transition(*one) for one in zip(s, a, np.zeros(n), after, strict=True)]


def ours(n: int, shared: bool) -> Iterator[Any]:
    """One more transition, then the prediction at a point."""
    steps = log(n + MORE)
    priors = [Gaussian(scale=SCALES[0 if shared else i]) for i in range(2)]
    belief = GPDynamics(priors, NOISE).update_many(steps[:n])
    for step in steps[n:]:
        belief = belief.update(step)
        yield belief.predictive([0.1, 0.2], [0.3])


def scikit_learn(n: int, shared: bool) -> Iterator[Any]:
    """A refit with one more datum (no search for hyper-parameters), then the prediction; one fit if both share it."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    steps = log(n + MORE)
    X = np.array([np.append(step.observation, step.action) for step in steps])
    Y = np.array([step.next_observation - step.observation for step in steps])
    columns = [slice(0, 2)] if shared else [slice(0, 1), slice(1, 2)]
    for i in range(n + 1, n + MORE + 1):
        found = []
        for scale, column in zip(SCALES, columns, strict=False):
            model = GaussianProcessRegressor(RBF(scale), alpha=NOISE**2, optimizer=None).fit(X[:i], Y[:i, column])
            found.append(model.predict([[0.1, 0.2, 0.3]], return_std=True))
        mean = np.array([0.1, 0.2]) + np.concatenate([np.ravel(m) for m, _ in found])
        spread = np.concatenate([np.broadcast_to(np.ravel(s), 2 if shared else 1) for _, s in found])
        yield mean, spread**2 + NOISE**2


def gp_dynamics() -> None:
    """A transition and a prediction at 1000 transitions, two coordinates, beside scikit-learn's refit."""
    for shared in (True, False):
        try:
            np.testing.assert_allclose(next(ours(50, shared)), next(scikit_learn(50, shared)), atol=1e-8)
        except ImportError as why:
            print(f"scikit-learn: left out ({why}).")
            return
        runs = ours(1000, shared), scikit_learn(1000, shared)
        times = np.array([[seconds(lambda r=r: next(r)) for r in runs] for _ in range(MORE)])[1:]
        mine, theirs = np.median(times, axis=0)
        what = "one covariance" if shared else "two covariances"
        print(
            f"gp-dynamics, n = 1000, {what}: {1e3 * mine:.2f} ms; scikit-learn {1e3 * theirs:.1f} ms; "
            f"ratio {theirs / mine:.0f} (repeats {(times[:, 1] / times[:, 0]).min():.0f} to "
            f"{(times[:, 1] / times[:, 0]).max():.0f})"
        )


# Unknown noise -------------------------------------------------------------------------------------------------------


def unknown_noise(particles: int = 20_000, steps: int = 20) -> None:
    """Particles in the plane with statistics of both noises, beside a bare NumPy filter of known noise; limit 6."""
    rng, drift, v, w = default_rng(0), np.array([0.1, -0.05]), 0.1, 0.2
    actions = 0.5 * rng.standard_normal((steps, 2))
    states = np.cumsum(actions + drift + v * rng.standard_normal((steps, 2)), axis=0)
    seen = states + w * rng.standard_normal((steps, 2))

    def learning() -> None:
        belief = NormalWishartDynamics(
            lambda s, a, v: s + a + v,
            NormalWishart(np.zeros(2), 0.5, 5.0, 0.1 * np.eye(2)),
            inverse_observation=lambda s, a, z: (z - s, 0.0),
            sensor=NormalWishart(np.zeros(2), 50.0, 5.0, 0.2 * np.eye(2)),
            state=(np.zeros(2), 0.01 * np.eye(2)),
            particles=particles,
        )
        rng = default_rng(1)
        for a, z in zip(actions, seen, strict=True):
            belief = belief.update(Transition(None, a, 0.0, z), rng)

    def bare() -> None:
        rng, n = default_rng(1), particles
        s, p = 0.1 * rng.standard_normal((n, 2)), np.full(n, 1.0 / n)
        for a, z in zip(actions, seen, strict=True):
            s = s + a + drift + v * rng.standard_normal((n, 2))
            p = p * np.exp(-0.5 * (((z - s) / w) ** 2).sum(axis=1))
            p /= p.sum()
            if 1.0 / (p @ p) < 0.5 * n:
                chosen = np.searchsorted(np.cumsum(p), (np.arange(n) + rng.random()) / n)
                s, p = s[np.minimum(chosen, n - 1)], np.full(n, 1.0 / n)

    times = np.array([[seconds(call) for call in (learning, bare)] for _ in range(MORE)])[1:]
    mine, theirs = np.median(times, axis=0) / steps
    ratios = times[:, 0] / times[:, 1]
    print(
        f"normal-wishart-dynamics, {particles} particles, both noises unknown: {1e3 * mine:.2f} ms a step; known noise "
        f"in NumPy {1e3 * theirs:.2f} ms; ratio {mine / theirs:.2f} (repeats {ratios.min():.2f} to {ratios.max():.2f})"
    )


# Linear systems -------------------------------------------------------------------------------------------------------


def riccati() -> None:
    """The Riccati equation with its checks, beside SciPy's solver alone."""
    from scipy.linalg import solve_discrete_are

    from bayesrl.continuous import lq_solution

    rng = default_rng(0)
    for n, m in ((1, 1), (2, 1), (3, 2), (4, 2)):
        A, B, Q, R = rng.normal(size=(n, n)), rng.normal(size=(n, m)), np.eye(n), np.eye(m)
        calls = [
            lambda f=f, given=(A, B, Q, R): [f(*given) for _ in range(200)] for f in (lq_solution, solve_discrete_are)
        ]
        np.testing.assert_allclose(lq_solution(A, B, Q, R).P, solve_discrete_are(A, B, Q, R), rtol=1e-8)
        mine, theirs = np.median([[seconds(call) / 200 for call in calls] for _ in range(MORE)], axis=0)
        print(f"Riccati, n = {n}: {1e6 * mine:.0f} us; scipy {1e6 * theirs:.0f} us; ratio {theirs / mine:.1f}")


def linear_lockstep() -> None:
    """A thousand replicates of lazy posterior sampling and its baselines in lockstep, beside single runs."""
    import bayesrl as b
    from bayesrl.lab.build import agent_for, named

    for name in ("lq", "lq-system"):
        for method in ("lazy-psrl", "lazy-psrl:schedule=every", "certainty-equivalence"):
            world, (kind, settings) = b.make_world(name), named(method)
            agent = agent_for(kind, world, params=settings)
            pairs = []
            for i in range(4):
                alone = seconds(lambda i=i, a=agent, w=world: b.run(a, w, 400, replicate=i))
                pairs.append(
                    (alone, seconds(lambda i=i, a=agent, w=world: b.run(a, w, 400, replicate=i, lockstep=1000)))
                )
            alone, together = np.median(pairs[1:], axis=0)
            print(
                f"{method} in {name}, 400 steps: {1e6 * alone / 400:.0f} us a step alone; 1000 in lockstep "
                f"{1e3 * together / 400:.2f} ms a step; ratio {1000.0 * alone / together:.0f}"
            )


# Searching forward ---------------------------------------------------------------------------------------------------


Gram = Callable[[list[Any], list[Any]], Any]


def loops(X: list[Any], Z: list[Any]) -> Any:
    """A Gram matrix, number by number."""
    s = SCALES[1]
    return np.array(
        [[math.exp(-0.5 * sum(((x - z) / s) ** 2 for x, z in zip(p, q, strict=True))) for q in Z] for p in X]
    )


def arrays(X: list[Any], Z: list[Any]) -> Any:
    """The same by NumPy."""
    return np.exp(-0.5 * (((np.array(X)[:, None] - np.array(Z)) / SCALES[1]) ** 2).sum(axis=2))


def plain_search(
    gram: Gram, X: list[Any], Y: list[Any], s: Any, actions: Any, depth: int, z: Any, node: int = 0
) -> Any:
    """The same tree as it is written down: lists of data, and a Gram matrix that is solved for each prediction."""
    q = []
    for a in actions:
        value = math.exp(-float(s @ s))
        if depth > 1:
            x, numbers = np.append(s, a), z[len(z) - depth + 1][node]
            k = gram(X, [x])[:, 0]
            weights = np.linalg.solve(gram(X, X) + NOISE**2 * np.eye(len(X)), k)
            mean, deviation = weights @ np.array(Y), math.sqrt(1.0 - weights @ k + NOISE**2)
            for i, number in enumerate(numbers):
                move = mean + deviation * number
                below = plain_search(
                    gram, [*X, x], [*Y, move], s + move, actions, depth - 1, z, node * len(numbers) + i
                )
                value += 0.95 / len(numbers) * max(below)
        q.append(value)
    return q


def forward_search(n: int = 100) -> None:
    """Trees of three actions after 100 transitions of two coordinates: compiled over plain Python; limit 50.

    Plain Python is written twice, with loops and with NumPy, and the library's own search without the compiled tree.
    """
    steps, actions, s = log(n), np.array([[-1.0], [0.0], [1.0]]), np.array([0.1, 0.2])
    belief = GPDynamics(Gaussian(scale=SCALES[1]), NOISE, reward=bell).update_many(steps)
    X = [np.append(one.observation, one.action) for one in steps]
    Y = [one.next_observation - one.observation for one in steps]
    bare = stripped(belief, (DrawsObservations,))
    for depth, width in ((3, 2), (4, 4)):
        planner, rng = ContinuousForwardSearch(actions, depth=depth, width=width), default_rng(0)
        seeds = [rng.integers(2**63, size=width**level) for level in range(depth - 1)]
        z = [np.array([numbers_of(int(one), width, 2) for one in level]) for level in seeds]
        q = planner.plan(belief, s, None, default_rng(0)).info["q"]
        np.testing.assert_allclose(q, plain_search(arrays, X, Y, s, actions, depth, z), atol=1e-7)
        calls = {
            "loops": lambda d=depth, z=z: plain_search(loops, X, Y, s, actions, d, z),
            "NumPy": lambda d=depth, z=z: plain_search(arrays, X, Y, s, actions, d, z),
            "the library's plain search": lambda p=planner: p.plan(bare, s, None, default_rng(0)),
        }
        mine = np.array([
            seconds(lambda p=planner: [p.plan(belief, s, None, default_rng(0)) for _ in range(20)]) / 20
            for _ in range(MORE)
        ])  # fmt: skip
        print(
            f"continuous-forward-search, depth {depth}, width {width}: {1e3 * np.median(mine):.2f} ms a decision",
            end="",
        )
        for name, call in calls.items():
            theirs = np.median([seconds(call) for _ in range(1 if name == "loops" else 3)])
            print(f"; {name} {1e3 * theirs:.0f} ms, ratio {theirs / np.median(mine):.0f}", end="")
        print()


def bell(states: Any, action: Any) -> Any:
    """The reward."""
    return np.exp(-(states**2).sum(axis=1))


# Bandits on a box ----------------------------------------------------------------------------------------------------


def sparse_sampling() -> None:
    """A decision with 64 candidates and 1000 simulations; limit 20 ms. BoTorch's one-shot knowledge gradient too."""
    rng = default_rng(0)
    X = rng.random(10)
    belief = GPRegression(Gaussian(scale=0.2), NOISE).update_many((X, np.sin(6.0 * X)))
    for depth in (2, 3):
        planner = GPSparseSampling(candidates=64, depth=depth, simulations=1000)
        planner.plan(belief, 0, None, default_rng(0))
        times = [seconds(lambda p=planner, i=i: p.plan(belief, 0, None, default_rng(i))) for i in range(31)]
        print(
            f"gp-sparse-sampling, 64 candidates, 1000 simulations, depth {depth}: {1e3 * np.median(times):.1f} ms "
            f"({1e3 * min(times):.1f} to {1e3 * max(times):.1f})"
        )
    try:
        import torch
        from botorch.acquisition import qKnowledgeGradient
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
    except ImportError as why:
        print(f"BoTorch: left out ({why}).")
        return
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    y = torch.from_numpy(np.sin(6.0 * X))[:, None]
    model = SingleTaskGP(torch.from_numpy(X)[:, None], y, torch.full_like(y, NOISE**2))
    gradient = qKnowledgeGradient(model, num_fantasies=64)
    box = torch.tensor([[0.0], [1.0]])
    times = [seconds(lambda: optimize_acqf(gradient, box, q=1, num_restarts=1, raw_samples=64)) for _ in range(4)]
    print(f"BoTorch, one-shot knowledge gradient, 64 fantasies: {1e3 * np.median(times[1:]):.0f} ms")


def main() -> None:
    """All measurements."""
    gp_dynamics()
    forward_search()
    sparse_sampling()
    unknown_noise()
    riccati()
    linear_lockstep()


if __name__ == "__main__":
    main()
