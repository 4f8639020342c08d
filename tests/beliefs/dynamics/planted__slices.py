"""Planted bugs of bayesrl.beliefs.dynamics._slices."""

MODULE = "bayesrl.beliefs.dynamics._slices"
PLANTED = {
    "the covariance of the trajectory before the move": (
        "zip(sample[:-1], grown[:-1], strict=True)",
        "zip(sample[:1], grown[:1])",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_moved_particles_keep_their_factors"],
    ),
    "a shared factor counts once": (
        "(D / L.shape[1])",
        "1.0",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_one_covariance_serves_all_coordinates"],
    ),
    "bracket not shrunk": (
        "low[active[side]], high[active[~side]] = t[active[side]], t[active[~side]]",
        "pass",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_brackets_shrink"],
    ),
    "bracket shrunk to the wrong side": (
        "side = t[active] < 0.0",
        "side = t[active] > 0.0",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_brackets_shrink"],
    ),
    "a slice at the present likelihood": (
        "np.log1p(-rng.random(len(e)))",
        "-0.1",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_slices_reach_the_posterior_of_the_grid"],
    ),
    "a chart without the density of its law": (
        "+ 0.5 * np.sum(e * e, axis=(1, 2))",
        "",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_slices_reach_the_posterior_of_the_grid"],
    ),
    "innovations with the joint as likelihood": (
        "return densities(self.model, sample)",
        "return joint_densities(self.model, self.history, sample)",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_slices_reach_the_posterior_of_the_grid"],
    ),
    "innovations without rewards": (
        "return seen + _log_density(sample.move[:, -1:], sample.move_w[:, -1:]) if model.learns_reward else seen",
        "return seen",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_slices_with_rewards_keep_the_posterior[innovations]"],
    ),
    "rewards of a file not counted": (
        "history.rewards.shape != (len(history.actions) * model.learns_reward,)",
        "False",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_saved_and_pickled_beliefs_go_on_as_before"],
    ),
}
