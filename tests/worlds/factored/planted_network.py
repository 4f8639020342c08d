"""Planted bugs of bayesrl.worlds.factored.network."""

MODULE = "bayesrl.worlds.factored.network"
PLANTED = {
    "neighbours that work do harm": (
        "np.add.at(failed, i, ~up[j])",
        "np.add.at(failed, i, up[j])",
        [
            "tests/worlds/factored/test_network.py::test_rates_by_plain_loops",
            "tests/worlds/factored/test_network.py::test_the_table_is_that_of_sysadmin",
        ],
    ),
    "compiled: a reboot needs a computer that works": (
        "        if c == a:\n            p = model.chances[2]\n",
        "            if c == a:\n                p = model.chances[2]\n",
        ["tests/worlds/factored/test_network.py::test_compiled_steps_are_those_of_the_world"],
    ),
    "compiled: computers in the other order": (
        "return (s >> (n - 1 - c)) & 1",
        "return (s >> c) & 1",
        ["tests/worlds/factored/test_network.py::test_compiled_steps_are_those_of_the_world"],
    ),
    "compiled: nothing costs too": (
        "(model.chances[3] if a < n else 0.0)",
        "model.chances[3]",
        ["tests/worlds/factored/test_network.py::test_compiled_steps_are_those_of_the_world"],
    ),
    "compiled: nothing is never chosen": (
        "uniform(rng) * len(model.first)",
        "uniform(rng) * (len(model.first) - 1)",
        ["tests/worlds/factored/test_network.py::test_compiled_steps_are_those_of_the_world"],
    ),
    "padding at the wrong end": (
        "np.append(np.zeros(lead, np.bool_), given)",
        "np.append(given, np.zeros(lead, np.bool_))",
        ["tests/worlds/factored/test_network.py::test_rates_by_plain_loops"],
    ),
    "a ring of two has two wires": (
        "range(n if n > 2 else n - 1)",
        "range(n)",
        ["tests/worlds/factored/test_network.py::test_rings_and_trees_of_few"],
    ),
    "a large network has a table": (
        "if self.computers <= LISTED:",
        "if True:",
        ["tests/worlds/factored/test_network.py::test_large_networks"],
    ),
}
