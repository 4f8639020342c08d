"""Planted bugs of bayesrl.beliefs.dynamics._trajectories."""

MODULE = "bayesrl.beliefs.dynamics._trajectories"
PLANTED = {
    "dynamics without noise": (
        "for k in f.prior], axis=1) + f.noise",
        "for k in f.prior], axis=1) + 0.0 * f.noise",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_transcription"],
    ),
    "weight from the unconditional density": (
        "w = (z - mean) / sd",
        "w = (z - self.model.see.mean(self.state)) / sd",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_transcription"],
    ),
    "factors of the sensor not copied": (
        "self.see.copy(sample.see[chosen]",
        "self.see.copy(sample.see",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_factors_of_particles_equal_dense_normals"],
    ),
    "factors of the dynamics not copied": (
        "self.move.copy(sample.move[chosen]",
        "self.move.copy(sample.move",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_factors_of_particles_equal_dense_normals"],
    ),
    "states not copied": (
        "sample.states[chosen]",
        "sample.states",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_factors_of_particles_equal_dense_normals"],
    ),
    "a step from the end of a sequence": (
        "acted[self.first[1:] - 1] = False",
        "pass",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_log_joint_equals_dense_normals"],
    ),
    "sequences have their own functions": (
        "        if sample is not None:\n",
        "        if sample is not None and history.running:\n",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_transcription"],
    ),
    "given states with drawn innovations": (
        "w[:, :d] = e if drawn else (e - mean[:, :d]) / sd[:, :d]",
        "w[:, :d] = e",
        ["tests/beliefs/dynamics/test_gp_pomdp.py::test_moved_particles_keep_their_factors"],
    ),
    "a reward that its particle forgets": (
        "w[:, d:] = (reward - mean[:, d:]) / sd[:, d:]",
        "pass",
        ["tests/beliefs/dynamics/test_gp_pomdp_rewards.py::test_log_joint_with_rewards[each its own]"],
    ),
}
