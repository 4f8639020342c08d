"""The online shop: its kernel in plain loops, its views by marginalisation, and values by brute force."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.solve import solve
from bayesrl.worlds.shop import Shop

OTHER = Shop(
    prices=[3.0, 5.0],
    brands=[1, 1],
    appeal=[[0.5, -1.0], [0.0, 0.3], [-2.0, 1.0]],
    same_brand=-0.7,
    leaves=[0.3, 0.1],
    arrives=[0.4, 0.6],
    frequency=[0.2, 0.5, 0.3],
    age=[20.0, 40.0, 70.0],
    abroad=[0.0, 1.0, 0.0],
    items=3,
)
"""Another shop: three kinds, two levels, two products of one brand that spoil each other, carts of up to three."""
SHOPS = pytest.mark.parametrize("shop", [Shop(), OTHER], ids=["default", "other"])


def plain(shop):
    """P[s, a, s'], the profit of each state, and the start, in loops over what a customer may do."""
    sizes = range(shop.items + 1)
    carts = [c for n in sizes for c in combinations_with_replacement(range(len(shop.prices)), n)]
    states = [(k, w, c) for k in range(len(shop.appeal)) for w in range(len(shop.leaves)) for c in carts]
    place = {x: s for s, x in enumerate(states)}
    end, N = len(states), len(shop.prices)
    P, profit, start = np.zeros((end + 1, N, end + 1)), np.zeros(end + 1), np.zeros(end + 1)
    P[end, :, end] = 1.0
    for (k, w, cart), s in place.items():
        profit[s] = sum(shop.prices[i] for i in cart)
        start[s] = shop.frequency[k] * shop.arrives[w] if not cart else 0.0
        for a in range(N):
            stays = 1.0 - shop.leaves[w]
            bonus = shop.same_brand if shop.brands[a] in [shop.brands[i] for i in cart] else 0.0
            adds = stays / (1.0 + np.exp(-shop.appeal[k, a] - bonus)) if len(cart) < shop.items else 0.0
            P[s, a, end] = shop.leaves[w]
            if adds:
                P[s, a, place[k, w, tuple(sorted((*cart, a)))]] += adds
            P[s, a, place[k, max(w - 1, 0), cart]] += stays - adds
    return P, profit, start


def values(P, r, choose):
    """Values of an undiscounted episode by a thousand sweeps."""
    v = np.zeros(len(r))
    for _ in range(1000):
        v = choose(r + P @ v)
    return v


@SHOPS
def test_the_kernel_equals_plain_loops(shop):
    P, profit, start = plain(shop)
    mdp = shop.mdp()
    found, R = mdp.dense()
    np.testing.assert_allclose(found, P, atol=1e-15)
    np.testing.assert_array_equal(mdp.outcomes.start, start)
    np.testing.assert_array_equal(mdp.outcomes.terminal, np.arange(len(P)) == shop.end)
    paid = np.zeros_like(P)
    paid[:-1, :, -1] = profit[:-1, None]
    np.testing.assert_array_equal(R, paid)  # nothing before the check-out, also for transitions that are impossible
    assert mdp.gamma == 1.0
    assert mdp.outcomes.ambiguous is None


@SHOPS
def test_value_iteration_equals_brute_force(shop):
    P, profit, start = plain(shop)
    r = P[:, :, -1] * profit[:, None]
    best = values(P, r, lambda q: q.max(axis=1))
    for method in ("value-iteration", "policy-iteration", "mdp-lp", "auto"):
        np.testing.assert_allclose(solve(shop.mdp(), method=method).values, best, atol=1e-9)
    assert b.make_world("online-shop-mdp", shop=shop).optimum(1000) == pytest.approx(start @ best, abs=1e-9)


def test_the_default_makes_the_choice_matter():
    shop = Shop()
    P, profit, start = plain(shop)
    r = P[:, :, -1] * profit[:, None]
    best, random = (start @ values(P, r, choose) for choose in (lambda q: q.max(axis=1), lambda q: q.mean(axis=1)))
    single = [start @ values(P, r, lambda q, a=a: q[:, a]) for a in range(3)]
    assert (round(best, 4), round(random, 4), round(max(single), 4)) == (6.9370, 3.7712, 4.9921)
    assert shop.n_states == 61
    assert len(shop.carts) == 10
    assert len(set(shop.profits.tolist())) == 10
    assert best > 1.3 * random


@SHOPS
def test_rows_are_tied_where_customers_answer_alike(shop):
    """Pairs share a row if kind, willingness, product and the brand in the cart agree, or if both carts are full."""
    group, C = shop.mdp().outcomes.group, len(shop.carts)
    alike: dict[object, set[int]] = {}
    for s, a in np.ndindex(*group.shape):
        k, w, c = s // C // shop.n_levels, s // C % shop.n_levels, shop.carts[s % C]
        own = any(shop.brands[i] == shop.brands[a] for i in c)
        key = "end" if s == shop.end else (k, w) if len(c) == shop.items else (k, w, a, own)
        alike.setdefault(key, set()).add(int(group[s, a]))
    assert all(len(groups) == 1 for groups in alike.values())
    assert len(set.union(*alike.values())) == len(alike)


def test_what_one_cart_teaches_of_another():
    """The survey's prior knowledge: after a purchase from a cart with the brand, the brand sells better from others."""
    world = b.make_world("online-shop-mdp")
    prior, at = b.DirichletMDP.structured(world), world.shop.state
    belief = prior.update(Transition(at(0, 2, (0,)), 1, 0.0, at(0, 2, (0, 1))))
    for cart, more in (((0,), True), ((1,), True), ((), False), ((2,), False)):
        row, before = belief.predictive_row(at(0, 2, cart), 1), prior.predictive_row(at(0, 2, cart), 1)
        assert (row[0] > before[0]) == more


@SHOPS
def test_hidden_paths_of_carts_have_the_law_of_the_kernel(shop):
    """The law of the carts under all sequences of three suggestions, by the filter and by summing the kernel: 1e-12."""
    P, _, start = plain(shop)
    C, hidden = len(shop.carts), b.make_world("online-shop-hidden", shop=shop).pomdp
    T, O, _ = hidden.dense()
    seen = np.append(np.arange(len(P) - 1) % C, C)
    for suggestions in product(range(len(shop.prices)), repeat=3):
        kernel, view = {(): start}, {(): hidden.start}
        for a in suggestions:
            kernel = {
                (*path, o): np.where(seen == o, p @ P[:, a], 0.0) for path, p in kernel.items() for o in range(C + 1)
            }
            view = {(*path, o): (p @ T[:, a]) * O[:, a, o] for path, p in view.items() for o in range(C + 1)}
        np.testing.assert_allclose([p.sum() for p in view.values()], [p.sum() for p in kernel.values()], atol=1e-12)
        assert sum(p.sum() for p in view.values()) == pytest.approx(1.0, abs=1e-12)


@SHOPS
def test_bandit_views_are_the_first_step_of_the_kernel(shop):
    """One step from the start and then the check-out: purchases at the kernel's rates, paid by the cart's profit."""
    P, profit, start = plain(shop)
    N, kinds = len(shop.prices), len(shop.appeal)
    of_kind = np.array([np.where(np.arange(len(P)) // (len(P) // kinds) == k, start, 0.0) for k in range(kinds)])
    first = of_kind @ np.einsum("say,y->sa", P, np.where(np.arange(len(P)) < shop.end, profit, 0.0))  # (kinds, N)
    one = b.make_world("online-shop", shop=shop)
    np.testing.assert_allclose(one.means, first.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose([one.gap(None, a) for a in range(N)], one.means.max() - one.means, atol=1e-12)
    several = b.make_world("online-shop-several", shop=shop)
    np.testing.assert_allclose(several.means, one.means)
    seen = b.make_world("contextual-shop", shop=shop)
    assert seen.n_contexts == kinds
    np.testing.assert_allclose(seen.frequency @ seen.means, one.means, atol=1e-12)
    np.testing.assert_allclose(seen.means, first / shop.frequency[:, None], atol=1e-12)


def test_paid_profits_have_the_means_of_the_views():
    """False alarm 1e-4 for each arm: 20,000 purchases, within four standard errors."""
    rng, n = default_rng(5), 20_000
    one, several = b.make_world("online-shop"), b.make_world("online-shop-several")
    for a in range(3):
        paid = np.array([one.step(None, a, rng).reward for _ in range(n)])
        assert set(np.unique(paid)) == {0.0, one.prices[a]}
        assert abs(paid.mean() - one.means[a]) < 4.0 * paid.std() / np.sqrt(n)
    paid = np.array([several.step(None, [0, 2], rng).reward for _ in range(n)])
    assert set(np.unique(paid)) == {0.0, 4.0, 12.0, 16.0}
    assert abs(paid.mean() - several.means[[0, 2]].sum()) < 4.0 * paid.std() / np.sqrt(n)


def bracket(shop, steps):
    """Bounds of the best profit where kind and willingness are hidden: all histories of that many steps.

    A belief depends on the products that were refused with each cart, whatever their order, so histories are few.
    After the last step the customer leaves with the cart, or with the dearest one.
    """
    dearest = shop.profits.max()

    def follow(upper):
        kept: dict[object, float] = {}

        def value(key, p, cart, left):
            if len(cart) == shop.items or left == 0:
                return p.sum() * (dearest if upper and len(cart) < shop.items else shop.prices[list(cart)].sum())
            if key not in kept:
                each = []
                for a in range(shop.n_products):
                    own = int(shop.brands[a] in shop.brands[list(cart)])
                    adds, on, _ = np.moveaxis(p[..., None] * shop.answers[:, :, a, own], -1, 0)
                    refused = list(key[-1])
                    refused[a] += 1
                    fallen = np.column_stack([on[:, 0] + on[:, 1], on[:, 2:], 0.0 * on[:, 0]])
                    next_ = value((*key, a, (0,) * shop.n_products), adds, (*cart, a), left - 1)
                    each.append(next_ + value((*key[:-1], tuple(refused)), fallen, cart, left - 1))
                kept[key] = (p * shop.leaves).sum() * shop.prices[list(cart)].sum() + max(each)
            return kept[key]

        return value(((0,) * shop.n_products,), np.outer(shop.frequency, shop.arrives), (), steps)

    return follow(False), follow(True)


def test_the_bracket_of_the_hidden_shop():
    """Histories of nine steps hold the declared bracket, which 22 steps give."""
    low, high = bracket(Shop(), 9)
    declared = b.make_world("online-shop-hidden").value
    assert low < declared[0] < declared[1] < high
    assert declared[1] - declared[0] < 1e-5
    assert high - low < 0.05


@SHOPS
def test_features_of_customers_and_products(shop):
    phi, C, N = shop.features(), len(shop.carts), shop.n_products
    assert phi.shape == (shop.n_states, N, 4 * N + 1)
    assert not phi[-1].any()
    age = (shop.age - shop.age.mean()) / shop.age.std()
    for s, a in product(range(shop.end), range(N)):
        cart = list(shop.carts[s % C])
        mean = np.mean(shop.prices[cart]) if cart else 0.0
        expected = np.zeros(4 * N + 1)
        expected[4 * a : 4 * a + 4] = (
            1.0, age[s // C // shop.n_levels], len(cart) / shop.items, mean / shop.prices.mean(),
        )  # fmt: skip
        expected[-1] = any(shop.brands[i] == shop.brands[a] for i in cart)
        np.testing.assert_allclose(phi[s, a], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"prices": [1.0, 0.0, 2.0]}, "'prices' must be greater than 0"),
        ({"brands": [0, 1]}, "'brands' must be an array of shape (3,)"),
        ({"brands": [0, 0.5, 1]}, "'brands' must be whole numbers"),
        ({"appeal": [[0.0, 1.0]]}, "'appeal' must be of shape (kinds, 3)"),
        ({"leaves": [0.0, 0.5, 0.5]}, "'leaves' must be above 0 at each level"),
        ({"leaves": [0.5, 0.5]}, "'arrives' must be of shape (2,)"),
        ({"arrives": [0.5, 0.5, 0.5]}, "'arrives' must be rows that sum to 1"),
        ({"frequency": [1.0]}, "'frequency' must be of shape (2,)"),
        ({"age": [1.0, np.nan]}, "'age' must be finite"),
        ({"items": 0}, "'items' must be a whole number of at least 1"),
    ],
)
def test_a_wrong_shop_is_refused(wrong, sentence):
    with pytest.raises(InvalidArgument) as refused:
        Shop(**wrong)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "view", ["online-shop-mdp", "online-shop-hidden", "online-shop", "online-shop-several", "contextual-shop"]
)
def test_a_view_of_no_shop_is_refused(view):
    with pytest.raises(InvalidArgument, match="'shop' must be a Shop or None"):
        b.make_world(view, shop="mine")
