"""Planted bugs of bayesrl.beliefs.pomdp.pomdp_particles."""

MODULE = "bayesrl.beliefs.pomdp.pomdp_particles"
PLANTED = {
    "particles keep their old weights": (
        "return Drawn(states, old.weights * likelihood)",
        "return Drawn(states, np.where(likelihood > 0, old.weights, 0.0))",
        ["tests/beliefs/pomdp/test_pomdp_particles.py::test_the_error_falls_as_the_root_of_the_particles"],
    ),
    "rejection accepts everything": (
        "np.array_equal(seen, o)",
        "True",
        ["tests/beliefs/pomdp/test_pomdp_particles.py::test_worlds_without_a_table"],
    ),
    "a rescue replays only the last step": (
        "            steps.insert(0, step)\n",
        "            steps = [steps[0] if steps else step]\n",
        ["tests/beliefs/pomdp/test_pomdp_particles.py::test_a_rescue_replays_the_whole_episode"],
    ),
    "a rescue forgets the draws that failed": (
        "all_drawn = [first]",
        "all_drawn = [first] if first.fitting else []",
        ["tests/beliefs/pomdp/test_particles_by_hand.py::test_the_evidence_of_a_rescue_is_unbiased"],
    ),
    "a rescue keeps the first draw that fits": (
        "self.rescue and drawn.fitting < 2",
        "self.rescue and drawn.fitting < 1",
        ["tests/beliefs/pomdp/test_particles_by_hand.py::test_the_evidence_of_a_rescue_is_unbiased"],
    ),
    "particles ignore the end": (
        "np.where(done == ended, seen, 0.0)",
        "seen",
        ["tests/worlds/pomdps/test_rock_sample.py::test_particles_follow_the_exact_filter"],
    ),
}
