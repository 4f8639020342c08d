"""Planted bugs of bayesrl.registry."""

MODULE = "bayesrl.registry"
PLANTED = {
    "the list of names is kept": (
        "def entries(packages:",
        "@cache\ndef entries(packages:",
        ["tests/test_registry.py::test_what_is_registered_later_is_listed_too"],
    ),
    "facets of anything": (
        'if facets is not None and kind != "planner":',
        "if False:",
        ["tests/test_facets.py::test_facets_are_for_planners"],
    ),
    "the order of sections is that of letters": (
        'key=lambda e: ([int(part) for part in e.survey.split(".")], e.name))',
        "key=lambda e: (e.survey, e.name))",
        ["tests/test_facets.py::test_every_planner_of_the_rule_has_a_row_and_nothing_else_has"],
    ),
    "no reading in the card": (
        '"reading": self.reading,',
        '"reading": "",',
        ["tests/test_facets.py::test_readings_are_sentences"],
    ),
    "the reading is lost at registration": (
        "            facets,\n            reading,\n",
        '            facets,\n            "",\n',
        ["tests/test_facets.py::test_what_was_read_is_said_where_the_paper_was_not"],
    ),
}
