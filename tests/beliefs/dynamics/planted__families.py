"""Planted bugs of bayesrl.beliefs.dynamics._families."""

MODULE = "bayesrl.beliefs.dynamics._families"
PLANTED = {
    "a missing Hastings ratio": (
        "log_ratio += np.log(legal) - np.log(legal_after)",
        "log_ratio += 0.0",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_geweke"],
    ),
    "a recorded proposal": (
        ("            mask, score = new, proposed\n    return mask"),
        ("            mask, score = new, proposed\n    return new"),
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_geweke"],
    ),
    "the score of what was refused": (
        ("        if np.log(rng.random()) < log_ratio:\n            mask, score = new, proposed"),
        ("        score = proposed\n        if np.log(rng.random()) < log_ratio:\n            mask = new"),
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_sampler_follows_the_enumeration[None]"],
    ),
    "an edge that costs nothing": (
        "log_ratio = proposed - score + more * np.log(edge)",
        "log_ratio = proposed - score",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_geweke"],
    ),
    "one urn for all settings": (
        "            n[:], total = 0.0, 0.0",
        "            pass",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_posterior_equals_enumeration[each]"],
    ),
    "BDeu without the settings": (
        "            cells *= sizes[j]",
        "            cells *= 1.0",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_posterior_equals_enumeration[BDeu]"],
    ),
    "evidence without the prior of the graph": (
        "return log(sum(comb(V, n) * edge**n for n in range(most + 1)))",
        "return 0.0",
        ["tests/beliefs/dynamics/test_factored_dbn.py::test_posterior_equals_enumeration[each]"],
    ),
}
