"""Bayesian reinforcement learning: one small set of words for every method of the survey.

    import bayesrl as b

    world = b.make_world("chain")
    agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("beb", beta=3.0))
    record = b.run(agent, world, steps=1000, seed=0)

Names are imported when they are first used, so that `import bayesrl` and `bayesrl --help` answer at once.
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl._version import __version__

if TYPE_CHECKING:
    from bayesrl import (
        adapters,
        bamdp,
        bandits,
        bapomdp,
        beliefs,
        capabilities,
        continuous,
        core,
        errors,
        gradient,
        inverse,
        io,
        lab,
        models,
        multiagent,
        multitask,
        pacbayes,
        registry,
        risk,
        testing,
        value,
        worlds,
    )
    from bayesrl.adapters.gymnasium import GymWorld
    from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
    from bayesrl.core import Agent, BayesAgent, Belief, Decision, Planner, Policy, Transition, World, play, run
    from bayesrl.io.store import load, save
    from bayesrl.lab.build import agent
    from bayesrl.lab.compare import compare
    from bayesrl.lab.comparison import Comparison
    from bayesrl.lab.explain import explain
    from bayesrl.lab.fits import fits
    from bayesrl.live import LiveAgent
    from bayesrl.models.mdp import TabularMDP
    from bayesrl.models.pomdp import TabularPOMDP
    from bayesrl.models.solve import solve
    from bayesrl.record import Record
    from bayesrl.registry import make, make_world, methods
    from bayesrl.statistics import Interval
    from bayesrl.worlds.tabular import MDPWorld

__all__ = [
    "Agent", "BayesAgent", "Belief", "Comparison", "Decision", "DirichletMDP", "GymWorld", "Interval", "LiveAgent",
    "MDPWorld", "Planner", "Policy", "Record", "TabularMDP", "TabularPOMDP", "Transition", "World", "__version__",
    "adapters", "agent", "bamdp", "bandits", "bapomdp", "beliefs", "capabilities", "compare", "continuous", "core",
    "errors", "explain", "fits", "gradient", "inverse", "io", "lab", "load", "make", "make_world", "methods", "models",
    "multiagent", "multitask", "pacbayes", "play", "registry", "risk", "run", "save", "solve", "testing", "value",
    "worlds",
]  # fmt: skip

export(
    __name__,
    {
        "core": (
            "Agent", "BayesAgent", "Belief", "Decision", "Planner", "Policy", "Transition", "World", "play", "run",
        ),
        "record": ("Record",),
        "models.mdp": ("TabularMDP",),
        "models.pomdp": ("TabularPOMDP",),
        "models.solve": ("solve",),
        "beliefs.mdp.dirichlet_mdp": ("DirichletMDP",),
        "registry": ("make", "make_world", "methods"),
        "lab.build": ("agent",),
        "lab.compare": ("compare",),
        "lab.fits": ("fits",),
        "lab.comparison": ("Comparison",),
        "lab.explain": ("explain",),
        "statistics": ("Interval",),
        "worlds.tabular": ("MDPWorld",),
        "adapters.gymnasium": ("GymWorld",),
        "live": ("LiveAgent",),
        "io.store": ("load", "save"),
    },
    modules=(
        "adapters", "bamdp", "bandits", "bapomdp", "beliefs", "capabilities", "continuous", "core", "errors",
        "gradient", "inverse", "io", "lab", "models", "multiagent", "multitask", "pacbayes", "registry", "risk",
        "testing", "value", "worlds",
    ),
)  # fmt: skip
