"""Planted bugs of bayesrl.bamdp.search.bamcp."""

MODULE = "bayesrl.bamdp.search.bamcp"
PLANTED = {
    "the kept tree is that of another action": (
        "belief.code(last), last.action)",
        "belief.code(last), 1 - last.action)",
        ["tests/bamdp/search/test_bamcp.py::test_the_kept_tree_is_the_part_below_what_happened"],
    ),
    "a tree is kept over a reset": (
        "if last.next_state == observation else None",
        "if last is not None else None",
        ["tests/bamdp/search/test_bamcp.py::test_no_tree_is_kept_over_a_reset"],
    ),
}
