"""Representations are short: of what is registered, of posteriors, records, comparisons, decisions and solutions."""

import dataclasses
import re
from typing import NamedTuple

import numpy as np
import pytest
from own_probes import probe_for

import bayesrl as b
from bayesrl._shown import LETTERS, LINES, shown
from bayesrl.cli import main
from bayesrl.cli.output import console
from bayesrl.registry import entries, worlds
from bayesrl.testing.probes import learned

ENTRIES = entries()
EXAMPLES = [name for name, entry in ENTRIES.items() if entry.example is not None]
WORLDS = [entry.name for entry in worlds() if not entry.name.startswith("asking")]
SLOW = {
    "bapomdp-bounded", "bapomdp-particle", "bnirl", "dpm-birl", "factored-dbn", "gp-pomdp", "gptd-parametric",
    "hierarchical-mdp", "infinite-pomdp", "multitask-birl", "pomdp-particles", "row-column-beta",
}  # fmt: skip
"""Beliefs whose updates take long: they learn from fewer data."""


def check(thing):
    text = repr(thing)
    assert len(text) <= LETTERS
    assert text.count("\n") < LINES
    return text


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    assert check(ENTRIES[name].example())


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_and_their_problems(name):
    world = b.make_world(name)
    check(world)
    if isinstance(world, b.core.Family):
        check(world.draw(np.random.default_rng(0)))
    elif isinstance(world, (b.MDPWorld, b.worlds.POMDPWorld)):
        check(world.mdp if isinstance(world, b.MDPWorld) else world.pomdp)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if ENTRIES[name].kind == "belief"])
def test_posteriors(name):
    rng, belief = np.random.default_rng(1), ENTRIES[name].example()
    probe = probe_for(belief)
    theta = probe.draw(belief, rng)
    for _ in range(4 if name in SLOW else 200):
        try:
            belief = learned(probe, belief, probe.datum(belief, theta, rng), rng)
        except IndexError:  # a probe has finitely many data
            break
    check(belief)


def test_records_comparisons_and_decisions():
    world = b.make_world("chain")
    agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("psrl"))
    record = b.run(agent, world, 1000)
    assert check(record) == (
        f"Record(steps=1000, total={record.total:g}, gamma=0.95, "
        "columns=(observation, action, reward, next_observation, terminated, truncated))"
    )
    check(agent.act(agent.start(), 0, np.random.default_rng(0)))
    check(b.explain("psrl", "chain", steps=100))
    arms = b.make_world("online-shop")
    thompson = b.BayesAgent(arms.default_prior(), b.make("thompson"))
    assert check(b.run(thompson, arms, 20, lockstep=7)).startswith("Record(steps=20, runs=7, mean_total=")


def test_a_comparison_shows_its_methods_and_means():
    world = b.make_world("chain")
    flat = b.DirichletMDP.flat(world)
    agents = {"psrl": b.BayesAgent(flat, b.make("psrl")), "random": b.BayesAgent(flat, b.make("random"))}
    found = b.compare(agents, world, steps=50, runs=4)
    head, *lines = check(found).splitlines()
    assert head == "Comparison of 2 methods, 4 runs of 50 steps: mean return ± half the 95% interval"
    for line, (label, summary) in zip(lines, found.summary().items(), strict=True):
        name, mean = line.split()[:2]
        assert name == label
        assert float(mean) == pytest.approx(summary.total.mean, abs=0.06)
    many = dataclasses.replace(found, records={f"{k} {'long ' * 50}": found["psrl"] for k in range(40)})
    assert check(many).endswith("... and 22 more")


def test_table_of_a_comparison_has_the_numbers_of_the_command_line(capsys):
    """One table, printed by `bayesrl compare` and returned by `Comparison.table`."""
    assert (
        main(["compare", "psrl", "random", "--world", "chain", "--runs", "3", "--steps", "30", "--prior", "flat"]) == 0
    )
    printed = capsys.readouterr().out
    out = console()
    with out.capture() as text:
        out.print(b.lab.experiment(["psrl", "random"], "chain", "flat", steps=30, runs=3).comparison.table())
    rows = [re.findall(r"[\d.]+ ± [\d.]+", row)[:2] for row in text.get().splitlines() if "±" in row]
    assert len([row for row in rows if row]) == 2
    assert all(cell in printed for row in rows for cell in row)


@pytest.mark.parametrize("world, method", [("chain", "auto"), ("dearden-maze", "auto"), ("tiger", "auto")])
def test_solutions(world, method):
    check(b.solve(b.make_world(world), method=method))


# The helper ----------------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    values: object
    note: str = ""

    def __repr__(self):
        return shown(self)


@pytest.mark.parametrize(
    "found, text",
    [
        (Found([1, 2], "few"), "Found(values=[1, 2], note='few')"),
        (Found(np.ones((30, 30))), "Found(values=<array of shape (30, 30)>, note='')"),
        (Found((0.1,) * 5000), "Found(values=<tuple of 5000>, note='')"),
        (Found({"a": "x" * 4000}, "why"), "Found(values=<dict of 1>, note='why')"),
        (Found(Found(np.ones((30, 30)))), "Found(values=Found(values=<array of shape (30, 30)>, note=''), note='')"),
        (Found(Found([1.25] * 60), "y" * 4000), "Found(values=Found(...), note=str(...))"),
        (Found(b.core.Transition(np.zeros(999), 0, 0.0, 0)), "Found(values=Transition(...), note='')"),
    ],
)
def test_what_is_long_is_shown_by_its_size(found, text):
    assert repr(found) == text


@pytest.mark.parametrize("listing", [b.methods, b.worlds, b.fits, lambda: b.fits(world="chain")])
def test_a_long_listing_is_shown_by_its_first_rows(listing):
    rows = listing()
    text = repr(rows)
    assert len(text) <= LETTERS
    assert text.count("\n") < LINES
    assert text.endswith((f"... {len(rows)} in all]", f"... {len(rows)} in all)"))
    assert repr(rows[0])[:60] in text


def test_a_short_listing_is_shown_whole():
    found = b.fits("ba-pomcp", "tiger")
    assert repr(found) == f"({found[0]!r},)"
    assert repr(b.fits("thompson", "tiger")) == "()"
