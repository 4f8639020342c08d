"""A prior over policies from an expert's steps (Doshi-Velez and others 2010; survey §4.10).

The expert's policy is a controller with an unknown number of nodes: the infinite POMDP with actions and observations
exchanged. n_0 ~ beta, the node moves by what is seen, n_t ~ T(.|n_{t-1}, o_t), and a_t is drawn from the Dirichlet row
of n_t. What experts do is then evidence about good policies, and small `stick` and `row` prefer simple ones.

Paper to code: the process and its sampler are those of infinite_pomdp.py, with the parts exchanged; the coupling of
models and policies is `joint_posterior`. Left open by the survey, and ours: p(m, pi) is proportional to p(m) p(pi)
exp(V / temperature) L(m) L(pi), where V is the value of pi in m; an infinite temperature leaves them independent.
Deviations: as in infinite_pomdp.py. Cost: a sweep of a chain with K nodes O(T K^2). Claims: which nodes are equal, and
the next action, follow the posterior (enumeration); calibration.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._problems import table_of
from bayesrl.beliefs.pomdp._beam import Rates, Sizes
from bayesrl.beliefs.pomdp.chains import Chain, Chains, appended, begun, check_chains, refreshed, restarted, weights
from bayesrl.checks import Floats, Ints, array, generator, integer, number
from bayesrl.core import Transition
from bayesrl.parameters import Above, AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

OWNER = "PolicyPrior"


def prior_for(problem: object, chains: Annotated[int, AtLeast(1), "Chains of the sampler."] = 20) -> PolicyPrior:
    """The actions and observations of a POMDP."""
    pomdp = table_of("policy-prior", problem)
    return PolicyPrior(pomdp.n_actions, pomdp.n_observations, chains=chains)


@register(
    "policy-prior",
    kind="belief",
    survey="4.10",
    paper="doshi10",
    example=lambda: PolicyPrior(2, 3, chains=4),
    prior_for=prior_for,
    reading="The survey only; the coupling of models and policies is ours.",
    evidence=(
        "tests/beliefs/pomdp/test_policy_prior.py::test_equal_nodes_follow_the_posterior",
        "tests/beliefs/pomdp/test_policy_prior.py::test_predictive_follows_the_posterior",
        "tests/beliefs/pomdp/test_infinite_pomdp.py::test_geweke",
        "tests/beliefs/pomdp/test_calibration_of_chains.py::test_calibration",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class PolicyPrior:
    """A policy of an expert: a controller with an unknown number of nodes.

    Examples
    --------
    The expert repeats what it saw.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief, seen = PolicyPrior(2, 2, concentration=0.1), [0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1]
    >>> for last, new in zip(seen, seen[1:]):
    ...     belief = belief.update(b.Transition(last, last, 0.0, new))
    >>> belief.refresh(default_rng(0), sweeps=100).predictive().round(1).tolist()
    [0.2, 0.8]
    """

    n_actions: Annotated[int, AtLeast(1), "A."]
    n_observations: Annotated[int, AtLeast(1), "Z."]
    row: Annotated[float, Above(0), "Concentration of each row of transitions around beta."] = 1.0
    stick: Annotated[float, Above(0), "Concentration of beta; the more, the more nodes."] = 1.0
    concentration: Annotated[float, Above(0), "Prior count of each action."] = 1.0
    chains: Annotated[int, AtLeast(1), "Chains of the sampler."] = 20
    sweeps: Annotated[int, AtLeast(0), "Sweeps of each `update` that is given `rng`."] = 1
    data: Chains = field(init=False, repr=False)
    """The chains, and what was seen."""

    traits: ClassVar[Traits] = Traits(grows=("data",))

    def __post_init__(self) -> None:
        if "data" not in vars(self):  # else a file holds it
            object.__setattr__(self, "data", begun(self._sizes, self.chains))

    def check_grown(self) -> None:
        """Refuse chains that do not fit, when a file is read."""
        check_chains("PolicyPrior", self.data, self._sizes, self.chains)

    @property
    def _sizes(self) -> Sizes:
        return Sizes(self.n_observations, 1, self.n_actions, 1, 1)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> PolicyPrior:
        """The chains after a step of the expert. With `rng`, `sweeps` sweeps follow."""
        owner = f"{OWNER}.update"
        a = integer(owner, "action", datum.action, 0, self.n_actions - 1)
        o = integer(owner, "next_observation", datum.next_observation, 0, self.n_observations - 1)
        new = unchecked(self, data=appended(self.data, (o, 0, a, 0, 0)))
        return new if rng is None or self.sweeps == 0 else new.refresh(rng, self.sweeps)

    def restart(self) -> PolicyPrior:
        """The belief at the start of a new sequence of the expert: n_0 ~ beta again. Everything else stays."""
        return unchecked(self, data=restarted(self.data))

    def refresh(self, rng: Generator, sweeps: int = 1) -> PolicyPrior:
        """The belief after further sweeps of all chains, which then have the same weight."""
        owner = f"{OWNER}.refresh"
        rng, sweeps = generator(owner, rng), integer(owner, "sweeps", sweeps, 1)
        prior = Rates(float(self.row), float(self.stick), float(self.concentration))
        return unchecked(self, data=refreshed(owner, self.data, self._sizes, prior, rng, sweeps))

    # Readings --------------------------------------------------------------------------------------------------------

    @property
    def trajectories(self) -> Ints:
        """The nodes of each chain, (chains, T+1); after restarts, those of all sequences one after the other."""
        return np.array([chain.x for chain in self.data.chains])

    def predictive(self) -> Floats:
        """Probability of each action that the expert may do next, (A,)."""
        return np.asarray(weights(self.data) @ [now @ model.before[:, 0] for _, model, now in self.data.chains])

    def sample_chain(self, rng: Generator) -> Chain:
        """A chain drawn by its weight. Its model is a controller of K nodes and one for the rest."""
        rng = generator(f"{OWNER}.sample_chain", rng)
        return self.data.chains[int(rng.choice(self.chains, p=weights(self.data)))]


def joint_posterior(
    values: ArrayLike, log_models: ArrayLike, log_policies: ArrayLike, temperature: float = np.inf
) -> Floats:
    """p(m, pi), (M, N), proportional to exp(values[m, pi] / temperature + log_models[m] + log_policies[pi]).

    `log_models` (M,) and `log_policies` (N,) are logs of prior times likelihood, which need no normalisation.

    >>> joint_posterior([[0.0, 1.0]], [0.0], [0.0, 0.0], temperature=1.0).round(3).tolist()
    [[0.269, 0.731]]
    """
    owner = "joint_posterior"
    v = array(owner, "values", values, (None, None))
    m, p = array(owner, "log_models", log_models, (len(v),)), array(owner, "log_policies", log_policies, v.shape[1:])
    t = np.inf if temperature == np.inf else number(owner, "temperature", temperature, 0.0, above=True)
    return np.asarray(special.softmax((v - v.max(initial=-np.inf)) / t + (m - m.max())[:, None] + (p - p.max())))
