"""An agent for every method that acts, in a world of its own, small enough to act often."""

from __future__ import annotations

from functools import cache
from typing import Any

from bayesrl.lab.build import acts, agent_for
from bayesrl.registry import entries, make_world

HOMES = {
    "bamdp": "chain", "bandits": "bernoulli", "bapomdp": "tiger", "continuous": "blimp", "gradient": "random-walk",
    "models": "tiger", "multiagent": "two-agent-chain", "risk": "machine-repair", "value": "random-walk",
}  # fmt: skip
OWN_HOMES = {
    "action-oracle": "asking-for-action", "bayes-risk": "asking-for-confirmation", "certainty-equivalence": "lq-system",
    "coalition-formation": "coalitions", "gp-sparse-sampling": "continuous-bandit", "lazy-psrl": "lq-system",
    "medusa": "asking-for-state", "percentile-rewards": "machine-costs", "thompson-combinatorial": "combinatorial",
}  # fmt: skip
OWN_PRIORS = {"ba-pomcp": "particle:20", "bapomdp-forward-search": "bounded:9", "bapomdp-branch-and-bound": "bounded:9"}
SETTINGS: dict[str, dict[str, Any]] = {
    "action-oracle": {"samples": 3},
    "bapomdp-branch-and-bound": {"depth": 2},
    "bapomdp-forward-search": {"depth": 2},
    "bayes-risk": {"samples": 3},
    "continuous-forward-search": {"depth": 2, "width": 2},
    "gp-sparse-sampling": {"candidates": 8, "simulations": 50},
    "k-of-n": {"k": 1, "n": 3, "horizon": 3, "iterations": 200, "samples": 20},
    "medusa": {"models": 4, "size": 5},
    "percentile": {"samples": 200, "restarts": 2},
    "percentile-measure": {"horizon": 3, "models": 5},
    "sampled-pomdps": {"models": 4, "size": 5},
    "scenario-max-min": {"scenarios": 10},
}
SETTINGS |= {name: {"simulations": 50, "depth": 2} for name in ("pomcp", "ba-pomcp")}
ACTORS = [name for name, entry in entries().items() if acts(entry)]


@cache
def actor(name: str) -> tuple[Any, Any]:
    """The agent and its world, or its family of worlds."""
    world = make_world(OWN_HOMES.get(name) or HOMES[entries()[name].package])
    taken = entries()[name].parameters
    settings = {key: x for key, x in SETTINGS.get(name, {}).items() if key in taken}
    return agent_for(name, world, OWN_PRIORS.get(name), settings), world
