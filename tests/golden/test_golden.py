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
from bayesrl.lab.fits import fits
from bayesrl.registry import PACKAGES, entries, make_world

FILE = pathlib.Path(__file__).parent / "traces.json"
TRACES = json.loads(FILE.read_text()) if FILE.exists() else {}
OWN_SETTINGS = {"bamcp": {"exploration": 3.0}, "uct": {"exploration": 3.0}}
"""The author's constant: what a number given by name did before there was a default without unit."""
OWN_SETTINGS |= {name: {"paths": 2} for name in ("bpg-1", "bpg-2", "bpg-hessian", "gpomdp", "reinforce")}
OWN_SETTINGS |= {name: {"episodes": 2} for name in ("actor-critic", "bac")}
OWN_SETTINGS |= {name: {"models": 4, "size": 5} for name in ("sampled-pomdps", "medusa")}
OWN_SETTINGS |= {name: {"models": 4, "size": 5, "particles": 50} for name in ("action-oracle", "bayes-risk")}
OWN_SETTINGS |= {"pomcp": {"exploration": None}}  # its default; the tiger suggests another
OWN_SETTINGS |= {"gp-sparse-sampling": {"candidates": 8, "simulations": 50}}
OWN_SETTINGS |= {"continuous-forward-search": {"depth": 3, "width": 2}}
LENGTHS = {"gradient": (90, 15), "value": (90, 15)}
"""Steps of a run and of an episode, so that batches and episodes end."""
ACTING = [n for n, e in entries().items() if e.kind in ("planner", "agent") and e.package in PACKAGES]


def trace(name):
    """The trace of a method, in the world that its file names; a new method is recorded in the first that fits it.

    The prior is the one that the library chooses, unless the file names another and says why.
    """
    told = TRACES.get(name) or {"world": fits(name)[0].world}
    told = {key: told[key] for key in ("world", "prior", "why") if key in told}
    steps, horizon = LENGTHS.get(entries()[name].package, (40, None))
    world = make_world(told["world"])
    agent = agent_for(name, world, told.get("prior"), OWN_SETTINGS.get(name))
    record = run(agent, world, steps, seed=1, horizon=horizon)
    action = record.action.round(9) if told["world"] == "lq-system" else record.action
    found = told | {"action": action.tolist(), "reward": [round(r, 9) for r in record.reward.tolist()]}
    return json.loads(json.dumps(found, default=np.ndarray.tolist))  # coalitions are tuples or arrays


def test_a_prior_that_the_library_does_not_choose_has_a_reason():
    for name, told in TRACES.items():
        assert ("prior" in told) == ("why" in told)
        if "prior" in told:
            assert fits(name, told["world"])[0].prior != told["prior"]


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
