"""Parameters that several agents of this chapter declare, each said once, and a small prior for their examples."""

from typing import Annotated, Any

from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.parameters import PROBABILITY, AtLeast

Prior = Annotated[Any, "Prior counts, a DirichletPOMDP; a world with a hidden state has it as model_prior()."]
Models = Annotated[int, AtLeast(1), "Number of models drawn."]
Size = Annotated[int, AtLeast(1), "Most beliefs of point-based value iteration, which solves each model."]
Particles = Annotated[int, AtLeast(1), "Hyper-states of the belief that models are drawn from."]
Renew = Annotated[int, AtLeast(1), "Steps after which all models are drawn anew."]
Error = Annotated[float, PROBABILITY, "Probability that the oracle errs, as the agent believes."]


def listening() -> DirichletPOMDP:
    """Two states that stay, and two actions that show them with unknown accuracy; each pays in one of them."""
    stay = [[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2]
    counts = [[[5.0, 3.0], [2.0, 2.0]], [[3.0, 5.0], [2.0, 2.0]]]
    known = [[True, True]] * 2
    return DirichletPOMDP.from_dense(stay, counts, [[1.0, 0.0], [0.0, 1.0]], 0.9, known_transitions=known)
