"""Beliefs about values and gradients beside scikit-learn and GPyTorch: processor time, in one run, BLAS on one thread.

Times are medians of processor time over repeats that alternate between the libraries, because the machine may be busy.
Compilation and imports are excluded. Peers that are not installed are left out with a message.

A transition into exact GPTD is compared with one more observation in the peers' exact regression of the same size,
covariance and noise: scikit-learn refits, GPyTorch extends its caches (`get_fantasy_model`). With discount 0 GPTD is
that regression, which shows that the peers solve the same problem. After each observation the mean and the variance at
one state are read, so that work that a library puts off is counted too. Above 800 observations GPyTorch by default
iterates (conjugate gradients, Lanczos) and is not exact; it is timed so and with its Cholesky factor.
"""

from __future__ import annotations

import resource
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.random import default_rng
from scipy.linalg import cho_factor, cho_solve

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.core import Transition, run
from bayesrl.gradient import bpg
from bayesrl.lab.build import agent_for
from bayesrl.registry import make_world
from bayesrl.value import GPTD, SparseGPTD

SCALE, NOISE, GAMMA = 0.3, 0.3, 0.9
Steps = Iterator[Any]
"""In turn: learn one more observation; read the mean and the variance at a state."""
SIZES = 500, 1000, 2000, 4000
MORE = 50
"""Observations that are added to those of the start."""


def walk(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A random walk in the unit square that is reflected at the sides: states (steps + 1, 2) and rewards (steps,)."""
    x = np.cumsum(0.1 * default_rng(0).standard_normal((steps + 1, 2)), axis=0) % 2.0
    x = np.where(x > 1.0, 2.0 - x, x)
    return x, np.sin(3.0 * x[:-1, 0]) * x[:-1, 1]


def seconds(call: Callable[[], object]) -> float:
    """Processor time of one call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def median_seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """The median of some calls after the first one, which may compile."""
    return float(np.median([seconds(call) for _ in range(repeats + 1)][1:]))


def resident() -> float:
    """The peak of the memory of this process, megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# One transition more -------------------------------------------------------------------------------------------------


def transition(x: np.ndarray, r: np.ndarray, i: int) -> Transition:
    return Transition(x[i], 0, float(r[i]), x[i + 1])


def ours(n: int, gamma: float = GAMMA) -> Steps:
    x, r = walk(n + MORE)
    belief = GPTD(Gaussian(scale=SCALE), noise=NOISE, gamma=gamma).update_many((x[: n + 1], r[:n]))
    for i in range(n, n + MORE):
        belief = belief.update(transition(x, r, i))
        yield
        yield belief.mean(x[:1]), belief.variance(x[:1])


def scikit_learn(n: int) -> Steps:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    x, r = walk(n + MORE)
    for i in range(n + 1, n + MORE + 1):
        model = GaussianProcessRegressor(RBF(SCALE), alpha=NOISE**2, optimizer=None).fit(x[:i], r[:i])
        yield
        mean, sd = model.predict(x[:1], return_std=True)
        yield mean, sd**2


def gpytorch_fantasy(n: int, exact_up_to: int) -> Steps:
    import gpytorch
    import torch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x: Any, y: Any, likelihood: Any) -> None:
            super().__init__(x, y, likelihood)
            self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), gpytorch.kernels.RBFKernel()

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    warnings.simplefilter("ignore")
    x, r = (torch.from_numpy(a) for a in walk(n + MORE))
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Model(x[:n], r[:n], likelihood).double().eval()
    model.covar_module.lengthscale, likelihood.noise = SCALE, NOISE**2

    def read() -> Any:
        with gpytorch.settings.fast_pred_var(), gpytorch.settings.max_cholesky_size(exact_up_to):
            found = model(x[:1])
            return found.mean.numpy(), found.variance.numpy()

    read()  # fills the caches
    for i in range(n, n + MORE):
        with gpytorch.settings.fast_pred_var(), gpytorch.settings.max_cholesky_size(exact_up_to):
            model = model.get_fantasy_model(x[i : i + 1], r[i : i + 1])
        yield
        yield read()


PEERS: dict[str, Callable[[int], Steps]] = {
    "scikit-learn, refit": scikit_learn,
    "GPyTorch, fantasy, Cholesky": partial(gpytorch_fantasy, exact_up_to=100_000),
    "GPyTorch, fantasy, default": partial(gpytorch_fantasy, exact_up_to=800),
}


def installed() -> dict[str, Callable[[int], Steps]]:
    """The peers that are installed; each has the posterior of ours at discount 0."""
    expected = list(zip(range(2), ours(200, gamma=0.0), strict=False))[1][1]
    there = {}
    for name, peer in PEERS.items():
        try:
            found = list(zip(range(2), peer(200), strict=False))[1][1]
        except ImportError as why:
            print(f"{name}: left out ({why}).")
            continue
        np.testing.assert_allclose(np.ravel(found), np.ravel(expected), atol=1e-6)
        there[name] = peer
    return there


def alternating(runs: dict[str, Steps], repeats: int) -> dict[str, tuple[float, float]]:
    """Median times of learning, and of learning and reading. The first ones, which may compile, do not count."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for _ in range(repeats + 1):
        for name, steps in runs.items():
            learned = seconds(lambda steps=steps: next(steps))
            taken[name].append((learned, learned + seconds(lambda steps=steps: next(steps))))
    return {name: tuple(np.median(each[1:], axis=0)) for name, each in taken.items()}


def exact() -> None:
    there, n = installed(), 2000
    times = alternating({"ours, update": ours(n)} | {name: peer(n) for name, peer in there.items()}, 9)
    print(f"\nOne more transition in exact GPTD after {n}: milliseconds")
    print(f"{'':28} {'learn':>9} {'ratio':>8} {'and read':>9} {'ratio':>8}")
    mine = times["ours, update"]
    for name, (learn, both) in times.items():
        print(f"{name:28} {1e3 * learn:9.2f} {learn / mine[0]:8.1f} {1e3 * both:9.2f} {both / mine[1]:8.1f}")
    learn = [alternating({"": ours(n)}, 40)[""][0] for n in SIZES]
    shown = ", ".join(f"{1e3 * t:.2f} at {n}" for n, t in zip(SIZES, learn, strict=True))
    power = np.log2(learn[-1] / learn[0]) / np.log2(SIZES[-1] / SIZES[0])
    print(f"Growth of `update`: {shown}; n to the power {power:.2f} from {SIZES[0]} to {SIZES[-1]}")


# Sparse --------------------------------------------------------------------------------------------------------------


def sparse(total: int = 100_000, block: int = 10_000, singles: int = 2000) -> None:
    x, r = walk(total + block)
    prior = SparseGPTD(Gaussian(scale=0.07), noise=NOISE, gamma=GAMMA, threshold=0.1)
    prior.update_many((x[:2001], r[:2000])).update(transition(x, r, 2000))  # compiles
    belief, rates, peak = prior, [], []
    for start in range(0, total, block):
        part = x[start : start + block + 1], r[start : start + block]
        began = time.process_time()
        belief = belief.update_many(part)
        rates.append(block / (time.process_time() - began))
        peak.append(resident())
    log = [transition(x, r, i) for i in range(total, total + block)]

    def singly() -> None:
        learned = belief
        for step in log[:singles]:
            learned = learned.update(step)

    listed = block / median_seconds(lambda: belief.update_many(log))
    single = singles / median_seconds(singly)
    tracemalloc.start()
    singly()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print(f"\nSparse GPTD with {len(belief.dictionary)} states in the dictionary: transitions a second")
    print(f"update_many of a trajectory, blocks of {block:,}: " + ", ".join(f"{rate:,.0f}" for rate in rates))
    print(f"update_many of listed transitions: {listed:,.0f};  update, one at a time: {single:,.0f}")
    print(
        f"Peak of resident memory after {2 * block:,} transitions {peak[1]:.1f} MB, after {total:,} {peak[-1]:.1f} MB; "
        f"{singles:,} single updates leave {kept:,} bytes"
    )


# Gradients -----------------------------------------------------------------------------------------------------------


def dense(U: np.ndarray, y: np.ndarray, G: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Model 2 as it is written: mean U'C y and covariance G - U'C U with C = (U G^-1 U' + sigma^2 I)^-1, (M, M)."""
    K = U @ np.linalg.solve(G, U.T)
    K[np.diag_indices(len(K))] += noise**2
    solved = cho_solve(cho_factor(K, lower=True, overwrite_a=True), np.column_stack([y, U]))
    return U.T @ solved[:, 0], G - U.T @ solved[:, 1:]


def gradients(M: int = 4000, n: int = 50) -> None:
    rng = default_rng(0)
    U, y, A = rng.standard_normal((M, n)), rng.standard_normal(M), rng.standard_normal((2 * n, n))
    G = A.T @ A / (2 * n)
    found = bpg(U, y, G, model=2, noise=1.0)
    for mine, theirs in zip(found, dense(U, y, G, 1.0), strict=False):
        np.testing.assert_allclose(mine, theirs, atol=1e-8)
    mine = median_seconds(lambda: bpg(U, y, G, model=2, noise=1.0), 20)
    theirs = median_seconds(lambda: dense(U, y, G, 1.0), 3)
    print(f"\nBPG, model 2, {M} paths and {n} parameters: ours {1e3 * mine:.2f} ms, dense in M {1e3 * theirs:.0f} ms,")
    print(f"ratio {theirs / mine:.0f}")


# Whole runs ----------------------------------------------------------------------------------------------------------


def whole_runs() -> None:
    print("\nWhole runs, as `bayesrl run` makes them")
    car, walk_world = make_world("mountain-car"), make_world("random-walk")
    agent = agent_for("gpsarsa", car)
    run(agent, car, steps=20)
    began = time.process_time()
    record = run(agent, car, steps=5000)
    taken, ends = time.process_time() - began, record.columns["terminated"] | record.columns["truncated"]
    print(f"gpsarsa on mountain-car: {taken / ends.sum():.3f} s an episode, {1e6 * taken / len(ends):.0f} us a step")
    agent = agent_for("bac", walk_world)
    run(agent, walk_world, steps=500)
    began = time.process_time()
    record = run(agent, walk_world, steps=5000, keep=("updates",))
    taken, updates = time.process_time() - began, record.updates.max()
    print(f"bac on random-walk: {taken / updates:.3f} s an update of five episodes, {1e6 * taken / 5000:.0f} us a step")


def main() -> None:
    sparse()  # first: it reads the peak of this process's memory
    exact()
    gradients()
    whole_runs()


if __name__ == "__main__":
    main()
