"""Planted bugs of bayesrl.worlds.pomdps.online_shop_hidden."""

MODULE = "bayesrl.worlds.pomdps.online_shop_hidden"
PATHS = "tests/worlds/test_shop.py::test_hidden_paths_of_carts_have_the_law_of_the_kernel"
PLANTED = {
    "the cart of another state is seen": (
        "np.append(np.arange(own.end) % C, C)",
        "np.append((np.arange(own.end) + 1) % C, C)",
        [PATHS],
    ),
    "the kind is seen with the cart": (
        "np.append(np.arange(own.end) % C, C)",
        "np.append(np.arange(own.end) // C, C)",
        [PATHS],
    ),
    "nobody was asked": (
        "np.round(ASKED * mdp.prob) + 1.0",
        "np.ones_like(mdp.prob)",
        ["tests/worlds/pomdps/test_pomdp_worlds.py::test_shop_by_hand"],
    ),
    "the bracket is that of any shop": (
        "bracket=BRACKET if own == Shop() and gamma == 1.0 else None",
        "bracket=BRACKET if gamma == 1.0 else None",
        ["tests/worlds/pomdps/test_pomdp_tables.py::test_brackets_are_declared_for_what_was_solved"],
    ),
}
