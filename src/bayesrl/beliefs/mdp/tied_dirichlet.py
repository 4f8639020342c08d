"""Parameter tying: rows that share one unknown distribution (Poupart et al. 2006; survey §4.10).

A structured prior says which state-action pairs have the same outcome distribution (in the chain, one slip probability)
and which distributions are known. An observation in one pair then updates all pairs of its group. The class is
`DirichletMDP`, whose groups express the ties. `tied` makes such a prior for problems that declare their groups.

Deviations: if a tie makes two outcomes of a pair indistinguishable (at a wall of a grid with a tied slip), the problem
is refused, since the exact posterior would be a mixture. Cost: that of the Dirichlet belief. Claims: the belief laws on
tied and partly known groups; exact values against brute force on the tied and semi-tied chain.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs._problems import Concentration, needed
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import Shape
from bayesrl.problems import HasMDP
from bayesrl.registry import register


def _example() -> DirichletMDP:
    succ, tie = np.array([[[1, 0], [0, 1]]] * 2), np.zeros((2, 2), np.int32)
    reward = np.array([[[0.0, 2.0], [2.0, 0.0]], [[10.0, 2.0], [2.0, 10.0]]])
    start, terminal = np.array([1.0, 0.0]), np.zeros(2, np.bool_)
    outcomes = Outcomes(succ, reward, tie, np.array([2]), np.zeros(1), start, terminal)
    return tied(TabularMDP(outcomes, np.array([[0.8, 0.2]]), 0.9), 0.7)


def prior_for(problem: object, concentration: Concentration = 1.0) -> DirichletMDP:
    """The problem's own groups, with unknown probabilities."""
    return tied(needed("tied-dirichlet", problem, HasMDP), concentration)


@register(
    "tied-dirichlet",
    kind="belief",
    survey="4.10",
    paper="poupart06beetle",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/test_laws.py::test_tied_and_partly_known_groups_obey_the_laws",
        "tests/bamdp/offline/test_exact.py::test_exact_equals_brute_force",
    ),
)
def tied(
    problem: Annotated[Any, "A TabularMDP or a world, whose groups say which pairs share a distribution."],
    concentration: Annotated[ArrayLike, "Count of every outcome, or counts that broadcast to (G, K)."] = 1.0,
    known: Annotated[ArrayLike | None, Shape("(G,)"), "Which groups are known; None if no group is."] = None,
) -> DirichletMDP:
    """Dirichlet counts over distributions that several state-action pairs share.

    Examples
    --------
    After a slip in one state of the tied chain, the belief expects it in every state:

    >>> import bayesrl as b
    >>> belief = tied(b.make_world("chain-tied")).update(b.Transition(0, 0, 2.0, 0))
    >>> bool((belief.predictive_row(3, 0) == belief.predictive_row(0, 0)).all())
    True
    """
    return DirichletMDP.structured(problem, concentration, known)
