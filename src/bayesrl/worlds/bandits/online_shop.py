"""The online shop as a bandit (survey §2.1, example 2.1): one suggestion to each customer, then the check-out.

Nothing is known of the customer, so a product sells at the rate of a first suggestion in shop.py, averaged over kinds
and willingness. A purchase pays the price of the product.
"""

from __future__ import annotations

from typing import Annotated

from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.bandits.priced import PricedBandit
from bayesrl.worlds.shop import Shop, shop_given


@register(
    "online-shop",
    kind="world",
    survey="2.1",
    evidence=("tests/worlds/test_shop.py::test_bandit_views_are_the_first_step_of_the_kernel",),
)
def online_shop(
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
    shop: Annotated[Shop | None, "What is sold, and how customers behave; None: the default shop."] = None,
) -> PricedBandit:
    """The online shop as a bandit: one of three products is suggested to each unknown customer.

    Examples
    --------
    >>> world = online_shop()
    >>> world.rates.round(3), world.means.round(3)  # purchase rates, and mean profits
    (array([0.263, 0.192, 0.149]), array([1.052, 1.343, 1.785]))
    """
    own = shop_given("online-shop", shop)
    return PricedBandit(own.frequency @ own.buys(), own.prices, "online-shop", gamma)
