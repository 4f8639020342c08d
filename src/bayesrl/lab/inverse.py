"""From demonstrations to weights and a policy, by the name of a method: what `bayesrl infer-reward` does.

    infer("map-birl", world, demonstrations, {"rationality": 5.0}, rng=rng)

A method for one expert reads all demonstrations together. A method for several experts has a vector of weights, and a
policy, for each trajectory or cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl._shown import shown
from bayesrl.checks import Floats, generator, integer
from bayesrl.errors import UnknownName
from bayesrl.inverse.experts import value_loss
from bayesrl.models.mdp import Problem, mdp_of
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solve import solve
from bayesrl.models.solvers.proper import must_be_proper
from bayesrl.problems import state_features
from bayesrl.registry import entries, make

BELIEFS = ("birl", "modified-birl", "bnirl", "multitask-birl", "dpm-birl")
SOLVERS = {"map-birl": "birl", "em-irl": "dpm-birl"}
"""Solvers, and the belief that each is given."""
METHODS = (*BELIEFS, *SOLVERS)
APART = ("multitask-birl", "dpm-birl")
"""Beliefs that keep trajectories apart."""
SWEEPS = 2000


class Inference(NamedTuple):
    """The result of a method."""

    weights: Floats
    """(d,), or (n, d) for several experts. Sub-goals: how probable it is that a step aims at a state, (S,)."""
    policy: Floats
    """Optimal for the weights, (S, A) or (n, S, A)."""
    value_loss: float
    """The loss of the policy from the start under the world's own reward; the mean over several experts."""
    log_posterior: float | None
    """Of the weights, not normalised; em-irl: log likelihood; None where a method has none."""
    posterior: Any
    """The belief that was given the demonstrations, with its draws."""

    def __repr__(self) -> str:
        return shown(self)


def infer(
    method: str,
    world: Problem,
    demonstrations: Sequence[Any],
    settings: Mapping[str, Any] | None = None,
    sweeps: int = SWEEPS,
    *,
    rng: Generator,
) -> Inference:
    """Infer rewards from demonstrations, a sequence of logs with one for each trajectory.

    `settings` are parameters of the method, or of the belief that a solver is given. Features that are not
    among them are the world's, if it has any; otherwise each state has a weight.
    """
    if method not in METHODS:
        raise UnknownName("method of inverse reinforcement learning", method, METHODS)
    integer("infer", "sweeps", sweeps, 1)
    generator("infer", rng)
    mdp = mdp_of(world, "infer")
    known = entries()
    belief_name = SOLVERS.get(method, method)
    parts: dict[str, dict[str, Any]] = {method: {}, belief_name: {"problem": world}}
    for key, x in (settings or {}).items():
        home = next((name for name in (method, belief_name) if known[name].keyword(key)), None)
        if home is None or key == "problem":
            taken = sorted({*known[method].parameters, *known[belief_name].parameters} - {"problem"})
            raise UnknownName("parameter", key, taken)
        parts[home][key] = x
    if "features" in known[belief_name].parameters:
        parts[belief_name].setdefault("features", state_features(world))
    features = parts[belief_name].get("features")
    if belief_name == "multitask-birl":
        parts[belief_name].setdefault("priors", default_priors())
    belief = make(belief_name, **parts[belief_name]).update_many(demonstrations)
    if method in SOLVERS:
        found = make(method, **parts[method]).solve(belief, rng)
        score = found.log_posterior if method == "map-birl" else found.log_likelihood
        weights = np.asarray(found.weights)
    else:
        belief = belief.refresh(rng, sweeps)
        weights, score = _read(method, belief)
    phi = np.eye(mdp.n_states)[:, None] if features is None else np.asarray(features)
    phi = phi if phi.ndim == 3 else phi[:, None]
    tables = [np.broadcast_to(phi @ w, mdp.group.shape) for w in np.atleast_2d(weights)]
    policies = [_optimal(world, R) for R in tables]
    loss = float(np.mean([value_loss(world, mdp.mean_reward, mu) for mu in policies]))
    several = weights.ndim == 2
    return Inference(weights, np.array(policies) if several else policies[0], loss, score, belief)


def default_priors() -> tuple[Any, ...]:
    """Priors of `multitask-birl` where none can be given: weights of either scale."""
    from bayesrl.inverse import GaussianPrior

    return GaussianPrior(scale=0.1, low=-1.0, high=1.0), GaussianPrior(scale=0.5, low=-1.0, high=1.0)


def _read(method: str, posterior: Any) -> tuple[Floats, float | None]:
    """The weights of a belief and their log posterior."""
    if method == "bnirl":
        return posterior.goal_posterior().mean(axis=0), None
    if method in APART:
        return posterior.means(), None
    weights = posterior.mean()
    return weights, float(posterior.log_posterior(weights))


def _optimal(world: Problem, R: Floats) -> Floats:
    """The probabilities (S, A) of the optimal policy for rewards (S, A)."""
    from bayesrl.inverse.experts import with_reward

    mdp = with_reward("infer", world, R)
    return policy_matrix("infer", solve(mdp).policy, *mdp.group.shape)


def uniform_loss(world: Problem) -> float:
    """The loss of the policy that takes every action equally often."""
    mdp = mdp_of(world, "uniform_loss")
    must_be_proper("uniform_loss", "world", mdp)
    return value_loss(world, mdp.mean_reward, np.full(mdp.group.shape, 1.0 / mdp.n_actions))
