"""Planted bugs of bayesrl.worlds.mdps.cluster_maze."""

MODULE = "bayesrl.worlds.mdps.cluster_maze"
PLANTED = {
    "a wall is passed": (
        "to = 4 if walled(row, column, k) else k",
        "to = k",
        ["tests/worlds/mdps/test_literature_worlds.py::test_cluster_maze_by_hand"],
    ),
    "both slips to the right": (
        "((k + 3) % 4, SLIP)",
        "((k + 1) % 4, SLIP)",
        ["tests/worlds/mdps/test_literature_worlds.py::test_cluster_maze_by_hand"],
    ),
    "pits pay": (
        "else PIT",
        "else GOAL",
        ["tests/worlds/mdps/test_literature_worlds.py::test_cluster_maze_by_hand"],
    ),
    "clusters do not see walls in the west": (
        "for k in range(4)) for cell",
        "for k in range(3)) for cell",
        ["tests/worlds/mdps/test_literature_worlds.py::test_states_of_a_cluster_have_the_same_rows"],
    ),
}
