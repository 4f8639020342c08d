"""Planted bugs of bayesrl.bapomdp.action_oracle."""

MODULE = "bayesrl.bapomdp.action_oracle"
PLANTED = {
    "the answer is not done": (
        "Answer(NOTHING, said), said)",
        "Answer(NOTHING, said), NOTHING)",
        ["tests/bapomdp/test_oracle_agents.py::test_the_answer_is_done"],
    ),
}
