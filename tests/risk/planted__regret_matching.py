"""Planted bugs of bayesrl.risk._regret_matching."""

MODULE = "bayesrl.risk._regret_matching"
PLANTED = {
    "the best k count": (
        "returns[j] < worst[i - 1]",
        "returns[j] > worst[i - 1]",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "action probabilities are averaged": (
        "total[i, a] += weight * x[i, a]",
        "total[i, a] += weight * sigma[i, a]",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "all iterations count the same": (
        "weight = done + t + 1.0 if plus else 1.0",
        "weight = 1.0",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "the paper's iterations do not count the same": (
        "weight = done + t + 1.0 if plus else 1.0",
        "weight = done + t + 1.0",
        ["tests/risk/test_k_of_n.py::test_transcription[plain]"],
    ),
    "the paper's regrets are cut": (
        "                if plus:\n",
        "                if True:\n",
        ["tests/risk/test_k_of_n.py::test_transcription[plain]"],
    ),
    "regrets are never cut": (
        "                if plus:\n",
        "                if False:\n",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "regrets are not weighted by the models' moves": (
        "q[i, a] += reach[i, j] * R[pair, j]",
        "q[i, a] += R[pair, j]",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "regrets are weighted by the player's own moves": (
        "regret[i, a] += q[i, a] - v",
        "regret[i, a] += arrive[i] * (q[i, a] - v)",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "regrets of actions are not centred": (
        "regret[i, a] += q[i, a] - v",
        "regret[i, a] += q[i, a]",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "the discount is forgotten": (
        "discount = np.asarray(model.gamma**sets.step, np.float64)",
        "discount = np.ones(len(sets))",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
    "occupancies without transitions": (
        "q[i, a] += game.flow[e] * v[game.child[e]]",
        "q[i, a] += v[game.child[e]]",
        ["tests/risk/test_k_of_n.py::test_shared_transitions_equal_histories"],
    ),
}
