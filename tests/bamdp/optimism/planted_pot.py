"""Planted bugs of bayesrl.bamdp.optimism.pot."""

MODULE = "bayesrl.bamdp.optimism.pot"
PLANTED = {
    "POT's deviation is a variance": (
        "np.sqrt(belief.row_variance())",
        "belief.row_variance()",
        ["tests/bamdp/optimism/test_optimism.py::test_pot_equals_the_listed_extended_mdp[tied]"],
    ),
    "POT's share may exceed one": (
        "np.minimum(1.0, above)",
        "above",
        ["tests/bamdp/optimism/test_optimism.py::test_pot_lies_between_the_mean_model_and_bolt[tied]"],
    ),
}
