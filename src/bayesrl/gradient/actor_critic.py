"""Natural actor-critic by least squares (Peters and Schaal 2008; survey §5.3): the frequentist twin of `bac`.

The critic is linear on [phi(s), u(s, a)] with u the score of the policy. LSTD-Q(lambda) fits its weights. The weights
of u are the natural gradient, because u is the compatible feature.

Deviations: next actions are those that were taken; the choice of this twin is ours. The last reward of a truncated
episode is left out, as in `bac`. Cost: O(k^2) for a transition with k features, O(k^3) for an update. Claims: the
weights by hand; the exact natural gradient in the limit.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.features import Features, Tabular
from bayesrl.beliefs.values.lstd_lambda import LSTD
from bayesrl.checks import Floats, array
from bayesrl.core import DifferentiablePolicy, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.gradient import _settings as declares
from bayesrl.gradient._critic import pairs_of
from bayesrl.gradient._improve import Improved, improve
from bayesrl.gradient._learner import Learning, LearnsFromPairs, check_policy
from bayesrl.gradient._paths import Path
from bayesrl.gradient.bayesian_gradient import Gradient
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import PROBABILITY, AtLeast, declared, value
from bayesrl.registry import register


@value
class FeatureRows(Features):
    """Rows that are features already."""

    length: int

    @property
    def size(self) -> int:
        """Numbers in a row."""
        return self.length

    def __call__(self, states: ArrayLike) -> Floats:
        """The rows themselves."""
        return array("actor-critic", "states", states, (None, self.length))


def natural_weights(paths: Sequence[Path], phi: Features, lam: float, gamma: float, ridge: float) -> Floats:
    """The weights of the scores in LSTD-Q(lambda), shape (n,)."""
    made = pairs_of("actor-critic", paths)
    k, n = phi.size, made[0].scores.shape[1]
    critic = LSTD(FeatureRows(k + n), lam, gamma, ridge)
    for states, scores, rewards in made:
        x = np.hstack([phi(states), scores])
        log = [Transition(x[t], None, r, x[min(t + 1, len(x) - 1)], t + 1 == len(x)) for t, r in enumerate(rewards)]
        critic = critic.update_many(log).restart()
    return np.asarray(critic.weights[k:])


@register(
    "actor-critic",
    kind="agent",
    survey="5.3",
    paper="Peters08NA",
    example=lambda: ActorCritic(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_baselines.py::test_actor_critic_reaches_the_natural_gradient",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class ActorCritic(LearnsFromPairs):
    """Natural actor-critic with a least-squares critic.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = ActorCritic(gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    lam: Annotated[float, PROBABILITY, "Decay of traces, lambda."] = 1.0
    ridge: Annotated[float, AtLeast(0), "What is added to the diagonal of the critic's matrix."] = 0.1
    rate: declares.Rate = 0.1
    direction: declares.Direction = "natural"
    length: declares.PlainLength = "fixed"
    half_life: declares.HalfLife = None
    features: Annotated[Any, "phi(s), features of states; None: indicators of a table's states."] = None

    def __post_init__(self) -> None:
        check_policy("ActorCritic", self.policy)
        if self.features is not None and not isinstance(self.features, Features):
            raise InvalidArgument("ActorCritic", "features", "features of states, or None", self.features)

    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """The natural gradient, and a step."""
        natural = natural_weights(paths, self._features(mind.policy), self.lam, self.gamma, self.ridge)
        gradient = Gradient(G @ natural, np.zeros_like(G), natural)
        return improve(self, mind.policy, gradient, G, mind.updates, mind.search)

    def _features(self, policy: DifferentiablePolicy) -> Features:
        if isinstance(self.features, Features):
            return self.features
        if not isinstance(policy, SoftmaxPolicy) or policy.features is not None:
            hint = "Only a softmax policy on a table has features of its own."
            raise InvalidArgument("ActorCritic", "features", "given", None, hint)
        return Tabular(policy.n_states)
