"""Planted bugs of bayesrl.worlds.pomdps._tables."""

MODULE = "bayesrl.worlds.pomdps._tables"
PLANTED = {
    "the customer before the step buys": (
        "paid = mean_over_observations(R, seen)",
        "paid = np.einsum('sayo,sao->say', R, seen)",
        ["tests/worlds/pomdps/test_pomdp_tables.py::test_a_listed_pomdp_is_the_dense_one[4]"],
    ),
}
