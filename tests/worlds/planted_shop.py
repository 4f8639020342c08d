"""Planted bugs of bayesrl.worlds.shop."""

MODULE = "bayesrl.worlds.shop"
KERNEL = "tests/worlds/test_shop.py::test_the_kernel_equals_plain_loops"
PLANTED = {
    "the willingness falls although the product was added": (
        "succ[s, a, ADDS] = (k * L + w) * C + place",
        "succ[s, a, ADDS] = (k * L + max(w - 1, 0)) * C + place",
        [KERNEL],
    ),
    "the willingness stays although the product was not added": (
        "on = (k * L + max(w - 1, 0)) * C + c",
        "on = (k * L + w) * C + c",
        [KERNEL],
    ),
    "the profit is that of the cart with the suggested product": (
        "reward[s, a, CHECKS_OUT] = self.profits[c]",
        "reward[s, a, CHECKS_OUT] = self.profits[place[tuple(sorted((*cart, a)))]]",
        [KERNEL],
    ),
    "the brand is that of the product's neighbour": (
        "own = int(self.brands[a] in self.brands[list(cart)])",
        "own = int(self.brands[a - 1] in self.brands[list(cart)])",
        [KERNEL],
    ),
    "the start has no frequency of kinds": (
        "np.outer(self.frequency, self.arrives)",
        "np.outer(np.full(self.n_kinds, 1.0 / self.n_kinds), self.arrives)",
        [KERNEL],
    ),
    "rows are tied across kinds": (
        "group[s, a] = row((k, w, a, own),",
        "group[s, a] = row((0, w, a, own),",
        [KERNEL, "tests/worlds/test_shop.py::test_rows_are_tied_where_customers_answer_alike"],
    ),
    "rows are not tied over carts": (
        "group[s, a] = row((k, w, a, own), self",
        "group[s, a] = row((k, w, a, 10 * c + own), self",
        ["tests/worlds/test_shop.py::test_rows_are_tied_where_customers_answer_alike"],
    ),
    "a full cart takes one more": (
        "if len(cart) < self.items:",
        "if len(cart) < self.items and cart != (0,):",
        [KERNEL],
    ),
    "whoever goes on pays": (
        "reward[s, a, CHECKS_OUT] = self.profits[c]",
        "reward[s, a, GOES_ON:] = self.profits[c]",
        [KERNEL],
    ),
    "a first suggestion is made to the most willing": (
        'np.einsum("w,kwa->ka", self.arrives, self.answers[:, :, :, 0, ADDS])',
        "self.answers[:, -1, :, 0, ADDS]",
        ["tests/worlds/test_shop.py::test_bandit_views_are_the_first_step_of_the_kernel"],
    ),
    "features count all products of the shop": (
        "own[..., 2] = count / self.items",
        "own[..., 2] = count / self.n_products",
        ["tests/worlds/test_shop.py::test_features_of_customers_and_products"],
    ),
    "the mean price in the cart is its profit": (
        "mean_price = self.profits / np.maximum(count, 1) / self.prices.mean()",
        "mean_price = self.profits / self.prices.mean()",
        ["tests/worlds/test_shop.py::test_features_of_customers_and_products"],
    ),
    "customers may stay for ever": (
        "if not self.leaves.min(initial=1.0) > 0.0:",
        "if not self.leaves.min(initial=1.0) >= 0.0:",
        ["tests/worlds/test_shop.py::test_a_wrong_shop_is_refused"],
    ),
}
