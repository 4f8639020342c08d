"""Planted bugs of bayesrl.beliefs.dynamics.crp_dynamics."""

MODULE = "bayesrl.beliefs.dynamics.crp_dynamics"
PLANTED = {
    "rows of states, not of clusters": (
        "rows[z].reshape(-1, n.shape[2])",
        "dirichlet_rows((n[z]).reshape(-1, n.shape[2]), rng)",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_states_of_a_cluster_share_their_row"],
    ),
}
