"""Planted bugs of bayesrl.models.pomdp_solvers.alpha_file."""

MODULE = "bayesrl.models.pomdp_solvers.alpha_file"
PLANTED = {
    "a file forgets which action": (
        "actions.append(names[words[0]])",
        "actions.append(0)",
        ["tests/models/pomdp_solvers/test_alpha_vectors.py::test_files_come_back"],
    ),
}
