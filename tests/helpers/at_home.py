"""Every method that acts, in a world where it fits, with settings that are quick: what laws about all of them play."""

from functools import cache
from itertools import islice

from bayesrl.beliefs import DirichletMDP
from bayesrl.core import BayesAgent, Streams, draw_world, play
from bayesrl.lab.build import agent_for
from bayesrl.registry import entries, make, make_world

HOMES = {
    "bamdp": "chain",
    "bandits": "bernoulli",
    "bapomdp": "tiger",
    "continuous": "blimp",
    "gradient": "random-walk",
    "models": "tiger",
    "risk": "machine-repair",
    "value": "mountain-car",
}
OWN_HOMES = {"thompson-combinatorial": "combinatorial", "medusa": "asking-for-state"}
OWN_HOMES |= {"action-oracle": "asking-for-action", "bayes-risk": "asking-for-confirmation"}
OWN_HOMES |= {"gp-sparse-sampling": "continuous-bandit", "lazy-psrl": "lq-system", "certainty-equivalence": "lq-system"}
OWN_HOMES |= {"beetle": "chain-tied", "finite-state-controller": "chain-tied", "bamdp-exact": "chain-tied"}
OWN_PRIORS = {"ba-pomcp": "particle:20", "bapomdp-forward-search": "bounded:9", "bapomdp-branch-and-bound": "bounded:9"}
SETTINGS = {name: {"models": 4, "size": 5} for name in ("sampled-pomdps", "medusa")}
SETTINGS |= {name: {"models": 4, "size": 5, "particles": 50} for name in ("action-oracle", "bayes-risk")}
SETTINGS |= {"gp-sparse-sampling": {"candidates": 8, "simulations": 50}}
SETTINGS |= {"continuous-forward-search": {"depth": 2, "width": 2}}
SETTINGS |= {name: {"leaf": "mean", "simulations": 50, "depth": 2} for name in ("pomcp", "ba-pomcp")}
SETTINGS |= {name: {"paths": 2} for name in ("bpg-1", "bpg-2", "bpg-hessian", "gpomdp", "reinforce")}
SETTINGS |= {name: {"episodes": 2} for name in ("actor-critic", "bac")}
SETTINGS |= {"beetle": {"beliefs": 8, "basis": 5, "iterations": 5}, "bamdp-exact": {"horizon": 3}}
SETTINGS |= {"finite-state-controller": {"nodes": 2, "restarts": 1, "models": 8, "iterations": 5}}
VARIANTS = {
    "pomcp that reuses its tree": ("pomcp", {"simulations": 50, "depth": 2, "reuse": True}),
    "ba-pomcp that reuses its tree": ("ba-pomcp", {"simulations": 50, "depth": 2, "reuse": True}),
    "bamcp that reuses its tree": ("bamcp", {"simulations": 50, "depth": 5, "reuse": True}),
    "psrl over a horizon": ("psrl", {"horizon": 4}),
    "bayesian-dp every third step": ("bayesian-dp", {"every": 3}),
    "value-of-information that reweights": ("value-of-information", {"update": "reweight", "samples": 8}),
    "lazy-psrl every third step": ("lazy-psrl", {"schedule": 3}),
    "bolt over a depth": ("bolt", {"depth": 4}),
    "pot over a depth": ("pot", {"depth": 4}),
    "beb by its theorem": ("beb", {"beta": "theory"}),
    "vbrb by its theorem": ("vbrb", {"beta_r": "theory", "beta_p": "theory"}),
    "bayes-optimal-bandit to a horizon": ("bayes-optimal-bandit", {"horizon": 6, "depth": 2}),
}
"""Settings with a memory of their own."""


@cache
def agent_of(name):
    """An agent, of an entry or a variant of one, and its world."""
    name, own = VARIANTS.get(name, (name, SETTINGS.get(name)))
    world = make_world(OWN_HOMES.get(name, HOMES[entries()[name].package]))
    if name == "bamdp-exact":  # whose values are a table, not something that acts by name
        prior = DirichletMDP.structured(world)
        return BayesAgent(prior, make(name, **own).solve(prior)), world
    return agent_for(name, world, OWN_PRIORS.get(name), own), world


@cache
def after(name, seed, steps=5):
    """The mind and the next observation after some steps of a run."""
    agent, world = agent_of(name)
    streams = Streams.of(seed)
    *_, step = islice(play(agent, draw_world(world, streams), streams), steps)
    return step.mind, step.observation
