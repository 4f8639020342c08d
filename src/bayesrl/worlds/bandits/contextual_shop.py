"""The online shop with observed customers (survey §2.1): a contextual bandit. The numbers are in shop.py."""

from __future__ import annotations

from typing import Annotated

from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.bandits._contextual import GAUSSIAN, ContextualBandit
from bayesrl.worlds.bandits.shop import PRODUCTS, customers, features, purchase_rates

SPREAD = 1.5
"""Standard deviation of a weight under the default prior."""


@register(
    "contextual-shop",
    kind="world",
    survey="2.1",
    evidence=("tests/worlds/bandits/test_worlds.py::test_shops_agree_with_each_other",),
)
def contextual_shop(gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0) -> ContextualBandit:
    """The online shop in which the age and origin of a customer are observed before a product is suggested.

    Examples
    --------
    >>> world = contextual_shop()
    >>> world.n_contexts, world.n_actions
    (6, 8)
    >>> world.means.argmax(axis=1)  # the best product of each kind of customer
    array([5, 0, 7, 7, 1, 4])
    """
    d = PRODUCTS * customers().shape[1]
    belief = LogisticLaplaceArms.isotropic(d, SPREAD**-2, features(), gamma)
    return ContextualBandit(purchase_rates(), None, belief, "contextual-shop", gamma, GAUSSIAN)
