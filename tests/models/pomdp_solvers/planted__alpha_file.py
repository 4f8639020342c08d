"""Planted bugs of bayesrl.models.pomdp_solvers._alpha_file."""

MODULE = "bayesrl.models.pomdp_solvers._alpha_file"
PLANTED = {
    "a file forgets which action": (
        "actions.append(names[words[0]])",
        "actions.append(0)",
        ["tests/hidden/test_alpha_vectors.py::test_files_come_back"],
    ),
}
