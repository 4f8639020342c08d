"""Planted bugs of bayesrl.beliefs.dynamics._particles."""

MODULE = "bayesrl.beliefs.dynamics._particles"
PLANTED = {
    "statistics are not copied on resampling": (
        "noise, sensor = (x.some(rows) if isinstance(x, Statistics) else x for x in (self.noise, self.sensor))",
        "noise, sensor = self.noise, self.sensor",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription"],
    ),
    "statistics of the sensor are not copied on resampling": (
        "noise, sensor = (x.some(rows) if isinstance(x, Statistics) else x for x in (self.noise, self.sensor))",
        "noise, sensor = self.noise.some(rows), self.sensor",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription"],
    ),
    "ancestors are not followed": (
        "noise, sensor, frozen(self.origin[rows]))",
        "noise, sensor, self.origin)",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription"],
    ),
    "systematic resampling shifts by one": (
        "ends = np.ceil(n * (below / below[-1]) - rng.random())",
        "ends = np.floor(n * (below / below[-1]) - rng.random())",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_transcription"],
    ),
    "a known noise has its variance for its deviation": (
        "above=True, moderate=True) ** 2 * np.eye(d)",
        "above=True, moderate=True) * np.eye(d)",
        ["tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_a_noise_may_be_known"],
    ),
}
