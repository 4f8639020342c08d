"""Planted bugs of bayesrl.bamdp._posterior."""

MODULE = "bayesrl.bamdp._posterior"
PLANTED = {
    "visits forget the last step of an episode": (
        "if last is not None:",
        "if last is not None and not last.ends_episode:",
        ["tests/test_ends.py::test_what_an_end_means_to_a_planner[boss-1]"],
    ),
}
