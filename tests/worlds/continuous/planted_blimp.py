"""Planted bugs of bayesrl.worlds.continuous.blimp."""

MODULE = "bayesrl.worlds.continuous.blimp"
PLANTED = {
    "the blimp pays for where it arrives": (
        "(float(s[0]) / WIDTH)",
        "(float(new[0]) / WIDTH)",
        ["tests/worlds/continuous/test_blimp.py::test_steps_by_hand"],
    ),
    "the blimp's drag is forgotten": (
        "1.0 - STEP * DRAG",
        "1.0",
        ["tests/worlds/continuous/test_blimp.py::test_steps_by_hand"],
    ),
    "a hidden blimp that is seen": (
        "SENSOR * rng.standard_normal(1)",
        "0.0 * rng.standard_normal(1)",
        ["tests/worlds/continuous/test_blimp.py::test_hidden_shows_a_noisy_height"],
    ),
}
