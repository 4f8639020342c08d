"""Planted bugs of bayesrl.beliefs.rewards.modified_birl."""

MODULE = "bayesrl.beliefs.rewards.modified_birl"
PLANTED = {
    "relevance is ignored": (
        "self._walked(rng, sweeps, self.relevances(), self.cooling)",
        "self._walked(rng, sweeps, np.ones(self.n_weights), self.cooling)",
        ["tests/beliefs/rewards/test_modified_birl.py::test_transcription"],
    ),
    "each demonstrated state counts once": (
        "self._similar(self.demonstrations[:, 0])",
        "self._similar(np.unique(self.demonstrations[:, 0]))",
        ["tests/beliefs/rewards/test_modified_birl.py::test_relevances_by_hand"],
    ),
}
