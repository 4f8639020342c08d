"""Planted bugs of bayesrl.beliefs.values._evidence."""

MODULE = "bayesrl.beliefs.values._evidence"
PLANTED = {
    "the fit jumps to where data look like white noise": (
        "STRIDE = 2.0",
        "STRIDE = 100.0",
        ["tests/beliefs/values/test_gp_regression.py::test_fit_does_not_stop_where_data_look_like_white_noise"],
    ),
}
