"""Policy-prior search: models and controllers of an expert, weighed together (Doshi-Velez 2010; survey §4.10).

Models are drawn from the belief, and controllers from what an expert did. A pair counts the more, the better the
controller does in the model. The action of largest weighted value "this action now, the controller after" is done.

Paper to code: the weights are `joint_posterior`. The survey leaves the coupling and the choice open, and the papers
were not at hand: exp(V / temperature), and the one step of improvement over the controllers, are ours.
Deviations: draws come from both posteriors, so their likelihoods are in them already. All are drawn anew for each
decision. A controller follows the episode: its node is filtered by what was done and seen in it.
A finite temperature also favours models, and hidden states drawn with them, in which controllers do well: it is
optimistic, and the default is none.
Cost: a linear system of S N unknowns for each pair, S states and N nodes.
Claims: with one model and one controller, the controller's values by iteration; weights as `joint_posterior` says.
"""

from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bapomdp import _settings as declares
from bayesrl.beliefs.pomdp.chains import Chain
from bayesrl.beliefs.pomdp.policy_prior import PolicyPrior, joint_posterior
from bayesrl.capabilities import ListsActions
from bayesrl.checks import Floats, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best, size
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import Above, AtLeast, declared
from bayesrl.registry import register

OWNER = "PolicyPriorSearch"


class PolicyPriorSearchNeeds(ListsActions, Protocol):
    """A belief for the planner."""

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A model drawn from the belief. Its `start` is certain: the state that was drawn with it."""


@register(
    "policy-prior-search",
    kind="planner",
    survey="4.10",
    paper="doshi10",
    example=lambda: PolicyPriorSearch(models=3, controllers=2),
    reading="The survey only; the weights and the one step of improvement are ours.",
    evidence=(
        "tests/beliefs/pomdp/test_policy_prior.py::test_values_of_controllers",
        "tests/beliefs/pomdp/test_policy_prior.py::test_the_search_weighs_pairs",
    ),
)
@declared
class PolicyPriorSearch:
    """Improve an expert's policy by one step, in models drawn from the belief.

    Examples
    --------
    An expert who always listens has shown it.

    >>> import bayesrl as b
    >>> world, expert = b.make_world("tiger"), b.beliefs.PolicyPrior(3, 2)
    >>> for _ in range(10):
    ...     expert = expert.update(b.Transition(-1, 0, -1.0, 0))
    >>> expert = expert.refresh(np.random.default_rng(0), sweeps=20)
    >>> agent = b.BayesAgent(b.beliefs.POMDPFilter(world.pomdp), PolicyPriorSearch(expert, models=100))
    >>> b.run(agent, world, steps=3, seed=0).action.tolist()
    [0, 0, 0]
    """

    expert: Annotated[Any, "A PolicyPrior that has seen an expert's steps; None: one that has seen nothing."] = None
    models: declares.Models = 20
    controllers: Annotated[int, AtLeast(1), "Controllers drawn."] = 10
    temperature: Annotated[float | None, Above(0), "What values are divided by; None: they do not count."] = None

    needs: ClassVar[tuple[type, ...]] = (PolicyPriorSearchNeeds,)

    def __post_init__(self) -> None:
        if self.expert is not None and not isinstance(self.expert, PolicyPrior):
            raise InvalidArgument(OWNER, "expert", "a PolicyPrior or None", self.expert)

    def start(self) -> tuple[Transition, ...]:
        """No steps of this episode yet."""
        return ()

    def plan(
        self,
        belief: PolicyPriorSearchNeeds,
        observation: object,
        memory: tuple[Transition, ...],
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """The action with the largest weighted value; ties go to the first. The observation is not looked at."""
        if not isinstance(memory, tuple) or not all(isinstance(step, Transition) for step in memory):
            raise InvalidArgument(OWNER, "memory", "the steps of this episode, as its decisions give them", memory)
        if last is not None:
            memory = () if last.ends_episode else (*memory, last)
        models = [belief.sample_pomdp(rng) for _ in range(self.models)]
        A, Z = models[0].n_actions, models[0].n_observations
        expert = PolicyPrior(A, Z, chains=1) if self.expert is None else self.expert
        if (expert.n_actions, expert.n_observations) != (A, Z):
            raise InvalidArgument(OWNER, "expert", f"one of {A} actions and {Z} observations", expert)
        for step in memory:
            integer(f"{OWNER}.plan", "action", step.action, 0, A - 1)
            integer(f"{OWNER}.plan", "next_observation", step.next_observation, 0, Z - 1)
        controllers = [expert.sample_chain(rng) for _ in range(self.controllers)]
        nodes = [node_now(chain, memory) for chain in controllers]
        both = [[action_values(m, c, n) for c, n in zip(controllers, nodes, strict=True)] for m in models]
        v, q = (np.array([[pair[i] for pair in row] for row in both]) for i in range(2))
        t = np.inf if self.temperature is None else self.temperature
        w = joint_posterior(v, np.zeros(len(models)), np.zeros(len(controllers)), t)
        total = np.einsum("mp,mpa->a", w, q)
        return Decision(first_best(total, size(q.ravel())), memory, {"q": total, "weights": w})


def node_now(chain: Chain, episode: tuple[Transition, ...]) -> Floats:
    """Probability of each node of a controller after what was done and seen in an episode, (N,)."""
    now = np.asarray(chain.model.beta)
    for step in episode:
        after = (now * chain.model.before[:, 0, step.action]) @ chain.model.moves[:, step.next_observation]
        now = after / after.sum() if after.sum() > 0.0 else now @ chain.model.moves[:, step.next_observation]
    return now


def action_values(pomdp: TabularPOMDP, chain: Chain, node: Floats) -> tuple[float, Floats]:
    """The value of a controller at the start of a model, and those of each action now and the controller after, (A,).

    V(s, n) = sum_a pi(a|n) Q(s, n, a), and Q(s, n, a) = r(s, a) + gamma E V(s', n'), where s' and o come from the model
    and n' ~ eta(.|n, o) from the controller.
    """
    (P, O, r), eta, pi = pomdp.dense(), chain.model.moves, chain.model.before[:, 0]
    P = np.where(pomdp.terminal, 0.0, P)  # nothing is paid after the end
    S, N = len(P), len(pi)
    W = pomdp.gamma * np.einsum("say,yao,nom->snaym", P, O, eta)
    M = np.einsum("na,snaym->snym", pi, W).reshape(S * N, S * N)
    try:
        V = np.linalg.solve(np.eye(S * N) - M, (pi @ r.T).T.ravel())
    except np.linalg.LinAlgError:
        raise InvalidArgument(OWNER, "gamma", "below 1, as controllers never end", pomdp.gamma) from None
    Q = r[:, None] + np.tensordot(W.reshape(S, N, len(r[0]), S * N), V, 1)
    q = np.einsum("s,n,sna->a", pomdp.start, node, Q)
    return float(np.einsum("s,n,sn->", pomdp.start, node, V.reshape(S, N))), np.asarray(q)
