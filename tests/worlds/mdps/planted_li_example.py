"""Planted bugs of bayesrl.worlds.mdps.li_example."""

MODULE = "bayesrl.worlds.mdps.li_example"
PLANTED = {
    "rows of the states are not tied": (
        "group=np.array([[0, 1]] * 2)",
        "group=np.array([[0, 1], [0, 2]])",
        ["tests/worlds/mdps/test_li_example.py::test_li_example_by_hand"],
    ),
    "the safe action is better": (
        "c = 0.5 - margin(beta)\n    outcomes",
        "c = 0.5 + margin(beta)\n    outcomes",
        ["tests/worlds/mdps/test_li_example.py::test_li_example_by_hand"],
    ),
    "who stopped goes on": (
        "p = np.where(stops, 0.0, p)",
        "p = np.where(stops, p, p)",
        ["tests/worlds/mdps/test_li_example.py::test_locked_out_by_enumeration"],
    ),
    "the bonus of one try more": (
        "beta / (3.0 + t)",
        "beta / (2.0 + t)",
        ["tests/worlds/mdps/test_li_example.py::test_locked_out_by_enumeration"],
    ),
    "a small beta has a large margin": (
        'max(number("li-example", "beta", beta, 0.0, above=True), 1.0)',
        'number("li-example", "beta", beta, 0.0, above=True)',
        ["tests/worlds/mdps/test_li_example.py::test_li_example_by_hand"],
    ),
}
