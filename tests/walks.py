"""The files that a run goes through: `python tests/walks.py` prints them for five methods.

A file counts if one of its functions runs, seen by `sys.setprofile`. A walk is made twice and the second one counts, so
imports do not. Left out are `checks`, `errors`, `parameters`, `registry` and `_lazy`. Compiled code is not seen: a
file that only a kernel enters does not count. `_explained.py`, which wraps public methods in order to explain wrong
arguments, is a utility of the same kind, but it counts; both numbers are printed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from numpy.random import default_rng

import bayesrl as b

ROOT = Path(b.__file__).parent
LEFT_OUT = {"checks.py", "errors.py", "parameters.py", "registry.py", "_lazy.py", "_by_name.py"}
EXPLAINS = "_explained.py"
Walk = Callable[[Path], object]


def psrl(out: Path) -> object:
    """PSRL on the chain, its regret, and a plot."""
    world = b.make_world("chain")
    agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("psrl"))
    found = b.compare({"psrl": agent}, world, steps=20, runs=2)
    return b.lab.curves(found, out / "psrl.png", b.lab.regrets(found, world))


def ba_pomcp(out: Path) -> object:
    """BA-POMCP on the tiger."""
    world = b.make_world("tiger")
    prior = b.beliefs.ParticleBAPOMDP(world.model_prior(), 50)
    return b.run(b.BayesAgent(prior, b.make("ba-pomcp", simulations=20)), world, steps=5)


def gpsarsa(out: Path) -> object:
    """GPSARSA on the mountain car."""
    world = b.make_world("mountain-car")
    return b.run(b.lab.agent_for("gpsarsa", world), world, steps=20)


def birl(out: Path) -> object:
    """The rewards of an expert, drawn as a map."""
    world, rng = b.make_world("gridworld-blocks", size=4, block=2), default_rng(0)
    shown = b.inverse.demonstrate(world, world.mdp.mean_reward, 3, 10, rng)
    belief = b.inverse.BIRL(world.mdp, features=world.features).update_many(shown).refresh(rng, 20)
    return b.lab.plot_reward_map(world, belief, out / "birl.png")


def percentile(out: Path) -> object:
    """A policy for a percentile, learnt from a saved log, assessed, and drawn."""
    world = b.make_world("machine-replacement")
    belief = b.DirichletMDP.structured(world).update_many(b.io.load_log(out / "log.npz"))
    solution = b.make("percentile", samples=200).solve(belief, default_rng(0))
    return b.lab.plot_values(belief, {"safe": solution}, samples=500, path=out / "risk.png")


def log(out: Path) -> None:
    """The log that `percentile` reads."""
    world = b.make_world("machine-replacement")
    b.save(b.run(b.BayesAgent(b.DirichletMDP.structured(world), b.make("random")), world, steps=50), out / "log.npz")


WALKS: dict[str, tuple[Walk, str]] = {
    "psrl": (psrl, "bamdp"),
    "ba-pomcp": (ba_pomcp, "bapomdp"),
    "gpsarsa": (gpsarsa, "value"),
    "birl": (birl, "inverse"),
    "percentile": (percentile, "risk"),
}
"""Each walk and its family."""


def files(name: str) -> list[str]:
    """The files of the library whose functions run on a walk."""
    found = set()

    def seen(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_code.co_filename)

    walk, _ = WALKS[name]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        log(out)
        walk(out)
        sys.setprofile(seen)
        try:
            walk(out)
        finally:
            sys.setprofile(None)
    inside = {Path(file).relative_to(ROOT).as_posix() for file in found if file.startswith(str(ROOT))}
    return sorted(inside - LEFT_OUT)


if __name__ == "__main__":
    for name in WALKS:
        went = files(name)
        print(f"{name}: {len(went)} files, {len(set(went) - {EXPLAINS})} without {EXPLAINS}", *went, sep="\n    ")
