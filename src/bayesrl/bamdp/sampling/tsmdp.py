"""Thompson sampling for parametrised MDPs, TSMDP (Gopalan and Mannor 2015, Algorithm 1; survey §4.10).

Time is cut into epochs. An epoch begins at a visit to a reference state. The agent then draws a model from the belief,
and it follows the model's average-reward-optimal policy until the next visit. In the paper the unknown parameter is one
of finitely many (`finite-mdps`); the planner takes every belief with `sample_mdp`.

Paper to code: the start of epoch k is `here == reference`; "draw theta_k" is `sample_mdp`, "c_k = OPT(theta_k)" is
`average_reward`. The paper updates the posterior at the end of an epoch. Here every transition updates it, and only its
value at the start of an epoch is used.
Deviations: the paper starts in the reference state. If the first state is another one, a model is drawn there too. The
end of an episode does not end the epoch. Among equal actions the first is taken. A discount is not used.
Cost: one average-reward solve per epoch. Claims: the expected reward equals an enumeration of models and histories; one
policy for each epoch; equal to its transcription.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.capabilities import ListsOutcomes, SamplesMDPs, offers
from bayesrl.checks import Floats, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import Facets
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.solvers.average_reward import average_reward
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class Epoch(NamedTuple):
    """The policy of the drawn model, its relative action values R + P h, (S, A), and its gain."""

    policy: TabularPolicy
    q: Floats
    gain: float


@register(
    "tsmdp",
    kind="planner",
    survey="4.10",
    paper="GopalanMannor15",
    example=lambda: TSMDP(),
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior="sample 1 per epoch",
        solution="average reward solved by DP",
        guarantee="logarithmic regret",
    ),
    evidence=(
        "tests/bamdp/sampling/test_tsmdp.py::test_expected_reward_equals_enumeration",
        "tests/bamdp/sampling/test_tsmdp.py::test_one_policy_for_each_epoch",
        "tests/bamdp/sampling/test_tsmdp.py::test_values_are_those_of_the_drawn_model",
    ),
)
@declared
class TSMDP:
    """Draw a model at each visit to a reference state and follow its average-reward-optimal policy.

    `info` has the relative action values R + P h of the drawn model and its `gain`, the reward per step. A drawn model
    must not end, and its best gain must be the same from every state.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), TSMDP(reference=0))
    >>> print(b.run(agent, world, steps=100, seed=1).total)
    204.0
    """

    reference: Annotated[int, AtLeast(0), "The state whose visits begin epochs, s_0."] = 0

    needs: ClassVar[tuple[type, ...]] = (SamplesMDPs,)

    def check(self, belief: SamplesMDPs) -> None:
        """Raise an error if the reference is not a state, or if the models have terminal states."""
        integer("TSMDP", "reference", self.reference, 0, belief.n_states - 1)
        if offers(belief, ListsOutcomes) and belief.outcomes.terminal.any():
            ends = np.flatnonzero(belief.outcomes.terminal).tolist()
            hint = "An average reward needs a problem that never ends."
            raise InvalidArgument("TSMDP", "belief", "one without terminal states", f"terminal states {ends}", hint)

    def start(self) -> Epoch | None:
        """No model yet."""
        return None

    def plan(
        self,
        belief: SamplesMDPs,
        observation: int,
        memory: Epoch | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Follow the epoch's policy; in the reference state draw a new model."""
        here = state_in("TSMDP", belief, observation)
        if memory is None or here == self.reference:
            model = belief.sample_mdp(rng)
            best = average_reward(model)
            q = model.mean_reward + (model.matrix @ best.bias).reshape(model.mean_reward.shape)
            memory = Epoch(best.policy, q, best.gain)
        return Decision(int(memory.policy[here]), memory, {"q": memory.q[here], "gain": memory.gain})
