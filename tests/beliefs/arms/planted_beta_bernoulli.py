"""Planted bugs of bayesrl.beliefs.arms.beta_bernoulli."""

MODULE = "bayesrl.beliefs.arms.beta_bernoulli"
PLANTED = {
    "some replicates forget their prior": (
        "prior_parameters=(first[part], second[part])",
        "prior_parameters=(self.alpha[part], self.beta[part])",
        ["tests/beliefs/test_plumbing.py::test_replicates_are_single_beliefs[beta-bernoulli]"],
    ),
}
