"""Planted bugs of bayesrl.registry."""

MODULE = "bayesrl.registry"
PLANTED = {
    "the list of names is kept": (
        "def entries(packages:",
        "@cache\ndef entries(packages:",
        ["tests/test_registry.py::test_what_is_registered_later_is_listed_too"],
    ),
}
