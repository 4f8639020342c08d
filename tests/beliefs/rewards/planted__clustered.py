"""Planted bugs of bayesrl.beliefs.rewards._clustered."""

MODULE = "bayesrl.beliefs.rewards._clustered"
PLANTED = {
    "an observation stays in its cluster's size": (
        "                size[z[i]] -= 1.0\n",
        "                size[z[i]] -= 0.0\n",
        ["tests/beliefs/rewards/test_bnirl.py::test_concentration_pools_and_separates"],
    ),
    "a new cluster forgets the concentration": (
        "seats, new_one = c, True",
        "seats, new_one = 1.0, True",
        ["tests/beliefs/rewards/test_bnirl.py::test_draws_follow_the_enumerated_partitions[4-0.5-candidates0]"],
    ),
    "goals are not summed out": (
        "weight[j] += seats * p[j, g] * L[i, g]",
        "weight[j] += seats * L[i, g] / G",
        ["tests/beliefs/rewards/test_bnirl.py::test_draws_follow_the_enumerated_partitions[4-0.5-candidates0]"],
    ),
}
