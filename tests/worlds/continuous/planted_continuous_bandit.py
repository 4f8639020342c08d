"""Planted bugs of bayesrl.worlds.continuous.continuous_bandit."""

MODULE = "bayesrl.worlds.continuous.continuous_bandit"
PLANTED = {
    "weights of a drawn function are its values": (
        "@ z / np.sqrt(values[kept])",
        "@ z * np.sqrt(values[kept])",
        ["tests/worlds/continuous/test_continuous_bandit.py::test_functions_have_the_covariance_of_the_process"],
    ),
}
