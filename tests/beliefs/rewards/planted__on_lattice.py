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
    "an update keeps the draws of the old posterior": (
        "demonstrations=known, **self._no_draws(self.n_weights))",
        "demonstrations=known)",
        ["tests/beliefs/rewards/test_birl.py::test_the_chain_goes_on"],
    ),
}
