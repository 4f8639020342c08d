"""Planted bugs of bayesrl.worlds.mdps.deep_sea."""

MODULE = "bayesrl.worlds.mdps.deep_sea"
PLANTED = {
    "the cost is not shared by the steps": (
        "-COST / n",
        "-COST",
        ["tests/worlds/mdps/test_literature_worlds.py::test_deep_sea_by_hand"],
    ),
    "every cell of the last row has the treasure": (
        "if row == column == n - 1",
        "if row == n - 1",
        ["tests/worlds/mdps/test_literature_worlds.py::test_deep_sea_by_hand"],
    ),
    "the seed is forgotten": (
        "integers(2, size=S - 1)",
        "integers(1, 2, size=S - 1)",
        ["tests/worlds/mdps/test_literature_worlds.py::test_deep_sea_by_hand"],
    ),
    "the end is not terminal": (
        "discount, terminal=(S - 1,))",
        "discount)",
        ["tests/worlds/mdps/test_literature_worlds.py::test_deep_sea_by_hand"],
    ),
}
