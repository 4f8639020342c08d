"""Chains of the sampler in `_beam.py`, each a sequence of hidden states and a model, and what was seen.

Between sweeps each chain filters the state now under its own model, and is weighted by what the model predicted. After
a sweep all have the same weight, and the state now is the one that was drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.pomdp import _beam
from bayesrl.beliefs.pomdp._beam import Model, Rates, Sizes
from bayesrl.checks import TINY, Floats, Ints, array, frozen, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best


class Chain(NamedTuple):
    """One chain."""

    x: Ints
    """Hidden states, (N,): those of each sequence, one sequence after the other. K is a state in the rest."""
    model: Model
    now: Floats
    """Probability of each state now, (K+1,)."""


class Chains(NamedTuple):
    """All chains, and what was seen."""

    steps: Ints
    """The actions and observations, (T, 5), as `_beam.py` says."""
    length: Ints
    """The number of steps of each sequence."""
    chains: tuple[Chain, ...]
    log_weight: Floats
    """(chains,)."""


def begun(sizes: Sizes, chains: int) -> Chains:
    """Chains before any step: all states are in the rest, and so is x_0."""
    M, G, V, H, Z = sizes
    model = Model(np.ones(1), np.ones((1, M, 1)), np.full((1, G, V), 1.0 / V), np.full((1, H, Z), 1.0 / Z))
    one = Chain(frozen(np.zeros(1, np.int64)), read_only(model), frozen(np.ones(1)))
    steps, length = frozen(np.zeros((0, 5), np.int64)), frozen(np.zeros(1, np.int64))
    return Chains(steps, length, (one,) * chains, frozen(np.zeros(chains)))


def check_chains(owner: str, data: Chains, sizes: Sizes, chains: int) -> None:
    """Refuse chains that do not belong to a belief of these sizes, as a damaged file may hold them."""
    if not isinstance(data, Chains):
        raise InvalidArgument(owner, "data", "the chains of a belief", type(data).__name__)
    steps, length = whole(owner, data.steps, (None, 5)), whole(owner, data.length, (None,))
    fits = len(length) > 0 and bool((length >= 0).all()) and int(length.sum()) == len(steps)
    fits = fits and bool(((steps >= 0) & (steps < np.array(sizes))).all()) and len(data.chains) == chains
    if not fits or not all(isinstance(one, Chain) and isinstance(one.model, Model) for one in data.chains):
        raise InvalidArgument(owner, "data", f"{chains} chains and the steps that they explain", type(data).__name__)
    array(owner, "log_weight", data.log_weight, (chains,))
    M, G, V, H, Z = sizes
    for x, model, now in data.chains:
        K = len(model.beta)
        states = whole(owner, x, (len(steps) + len(length),))
        if not ((states >= 0) & (states < K)).all():
            raise InvalidArgument(owner, "x", f"states from 0 to {K - 1}", x)
        shapes = ((K,), (K, M, K), (K, G, V), (K, H, Z), (K,))
        for p, shape in zip((*model, now), shapes, strict=True):
            rows_sum_to_one(owner, "a row of a chain", array(owner, "a chain", p, shape, low=0.0))


def whole(owner: str, x: Ints, shape: tuple[int | None, ...]) -> Ints:
    """Integers of 64 bits of this shape; there may be none."""
    fits = isinstance(x, np.ndarray) and x.dtype == np.int64 and x.ndim == len(shape)
    if not fits or not all(n in (None, m) for n, m in zip(shape, x.shape, strict=True)):
        raise InvalidArgument(owner, "data", f"whole numbers of shape {shape}", x)
    return x


def appended(data: Chains, step: tuple[int, int, int, int, int]) -> Chains:
    """The chains after a step: states now are filtered, and weights multiplied by what the chains predicted.

    The new entry of x is the likeliest one after the last; a sweep draws it anew.
    """
    m, g, v, h, z = step
    chains, log_weight = [], data.log_weight.copy()
    for i, (x, model, now) in enumerate(data.chains):
        shown = model.after[:, h, z]
        joint = (now * model.before[:, g, v]) @ model.moves[:, m] * shown
        total = joint.sum()
        now = joint / total if total > 0.0 else now @ model.moves[:, m]
        log_weight[i] += np.log(max(total, TINY))  # draws underflow, but the prior calls nothing impossible
        last = first_best(model.moves[x[-1], m] * shown)
        chains.append(Chain(frozen(np.append(x, last)), model, frozen(now)))
    length = data.length.copy()
    length[-1] += 1
    return Chains(frozen(np.vstack([data.steps, step])), frozen(length), tuple(chains), frozen(log_weight))


def restarted(data: Chains) -> Chains:
    """The chains at the start of a new sequence; the same if none of its steps has been seen."""
    if data.length[-1] == 0:
        return data
    chains = tuple(
        Chain(frozen(np.append(x, first_best(model.beta))), model, model.beta) for x, model, _ in data.chains
    )
    return data._replace(length=frozen(np.append(data.length, 0)), chains=chains)


def refreshed(owner: str, data: Chains, sizes: Sizes, rates: Rates, rng: Generator, sweeps: int) -> Chains:
    """The chains after further sweeps."""
    chains = []
    for x, model, _ in data.chains:
        y, new = _beam.sweep(x, model.beta, data.steps, data.length, sizes, rates, sweeps, _beam.MOST, rng)
        if len(new.beta) > _beam.MOST:
            expected = f"so small that a sweep needs fewer than {_beam.MOST} states"
            raise InvalidArgument(owner, "stick", expected, rates.stick)
        now = np.zeros(len(new.beta))
        now[y[-1]] = 1.0
        chains.append(Chain(frozen(y), read_only(new), frozen(now)))
    return data._replace(chains=tuple(chains), log_weight=frozen(np.zeros(len(chains))))


def read_only(model: Model) -> Model:
    """Make the arrays of a model read-only, and return it."""
    for x in model:
        frozen(x)
    return model


def weights(data: Chains) -> Floats:
    """The weight of each chain."""
    return np.asarray(special.softmax(data.log_weight))
