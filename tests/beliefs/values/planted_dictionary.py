"""Planted bugs of bayesrl.beliefs.values.dictionary."""

MODULE = "bayesrl.beliefs.values.dictionary"
PLANTED = {
    "the first state is never offered to the dictionary": (
        "        start = 0\n",
        "        start = 1 if len(self) == 0 else 0\n",
        ["tests/beliefs/values/test_gptd.py::test_sparse_is_the_projected_model"],
    ),
    "coordinates of later visits miss a column": (
        "column[i:, 0] = (covariance",
        "column[i : i + 1, 0] = (covariance",
        ["tests/beliefs/values/test_gptd.py::test_sparse_is_the_projected_model"],
    ),
}
