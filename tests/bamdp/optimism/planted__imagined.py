"""Planted bugs of bayesrl.bamdp.optimism._imagined."""

MODULE = "bayesrl.bamdp.optimism._imagined"
PLANTED = {
    "BOLT imagines the first outcome, not the best": (
        "if x > top:",
        "if k == 0:",
        ["tests/bamdp/optimism/test_optimism.py::test_bolt_equals_the_listed_extended_mdp[5.0-tied]"],
    ),
    "the imagined outcome is lost with discount 1": (
        "    p[s, k] += w\n",
        "",
        ["tests/bamdp/test_undiscounted.py::test_bolt_and_pot_are_the_enumerated_extended_mdp[bolt-0]"],
    ),
    "one policy is enough with discount 1": (
        "if residual <= slack or",
        "if residual < np.inf or",
        [
            "tests/bamdp/test_undiscounted.py::test_bolt_and_pot_are_the_enumerated_extended_mdp[bolt-0]",
            "tests/bamdp/test_undiscounted.py::test_bolt_and_pot_are_the_enumerated_extended_mdp[pot-1]",
        ],
    ),
    "the bound forgets how long an episode is": (
        " * w.max(initial=1.0)",
        "",
        ["tests/bamdp/test_undiscounted.py::test_the_bound_of_the_extended_mdp_is_its_longest_episode"],
    ),
    "terminal states go on with discount 1": (
        "    p[m.terminal] = 0.0\n",
        "",
        ["tests/bamdp/test_undiscounted.py::test_bolt_and_pot_are_the_enumerated_extended_mdp[bolt-0]"],
    ),
}
