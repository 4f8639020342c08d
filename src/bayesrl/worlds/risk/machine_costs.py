"""A machine with uncertain costs (Delage and Mannor 2010, their figure 1; survey §6).

The machine ages through the S states of a ring: `keep` goes from s to s + 1, and from the last state to 0; `repair`
goes to 0 from everywhere. Transitions are known. The costs of the pairs are independent Gaussians, and a reward is
minus a cost:

    keep   N(0, 1e-4), in the last state N(100, 800)        repair   N(130, 1), in the last state N(130, 20)

Provenance: the costs are found in public code; discount .8 and the uniform start are recalled. Whether the second
number is a variance or a standard deviation is not established. The paper writes N(mean, covariance), so the default
reads it as a variance. It decides whether repairing early pays: with standard deviations it does at small epsilon.

A world of the family pays its drawn mean rewards without noise. The belief's `noise` of 1 is ours: it says how fast an
agent learns, and percentile-rewards does not read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, Literal, NoReturn

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.rewards.gaussian_rewards import GaussianRewards
from bayesrl.checks import generator
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import MDPWorld

SETTING = Setting("gaussian", steps=100)
"""The prior is the distribution from which worlds are drawn."""
NO_TABLE = "That is a family of worlds, which has no table: draw(rng) a world first, or take belief.mean_mdp()."


@register(
    "machine-costs",
    kind="family",
    survey="6",
    paper="Delage10PO",
    evidence=(
        "tests/risk/test_percentile_rewards.py::test_facts",
        "tests/worlds/risk/test_machine_costs.py::test_transitions_and_costs_by_hand",
        "tests/worlds/risk/test_machine_costs.py::test_worlds_have_their_law",
    ),
)
@value
class MachineCosts(Published):
    """Machines in a ring of states whose costs of keeping and repairing are drawn from Gaussians.

    Examples
    --------
    >>> family = MachineCosts(n_states=3)
    >>> family.belief.reward_moments()[0].tolist()
    [[0.0, -130.0], [0.0, -130.0], [-100.0, -130.0]]
    >>> family.draw(np.random.default_rng(0)).mdp.mean_reward.round(1).tolist()
    [[0.0, -130.1], [0.0, -129.9], [-115.2, -128.4]]
    """

    n_states: Annotated[int, AtLeast(2), "States in the ring, S."] = 50
    second: Annotated[Literal["variance", "std"], "What the second number of a cost's Gaussian is."] = "variance"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.8
    setting: Annotated[Setting, "How the family is usually run."] = field(default=SETTING, repr=False)
    actions: Annotated[tuple[str, ...], "Names of the actions."] = field(default=("keep", "repair"), repr=False)

    n_actions = 2
    unsupported: ClassVar[Mapping[str, str]] = {"mdp": NO_TABLE}

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", float(self.gamma))
        if not isinstance(self.setting, Setting):
            raise InvalidArgument("MachineCosts", "setting", "a Setting", self.setting)

    @cached_property
    def belief(self) -> GaussianRewards:
        """The distribution of the mean rewards, from which worlds are drawn; transitions are known."""
        S, s = self.n_states, np.arange(self.n_states)
        P = np.zeros((S, 2, S))
        P[s, 0, (s + 1) % S] = P[s, 1, 0] = 1.0
        reward, second = np.tile([0.0, -130.0], (S, 1)), np.tile([1e-4, 1.0], (S, 1))
        reward[-1], second[-1] = (-100.0, -130.0), (800.0, 20.0)
        variance = second if self.second == "variance" else second**2
        mdp = TabularMDP.from_dense(P, reward, self.gamma, np.full(S, 1.0 / S))
        return GaussianRewards(mdp, reward, np.diag(variance.ravel()))

    def default_prior(self) -> GaussianRewards:
        """The belief from which worlds are drawn."""
        return self.belief

    def draw(self, rng: Generator) -> MDPWorld:
        """A world with drawn mean rewards, which it pays without noise."""
        model = self.belief.sample_mdp(generator("machine-costs", rng))
        setting = Setting("structured:1", steps=self.setting.steps)
        return MDPWorld("machine-costs", model, setting, self.actions)

    @property
    def mdp(self) -> NoReturn:
        """A family has no table; its worlds have."""
        raise InvalidArgument("mdp", "world", "a single world", "machine-costs", NO_TABLE)
