"""Planted bugs of bayesrl.gradient.gpomdp."""

MODULE = "bayesrl.gradient.gpomdp"
PLANTED = {
    "traces are carried over a reset": (
        "        z = np.zeros_like(total)\n",
        "        z = locals().get('z', 0.0 * total)\n",
        ["tests/gradient/test_baselines.py::test_gpomdp_by_hand"],
    ),
    "a reward is credited to later actions": (
        "total += gamma**t * r * z",
        "total += gamma**t * r * path.scores.sum(axis=0)",
        ["tests/gradient/test_baselines.py::test_gpomdp_by_hand"],
    ),
}
