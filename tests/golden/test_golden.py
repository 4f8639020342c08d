"""Golden traces: what every acting method did, on one seed, when its file was last meant to change.

A difference is not an error but a question: was the change of behaviour meant? If so, write the traces anew with
BAYESRL_GOLDEN=write and say so in the commit.
"""

import json
import os
import pathlib

import numpy as np
import pytest

from bayesrl.core import run
from bayesrl.lab.build import agent_for
from bayesrl.registry import entries, make_world

FILE = pathlib.Path(__file__).parent / "traces.json"
TRACES = json.loads(FILE.read_text()) if FILE.exists() else {}
HOMES = {"bamdp": "chain", "bandits": "bernoulli", "gradient": "random-walk", "value": "mountain-car"}
HOMES |= {"multiagent": "coalitions"}
HOMES |= {"bapomdp": "tiger", "continuous": "blimp", "risk": "machine-repair"}
OWN_HOMES = {"thompson-combinatorial": "combinatorial", "medusa": "asking-for-state"}
OWN_HOMES |= {"gp-sparse-sampling": "continuous-bandit", "lazy-psrl": "lq-system", "certainty-equivalence": "lq-system"}
OWN_HOMES |= {"action-oracle": "asking-for-action", "bayes-risk": "asking-for-confirmation"}
OWN_HOMES |= {"coalition-formation": "coalitions", "bayesian-marl": "climbing-game"}
OWN_SETTINGS = {"bamcp": {"exploration": 3.0}, "uct": {"exploration": 3.0}}
"""The author's constant: what a number given by name did before there was a default without unit."""
OWN_SETTINGS |= {name: {"paths": 2} for name in ("bpg-1", "bpg-2", "bpg-hessian", "gpomdp", "reinforce")}
OWN_SETTINGS |= {name: {"episodes": 2} for name in ("actor-critic", "bac")}
OWN_SETTINGS |= {name: {"models": 4, "size": 5} for name in ("sampled-pomdps", "medusa")}
OWN_SETTINGS |= {name: {"models": 4, "size": 5, "particles": 50} for name in ("action-oracle", "bayes-risk")}
OWN_SETTINGS |= {"pomcp": {"exploration": None}}  # its default; the tiger suggests another
OWN_SETTINGS |= {"gp-sparse-sampling": {"candidates": 8, "simulations": 50}}
OWN_SETTINGS |= {"continuous-forward-search": {"depth": 3, "width": 2}}
OWN_PRIORS = {"ba-pomcp": "particle:50", "bapomdp-forward-search": "bounded:9", "bapomdp-branch-and-bound": "bounded:9"}
"""Smaller than the priors that these methods choose in the tiger (particle and bounded)."""
LENGTHS = {"gradient": (90, 15), "value": (90, 15)}
"""Steps of a run and of an episode, so that batches and episodes end."""
ACTING = [n for n, e in entries().items() if e.kind in ("planner", "agent") and e.package in HOMES]


def trace(name):
    package = entries()[name].package
    home = OWN_HOMES.get(name, HOMES[package])
    world, (steps, horizon) = make_world(home), LENGTHS.get(package, (40, None))
    agent = agent_for(name, world, OWN_PRIORS.get(name), OWN_SETTINGS.get(name))
    record = run(agent, world, steps, seed=1, horizon=horizon)
    action = record.action.round(9) if home == "lq-system" else record.action
    found = {"world": home, "action": action.tolist(), "reward": [round(r, 9) for r in record.reward.tolist()]}
    return json.loads(json.dumps(found, default=np.ndarray.tolist))  # coalitions are tuples or arrays


@pytest.mark.parametrize("name", ACTING)
def test_trace(name):
    found = trace(name)
    if os.environ.get("BAYESRL_GOLDEN") == "write":
        TRACES[name] = found
        lines = [f'  "{n}": {json.dumps(t)}' for n, t in sorted(TRACES.items())]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert name in TRACES, "no golden trace: write it with BAYESRL_GOLDEN=write"
    known = TRACES[name]
    assert (found["world"], found["action"]) == (known["world"], known["action"])
    np.testing.assert_allclose(found["reward"], known["reward"], atol=2e-9)  # the ninth decimal is rounded
