"""Planted bugs of bayesrl.bamdp.offline._monomials."""

MODULE = "bayesrl.bamdp.offline._monomials"
PLANTED = {
    "a backup does not multiply by theta": (
        "(alpha[g, k] + m[:, None, k] + m[:, k])",
        "(alpha[g, k] + m[:, None, k])",
        ["tests/bamdp/offline/test_beetle.py::test_a_basis_that_spans_gives_exact_values"],
    ),
    "distances are measured under beliefs that have seen nothing": (
        " + np.tensordot(b[who, k], weight[who], 1)",
        "",
        ["tests/bamdp/offline/test_beetle.py::test_what_is_listed_equals_what_is_written_out"],
    ),
    "beliefs that have seen a row weigh as much as others": (
        "alpha[g].sum() + b.sum(axis=1)[:, None, None] + ",
        "alpha[g].sum() + ",
        ["tests/bamdp/offline/test_beetle.py::test_stages_equal_a_naive_transcription"],
    ),
    "distances are measured under the first belief alone": (
        "gram = joint.mean(axis=0)",
        "gram = joint[0]",
        ["tests/bamdp/offline/test_beetle.py::test_what_is_listed_equals_what_is_written_out"],
    ),
    "an urn forgets what it gave": (
        "(alpha[g, k] + t) / (mass + before[i])",
        "(alpha[g, k] + t) / (mass + t)",
        ["tests/bamdp/offline/test_beetle.py::test_moments_against_quadrature"],
    ),
    "an urn remembers another row": (
        "            before[:] = 0\n",
        "",
        ["tests/bamdp/offline/test_beetle.py::test_moments_against_quadrature"],
    ),
}
