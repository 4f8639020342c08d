"""Planted bugs of bayesrl.inverse._on_lattice."""

MODULE = "bayesrl.inverse._on_lattice"
PLANTED = {
    "draws of the cooling are kept": (
        "cold = 0 if len(self.draws) else cooling",
        "cold = 0",
        ["tests/inverse/test_modified_birl.py::test_transcription"],
    ),
    "every refresh cools": (
        "cold = 0 if len(self.draws) else cooling",
        "cold = cooling",
        ["tests/inverse/test_modified_birl.py::test_transcription"],
    ),
}
