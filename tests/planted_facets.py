"""Planted bugs of bayesrl.facets."""

MODULE = "bayesrl.facets"
PLANTED = {
    "the survey's words are what happens here": (
        "return found if isinstance(found, str) else found.survey",
        "return found if isinstance(found, str) else found.here",
        ["tests/test_facets.py::test_the_table_is_the_surveys"],
    ),
    "what happens here is the survey's words": (
        "return found if isinstance(found, str) else found.here",
        "return found if isinstance(found, str) else found.survey",
        ["tests/test_facets.py::test_both_readings_of_bamcp_are_shown"],
    ),
    "no cell differs": (
        "for column, found in cells.items() if isinstance(found, Differs)}",
        "for column, found in cells.items() if not isinstance(found, (str, Differs))}",
        ["tests/test_facets.py::test_facets_are_for_planners"],
    ),
    "a cell hides the survey": (
        'return said if said == here else f"{said}; here: {here}"',
        "return here",
        ["tests/test_facets.py::test_both_readings_of_bamcp_are_shown"],
    ),
}
