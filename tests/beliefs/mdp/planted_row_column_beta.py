"""Planted bugs of bayesrl.beliefs.mdp.row_column_beta."""

MODULE = "bayesrl.beliefs.mdp.row_column_beta"
PLANTED = {
    "rows have the columns' prior": (
        "self.rows[::-1], self.columns[::-1]",
        "self.columns[::-1], self.rows[::-1]",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_posterior_matches_quadrature"],
    ),
    "a restart leaves what was taken empty": (
        "THERE if what else EMPTY",
        "what",
        ["tests/beliefs/mdp/test_infinite_grid.py::test_known_rewards_are_to_be_had_again_after_a_restart"],
    ),
    "a second restart forgets the rewards that were not taken": (
        "THERE if what else EMPTY",
        "THERE if what == TAKEN else EMPTY",
        ["tests/beliefs/test_plumbing.py::test_a_restart_happens_once[row-column-beta]"],
    ),
    "a log does not restart where an episode is cut off": (
        "new.restart() if datum.ends_episode else new",
        "new.restart() if datum.terminated else new",
        ["tests/beliefs/test_plumbing.py::test_one_log_is_several[row-column-beta]"],
    ),
}
