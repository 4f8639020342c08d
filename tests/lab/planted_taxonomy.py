"""Planted bugs of bayesrl.lab.taxonomy."""

MODULE = "bayesrl.lab.taxonomy"
PLANTED = {
    "sections by their beginning": (
        "for e in known if e.survey == number)",
        "for e in known if e.survey.startswith(number))",
        ["tests/lab/test_taxonomy.py::test_every_method_is_once_in_the_taxonomy"],
    ),
    "a section is lost": (
        '    "7.4": "several tasks",\n',
        "",
        ["tests/lab/test_taxonomy.py::test_every_method_is_once_in_the_taxonomy"],
    ),
    "a twig keeps its last planner only": (
        "(*branch.get(twig, ()), entry.name",
        "(entry.name",
        ["tests/lab/test_taxonomy.py::test_planners_are_by_depth_and_posterior"],
    ),
    "no star where cells differ": (
        '("*" if facets.why() else "")',
        '("" if facets.why() else "")',
        ["tests/lab/test_taxonomy.py::test_planners_are_by_depth_and_posterior"],
    ),
}
