"""Planted bugs of bayesrl.kernels.simulators.sparse_urn."""

MODULE = "bayesrl.kernels.simulators.sparse_urn"
PLANTED = {
    "urns of all sizes weigh alike": (
        "kept = row.among == urn.prior[2]",
        "kept = True",
        ["tests/beliefs/mdp/test_sparse_dirichlet.py::test_urns_of_unequal_sizes_do_not_share_their_weights"],
    ),
    "a sparse urn never weighs itself again": (
        ("        weigh(urn, row)\n    return k"),
        "    return k",
        ["tests/beliefs/mdp/test_sparse_dirichlet.py::test_urn_has_the_law_of_a_model_drawn_once"],
    ),
    "a support may be smaller than what was seen": (
        "in range(max(int(k0), 1), int(L) + 1)",
        "in range(1, int(L) + 1)",
        ["tests/beliefs/mdp/test_sparse_dirichlet.py::test_predictive_against_enumerated_supports[seen3]"],
    ),
    "supports of one size are one support": (
        "        + math.lgamma(k + 1.0)\n",
        "",
        ["tests/beliefs/mdp/test_sparse_dirichlet.py::test_predictive_against_enumerated_supports[seen1]"],
    ),
}
