"""Planted bugs of bayesrl.beliefs.rewards._policy_walk."""

MODULE = "bayesrl.beliefs.rewards._policy_walk"
PLANTED = {
    "proposals outside the box are redrawn": (
        ("if j < 0 or j >= len(grid.log_prior):  # outside the box: rejected\n                continue"),
        ("if j < 0 or j >= len(grid.log_prior):\n                h, j = -h, 2 * at[i] - j"),
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
    "the likelihood is not normalised": (
        "L += inner - taken * np.log(total)",
        "L += inner + taken * c * top",
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
    "the policy is kept where it is no longer optimal": (
        "optimal &= to[s, a] <= least",
        "optimal &= True",
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
    "the map of the old policy is kept": (
        ("                    K, K_, pi, pi_ = K_, K, pi_, pi\n                    known[:] = 0.0\n"),
        "                    K, K_, pi, pi_ = K_, K, pi_, pi\n",
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
    "the update of rank one forgets its divisor": (
        "share = K[x, s] / (1.0 + v[s])",
        "share = K[x, s]",
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
    "the prior is left out of the acceptance": (
        "go.share[t] * (grid.log_prior[j] - grid.log_prior[at[i]] + L_ - L)",
        "go.share[t] * (L_ - L)",
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
    "many states: the sparse walk redraws": (
        (
            "            if j < 0 or j >= len(grid.log_prior):\n"
            "                continue\n"
            "            if i not in columns:"
        ),
        (
            "            if j < 0 or j >= len(grid.log_prior):\n"
            "                sign, j = -sign, at[i] - sign\n"
            "            if i not in columns:"
        ),
        ["tests/beliefs/rewards/test_birl.py::test_transcription[1]"],
    ),
}
