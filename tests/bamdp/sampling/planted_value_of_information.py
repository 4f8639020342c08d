"""Planted bugs of bayesrl.bamdp.sampling.value_of_information."""

MODULE = "bayesrl.bamdp.sampling.value_of_information"
PLANTED = {
    "weights are forgotten": (
        "weight = sample.weight * np.array(",
        "weight = np.array(",
        ["tests/bamdp/sampling/test_voi.py::test_reweighting_equals_its_transcription"],
    ),
    "a sample is never renewed": (
        "self.renew * self.samples * (weight**2).sum()",
        "0.0",
        ["tests/bamdp/sampling/test_voi.py::test_reweighting_equals_its_transcription"],
    ),
}
