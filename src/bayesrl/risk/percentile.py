"""Percentile optimisation with uncertain transitions (Delage, Mannor 2010; survey §6).

The epsilon-percentile of a policy's return is the number that the return in the unknown model exceeds with posterior
probability 1 - epsilon. To maximise it is NP-hard. The paper maximises the second-order approximation F of the
posterior mean of the return instead, over stationary stochastic policies. Its theorem says that the percentile of this
policy is O(1 / sqrt(epsilon N)) below the best one, where N is the least number of observations of a pair.
F does not contain epsilon. With few data its maximiser may have a worse percentile than the optimal policy of the mean
model. The solution therefore reports the percentiles of both policies, on the same drawn models.

Paper to code: F and its gradient `criterion` in _second_order.py; its maximiser `maximise`; the limit `guaranteed` in
guarantee.py.
Deviations:
- F is not concave, and the paper leaves its optimiser open. We ascend soft-max logits by L-BFGS from several starts:
  the optimal policy of the mean model, the uniform policy, and in turn optimal policies of posterior draws and policies
  drawn uniformly (`restarts` in all). The gradient is exact.
- A deterministic row is at infinity for logits. Every result is therefore also tried with its near-deterministic rows
  rounded, and compared with deterministic policies. All of them are tried if there are at most `VERTICES`. Otherwise
  the best start is improved by changing the action of one state at a time, until no change improves it.
- `criterion="normal"` is ours. It maximises F - z sqrt(D), where D is the second-order variance of the return and z the
  (1 - epsilon)-quantile of the standard normal distribution: the percentile of a normal return. It contains epsilon.
- With discount 1 every policy must end with probability one in the mean model, and in the drawn ones. F is the same
  formula, of expected visits. It is finite where the posterior mean of the return may not be (see `value_moments`);
  percentiles and guarantees are those of finite returns.
- `guarantee` is ours: an order statistic of the drawn returns, which is below the percentile with a stated confidence.
Cost: an evaluation of F and its gradient takes O(S^3 + S A K^2) if no rows are tied; an ascent takes some tens of them.
Claims: the gradient equals finite differences; F attains its enumerated optimum with two states, and is never below the
best of the deterministic policies if these are enumerated; the guarantee holds with its confidence; the gap to the best
percentile shrinks with data.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import product
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri, softmax

from bayesrl._explained import explain_failures
from bayesrl.capabilities import HasRowCovariance, SamplesMDPs
from bayesrl.checks import Floats, Ints, frozen, generator
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import greedy
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solve import solve
from bayesrl.models.solvers.proper import longest_episode
from bayesrl.models.stationary_solution import StationarySolution
from bayesrl.parameters import AtLeast, Shape, Within, declared, value
from bayesrl.registry import register
from bayesrl.risk._moments import UncertainModel, expand, refuse_many_covariances, uncertain_model
from bayesrl.risk._second_order import criterion, objective
from bayesrl.risk.guarantee import guaranteed, rank
from bayesrl.risk.models import require_belief, require_ends
from bayesrl.risk.samples import value_samples
from bayesrl.traits import Traits

VERTICES = 256
"""Deterministic policies are enumerated if there are at most this number."""
INSIDE = 0.1
"""The share of the uniform policy in every start: logits must be finite, and a step must see each action's effect."""
ROUNDED = 1e-3
"""Probabilities below this share of their row's largest are also tried as zero."""
EQUAL = 1e-10
"""Policies are equally good if F differs by less than this share of the scale of values."""


class PercentileNeeds(HasRowCovariance, SamplesMDPs, Protocol):
    """A belief for the solver."""


@register(
    "percentile",
    kind="solver",
    survey="6",
    paper="Delage10PO",
    example=lambda: Percentile(restarts=2, samples=200),
    evidence=(
        "tests/risk/test_percentile.py::test_gradient_equals_finite_differences",
        "tests/risk/test_percentile.py::test_attains_the_enumerated_optimum_with_two_states",
        "tests/risk/test_percentile.py::test_reference_problem",
        "tests/risk/test_percentile.py::test_guarantee_is_the_order_statistic",
        "tests/risk/test_undiscounted_risk.py::test_percentile_is_the_best_of_all_that_second_differences_know",
    ),
)
@declared
class Percentile:
    """A stationary policy whose return has a good lower percentile under the posterior, with a guarantee.

    With discount 1 every policy must end with probability one, in the mean model and in those that are drawn.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> world = b.make_world("chain", gamma=0.9)
    >>> belief = b.DirichletMDP.structured(world, concentration=2.0)
    >>> safe = Percentile(epsilon=0.1, samples=2000).solve(belief, default_rng(0))
    >>> safe.guarantee < safe.quantile < safe.nominal
    True
    >>> len(b.run(b.BayesAgent(belief, safe), world, steps=20, seed=0))
    20
    """

    epsilon: Annotated[
        float, Within(0.0, 0.5, open_low=True), "Probability of a return below the percentile, at most a half."
    ] = 0.1
    criterion: Annotated[
        Literal["second-order", "normal"],
        "What is maximised: the paper's F, or the percentile of a normal return (ours).",
    ] = "second-order"
    restarts: Annotated[int, AtLeast(1), "Starts of the ascent."] = 10
    samples: Annotated[int, AtLeast(1), "Models drawn for the percentile and its guarantee, n."] = 20_000
    confidence: Annotated[
        float, Within(0.0, 1.0, open_low=True, open_high=True), "Probability with which the guarantee holds."
    ] = 0.99

    needs: ClassVar[tuple[type, ...]] = (PercentileNeeds,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def __post_init__(self) -> None:
        rank("Percentile", self.samples, self.epsilon, self.confidence)

    def check(self, belief: PercentileNeeds) -> None:
        """Refuse a discount of 1 if episodes need not end, and covariances that memory cannot hold."""
        require_ends("Percentile", belief)
        refuse_many_covariances("Percentile", belief)

    def solve(self, belief: PercentileNeeds, rng: Generator | None = None) -> PercentileSolution:
        """Maximise the criterion, then draw models for the percentiles of the policy and of the mean model's."""
        owner = "Percentile"
        require_belief(owner, belief, PercentileNeeds)
        require_ends(owner, belief)
        rng = generator(owner, rng)
        m, z = uncertain_model(owner, belief), self._deviations()
        if z == 0.0:  # rewards matter by their means alone
            m = m._replace(reward_covariance=np.zeros(m.r.size))
        elif not np.isfinite(m.reward_covariance).all():
            expected = "one whose rewards have finite variances, for the criterion 'normal'"
            raise InvalidArgument(owner, "belief", expected, type(belief).__name__, "More data make them finite.")
        if m.gamma == 1.0:
            m = m._replace(longest=longest_episode(belief.mean_mdp()))
        nominal = optimum(belief.mean_mdp())
        starts = [nominal, np.full_like(nominal, 1.0 / belief.n_actions)][: self.restarts]
        for i in range(self.restarts - len(starts)):
            drawn = rng.dirichlet(np.ones(belief.n_actions), belief.n_states)
            starts.append(drawn if i % 2 else optimum(belief.sample_mdp(rng)))
        policy = maximise(starts, m, z)
        again = deepcopy(rng)  # the same models for both policies
        returns = value_samples(belief, policy, self.samples, rng) @ m.start
        others = value_samples(belief, nominal, self.samples, again) @ m.start
        return PercentileSolution(
            solver=self,
            policy=frozen(policy),
            objective=objective(policy, m, z),
            nominal=float(m.start @ expand(m, policy).V),
            mean=float(returns.mean()),
            quantile=float(np.quantile(returns, self.epsilon)),
            guarantee=guaranteed(owner, returns, self.epsilon, self.confidence),
            nominal_policy=frozen(nominal),
            nominal_quantile=float(np.quantile(others, self.epsilon)),
            nominal_guarantee=guaranteed(owner, others, self.epsilon, self.confidence),
        )

    def _deviations(self) -> float:
        """The weight z of the standard deviation in the criterion."""
        return float(ndtri(1.0 - self.epsilon)) if self.criterion == "normal" else 0.0


@explain_failures
@value
class PercentileSolution(StationarySolution):
    """A policy, with the percentile of its return. It is a planner."""

    solver: Percentile
    """The solver that made it."""
    policy: Annotated[Floats, AtLeast(0), Shape("(S, A)"), "Probability of each action in each state."]
    objective: Annotated[float, "The criterion that was maximised."]
    nominal: Annotated[float, "Return of the policy in the mean model."]
    mean: Annotated[float, "Mean of the drawn returns."]
    quantile: Annotated[float, "The epsilon-quantile of the drawn returns: an estimate."]
    guarantee: Annotated[float, "A lower limit of the percentile; it holds with probability `solver.confidence`."]
    nominal_policy: Annotated[Floats, AtLeast(0), Shape("(S, A)"), "The optimal policy of the mean model."]
    nominal_quantile: Annotated[float, "The epsilon-quantile of that policy's returns in the same drawn models."]
    nominal_guarantee: Annotated[float, "Its guarantee."]


# Maximising F --------------------------------------------------------------------------------------------------------


def maximise(starts: list[Floats], m: UncertainModel, z: float) -> Floats:
    """The best policy found. If several are equally good, it is deterministic, or has rows of the first start."""
    ends = [ascended(start, m, z) for start in starts]
    found = [best_vertex(starts + ends, m, z), *map(rounded, ends), *ends]
    F = np.array([objective(mu, m, z) for mu in found])
    least = F.max() - EQUAL * scale(m)
    best = found[int(np.argmax(F >= least))]
    for s in range(len(best)):  # an action may have no effect here, or the state may not be reached
        other = np.where((np.arange(len(best)) == s)[:, None], starts[0], best)
        best = other if objective(other, m, z) >= least else best
    return best


def ascended(start: Floats, m: UncertainModel, z: float) -> Floats:
    """The end of an ascent from a policy (S, A)."""
    from scipy.optimize import minimize  # slow to load

    unit = scale(m)

    def loss(logits: Floats) -> tuple[float, Floats]:
        mu = softmax(logits.reshape(start.shape), axis=1)
        F, d_mu = criterion(mu, m, z)
        d_logits = mu * (d_mu - (mu * d_mu).sum(axis=1, keepdims=True))
        return (F0 - F) / unit, -d_logits.ravel() / unit

    first, F0 = np.log((1.0 - INSIDE) * start + INSIDE / start.shape[1]), objective(start, m, z)
    end = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-9})
    return np.asarray(softmax(end.x.reshape(start.shape), axis=1))


def rounded(mu: Floats) -> Floats:
    """A policy without its smallest probabilities."""
    kept = np.where(mu < ROUNDED * mu.max(axis=1, keepdims=True), 0.0, mu)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def best_vertex(near: list[Floats], m: UncertainModel, z: float) -> Floats:
    """The best deterministic policy if they can be enumerated, otherwise one that no single switch improves."""
    live, unit = np.flatnonzero(m.running), np.eye(near[0].shape[1])
    A = len(unit)

    def score(actions: Ints) -> float:
        return objective(unit[actions], m, z)

    def best_of(found: Sequence[Ints] | Ints) -> Ints:
        F = np.array([score(actions) for actions in found])
        return found[int(np.argmax(F >= F.max() - EQUAL * scale(m)))]

    if A ** len(live) <= VERTICES:
        every = np.tile(greedy(near[0]), (A ** len(live), 1))
        every[:, live] = list(product(range(A), repeat=len(live)))
        return np.asarray(unit[best_of(every)])
    best = best_of([greedy(mu) for mu in near])
    top, least_gain, improved = score(best), EQUAL * scale(m), True
    while improved:
        improved = False
        for s, a in product(live, range(A)):
            other = np.where(np.arange(len(best)) == s, a, best)
            if (F := score(other)) > top + least_gain:
                best, top, improved = other, F, True
    return np.asarray(unit[best])


def scale(m: UncertainModel) -> float:
    """The scale of values: the range of mean rewards and of rewards of one pair, divided by 1 - gamma; 1 if it is 0.

    With discount 1 the range is multiplied by the longest episode instead.
    """
    unknown = np.diagonal(m.covariance, axis1=1, axis2=2) > 0.0
    of_pairs = np.where(unknown, m.reward - m.reward[:, :1], 0.0)
    unit = max(float(np.ptp(m.r)), float(np.abs(of_pairs).max()))
    return (unit * m.longest if m.gamma == 1.0 else unit / (1.0 - m.gamma)) or 1.0


def optimum(mdp: TabularMDP) -> Floats:
    """An optimal policy of a model, (S, A)."""
    return policy_matrix("Percentile", solve(mdp).policy, *mdp.group.shape)
