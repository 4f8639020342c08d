"""Planted bugs of bayesrl.bapomdp.bayes_risk."""

MODULE = "bayesrl.bapomdp.bayes_risk"
PLANTED = {
    "the largest loss is chosen": (
        "a = first_best(left, sizes(q))",
        "a = first_best(-risk)",
        ["tests/bapomdp/test_oracle_agents.py::test_the_choice_of_least_risk"],
    ),
    "a refused action is asked about again": (
        "a = first_best(left, sizes(q))",
        "a = first_best(risk, sizes(q))",
        ["tests/bapomdp/test_oracle_agents.py::test_after_a_no_the_next_is_asked_about"],
    ),
    "the last action is asked about too": (
        "left[0] if len(left) == 1 else NOTHING",
        "NOTHING",
        ["tests/bapomdp/test_oracle_agents.py::test_after_a_no_the_next_is_asked_about"],
    ),
}
