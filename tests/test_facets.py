"""The survey's table of online methods: its cells, and what can be seen of them in a decision."""

import inspect
import re
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.beliefs import DirichletMDP
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import COLUMNS, Differs, Facets
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import entries, find, online_methods, register

PLANNERS = {e.name: e for e in entries().values() if e.kind == "planner" and e.package == "bamdp"}
WORLD = b.make_world("chain", gamma=0.9)

# The table as the survey prints it, l. 1134-1213, with a for an action and s' for a next state.
DRAWN, NODE, BACKUPS = "s' ~ Pr(s'|s,a,phi)", "re-sample at node", "backups in tree, "
HEURISTIC, SOLVED, LIMIT = BACKUPS + "heuristic at leaves", "Q solved by DP", "Bayes-opt. in the limit"
SURVEY = {
    "bayesian-dp": (
        "N/A", "all a", "all s'", "sample 1 per step", SOLVED, "MDP opt. in the limit, bounded expected regret",
    ),
    "value-of-information": ("N/A", "information gain", "all s'", "sample K per step", SOLVED, "not known"),
    "forward-search": ("fixed d", "all a", "all s'", NODE, HEURISTIC, LIMIT),
    "bayesian-sparse-sampling": ("variable d", "a ~ E[R(s,a)]", DRAWN, NODE, HEURISTIC, "not known"),
    "hmdp": ("fixed d", "a ~ rand()", DRAWN, NODE, BACKUPS + "Q by LP at leaves", "not known"),
    "branch-and-bound": (
        "variable d", "all a, except if some U(s,phi,a) < L(s,phi,a')", "all s'", NODE, HEURISTIC, LIMIT,
    ),
    "bop": ("variable d", "argmax_a B(x,a)", "all s'", NODE, BACKUPS + "1/(1-gamma) at leaves", LIMIT),
    "bamcp": ("fixed d", "UCT criteria", DRAWN, "sample 1 per step", "rollouts with fixed policy", LIMIT),
    "bfs3": ("variable d", "argmax_a U(s,phi,a)", "argmax_s' (U(s') - L(s'))", NODE, HEURISTIC, "PAC guarantee"),
    "boss": ("N/A", "A x K", "all s'", "sample K per step", SOLVED, "PAC-MDP"),
    "smart-sampler": (
        "N/A", "A x K", "all s'", "sample K per step, K = max_s' var(P(s,a,s'))/epsilon", SOLVED, "PAC-MDP",
    ),
    "beb": ("N/A", "all a", "all s'", "N/A", "Q + reward bonus solved by DP", "PAC-BAMDP"),
    "vbrb": ("N/A", "all a", "all s'", "N/A", "Q + variance bonus solved by DP", "PAC-MDP"),
    "bolt": ("N/A", "A x S", "all s'", "create eta per step", SOLVED, "PAC-BAMDP"),
}  # fmt: skip


def prior():
    return DirichletMDP.flat(WORLD, 0.5).update(Transition(0, 0, 0.0, 1))


def test_the_table_is_the_surveys():
    rows = {e.name: e.facets for e in online_methods()}
    assert {name for name, row in rows.items() if row.in_survey} == set(SURVEY)
    for name, cells in SURVEY.items():
        assert tuple(rows[name].in_words_of_the_survey(column) for column in COLUMNS) == cells, name


def test_every_planner_of_the_rule_has_a_row_and_nothing_else_has():
    assert {e.name for e in entries().values() if e.facets is not None} == set(PLANNERS)
    assert [e.name for e in online_methods()][-1] == "tsmdp"  # the order of the survey: 4.10 is after 4.6


def test_cells_keep_to_the_words_of_the_survey():
    allowed = {
        "depth": r"N/A|fixed d|variable d",
        "posterior": r"N/A(: the mean model)?|re-sample at node|sample (1|K)\b.*|create .*eta per step",
        "guarantee": r"none|not known|PAC.*|.*regret.*|.*opt.* in the limit.*|near-optimal in the mean model"
        r"|optimal in the mean model in the limit",
    }
    for name, entry in PLANNERS.items():
        for column, words in allowed.items():
            assert re.fullmatch(words, entry.facets.in_words_of_the_survey(column)), (name, column)
        assert all(entry.facets.row(name).values())
        for column, why in entry.facets.why().items():
            assert why.endswith(".")
            assert entry.facets.here(column) != entry.facets.in_words_of_the_survey(column)
            assert entry.facets.cell(column).endswith("; here: " + entry.facets.here(column))


def test_both_readings_of_bamcp_are_shown():
    cell = find("bamcp").facets.cell("posterior")
    assert cell == "sample 1 per step; here: sample 1 per simulation"
    assert "ERRATA 5" in find("bamcp").facets.why()["posterior"]


def test_facets_are_for_planners():
    row = Facets("N/A", "all a", "all s'", Differs("N/A", here="drawn", why="It is so."), "N/A", "none")
    with pytest.raises(InvalidArgument, match="register: 'facets' must be given for a planner only, got 'tool'"):
        register("a-tool", kind="tool", facets=row)
    assert row.row("x") == {
        "name": "x", "depth": "N/A", "actions": "all a", "successors": "all s'", "posterior": "N/A; here: drawn",
        "solution": "N/A", "guarantee": "none",
    }  # fmt: skip
    assert row.why() == {"posterior": "It is so."}


# What can be seen -----------------------------------------------------------------------------------------------------


def models_drawn(monkeypatch, planner, steps=1):
    """How many models each decision draws, along `steps` steps: calls of a spying belief."""
    calls, drawn = [], []
    whole, rows = DirichletMDP.sample_mdp, DirichletMDP.sample_rows
    monkeypatch.setattr(DirichletMDP, "draws_short_rows", property(lambda self: False))
    monkeypatch.setattr(DirichletMDP, "sample_mdp", lambda self, rng: calls.append(1) or whole(self, rng))
    monkeypatch.setattr(DirichletMDP, "sample_rows", lambda self, *rest: calls.append(1) or rows(self, *rest))
    belief, memory, last, s, rng = prior(), planner.start(), None, 0, default_rng(0)
    for _ in range(steps):
        before = len(calls)
        decision = planner.plan(belief, s, memory, rng, last)
        memory = decision.memory
        drawn.append(len(calls) - before)
        last = Transition(s, decision.action, 0.0 if decision.action == 0 else 2.0, 1 if decision.action == 0 else 0)
        belief, s = belief.update(last), last.next_observation
    return drawn


@pytest.mark.parametrize("name", [n for n, e in PLANNERS.items() if "sample" not in e.facets.here("posterior")])
def test_no_model_is_drawn_where_the_table_says_so(name, monkeypatch):
    assert models_drawn(monkeypatch, PLANNERS[name].example(), 3) == [0, 0, 0]


@pytest.mark.parametrize(
    ("name", "settings", "drawn"),
    [
        ("bayesian-dp", {}, [1, 1, 1, 1]),  # sample 1 per step
        ("bayesian-dp", {"every": 3}, [1, 0, 0, 1]),  # every n steps
        ("psrl", {"horizon": 2}, [1, 0, 1, 0]),  # per episode
        ("value-of-information", {"samples": 7, "update": "fresh"}, [7, 7, 7, 7]),  # sample K per step
        ("boss", {"samples": 6, "knownness": 1}, [6, 6, 6, 6]),  # when a pair becomes known
        ("boss", {"samples": 6, "knownness": 9}, [6, 0, 0, 0]),
        ("sboss", {"samples": 4, "delta": 1e-9}, [4, 4, 4, 4]),  # when the posterior has moved
        ("sboss", {"samples": 4, "delta": 1e9}, [4, 0, 0, 0]),
        ("tsmdp", {"reference": 4}, [1, 0, 0, 0]),  # per epoch
    ],
)
def test_models_are_drawn_when_the_table_says_so(name, settings, drawn, monkeypatch):
    assert models_drawn(monkeypatch, b.make(name, **settings), 4) == drawn


def test_smart_sampler_draws_what_the_variance_asks_for(monkeypatch):
    variance = prior().row_variance()
    sizes = np.maximum(1, np.ceil(variance / 0.02)).max()
    assert models_drawn(monkeypatch, b.make("smart-sampler", epsilon=0.02)) == [sizes]
    assert sizes > 1


def test_bamcp_draws_one_model_per_simulation():
    """Counts are tiny, so a model always goes to one state: its values are 0 or 10, and 5 on average over models."""
    pays = np.zeros((3, 1, 3))
    pays[0, 0, 1] = 10.0
    mdp = TabularMDP.from_dense(np.full((3, 1, 3), 1 / 3), pays, 0.5)
    counts = np.array([[1e-9, 1e-6, 1e-6], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    belief = DirichletMDP.flat(mdp, counts)
    q = b.make("bamcp", simulations=2000, depth=1).plan(belief, 0, None, default_rng(0)).info["q"]
    assert 4.3 < q[0] < 5.7  # 5 +- .11: a correct program fails with probability 1e-9, one model per step always


def depths(name):
    return [f.name for f in fields(PLANNERS[name].factory) if f.name == "depth"]


def test_planners_without_a_tree_have_no_depth():
    """BOLT and POT may plan for a horizon; that is the length of the plan and no tree."""
    for name, entry in PLANNERS.items():
        if name not in ("bolt", "pot"):
            assert bool(depths(name)) == (entry.facets.depth != "N/A"), name


@pytest.mark.parametrize("name", ["forward-search", "branch-and-bound"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_fixed_depth_is_reached_and_not_passed(name, depth):
    belief = DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9), [[2.0, 1.0]])
    q = b.make(name, depth=depth).plan(belief, 0, None, default_rng(0)).info["q"]
    np.testing.assert_allclose(q, exact_q(belief, 0, depth), atol=1e-12)


def test_a_variable_depth_grows_with_the_budget():
    """Optimistic planning has no depth: a sum of rewards beyond d steps is only seen with more nodes."""
    belief = DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9), [[2.0, 1.0]])
    lower = [b.make("bop", nodes=n).plan(belief, 0, None, default_rng(0)).info["lower"].max() for n in (1, 30, 1000)]
    assert lower[0] < lower[1] < lower[2]


@pytest.mark.parametrize("name", [n for n, e in PLANNERS.items() if e.facets.here("actions").startswith("all a")])
def test_every_action_has_a_value_where_all_are_considered(name):
    info = replace(PLANNERS[name].example()).plan(prior(), 0, None, default_rng(0)).info
    if "q" in info:
        assert np.isfinite(info["q"]).all()


@pytest.mark.parametrize("name", ["bamcp", "uct"])
def test_the_ucb_rule_prefers_one_action_and_tries_all(name):
    visits = (
        b.make(name, simulations=500, depth=10, exploration=2.0).plan(prior(), 4, None, default_rng(0)).info["visits"]
    )
    assert visits.min() >= 1
    assert visits.max() > 1.2 * visits.min()


# What was read --------------------------------------------------------------------------------------------------------

# What infinite-pomdp recalls are figures that it is not compared with.
CONFESSED = re.compile(
    r"not at hand|did not have the paper|not re-?read|could not be re-read|read again|re-read|recalled(?!: tiger)"
    r"|(paper's|papers') \w+ (is|are) not known to us|only the paper's abstract|Left open by the survey, and ours: p\(m"
)


def page_of(entry):
    return " ".join((inspect.getdoc(sys.modules[entry.factory.__module__]) or "").split())


def test_what_was_read_is_said_where_the_paper_was_not():
    """A docstring that says so has a sentence in the registry, and no other docstring has one."""
    methods = [e for e in entries().values() if e.kind not in ("world", "family")]
    assert {e.name for e in methods if CONFESSED.search(page_of(e))} == {e.name for e in methods if e.reading}


def test_readings_are_sentences():
    said = {e.name: e.reading for e in entries().values() if e.reading}
    assert {"pot", "smart-sampler", "medusa", "action-oracle", "bayes-risk", "kernel-selection"} < set(said)
    assert not [name for name, text in said.items() if not re.fullmatch(r"The .{20,140}\.", text)]
    assert find("beb").card()["reading"] == ""
    assert find("pot").card()["reading"] == said["pot"]
