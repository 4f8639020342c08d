"""Planted bugs of bayesrl.beliefs.rewards._on_lattice."""

MODULE = "bayesrl.beliefs.rewards._on_lattice"
PLANTED = {
    "draws of the cooling are kept": (
        "cold = 0 if len(self.draws) else cooling",
        "cold = 0",
        ["tests/beliefs/rewards/test_modified_birl.py::test_transcription"],
    ),
    "every refresh cools": (
        "cold = 0 if len(self.draws) else cooling",
        "cold = cooling",
        ["tests/beliefs/rewards/test_modified_birl.py::test_transcription"],
    ),
}
