"""An agent that asks for the best action (Atrash and Pineau 2009; survey §4.9).

Models are drawn from a belief over hyper-states, and solved. Each filters its own belief over the state, and has its
own best action. If most of the weight agrees on an action, it is done. Otherwise the oracle is asked for the best one.
Its answer raises the weight of the models that agree with it, and is done.

Paper to code: popularity and the question `act`, the answer `learn` and `after_answer`, new models `draw_models`.
Deviations: the paper was not at hand; this follows the survey, which calls the choice of questions largely unexplored.
Ours is a vote: ask if the most popular best action has less than `agreement` of the weight. The oracle is believed to
err with probability `error`, and then to name any other action. All models are drawn anew every `renew` steps. The past
is replayed for each of them, and past answers weigh them.
Cost: a filter step and Q of each model for each decision; `models` solutions and a replay of the past for each renewal.
Claims: weights after answers by hand; weights after a renewal are those of the past answers; in `asking-for-action` it
asks less and less.
"""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.bapomdp import _settings as declares
from bayesrl.bapomdp._asking import Answer, Asking, after_reply, after_step, draw_models, present_models
from bayesrl.bapomdp._models import check_counts, check_query, read_observation
from bayesrl.bapomdp.answers import after_answer, answer_likelihood
from bayesrl.beliefs.pomdp.bapomdp_particle import ParticleBAPOMDP
from bayesrl.checks import Floats, Ints
from bayesrl.core import Decision, Transition
from bayesrl.kernels.ties import better, first_best
from bayesrl.models.pomdp import NOTHING
from bayesrl.parameters import PROBABILITY, value
from bayesrl.registry import register


@register(
    "action-oracle",
    kind="agent",
    survey="4.9",
    paper="atrash09",
    example=lambda: ActionOracle(model_prior=declares.listening(), models=3, particles=20, size=10),
    reading="The survey only; when to ask, and how answers weigh the models, are ours.",
    evidence=(
        "tests/bapomdp/test_oracle_agents.py::test_weights_after_answers",
        "tests/bapomdp/test_oracle_agents.py::test_new_models_are_weighted_by_past_answers",
        "tests/bapomdp/test_oracle_agents.py::test_agents_ask_less_in_time",
    ),
)
@value
class ActionOracle:
    """Do what most sampled models agree on; if they do not agree, ask for the best action.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("asking-for-action", world="tiger")
    >>> agent = b.make("action-oracle", model_prior=world.model_prior(), models=5, size=20, particles=100)
    >>> record = b.run(agent, world, steps=20, seed=0, keep=("asked",))
    >>> record.action[record.asked].tolist() == [3] * record.asked.sum()
    True
    """

    model_prior: declares.Prior
    models: declares.Models = 20
    agreement: Annotated[float, PROBABILITY, "Share of the weight that must agree; below it a question is asked."] = 0.9
    error: declares.Error = 0.05
    renew: declares.Renew = 50
    particles: declares.Particles = 1000
    size: declares.Size = 50

    def __post_init__(self) -> None:
        check_counts("ActionOracle", self.model_prior)

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a world without an oracle that tells actions."""
        check_query("ActionOracle", world, "action")

    def start(self) -> Asking:
        """The prior; models are drawn at the first decision."""
        return Asking(ParticleBAPOMDP(self.model_prior, self.particles))

    def act(self, mind: "Asking", observation: Any, rng: Generator) -> Decision:
        """Do what the oracle said, or the most popular action; ask if it is not popular enough."""
        if mind.chosen != NOTHING:
            return Decision(mind.chosen, mind, {"asked": False, "agreement": 1.0})
        drawn, A = present_models(self, mind, rng), self.model_prior.n_actions
        w = drawn.belief.posterior()
        votes = np.bincount(drawn.best(), w, A).astype(np.float64)
        asked = better(self.agreement, votes.max())
        info = {"asked": asked, "agreement": float(votes.max()), "votes": votes, "weights": w}
        return Decision(A if asked else first_best(votes), mind._replace(drawn=drawn), info)

    def learn(self, mind: "Asking", transition: Transition, rng: Generator) -> Asking:
        """Weigh the models by the answer, or by what was seen."""
        o, said = read_observation("ActionOracle", transition, 2)
        if said == NOTHING:
            return after_step(mind, transition._replace(next_observation=o), rng)
        drawn = mind.drawn or draw_models(self, mind, rng)
        w = after_answer(drawn.belief.posterior(), drawn.best(), said, self.model_prior.n_actions, self.error)
        return after_reply(mind, drawn, w, Answer(NOTHING, said), said)

    def likelihood(self, best: "Ints", answer: "Answer") -> Floats:
        """The probability of an answer under models with these best actions, (N,)."""
        return answer_likelihood(best, answer.said, self.model_prior.n_actions, self.error)
