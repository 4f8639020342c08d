"""Budgets of nothing, and of next to nothing: every method of chapter 4 gives a legal action or says one sentence."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.cli import main
from bayesrl.errors import InvalidArgument
from bayesrl.lab.build import acts, agent_for
from bayesrl.registry import make, methods

BUDGETS = (
    "simulations", "depth", "nodes", "width", "samples", "milliseconds", "horizon", "every", "knownness", "beliefs",
    "basis", "steps", "iterations", "restarts", "models", "trajectories",
)  # fmt: skip
"""Parameters that say how much is to be done; trajectories begin at two, as their mean is taken."""
METHODS = {e.name: e for e in methods() if e.package == "bamdp" and (acts(e) or e.name == "bamdp-exact")}
GIVEN = [(name, budget) for name, e in METHODS.items() for budget in BUDGETS if budget in e.parameters]
CHEAP = {"beetle": {"beliefs": 3, "basis": 2, "steps": 3}, "finite-state-controller": {"restarts": 1, "models": 4}}
"""So that the least budget in one parameter is not drowned by the defaults of the others."""
WORLD = b.make_world("chain-tied", gamma=0.9)
BELIEF = b.DirichletMDP.structured(WORLD)


def test_the_list_is_not_empty():
    assert {"bamcp", "bop", "hmdp", "bfs3", "boss", "beetle", "value-of-information"} <= {name for name, _ in GIVEN}
    assert len(GIVEN) > 30


@pytest.mark.parametrize(("name", "budget"), GIVEN)
def test_budgets_of_nothing_are_refused(name, budget):
    for bad in (0, -1, float("nan"), float("inf"), True, "many"):
        with pytest.raises(InvalidArgument) as error:
            make(name, **{budget: bad})
        sentence = str(error.value)
        assert f"'{budget}' must be " in sentence
        assert sentence.endswith(f"got {bad!r}.")
        assert error.value.name == budget


@pytest.mark.parametrize(("name", "budget"), GIVEN)
def test_the_least_budget_gives_a_legal_action(name, budget):
    least = {"trajectories": 2, "milliseconds": 1e-6}.get(budget, 1)
    if name == "bamdp-exact":
        assert make(name, **{budget: least}).solve(BELIEF).shape == (5, 2)
        return
    params = CHEAP.get(name, {}) | {budget: least}
    agent = agent_for(name, WORLD, params=params)
    decision = agent.act(agent.start(), 0, default_rng(0))
    assert decision.action in (0, 1)
    for value in decision.info.values():
        assert np.isfinite(np.asarray(value, float)).all()


def test_half_a_unit_is_refused():
    for name, budget in GIVEN:
        if budget != "milliseconds":
            with pytest.raises(InvalidArgument, match=f"'{budget}' must be a whole number"):
                make(name, **{budget: 1.5})


NUMBERS = [
    (name, p.name)
    for name, e in METHODS.items()
    for p in e.parameters.values()
    if "int" in str(p.annotation) or "float" in str(p.annotation)
]


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_what_is_no_number_is_refused(name, number):
    """Whatever the parameter: NaN, infinity and words; and nothing is made."""
    needed = {p.name: 2 for p in METHODS[name].parameters.values() if p.default is p.empty} | {"gamma": 0.9}
    needed = {key: x for key, x in needed.items() if key in METHODS[name].parameters}
    for bad in (float("nan"), float("inf"), "many"):
        with pytest.raises(InvalidArgument, match=f"'{number}' must be "):
            make(name, **(needed | {number: bad}))


def test_the_command_line_says_the_same_sentence(capsys):
    assert main(["run", "bamcp", "chain", "--steps", "1", "--set", "simulations=0"]) == 2
    out, err = capsys.readouterr()
    assert err.strip().endswith("BAMCP: 'simulations' must be a whole number of at least 1, got 0.")
    assert "Traceback" not in out + err
