"""Planted bugs of bayesrl.worlds.continuous.robot_navigation."""

MODULE = "bayesrl.worlds.continuous.robot_navigation"
PLANTED = {
    "the robot does not drift": (
        "s + a + np.array(self.drift) + self.noise * v",
        "s + a + self.noise * v",
        ["tests/worlds/continuous/test_robot_navigation.py::test_steps_by_hand"],
    ),
    "the robot sees where it was": (
        "frozen(new + self.sensor * w)",
        "frozen(s + self.sensor * w)",
        ["tests/worlds/continuous/test_robot_navigation.py::test_steps_by_hand"],
    ),
}
