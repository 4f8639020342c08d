"""Planted bugs of bayesrl.beliefs.dynamics.factored_dbn."""

MODULE = "bayesrl.beliefs.dynamics.factored_dbn"
PLANTED = {
    "the evidence of chains is that of the last datum": (
        "score = self.log_score + float(",
        "score = float(",
        ["tests/beliefs/test_plumbing.py::test_evidence_only_falls[factored-dbn, chains]"],
    ),
}
