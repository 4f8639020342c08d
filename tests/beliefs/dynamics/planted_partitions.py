"""Planted bugs of bayesrl.beliefs.dynamics.partitions."""

MODULE = "bayesrl.beliefs.dynamics.partitions"
PLANTED = {
    "a table that counts its newest customer twice": (
        "                prior = size[j]",
        "                prior = size[j] + (size[j] > 0.0)",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_geweke"],
    ),
    "a state that stays at its table while it chooses": (
        "            counts[z[s]] -= seen[s]\n",
        "",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_sampler_follows_the_enumeration"],
    ),
    "a new table for nothing": (
        "prior, new_one = crp, True",
        "prior, new_one = 1.0, True",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_geweke"],
    ),
    "factorial of the size, not of one less": (
        "special.gammaln(member[1:].sum(axis=1))",
        "special.gammaln(member[1:].sum(axis=1) + 1.0)",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_posterior_equals_enumeration[1-2]"],
    ),
    "evidence without the prior of the clustering": (
        "total + lgamma(crp) - lgamma(crp + S)",
        "total",
        ["tests/beliefs/dynamics/test_crp_dynamics.py::test_posterior_equals_enumeration[1-2]"],
    ),
}
