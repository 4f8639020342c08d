"""Explaining a decision: what is said is what the planner thought and what the belief believes; pictures show it."""

import json

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

import bayesrl as b
from bayesrl.beliefs import RewardBeta, SparseDirichletMDP, UnknownRewards
from bayesrl.cli import main
from bayesrl.core import Streams, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.explain import Plan, after_steps, explain, posterior_row
from bayesrl.lab.plots.explanation import ARROWS, _map, plot_explanation, plot_policy
from bayesrl.lab.sketches import LETTERS, sketch, sketched_map, sketched_root
from bayesrl.models.solve import solve

# What is said --------------------------------------------------------------------------------------------------------


def test_the_root_is_what_the_planner_thought():
    """After 25 steps of `run` with that seed, the same mind is asked in another state."""
    world, steps = b.make_world("chain", gamma=0.9), 25
    agent = b.BayesAgent(b.DirichletMDP.flat(world, 0.5), b.make("bamcp", simulations=60, depth=15))
    why = explain("bamcp:simulations=60,depth=15", "chain:gamma=0.9", 3, steps=steps, prior="flat:1/2", seed=4)
    streams = Streams.of(4)
    mind, seen = after_steps(agent, world, steps, streams)
    record = b.run(agent, world, steps, seed=4)
    assert seen == record.next_state[-1]
    assert mind.belief == agent.prior.update_many(record)
    action, _, info = agent.act(mind, 3, streams.planner)
    assert why.action == action
    assert list(why.root) == ["q", "visits"]
    assert (why.root["q"] == info["q"]).all()
    assert (why.root["visits"] == info["visits"]).all()
    assert explain("bamcp:simulations=60,depth=15", "chain", steps=steps, seed=4).state in range(5)


def test_the_row_is_what_the_belief_believes():
    world = b.make_world("chain")
    prior = b.DirichletMDP.flat(world, [0.5, 1.0, 0.25, 2.0, 0.5])
    belief = prior.update(Transition(1, 0, 0.0, 2)).update(Transition(1, 0, 2.0, 0))
    row = posterior_row(belief, 1, 0, default_rng(0))
    alpha = np.array([1.5, 1.0, 1.25, 2.0, 0.5])
    assert [o.next_state for o in row] == [3, 0, 2, 1, 4]  # the likeliest first
    for o in row:
        beta = stats.beta(alpha[o.next_state], alpha.sum() - alpha[o.next_state])
        np.testing.assert_allclose((o.mean, o.low, o.high), (beta.mean(), *beta.ppf((0.025, 0.975))), rtol=1e-6)
    assert [o.reward for o in row] == [0.0, 2.0, 0.0, 0.0, 0.0]


def test_a_known_row_and_a_row_of_one_outcome():
    world = b.make_world("chain")
    row = posterior_row(b.DirichletMDP.structured(world, known=True), 0, 0, default_rng(0))
    assert [(o.next_state, o.mean, o.low, o.high) for o in row] == [(1, 0.8, 0.8, 0.8), (0, 0.2, 0.2, 0.2)]
    loop = posterior_row(b.DirichletMDP.structured(b.make_world("double-loop")), 0, 0, default_rng(0))
    assert loop == ((1, 0.0, 1.0, 1.0, 1.0),)


def test_rows_by_sampled_models():
    """Sparse rows have no closed form: means exact, ends as of 4000 draws of the same row."""
    belief = SparseDirichletMDP.flat(b.make_world("chain")).update_many(Transition(0, 0, 0.0, 1) for _ in range(5))
    row = posterior_row(belief, 0, 0, default_rng(0))
    drawn = np.array([belief.sample_mdp(r).prob[0] for r in default_rng(1).spawn(4000)])
    assert row[0].next_state == 1
    np.testing.assert_allclose([o.mean for o in row], belief.mean_mdp().prob[0][[o.next_state for o in row]])
    np.testing.assert_allclose((row[0].low, row[0].high), np.quantile(drawn[:, 1], (0.025, 0.975)), atol=0.08)


def test_unknown_rewards_are_means():
    belief = UnknownRewards(
        b.DirichletMDP.flat(b.make_world("chain")), RewardBeta(np.ones((5, 2)), np.full((5, 2), 3.0))
    )
    assert {o.reward for o in posterior_row(belief, 0, 1, default_rng(0))} == {0.25}


def test_bounds_where_the_planner_has_them(monkeypatch):
    """Whatever of the readings the info has for every action is shown, and nothing else."""
    from bayesrl.bamdp.baselines.random import Random
    from bayesrl.core import Decision

    info = {"q": np.array([1.0, 2.0]), "lower": np.zeros(2), "upper": np.full(2, 3.0), "nodes": 7, "visits": np.ones(3)}
    monkeypatch.setattr(Random, "plan", lambda self, *rest: Decision(1, None, info))
    assert list(explain("random", "chain").root) == ["q", "lower", "upper"]


def test_in_words(line):
    text = line("explain beb chain --state 4 --steps 10 --set beta=2")
    why = explain("beb", "chain", 4, steps=10, params={"beta": 2})
    assert text.startswith("beb in state 4 of chain after 10 steps, seed 0: ")
    for a, name in enumerate(("a", "b")):
        mark = ">" if a == why.action else " "
        assert f"{mark} {name}       {why.root['q'][a]:.6g}" in text
    for o in why.outcomes:
        assert f"{o.mean:.4f}" in text
    assert f"{why.outcomes[0].low:.4f} to {why.outcomes[0].high:.4f}" in text


def test_in_pictures_of_letters(line):
    """A dot between its bounds on one scale, intervals from 0 to 1, and arrows on the map around the state."""
    assert sketch(2.0, 3.0, 4.0, 2.0, 4.0) == "─" * 12 + "●" + "─" * 12
    assert sketch(0.0, 0.0, 0.25, 0.0, 1.0) == "●" + "─" * 6 + " " * 18
    assert sketch(5.0, 5.0, 5.0, 5.0, 5.0) == "●" + " " * 24
    why = explain("bfs3:simulations=10,depth=3", "grid5", 12, steps=30)
    low, high = why.root["lower"].min(), why.root["upper"].max()
    expected = [
        sketch(*three, low, high) for three in zip(*(why.root[k] for k in ("lower", "q", "upper")), strict=True)
    ]
    assert sketched_root(why) == expected
    best = [[LETTERS[why.actions[a]] for a in row] for row in why.mean_plan.policy[why.layout[0]]]
    rows = sketched_map(why)
    assert rows[2] == " {}  {} [{}] {}  {} ".format(*best[2])
    assert [row.replace(" ", "") for row in rows[:2] + rows[3:]] == ["".join(row) for row in best[:2] + best[3:]]
    assert sketched_map(explain("beb", "gc")) == []
    text = line("explain bfs3:simulations=10,depth=3 grid5 --state 12 --steps 30")
    assert all(drawn.rstrip() in text for drawn in [*expected, *rows])
    assert "█" in "".join(sketched_map(explain("random", "dearden-maze", 12)))


def test_long_rows_are_cut(line):
    assert "... and 15 more, 0.6 in all: --json prints them all." in line("explain random grid5")


def test_json(line):
    found = json.loads(line("explain psrl gc --prior inaccurate --state 2 --steps 5 --seed 3 --json"))
    assert list(found) == ["method", "world", "state", "steps", "seed", "action", "root", "outcomes", "version"]
    assert [found[key] for key in ("method", "world", "state", "steps", "seed")] == ["psrl", "gc", 2, 5, 3]
    assert [row["action"] for row in found["root"]] == ["0", "1", "2"]
    assert found["action"] in ("0", "1", "2")
    assert sum(o["mean"] for o in found["outcomes"]) == pytest.approx(1.0)


def test_an_agent_without_belief(line):
    text = line("explain q-learning chain --steps 5")
    assert "> " in text
    assert text.endswith("The method has no belief about the outcomes of actions.\n")


# Pictures ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["why.png", "why.svg", "why.pdf"])
def test_pictures_are_written(line, tmp_path, name):
    line(f"explain exploit chain --state 2 --plot {tmp_path / name}")
    line(f"solve chain --plot {tmp_path / ('map_' + name)}")
    for file in (name, "map_" + name):
        assert (tmp_path / file).read_bytes()[:4] in (b"\x89PNG", b"<?xm", b"%PDF")


def test_panels_are_those_there_is_something_for(tmp_path):
    """The words in the picture: a world without a map has no map, a method without belief no row."""
    for method, world, there, missing in (
        ("beb", "grid5", ("at the root", "posterior outcomes", "mean model"), ()),
        ("beb", "double-loop", ("at the root", "posterior outcomes"), ("mean model",)),
        ("q-learning", "chain", ("at the root",), ("posterior outcomes", "mean model")),
    ):
        plot_explanation(explain(method, world), tmp_path / "why.svg")
        text = (tmp_path / "why.svg").read_text()
        assert all(word in text for word in there)
        assert not any(word in text for word in missing)


@pytest.mark.parametrize("name", ["grid5", "dearden-maze"])
def test_arrows_point_where_the_policy_goes(name):
    from matplotlib.figure import Figure

    world = b.make_world(name)
    solution = solve(world)
    panel = world.layout[-1]
    axes = Figure().subplots()
    _map(axes, panel, Plan(solution.values, solution.policy), world.actions, (None, None), int(panel[0, 0]))
    arrows = [t for t in axes.texts if getattr(t, "arrow_patch", None) is not None]
    assert len(arrows) == (panel >= 0).sum()
    for (y, x), arrow in zip(np.argwhere(panel >= 0), arrows, strict=True):
        way = np.subtract(arrow.xy, arrow.xyann)
        np.testing.assert_allclose(
            way / np.abs(way).max(), ARROWS[world.actions[solution.policy[panel[y, x]]]], atol=1e-9
        )
        assert np.abs(np.add(arrow.xy, arrow.xyann) / 2 - (x, y)).max() < 0.1
    numbers = {t.get_text() for t in axes.texts} - {""}
    assert numbers == {str(s) for s in panel[panel >= 0]}
    assert len(axes.patches) == 1  # here


# What cannot be done -------------------------------------------------------------------------------------------------


STATE = "explain: 'state' must be a whole number of at least 0 and at most 4, "


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("explain beb chain --state 5", STATE + "got 5."),
        ("explain beb chain --state -1", STATE + "got -1."),
        ("explain beb chain --steps -1", "explain: 'steps' must be a whole number of at least 0, got -1."),
        ("explain bamcp infinite-grid", "explain: 'world' must be one whose states are listed, got 'infinite-grid'."),
        ("explain thompson bernoulli", "explain: 'world' must be one whose states are listed, got 'bernoulli'."),
        ("explain psrll chain", "There is no method called 'psrll'. Did you mean psrl?"),
        ("explain beb chain --set bta=3", "There is no parameter of beb called 'bta'. Did you mean beta?"),
        (
            "explain beb chain --plot a.gif",
            "bayesrl: '--plot' must be a file that ends in .png, .pdf or .svg, got 'a.gif'.",
        ),
        ("solve double-loop --plot map.png", "plot_policy: 'world' must be one with a map, got 'double-loop'."),
        ("solve gc --plot map.png", "plot_policy: 'world' must be one with a map, got 'gc'."),
    ],
)
def test_mistakes(text, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(text.split()) == 2
    assert capsys.readouterr() == ("", sentence + "\n")
    assert list(tmp_path.iterdir()) == []


def test_no_picture_of_nothing(tmp_path):
    why = explain("q-learning", "chain")
    bare = type(why)(**{**why.__dict__, "root": {}})
    with pytest.raises(InvalidArgument, match="'why' must be of a method with values or a belief, got 'q-learning'"):
        plot_explanation(bare, tmp_path / "why.png")
    with pytest.raises(InvalidArgument, match="'gamma' must be less than 1"):
        plot_policy(b.make_world("chain", gamma=1.0), tmp_path / "map.png")


@pytest.mark.parametrize(
    ("method", "world"), [("psrl", "chain"), ("random", "tiger-episodic"), ("reinforce", "random-walk")]
)
def test_an_explained_decision_is_that_of_the_run(method, world):
    """In its state, and also right after an end. Then the run goes on in the first state of another episode."""
    record = b.run(b.agent(method, world), b.make_world(world), 9, seed=6)
    assert record.terminated[:-1].any() == (world == "tiger-episodic")
    for steps in range(9):
        why = explain(method, world, steps=steps, seed=6)
        assert (why.state, why.action) == (record.observation[steps], record.action[steps])
