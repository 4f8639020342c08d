"""Planted bugs of bayesrl.inverse._rewards."""

MODULE = "bayesrl.inverse._rewards"
PLANTED = {
    "the reward of the state reached": (
        "        return self.features @ w\n",
        "        return (self.P @ (self.features @ w).mean(axis=1)).reshape(self.features.shape[:2])\n",
        ["tests/inverse/test_birl.py::test_exact_values_of_the_facts"],
    ),
}
