"""The online shop with several suggestions (survey §3.3): a combinatorial bandit. The numbers are in shop.py."""

from __future__ import annotations

from typing import Annotated, Literal

from bayesrl.checks import integer
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit
from bayesrl.worlds.bandits.shop import PRODUCTS, purchase_rates


@register(
    "online-shop-several",
    kind="world",
    survey="3.3",
    evidence=("tests/worlds/bandits/test_worlds.py::test_shops_agree_with_each_other",),
)
def online_shop_several(
    suggestions: Annotated[int, AtLeast(1), "Number of products that are suggested at once, M; at most 8."] = 3,
    feedback: Annotated[
        Literal["semi", "full"], "What is observed: whether each product was bought, or only how many were."
    ] = "semi",
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> CombinatorialBandit:
    """The online shop with several suggestions: the customer may buy each of them.

    Purchases of different products are independent, so the mean reward of a set is the sum of its products' rates.

    Examples
    --------
    >>> world = online_shop_several(suggestions=2)
    >>> round(float(world.gap(None, [1, 3])), 3), round(float(world.gap(None, [1, 6])), 3)
    (0.0, 0.073)
    """
    M = integer("online-shop-several", "suggestions", suggestions, 1, PRODUCTS)
    return CombinatorialBandit(purchase_rates().mean(axis=0), M, feedback, "online-shop-several", gamma)
