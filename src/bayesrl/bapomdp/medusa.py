"""MEDUSA (Jaulmes, Pineau and Precup 2005; survey §4.9, which calls it Minerva): learn a POMDP with a state oracle.

The agent has Dirichlet counts of transitions and observations. It draws a few models from them, solves each, and lets
each filter its own belief over the state. For a decision it draws a model by its weight and does what is best in it. If
the models disagree about the value of that action, it asks the oracle which states the step went through. Then the
counts are exact, and the weights follow from them.

Paper to code: weights `_weights`, the choice and the question `act`, counts and renewal `learn`.
Deviations: the paper was not at hand; this follows the survey and the public descriptions of the method. The survey
leaves open when to ask, what is believed after an answer, and when models are renewed. Ours are: ask if the weighted
standard deviation of Q_i(b_i, a) exceeds `threshold`; an answer makes every belief certain; every `renew` answers the
model of least weight is drawn anew. A weight is the density of the model under the present counts, divided by its
density under the counts that it was drawn from: an importance weight. For models that were drawn together, it is the
likelihood of all answers to the power `rate`. A model that cannot explain an observation gets weight zero.
Cost: a filter step and Q of each model for each decision; one solution for each renewal.
Claims: the identity of weights; they are kept at a renewal; in `asking-for-state` it asks less and less.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.bapomdp import _settings as declares
from bayesrl.bapomdp._models import check_counts, check_query, model_values, read_observation, solved
from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.finite_pomdps import FinitePOMDPs
from bayesrl.checks import Floats, integer
from bayesrl.core import Decision, Transition
from bayesrl.kernels.ties import better, first_best, sizes
from bayesrl.models.pomdp import NOTHING
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors
from bayesrl.parameters import Above, AtLeast, value
from bayesrl.registry import register


class Learning(NamedTuple):
    """The mind of MEDUSA after its first decision."""

    posterior: DirichletPOMDP
    """The prior over models after all answers so far."""
    belief: FinitePOMDPs
    """The models and their filters. Its weights are not used, except that zero excludes a model."""
    solutions: tuple[AlphaVectors, ...]
    """Their solutions."""
    log_drawn: Floats
    """Log density of each model under the counts that it was drawn from, (N,)."""
    log_now: Floats
    """Log density of each model under the present counts, (N,)."""
    answers: int = 0
    """The number of answers."""

    def weights(self) -> Floats:
        """w_i, proportional to density under the present counts over density under those it was drawn from."""
        alive = self.belief.log_joint > -np.inf
        return np.asarray(special.softmax(np.where(alive, self.log_now - self.log_drawn, -np.inf)))


@register(
    "medusa",
    kind="agent",
    survey="4.9",
    paper="jaulmes05",
    example=lambda: Medusa(model_prior=declares.listening(), models=3, size=10),
    reading="The survey and public descriptions; when to ask, what answers teach and when to renew models are ours.",
    evidence=(
        "tests/bapomdp/test_medusa.py::test_weights_are_likelihoods_to_the_power_rate",
        "tests/bapomdp/test_medusa.py::test_weights_are_kept_at_a_renewal",
        "tests/bapomdp/test_medusa.py::test_an_answer_makes_every_belief_certain",
        "tests/bapomdp/test_oracle_agents.py::test_agents_ask_less_in_time",
    ),
)
@value
class Medusa:
    """Ask for the state while sampled models disagree, and do what a sampled model does.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("asking-for-state", world="tiger")
    >>> agent = b.make("medusa", model_prior=world.model_prior(), models=5, size=20)
    >>> record = b.run(agent, world, steps=20, seed=0, keep=("asked",))
    >>> record.asked.tolist() == (record.action >= 3).tolist()
    True
    """

    model_prior: declares.Prior
    models: declares.Models = 20
    threshold: Annotated[float, AtLeast(0), "Standard deviation of Q_i(b_i, a) above which a question is asked."] = 5.0
    rate: Annotated[float, Above(0), "What an answer adds to both counts."] = 1.0
    renew: Annotated[int, AtLeast(1), "Answers after which the model of least weight is drawn anew."] = 10
    size: declares.Size = 50

    def __post_init__(self) -> None:
        check_counts("Medusa", self.model_prior)

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a world without a state oracle."""
        check_query("Medusa", world, "state")

    def start(self) -> Learning | None:
        """Nothing; models are drawn at the first decision."""
        return None

    def act(self, mind: "Learning | None", observation: Any, rng: Generator) -> Decision:
        """Draw a model by its weight, do its best action, and ask if the models disagree about it."""
        mind = self._drawn(rng) if mind is None else mind
        w, q = mind.weights(), model_values(mind.belief, mind.solutions)
        a = first_best(q[rng.choice(len(w), p=w)], sizes(q))
        deviation = float(np.sqrt(w @ (q[:, a] - w @ q[:, a]) ** 2))
        asked = better(deviation, self.threshold, sizes(q))
        info = {"q": w @ q, "asked": asked, "deviation": deviation, "weights": w}
        return Decision(a + self.model_prior.n_actions * asked, mind, info)

    def learn(self, mind: "Learning | None", transition: Transition, rng: Generator) -> Learning:
        """Count what was answered, or filter what was seen."""
        mind = self._drawn(rng) if mind is None else mind
        o, s, y = read_observation("Medusa", transition, 3)
        A = self.model_prior.n_actions
        a = integer("Medusa", "action", transition.action, 0, 2 * A - 1) % A
        if s == NOTHING:
            mind = mind._replace(belief=mind.belief.update(transition._replace(action=a, next_observation=o)))
        else:
            posterior = mind.posterior.learned(s, a, y, o, self.rate)
            log_now = np.array([posterior.log_density(model) for model in mind.belief.models])
            mind = mind._replace(
                posterior=posterior, log_now=log_now, belief=mind.belief.certain(y), answers=mind.answers + 1
            )
            mind = self._renewed(mind, y, rng) if mind.answers % self.renew == 0 else mind
        return mind._replace(belief=mind.belief.restart()) if transition.ends_episode else mind

    def _drawn(self, rng: Generator) -> Learning:
        models = [self.model_prior.sample_pomdp(rng) for _ in range(self.models)]
        density = np.array([self.model_prior.log_density(model) for model in models])
        return Learning(self.model_prior, FinitePOMDPs(tuple(models)), solved(models, self.size, rng), density, density)

    def _renewed(self, mind: Learning, state: int, rng: Generator) -> Learning:
        """The model of least weight is drawn from the present counts. The others keep their weights."""
        i = first_best(-mind.weights())
        model = mind.posterior.sample_pomdp(rng)
        models = (*mind.belief.models[:i], model, *mind.belief.models[i + 1 :])
        solutions = (*mind.solutions[:i], *solved([model], self.size, rng), *mind.solutions[i + 1 :])
        log_drawn, log_now = mind.log_drawn.copy(), mind.log_now.copy()
        log_drawn[i] = log_now[i] = mind.posterior.log_density(model)
        alive = mind.belief.log_joint > -np.inf
        alive[i] = True
        belief = FinitePOMDPs(models, alive / alive.sum()).certain(state)
        return Learning(mind.posterior, belief, solutions, log_drawn, log_now, mind.answers)
