"""The online shop with several suggestions (survey §3.3): the customer buys each or leaves it. Numbers in shop.py."""

from __future__ import annotations

from bayesrl.checks import integer
from bayesrl.registry import register
from bayesrl.worlds.bandits._shop import PRODUCTS, purchase_rates
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit


@register(
    "online-shop-several",
    kind="world",
    survey="3.3",
    evidence=("tests/bandits/test_worlds.py::test_shops_agree_with_each_other",),
)
def online_shop_several(suggestions: int = 3, feedback: str = "semi", gamma: float = 1.0) -> CombinatorialBandit:
    """The online shop with several suggestions: the customer buys each product or leaves it.

    Purchases of different products are independent here, so that sets earn the sum of their products' rates.
    """
    M = integer("online-shop-several", "suggestions", suggestions, 1, PRODUCTS)
    return CombinatorialBandit(purchase_rates().mean(axis=0), M, feedback, "online-shop-several", gamma)
