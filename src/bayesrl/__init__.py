"""Bayesian reinforcement learning: one small set of words for every method of the survey.

    import bayesrl as b

    world = b.make_world("chain")
    agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("beb", beta=3.0))
    record = b.run(agent, world, steps=1000, seed=0)

Names are imported when they are first used, so that `import bayesrl` and `bayesrl --help` answer at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesrl._version import __version__

if TYPE_CHECKING:
    from bayesrl import adapters, bamdp, bandits, beliefs, core, errors, lab, models, registry, testing, worlds
    from bayesrl.beliefs.dirichlet import DirichletMDP
    from bayesrl.core import BayesAgent, Decision, Record, Transition, run
    from bayesrl.lab.compare import compare
    from bayesrl.lab.live import LiveAgent
    from bayesrl.lab.store import load, save
    from bayesrl.models.mdp import TabularMDP
    from bayesrl.models.solve import solve
    from bayesrl.registry import make, make_world, methods

_HOMES = {
    "core": ("BayesAgent", "Decision", "Record", "Transition", "run"),
    "models.mdp": ("TabularMDP",),
    "models.solve": ("solve",),
    "beliefs.dirichlet": ("DirichletMDP",),
    "registry": ("make", "make_world", "methods"),
    "lab.compare": ("compare",),
    "lab.live": ("LiveAgent",),
    "lab.store": ("load", "save"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = (
    "adapters", "bamdp", "bandits", "beliefs", "core", "errors", "lab", "models", "registry", "testing", "worlds",
)  # fmt: skip

__all__ = [
    "BayesAgent", "Decision", "DirichletMDP", "LiveAgent", "Record", "TabularMDP", "Transition", "__version__",
    "adapters", "bamdp", "bandits", "beliefs", "compare", "core", "errors", "lab", "load", "make", "make_world",
    "methods", "models", "registry", "run", "save", "solve", "testing", "worlds",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bayesrl.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"bayesrl.{name}")
    raise AttributeError(f"module 'bayesrl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
