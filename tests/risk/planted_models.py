"""Planted bugs of bayesrl.risk.models."""

MODULE = "bayesrl.risk.models"
PLANTED = {
    "models that are impossible must end too": (
        "np.flatnonzero(belief.posterior())",
        "range(len(belief.models))",
        ["tests/risk/test_undiscounted_risk.py::test_max_min_refuses_what_need_not_end"],
    ),
    "the mean model need not end": (
        '        must_be_proper(owner, "belief", belief.mean_mdp())\n',
        "        pass\n",
        ["tests/risk/test_undiscounted_risk.py::test_percentile_refuses_what_need_not_end"],
    ),
}
