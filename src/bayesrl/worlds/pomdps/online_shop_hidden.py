"""The online shop with hidden customers (survey §2.3, example 2.2): only the cart and the check-out are seen.

The state is that of online_shop_mdp.py: kind, willingness and cart. The observation is the cart, or that the customer
has checked out. Nothing is seen of kind and willingness, which the shop infers from what the customer takes and leaves.

The Bayes-adaptive version leaves all answers of customers unknown. The shop has asked five customers of each kind and
willingness about each product: its counts are the answers to be expected, rounded, and one more of each. Rows are tied
as in the MDP.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import observations_by_state, padded
from bayesrl.worlds.shop import Shop, shop_given

ASKED = 5
BRACKET = (5.111176, 5.111178)
"""Of the optimal profit of a customer, by all histories of 22 steps (`bracket` in tests/worlds/test_shop.py)."""


@register(
    "online-shop-hidden",
    kind="world",
    survey="2.3",
    evidence=(
        "tests/worlds/test_shop.py::test_hidden_paths_of_carts_have_the_law_of_the_kernel",
        "tests/worlds/test_shop.py::test_the_bracket_of_the_hidden_shop",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def online_shop_hidden(
    shop: Annotated[Shop | None, "What is sold, and how customers behave; None: the default shop."] = None,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> POMDPWorld:
    """Suggest products to a customer of unknown kind and willingness until the check-out, which pays the cart's profit.

    The best policy earns 5.1112 a customer, the best single product 4.9921. If all were seen it would be 6.9370.

    Examples
    --------
    >>> online_shop_hidden().pomdp
    TabularPOMDP(states=61, actions=3, observations=11, gamma=1.0)
    """
    own = shop_given("online-shop-hidden", shop)
    mdp = own.mdp(number("online-shop-hidden", "gamma", gamma, 0.0, 1.0))
    C = len(own.carts)
    seen = np.append(np.arange(own.end) % C, C)
    observed, rows = observations_by_state(np.eye(C + 1)[seen], own.n_products)
    outcomes = mdp.outcomes
    unknown = (outcomes.size > 1)[:, None] & outcomes.valid
    return POMDPWorld(
        "online-shop-hidden",
        TabularPOMDP(mdp, observed, padded(rows), mdp.dense()[1]),
        states=own.state_names(),
        actions=tuple(f"product-{a}" for a in range(own.n_products)),
        observations=(*("+".join(map(str, cart)) or "empty" for cart in own.carts), "checked-out"),
        bracket=BRACKET if own == Shop() and gamma == 1.0 else None,
        transition_counts=np.where(unknown, np.round(ASKED * mdp.prob) + 1.0, 0.0),
    )
