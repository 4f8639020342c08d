"""An agent that asks for confirmation when every action is risky (Doshi, Pineau and Roy 2008; survey §4.9).

Models are drawn from a belief over hyper-states, and solved. The Bayes risk of an action is what it loses on average
against each model's own best action. The action of least loss is done if it loses at most `cost`. Otherwise the oracle
is asked: "should I do it?" After a no, it is asked about the next action, until it says yes or one action is left.

Paper to code: BR(a) `bayes_risk`, the choice and the question `act`, the answer `learn` and `after_confirmation`, new
models `draw_models`; the number of models that the theorem asks for is `risk_samples`.
Deviations: the paper was not at hand; this follows the survey, corrected (ERRATA 9 and 34: each model's *own* best
action is compared with, and the largest BR <= 0 is chosen). The next action to ask about has the largest BR under the
weights after the no. The oracle is believed to err with probability `error`. All models are drawn anew every `renew`
steps. The past is replayed for each of them, and past answers weigh them.
Cost: a filter step and Q of each model for each decision; `models` solutions and a replay of the past for each renewal.
Claims: risks and weights after answers by hand; weights after a renewal are those of the past answers; in
`asking-for-confirmation` it asks less and less.
"""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.bapomdp import _settings as declares
from bayesrl.bapomdp._asking import Answer, Asking, after_reply, after_step, draw_models, present_models
from bayesrl.bapomdp._models import check_counts, check_query, read_observation
from bayesrl.bapomdp.answers import after_confirmation, bayes_risk, confirmation_likelihood
from bayesrl.beliefs.pomdp.bapomdp_particle import ParticleBAPOMDP
from bayesrl.checks import Floats, Ints, integer
from bayesrl.core import Decision, Transition
from bayesrl.kernels.ties import better, first_best, sizes
from bayesrl.models.pomdp import NOTHING
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register

__all__ = ["BayesRisk", "bayes_risk"]


@register(
    "bayes-risk",
    kind="agent",
    survey="4.9",
    paper="doshi08",
    example=lambda: BayesRisk(model_prior=declares.listening(), models=3, particles=20, size=10),
    reading="The survey only, corrected (ERRATA 9 and 34); how answers weigh the models is ours.",
    evidence=(
        "tests/bapomdp/test_answers.py::test_bayes_risk_by_hand",
        "tests/bapomdp/test_oracle_agents.py::test_weights_after_answers",
        "tests/bapomdp/test_oracle_agents.py::test_new_models_are_weighted_by_past_answers",
        "tests/bapomdp/test_oracle_agents.py::test_agents_ask_less_in_time",
    ),
)
@value
class BayesRisk:
    """Do the action of least Bayes risk; if it is risky, ask whether to do it.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("asking-for-confirmation", world="tiger")
    >>> agent = b.make("bayes-risk", model_prior=world.model_prior(), models=5, size=20, particles=100)
    >>> record = b.run(agent, world, steps=20, seed=0, keep=("asked",))
    >>> bool((record.action[record.asked] >= 3).all())
    True
    """

    model_prior: declares.Prior
    models: declares.Models = 20
    cost: Annotated[float, AtLeast(0), "Largest loss, in Bayes risk, of an action that is done without asking."] = 1.0
    error: declares.Error = 0.05
    renew: declares.Renew = 50
    particles: declares.Particles = 1000
    size: declares.Size = 50

    def __post_init__(self) -> None:
        check_counts("BayesRisk", self.model_prior)

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a world without an oracle that confirms actions."""
        check_query("BayesRisk", world, "confirmation")

    def start(self) -> Asking:
        """The prior; models are drawn at the first decision."""
        return Asking(ParticleBAPOMDP(self.model_prior, self.particles))

    def act(self, mind: "Asking", observation: Any, rng: Generator) -> Decision:
        """Do what the oracle confirmed, or the action of least risk; ask about it if it is risky."""
        if mind.chosen != NOTHING:
            return Decision(mind.chosen, mind, {"asked": False, "risk": 0.0})
        drawn = present_models(self, mind, rng)
        w, q = drawn.belief.posterior(), drawn.q()
        risk = bayes_risk(q, w)
        left = np.where(np.isin(np.arange(len(risk)), mind.refused), -np.inf, risk)
        a = first_best(left, sizes(q))
        asked = bool(mind.refused) or better(-self.cost, risk[a], sizes(q))
        info = {"q": w @ q, "asked": asked, "risk": float(risk[a]), "risks": risk, "weights": w}
        return Decision(a + self.model_prior.n_actions * asked, mind._replace(drawn=drawn), info)

    def learn(self, mind: "Asking", transition: Transition, rng: Generator) -> Asking:
        """Weigh the models by the answer, or by what was seen."""
        o, yes = read_observation("BayesRisk", transition, 2)
        if yes == NOTHING:
            return after_step(mind, transition._replace(next_observation=o), rng)
        A = self.model_prior.n_actions
        a = integer("BayesRisk", "action", transition.action, 0, 2 * A - 1) % A
        drawn = mind.drawn or draw_models(self, mind, rng)
        w = after_confirmation(drawn.belief.posterior(), drawn.best(), a, yes, self.error)
        refused = mind.refused if yes else (*mind.refused, a)
        left = [other for other in range(A) if other not in refused]
        chosen = a if yes else left[0] if len(left) == 1 else NOTHING
        return after_reply(mind, drawn, w, Answer(a, yes), chosen, refused)

    def likelihood(self, best: "Ints", answer: "Answer") -> Floats:
        """The probability of an answer under models with these best actions, (N,)."""
        return confirmation_likelihood(best, answer.asked, bool(answer.said), self.error)
