"""Replicates of GPTD at once with JAX (`gptd_batch`), beside one belief after another: wall time of the whole call.

It runs on the device that JAX chooses. Transfers to and from it are included; compilation is not, and is shown. Without
JAX nothing is run. With the path of a file in BATCHES_OUT the posteriors are written there.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs.covariances import Gaussian

NOISE, GAMMA = 0.3, 0.9
SMALL, LARGE = ((100, 100), (20, 500)), ((1000, 100), (10_000, 100), (1000, 500), (100, 2000), (10, 5000))
"""Replicates and transitions, for a processor and for a GPU."""
FEW = 10
"""Replicates that are computed with beliefs too."""


def replicates(R: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Uniform states in the unit square (R, n + 1, 2), rewards (R, n), and 50 states to ask about."""
    rng = default_rng(0)
    return rng.random((R, n + 1, 2)), rng.standard_normal((R, n)), rng.random((50, 2))


def beliefs(k: Gaussian, X: np.ndarray, r: np.ndarray, Z: np.ndarray) -> list[Any]:
    """Means, variances and evidences by `GPTD`."""
    from bayesrl.value import GPTD

    made = [GPTD(k, NOISE, GAMMA).update_many(both) for both in zip(X, r, strict=True)]
    return [
        np.array([b.mean(Z) for b in made]),
        np.array([b.variance(Z) for b in made]),
        [b.log_evidence() for b in made],
    ]


def main() -> None:
    try:
        import jax
    except ImportError:
        print("JAX is not installed: batches are left out.")
        return
    from bayesrl.adapters.jax import gptd_batch

    device, k, kept = jax.devices()[0], Gaussian(scale=0.3), {}
    print(f"Replicates of GPTD on {device.device_kind} ({device.platform}), jax {jax.__version__}")
    print(
        f"{'replicates':>10} {'steps':>6} {'first call':>10} {'seconds':>9} {'one by one':>11} {'ratio':>7} {'gap':>9}"
    )
    for R, n in SMALL if device.platform == "cpu" else LARGE:
        X, r, Z = replicates(R, n)
        taken = []
        for _ in range(4):
            began = time.perf_counter()
            found = gptd_batch(k, X, r, Z, NOISE, GAMMA)
            taken.append(time.perf_counter() - began)
        kept |= {f"{name}_{R}_{n}": x[:FEW] for name, x in found._asdict().items()}
        shown = f"{'-':>11} {'-':>7} {'-':>9}"
        try:
            beliefs(k, X[:1, :9], r[:1, :8], Z)  # compiles
            began = time.perf_counter()
            expected = beliefs(k, X[:FEW], r[:FEW], Z)
            slow = (time.perf_counter() - began) * R / min(R, FEW)
            gap = max(float(np.abs(x[:FEW] - y).max()) for x, y in zip(found, expected, strict=True))
            shown = f"{slow:11.3f} {slow / min(taken[1:]):7.1f} {gap:9.1e}"
        except ImportError as why:  # a machine without our dependencies
            print(f"beliefs: left out ({why})")
        print(f"{R:10} {n:6} {taken[0]:10.2f} {min(taken[1:]):9.4f} {shown}", flush=True)
    if path := os.environ.get("BATCHES_OUT"):
        np.savez(path, **kept)


if __name__ == "__main__":
    main()
