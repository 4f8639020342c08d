"""The online shop with several suggestions (survey §3.3): a combinatorial bandit that pays the sum of profits.

Each suggested product is bought at the rate of a first suggestion in shop.py, averaged over customers. Purchases are
independent of each other, as in the survey's example; a customer of the shop has a kind, which would tie them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from bayesrl.checks import integer
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.bandits.priced import PricedSeveral
from bayesrl.worlds.shop import Shop, shop_given


@register(
    "online-shop-several",
    kind="world",
    survey="3.3",
    evidence=("tests/worlds/test_shop.py::test_bandit_views_are_the_first_step_of_the_kernel",),
)
def online_shop_several(
    suggestions: Annotated[int, AtLeast(1), "Number of products that are suggested at once, M."] = 2,
    feedback: Annotated[
        Literal["semi", "full"], "What is observed: the profit of each product, or only their sum."
    ] = "semi",
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
    shop: Annotated[Shop | None, "What is sold, and how customers behave; None: the default shop."] = None,
) -> PricedSeveral:
    """The online shop with several suggestions: the customer may buy each of them.

    Examples
    --------
    >>> world = online_shop_several()
    >>> round(float(world.gap(None, [1, 2])), 3), round(float(world.gap(None, [0, 1])), 3)
    (0.0, 0.733)
    """
    own = shop_given("online-shop-several", shop)
    M = integer("online-shop-several", "suggestions", suggestions, 1, own.n_products)
    return PricedSeveral(own.frequency @ own.buys(), own.prices, M, feedback, "online-shop-several", gamma)
