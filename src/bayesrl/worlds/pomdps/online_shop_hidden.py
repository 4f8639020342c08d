"""The online shop with a hidden type of customer (survey §2.1 and §2.3; the numbers are ours, bandits/_shop.py).

The state is the kind of the customer, one of six; the first one may be any. One of eight products is suggested. Then
the customer stays with probability `loyalty`; otherwise a new one comes, who may be of any kind. Whoever is there then
buys with the rate of that kind: observation 1 and a reward of 1, or observation 0 and nothing.

The Bayes-adaptive version leaves the 48 rates unknown. The shop has asked five customers of each kind about each
product: its counts are the answers to be expected, rounded, and one more of each. How often customers change is known.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.parameters import DISCOUNT, PROBABILITY
from bayesrl.registry import register
from bayesrl.worlds.bandits.shop import purchase_rates
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp

ASKED = 5
BRACKET = (3.3470, 4.1839)
"""Of the optimal value with a loyalty of .9 at discount .95."""


@register(
    "online-shop-hidden",
    kind="world",
    survey="2.3",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_shop_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_values_of_seen_states",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def online_shop_hidden(
    loyalty: Annotated[float, PROBABILITY, "Probability that the customer stays."] = 0.9,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """Suggest products to customers of six kinds who mostly stay, and learn their kind from what they buy.

    The optimal value of the start is between 3.3470 and 4.1839. The best single product has 2.8869; if kinds were seen,
    the value would be 5.3761.

    Examples
    --------
    >>> online_shop_hidden().pomdp
    TabularPOMDP(states=6, actions=8, observations=2, gamma=0.95)
    """
    stays = number("online-shop-hidden", "loyalty", loyalty, 0.0, 1.0)
    discount = number("online-shop-hidden", "gamma", gamma, 0.0, 1.0)
    rates = purchase_rates()
    S, A = rates.shape
    rows = stays * np.eye(S) + (1.0 - stays) / S
    each = np.arange(S * A).reshape(S, A)
    observed = ObservationOutcomes(np.broadcast_to([0, 1], (S, A, 2)), each, np.full(S * A, 2), 2)
    bought = np.stack([1.0 - rates, rates], axis=-1).reshape(S * A, 2)
    pomdp = listed_pomdp(
        np.broadcast_to(np.arange(S), (S, A, S)),
        np.repeat(np.arange(S)[:, None], A, axis=1),
        rows.tolist(),
        observed,
        bought.tolist(),
        np.broadcast_to([0.0, 1.0], (S, A, S, 2)),
        discount,
        np.full(S, 1.0 / S),
    )
    return POMDPWorld(
        "online-shop-hidden",
        pomdp,
        states=tuple(f"{age}-{origin}" for age in ("young", "middle", "old") for origin in ("local", "abroad")),
        actions=tuple(f"product-{a}" for a in range(A)),
        observations=("not-bought", "bought"),
        bracket=BRACKET if (stays, discount) == (0.9, 0.95) else None,
        observation_counts=np.round(ASKED * bought) + 1.0,
    )
