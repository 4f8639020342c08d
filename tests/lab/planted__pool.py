"""Planted bugs of bayesrl.lab._pool."""

MODULE = "bayesrl.lab._pool"
PLANTED = {
    "nothing is cancelled after a failure": (
        "pool.shutdown(cancel_futures=True)",
        "pool.shutdown()",
        ["tests/lab/test_compare.py::test_the_rest_is_cancelled_after_a_failure"],
    ),
}
