"""Planted bugs of bayesrl.models.pomdp_solvers.perseus."""

MODULE = "bayesrl.models.pomdp_solvers.perseus"
PLANTED = {
    "Perseus keeps what lowers a belief": (
        "        if better(values[i, best], np.dot(new[n], points[i])):",
        "        if False:",
        ["tests/models/pomdp_solvers/test_point_based.py::test_stages_never_fall"],
    ),
    "Perseus backs up every belief": (
        ("        if not better(values[i, best], v[i]):\n            continue\n"),
        "",
        ["tests/models/pomdp_solvers/test_point_based.py::test_a_stage_equals_its_transcription"],
    ),
    "a stage that moves nothing is the end": (
        ("                if moved < move:\n                    return"),
        ("                if True:\n                    return"),
        ["tests/models/pomdp_solvers/test_point_based.py::test_perseus_goes_on_after_an_idle_stage"],
    ),
}
