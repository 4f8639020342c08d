"""Planted bugs of bayesrl.risk._draws."""

MODULE = "bayesrl.risk._draws"
PLANTED = {
    "known rows are drawn": (
        "            rows[:, belief.known] = belief.alpha[belief.known]\n",
        "",
        ["tests/risk/test_k_of_n.py::test_drawn_tables_are_sampled_models"],
    ),
    "next states are drawn for another pair": (
        "cell = model.group[s, a] * K + k",
        "cell = model.group[s, 0] * K + k",
        ["tests/risk/test_k_of_n.py::test_drawn_tables_are_sampled_models"],
    ),
    "drawn rewards are the mean model's": (
        "np.stack([m.mean_reward.ravel() for m in models], axis=1)",
        "np.stack([models[0].mean_reward.ravel() for m in models], axis=1)",
        ["tests/risk/test_k_of_n.py::test_drawn_tables_are_sampled_models"],
    ),
    "uncertain transitions are taken for known": (
        ("_knows_transitions(belief)\n        made"),
        ("True\n        made"),
        ["tests/risk/test_k_of_n.py::test_drawn_tables_are_sampled_models"],
    ),
    "all models are equally probable": (
        "rng.choice(len(self.weights), m, p=self.weights)",
        "rng.choice(len(self.weights), m)",
        ["tests/risk/test_k_of_n.py::test_transcription[plus]"],
    ),
}
