"""The online shop as a bandit (survey §2.1): one suggestion to each customer. The numbers are in shop.py."""

from __future__ import annotations

from typing import Annotated

from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit
from bayesrl.worlds.bandits.shop import purchase_rates


@register(
    "online-shop",
    kind="world",
    survey="2.1",
    evidence=("tests/worlds/bandits/test_worlds.py::test_shops_agree_with_each_other",),
)
def online_shop(gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0) -> BernoulliBandit:
    """The online shop as a bandit: one of eight products is suggested to each unknown customer.

    Examples
    --------
    >>> online_shop().means.round(3)
    array([0.136, 0.144, 0.104, 0.144, 0.124, 0.133, 0.072, 0.118])
    """
    return BernoulliBandit(purchase_rates().mean(axis=0), "online-shop", gamma)
