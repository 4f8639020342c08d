"""The online shop with observed customers (survey §2.1): a contextual bandit that pays profits.

The kind of a customer, which fixes age and origin, is observed before a product is suggested. The usual belief is about
clicks: each product has its own weights for a constant, the age and the origin. With two kinds the weights of age and
origin cannot be told apart, and need not be.
"""

from __future__ import annotations

from typing import Annotated

from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.bandits.priced import PricedContextual
from bayesrl.worlds.shop import Shop, shop_given

SPREAD = 1.5
"""Standard deviation of a weight under the default prior."""


@register(
    "contextual-shop",
    kind="world",
    survey="2.1",
    evidence=("tests/worlds/test_shop.py::test_bandit_views_are_the_first_step_of_the_kernel",),
)
def contextual_shop(
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
    shop: Annotated[Shop | None, "What is sold, and how customers behave; None: the default shop."] = None,
) -> PricedContextual:
    """The online shop in which the age and origin of a customer are observed before a product is suggested.

    Examples
    --------
    >>> world = contextual_shop()
    >>> world.n_contexts, world.n_actions
    (2, 3)
    >>> world.means.argmax(axis=1)  # the best product of each kind of customer
    array([1, 2])
    """
    own = shop_given("contextual-shop", shop)
    features = own.product_features()
    belief = LogisticLaplaceArms.isotropic(features.shape[2], SPREAD**-2, features, gamma)
    return PricedContextual(own.buys(), own.prices, belief, own.frequency, "contextual-shop", gamma)
