"""Planted bugs of bayesrl.bamdp.optimism.pac_bounds."""

MODULE = "bayesrl.bamdp.optimism.pac_bounds"
PLANTED = {
    "BOLT's eta by theory is one": (
        "return float(horizon)",
        "return 1.0",
        ["tests/bamdp/optimism/test_optimism.py::test_bolt_is_optimistic_on_random_bamdps"],
    ),
    "BEB's theory has H for H^2": (
        "2.0 * horizon**2 * reward_range",
        "2.0 * horizon * reward_range",
        ["tests/bamdp/optimism/test_pac_bounds.py::test_bounds_by_hand"],
    ),
    "a Dirichlet is known too soon": (
        "(epsilon**2 * delta * rho)",
        "(epsilon * delta * rho)",
        ["tests/bamdp/optimism/test_pac_bounds.py::test_bounds_by_hand"],
    ),
    "a bound is no number": (
        "all(map(isfinite, ",
        "any(map(bool, ",
        ["tests/bamdp/optimism/test_pac_bounds.py::test_what_leaves_the_range_of_numbers_is_refused"],
    ),
}
