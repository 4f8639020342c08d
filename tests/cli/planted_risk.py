"""Planted bugs of bayesrl.cli.risk."""

MODULE = "bayesrl.cli.risk"
PLANTED = {
    "the value is the mean": (
        '"value": chosen["quantile"]',
        '"value": chosen["mean"]',
        ["tests/cli/test_risk.py::test_json"],
    ),
    "the log is not read": (
        "belief.update_many(load_log(data))",
        "belief",
        ["tests/cli/test_risk.py::test_data_that_do_not_fit"],
    ),
}
