"""Planted bugs of bayesrl.lab.plots.tasks."""

MODULE = "bayesrl.lab.plots.tasks"
PLANTED = {
    "the matrix in its old order": (
        "share[np.ix_(order, order)]",
        "share",
        ["tests/lab/plots/test_task_plots.py::test_the_matrix_is_drawn_in_cluster_order"],
    ),
}
