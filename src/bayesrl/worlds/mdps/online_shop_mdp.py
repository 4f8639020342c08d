"""The online shop with everything seen (survey, example 1.1): the kernel of shop.py as an MDP.

The usual prior knows what may follow what, and ties rows: a customer of one kind and willingness answers a suggestion
in the same way whatever is in the cart, except for products of its brand. That is the survey's prior knowledge, that
the same brand sells better once it is in the cart, without saying how much better.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, number
from bayesrl.parameters import DISCOUNT, value
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.shop import Shop, shop_given
from bayesrl.worlds.tabular import MDPWorld


@explain_failures
@value
class ShopWorld(MDPWorld):
    """The online shop as an MDP, with features of customers and products."""

    shop: Annotated[Shop, "What is sold, and how customers behave."] = field(default_factory=Shop, repr=False)

    registered: ClassVar[str] = "online-shop-mdp"

    @property
    def features(self) -> Floats:
        """phi(x, a), (S, A, d): see `Shop.features`."""
        return self.shop.features()


@register(
    "online-shop-mdp",
    kind="world",
    survey="1",
    evidence=(
        "tests/worlds/test_shop.py::test_the_kernel_equals_plain_loops",
        "tests/worlds/test_shop.py::test_value_iteration_equals_brute_force",
        "tests/worlds/test_shop.py::test_hidden_paths_of_carts_have_the_law_of_the_kernel",
    ),
)
def online_shop_mdp(
    shop: Annotated[Shop | None, "What is sold, and how customers behave; None: the default shop."] = None,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> ShopWorld:
    """Suggest products to one customer until the check-out, where the profit of the cart is paid.

    A state is the customer's kind, willingness and cart. The best policy earns 6.9370 a customer, random suggestions
    3.7712, and the best single product 4.9921.

    Examples
    --------
    >>> world = online_shop_mdp()
    >>> world.mdp
    TabularMDP(states=61, actions=3, gamma=1.0)
    >>> from numpy.random import default_rng
    >>> world.step(world.shop.state(0, 2, (0, 2)), 1, default_rng(4))  # the customer checks out
    WorldStep(state=60, observation=60, reward=16.0, terminated=True)
    """
    own = shop_given("online-shop-mdp", shop)
    mdp = own.mdp(number("online-shop-mdp", "gamma", gamma, 0.0, 1.0))
    names = tuple(f"product-{a}" for a in range(own.n_products))
    return ShopWorld("online-shop-mdp", mdp, Setting("structured:1", steps=1000), names, shop=own)
