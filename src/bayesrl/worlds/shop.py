"""The online shop (survey, example 1.1): one model of a customer, of which all shops of the library are views.

A customer has a kind for good, a willingness to go on, and a cart. The shop suggests one product in each step. Then the
customer

    checks out   with probability leaves[w]; the episode ends, and the profit of the cart is paid
    adds it      else, with log-odds appeal[kind, product], plus `same_brand` if the cart has one of its brand
    goes on      else; the willingness falls by one level until it is 0

A full cart takes no more: the customer goes on or checks out. Nothing is paid before the check-out. There is no
discount, and every policy ends, since every step may be the last one.

    online-shop-mdp      kind, willingness and cart are seen: an MDP
    online-shop-hidden   only the cart and the check-out are seen: a POMDP
    online-shop          one step, then the check-out: a bandit that pays the price of what was bought
    online-shop-several  the same with several suggestions: a combinatorial bandit
    contextual-shop      the same with one, and the kind is seen first: a contextual bandit

The survey gives no numbers. Ours are small, so that everything can be computed exactly, and make the choice matter: the
best policy earns 1.84 times what random suggestions earn. No two carts have the same profit.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.checks import Floats, Ints, frozen, indices, number, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import PROBABILITY, Above, AtLeast, Shape, value

Cart = tuple[int, ...]
"""The products in a cart, in ascending order."""
ADDS, GOES_ON, CHECKS_OUT = 0, 1, 2
"""The outcomes of a step, by what the customer does."""


def _default(numbers: ArrayLike) -> Any:
    return field(default_factory=lambda: frozen(np.array(numbers)))


@value
class Shop:
    """The products of a shop and the behaviour of its customers.

    Examples
    --------
    >>> shop = Shop()
    >>> shop.n_states, shop.carts[-1], float(shop.profits[-1])
    (61, (2, 2), 24.0)
    >>> shop.buys().round(3)  # in the first step: kinds by products
    array([[0.445, 0.287, 0.046],
           [0.081, 0.097, 0.251]])
    """

    prices: Annotated[Floats, Above(0), Shape("(N,)"), "Profit of each product."] = _default((4.0, 7.0, 12.0))
    brands: Annotated[Ints, Shape("(N,)"), "The brand of each product."] = _default((0, 0, 1))
    appeal: Annotated[
        Floats, Shape("(kinds, N)"), "Log-odds that a customer of a kind who stays adds a suggested product."
    ] = _default(((0.2, -0.6, -2.8), (-2.2, -2.0, -0.8)))
    same_brand: Annotated[float, "Added to the log-odds if the cart has a product of the brand."] = 1.0
    leaves: Annotated[
        Floats, PROBABILITY, Shape("(levels,)"), "Probability of the check-out at each level of willingness."
    ] = _default((0.45, 0.2, 0.08))
    arrives: Annotated[Floats, Shape("(levels,)"), "Probability of each level when a customer comes."] = _default(
        (0.2, 0.3, 0.5)
    )
    frequency: Annotated[Floats, Shape("(kinds,)"), "Probability of each kind."] = _default((0.5, 0.5))
    age: Annotated[Floats, Shape("(kinds,)"), "Age of each kind, in years."] = _default((25.0, 60.0))
    abroad: Annotated[Floats, Shape("(kinds,)"), "1 for a kind that comes from abroad, else 0."] = _default((0.0, 1.0))
    items: Annotated[int, AtLeast(1), "The most products in a cart."] = 2

    def __post_init__(self) -> None:
        owner, N = "Shop", len(self.prices)
        brands = indices(owner, "brands", self.brands, (N,), 2**31 - 1)
        object.__setattr__(self, "brands", brands)
        if self.appeal.ndim != 2 or self.appeal.shape[1] != N:
            raise InvalidArgument(owner, "appeal", f"of shape (kinds, {N})", self.appeal)
        kinds, levels = len(self.appeal), len(self.leaves)
        for name, n in (("frequency", kinds), ("age", kinds), ("abroad", kinds), ("arrives", levels)):
            if getattr(self, name).shape != (n,):
                raise InvalidArgument(owner, name, f"of shape ({n},)", getattr(self, name))
        for name in ("frequency", "arrives"):
            given = getattr(self, name)
            object.__setattr__(self, name, rows_sum_to_one(owner, name, given, given))
        if not self.leaves.min(initial=1.0) > 0.0:
            hint = "Otherwise a customer might stay without end."
            raise InvalidArgument(owner, "leaves", "above 0 at each level", self.leaves, hint)
        object.__setattr__(self, "same_brand", number(owner, "same_brand", self.same_brand))

    # Counting --------------------------------------------------------------------------------------------------------

    @property
    def n_products(self) -> int:
        """N."""
        return len(self.prices)

    @property
    def n_kinds(self) -> int:
        """The number of kinds of customers."""
        return len(self.appeal)

    @property
    def n_levels(self) -> int:
        """The number of levels of willingness; the highest is the most willing."""
        return len(self.leaves)

    @cached_property
    def carts(self) -> tuple[Cart, ...]:
        """All carts, the empty one first."""
        sizes = range(self.items + 1)
        return tuple(c for n in sizes for c in combinations_with_replacement(range(self.n_products), n))

    @cached_property
    def profits(self) -> Floats:
        """The profit of each cart at the check-out, (C,)."""
        return frozen(np.array([self.prices[list(cart)].sum() for cart in self.carts]))

    @property
    def n_states(self) -> int:
        """Kinds times levels times carts, and the end."""
        return self.n_kinds * self.n_levels * len(self.carts) + 1

    @property
    def end(self) -> int:
        """The state after the check-out."""
        return self.n_states - 1

    def state(self, kind: int, willingness: int, cart: Cart = ()) -> int:
        """The number of a state."""
        return (kind * self.n_levels + willingness) * len(self.carts) + self.carts.index(tuple(sorted(cart)))

    def state_names(self) -> tuple[str, ...]:
        """A name for each state: kind, willingness and the products in the cart."""
        carts = ["+".join(map(str, cart)) or "empty" for cart in self.carts]
        named = [f"kind{k}-will{w}-{c}" for k in range(self.n_kinds) for w in range(self.n_levels) for c in carts]
        return (*named, "checked-out")

    # The kernel ------------------------------------------------------------------------------------------------------

    @cached_property
    def answers(self) -> Floats:
        """P(adds, goes on, checks out) of a kind at a level, to a product, without and with its brand in the cart.

        Shape (kinds, levels, N, 2, 3).
        """
        odds = self.appeal[:, None, :, None] + self.same_brand * np.array([0.0, 1.0])
        leaves = self.leaves[None, :, None, None]
        adds = (1.0 - leaves) * special.expit(odds)
        goes_on = (1.0 - leaves) * special.expit(-odds)
        return frozen(np.stack([adds, goes_on, np.broadcast_to(leaves, adds.shape)], axis=-1))

    def mdp(self, gamma: float = 1.0) -> TabularMDP:
        """The kernel P(x' | x, a), with the profit at the check-out.

        Pairs share a row if the customer has the same kind and willingness, and the product is the same and its brand
        is or is not in the cart: an answer tells something about all carts. A full cart has a row for each kind and
        level.
        """
        K, L, N, C = self.n_kinds, self.n_levels, self.n_products, len(self.carts)
        place = {cart: c for c, cart in enumerate(self.carts)}
        succ, reward = np.full((self.n_states, N, 3), self.end), np.zeros((self.n_states, N, 3))
        group = np.zeros((self.n_states, N), np.int64)
        rows: dict[tuple[int, ...], int] = {}
        prob: list[list[float]] = []

        def row(key: tuple[int, ...], p: list[float]) -> int:
            if key not in rows:
                rows[key] = len(prob)
                prob.append(p)
            return rows[key]

        for k, w, c in np.ndindex(K, L, C):
            s, cart = (k * L + w) * C + c, self.carts[c]
            on = (k * L + max(w - 1, 0)) * C + c
            for a in range(N):
                if len(cart) < self.items:
                    own = int(self.brands[a] in self.brands[list(cart)])
                    succ[s, a, ADDS] = (k * L + w) * C + place[tuple(sorted((*cart, a)))]
                    succ[s, a, GOES_ON] = on
                    reward[s, a, CHECKS_OUT] = self.profits[c]
                    group[s, a] = row((k, w, a, own), self.answers[k, w, a, own].tolist())
                else:
                    succ[s, a, 0] = on
                    reward[s, a, 1] = self.profits[c]
                    group[s, a] = row((k, w), [1.0 - float(self.leaves[w]), float(self.leaves[w]), 0.0])
        group[self.end] = row((), [1.0, 0.0, 0.0])
        size = np.array([3 if len(key) == 4 else 2 if key else 1 for key in rows])
        otherwise = np.zeros((self.n_states, 1, 1))
        terminal = np.arange(self.n_states) == self.end
        outcomes = Outcomes(succ, reward, group, size, otherwise, self.start, terminal)
        return TabularMDP(outcomes, np.array(prob), gamma)

    @cached_property
    def start(self) -> Floats:
        """The distribution of the first state, (S,): any kind and level, with an empty cart."""
        first = np.zeros(self.n_states)
        first[: -1 : len(self.carts)] = np.outer(self.frequency, self.arrives).ravel()
        return frozen(first)

    # Views -----------------------------------------------------------------------------------------------------------

    def buys(self) -> Floats:
        """Probability that a new customer of each kind adds a product that is suggested first, (kinds, N)."""
        return frozen(np.einsum("w,kwa->ka", self.arrives, self.answers[:, :, :, 0, ADDS]))

    def features(self) -> Floats:
        """phi(x, a), (S, N, d): what a policy that is linear in features sees of a state and a product.

        First, for each product, weights of its own for a constant, the age, the number of items in the cart and their
        mean price; they are 0 for other products. Last, whether the cart has a product of the same brand. Ages and
        prices are scaled to about 1. The end has no features.
        """
        K, L, N, C = self.n_kinds, self.n_levels, self.n_products, len(self.carts)
        phi = np.zeros((K, L, C, N, 4 * N + 1))
        count = np.array([len(cart) for cart in self.carts])
        mean_price = self.profits / np.maximum(count, 1) / self.prices.mean()
        age = self.customers()[:, 1]
        for a in range(N):
            own = phi[:, :, :, a, 4 * a : 4 * a + 4]
            own[..., 0] = 1.0
            own[..., 1] = age[:, None, None]
            own[..., 2] = count / self.items
            own[..., 3] = mean_price
            phi[:, :, :, a, -1] = [self.brands[a] in self.brands[list(cart)] for cart in self.carts]
        return frozen(np.concatenate([phi.reshape(-1, N, 4 * N + 1), np.zeros((1, N, 4 * N + 1))]))

    def customers(self) -> Floats:
        """The features of a kind before it sees a product, (kinds, 3): a one, the scaled age, and its origin."""
        age = (self.age - self.age.mean()) / max(float(self.age.std()), 1.0)
        return frozen(np.column_stack([np.ones(self.n_kinds), age, 2.0 * self.abroad - 1.0]))

    def product_features(self) -> Floats:
        """Features (kinds, N, 3 N) for contextual bandits: each product has its own weights for `customers`."""
        x, N = self.customers(), self.n_products
        table = np.zeros((self.n_kinds, N, N, x.shape[1]))
        table[:, np.arange(N), np.arange(N)] = x[:, None, :]
        return frozen(table.reshape(self.n_kinds, N, -1))


def shop_given(owner: str, shop: Shop | None) -> Shop:
    """The shop of a view: the given one, or the default."""
    if not isinstance(shop, Shop | None):
        raise InvalidArgument(owner, "shop", "a Shop or None", shop)
    return Shop() if shop is None else shop
