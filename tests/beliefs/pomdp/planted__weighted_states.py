"""Planted bugs of bayesrl.beliefs.pomdp._weighted_states."""

MODULE = "bayesrl.beliefs.pomdp._weighted_states"
PLANTED = {
    "resampling keeps the weights": (
        "return Sample(states, frozen(np.full(n, 1.0 / n)))",
        "return Sample(states, frozen(old.weights[chosen] / old.weights[chosen].sum()))",
        [
            "tests/beliefs/pomdp/test_pomdp_particles.py::test_the_error_falls_as_the_root_of_the_particles",
            "tests/beliefs/pomdp/test_pomdp_particles.py::test_worlds_without_a_table",
        ],
    ),
    "a rescue counts the draws of its last part only": (
        "draws + np.array(new, np.int64)",
        "np.array(new, np.int64)",
        ["tests/beliefs/pomdp/test_particles_by_hand.py::test_the_evidence_of_a_rescue_is_unbiased"],
    ),
    "a rescue divides by the draw of the second": (
        "1.0 / (numbers[1] - 1)",
        "1.0 / numbers[1]",
        ["tests/beliefs/pomdp/test_particles_by_hand.py::test_the_evidence_of_a_rescue_is_unbiased"],
    ),
}
