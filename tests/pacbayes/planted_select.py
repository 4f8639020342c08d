"""Planted bugs of bayesrl.pacbayes.select."""

MODULE = "bayesrl.pacbayes.select"
PLANTED = {
    "selection forgets the bound": (
        "np.array([one.lower for",
        "np.array([one.empirical for",
        ["tests/pacbayes/test_select.py::test_selection_is_the_best_of_those_tried"],
    ),
    "Gibbs forgets the prior": (
        "weights = p * np.exp(",
        "weights = np.exp(",
        ["tests/pacbayes/test_select.py::test_selection_is_the_best_of_those_tried"],
    ),
}
