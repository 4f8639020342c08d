"""Worlds with hidden states on the command line: runs, files, solutions, explanations."""

import json

import numpy as np
import pytest

import bayesrl as b
from bayesrl.cli import main
from bayesrl.errors import InvalidArgument, UnknownName, UnreadableFile
from bayesrl.lab.build import agent_for, named, world_for
from bayesrl.lab.explain import Hidden, explain
from bayesrl.lab.plots.explanation import _states, _vectors, plot_explanation


@pytest.fixture
def refused(capsys):
    """Run a command line that must be refused; the sentence."""

    def run(text):
        code = main(text.split())
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        return err.strip()

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.pomdp"
    b.models.write_pomdp(b.make_world("tiger").pomdp, path)
    return path


def test_a_world_suggests_settings_of_methods():
    """The tiger suggests a constant for POMCP, unless the user says one; other worlds and methods keep the default."""
    tiger, shuttle = b.make_world("tiger"), b.make_world("shuttle")
    assert agent_for("pomcp", tiger).planner == b.make("pomcp", exploration="auto")
    assert agent_for("pomcp", tiger, params={"exploration": None}).planner == b.make("pomcp")
    assert b.make("pomcp").exploration is None
    for method, world in (("pomcp", shuttle), ("pomcp", b.make_world("tiger-episodic"))):
        assert agent_for(method, world).planner == b.make(method)


# Files as worlds -----------------------------------------------------------------------------------------------------


def test_a_file_is_a_world(file):
    tiger, world = b.make_world("tiger"), world_for(str(file))
    assert world.name == "small"
    assert (world.states, world.actions, world.observations) == (("0", "1"), ("0", "1", "2"), ("0", "1"))
    for ours, theirs in zip(world.pomdp.dense(), tiger.pomdp.dense(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert world.gamma == 0.95
    assert world_for(f"{file}:gamma=3/4").gamma == 0.75
    assert world_for(str(file), {"gamma": 0.5}).gamma == 0.5
    assert world_for(f"{file}:terminal=1").pomdp.terminal.tolist() == [False, True]
    assert world.model_prior().fixed[0].tolist() == [True, False, False] * 2  # listening is certain
    assert named("a:b/x.pomdp:gamma=.5") == ("a:b/x.pomdp", {"gamma": 0.5})


def test_names_of_a_file(tmp_path):
    text = "discount: .9 states: wet dry actions: wait observations: dark light T: wait identity O: wait uniform"
    (tmp_path / "w.pomdp").write_text(text + " R: wait : wet : * : * 1")
    world = world_for(f"{tmp_path / 'w.pomdp'}:terminal=dry")
    assert (world.states, world.actions, world.observations) == (("wet", "dry"), ("wait",), ("dark", "light"))
    assert world.pomdp.terminal.tolist() == [False, True]


def test_files_that_are_refused(file, tmp_path):
    with pytest.raises(UnreadableFile, match="there is no such file"):
        world_for(str(tmp_path / "none.pomdp"))
    with pytest.raises(UnknownName, match="no parameter of a file called 'accuracy'"):
        world_for(f"{file}:accuracy=.5")
    with pytest.raises(InvalidArgument, match="'gamma' must be set once"):
        world_for(f"{file}:gamma=.5", {"gamma": 0.9})
    with pytest.raises(InvalidArgument, match="'gamma' must be in"):
        world_for(f"{file}:gamma=1.5")


# Commands ------------------------------------------------------------------------------------------------------------


def test_run_is_what_the_library_does(line, file):
    for name in ("tiger", str(file)):
        world = world_for(name)
        policy = b.make("pbvi", size=30).solve(world, np.random.default_rng(0))
        agent = b.BayesAgent(b.beliefs.POMDPFilter(world.pomdp), policy)
        total = sum(b.run(agent, world, steps=40, seed=3, replicate=i).total for i in range(3)) / 3
        page = json.loads(line(f"run pbvi:size=30 {name} --runs 3 --steps 40 --seed 3 --json"))
        assert page["return"]["mean"] == pytest.approx(total, abs=1e-9)
        assert (page["prior"], page["world"]) == ("known", name)
    assert "seed 0" in line(f"run pbvi:size=5 {file} --runs 2 --steps 5")


def test_agents_get_the_counts_of_the_world():
    class Entry:
        def __init__(self):
            self.kind, self.parameters, self.name, self.package = "agent", {"prior": None}, "x", "bapomdp"
            self.factory, self.words = None, {}

    world = b.make_world("tiger")
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesrl.lab.build.acting", lambda method: Entry())
        patch.setattr("bayesrl.lab.build.make", lambda method, **given: made.update(given) or "agent")
        assert agent_for("x", world) == "agent"
    assert made == {"prior": world.model_prior()}


def test_an_mdp_planner_is_refused(refused):
    assert refused("run psrl tiger") == "PSRL needs a belief with 'outcomes', 'sample_mdp', which POMDPFilter lacks."
    said = refused("run random tiger --prior flat")
    assert said == "The prior 'flat' needs a problem with 'mdp', which tiger lacks."


def test_solve(line, refused, file):
    text = line("solve tiger")
    assert "> listen" in text
    assert "Value of the start 19.3714 at discount 0.95, by pomdp-value-iteration" in text
    assert "The optimal value is at most 19.3714." in text
    assert "by pbvi" in line("solve online-shop-hidden")
    page = json.loads(line(f"solve {file}:gamma=.75 --method pomdp-value-iteration --json"))
    assert page["start_value"] == pytest.approx(1.933439, abs=2e-6)
    assert page["start_value"] <= page["upper_bound"]
    assert page["method"] == "pomdp-value-iteration"
    assert np.argmax(page["q"]) == 0
    assert np.shape(page["vectors"]) == (len(page["actions"]), 2)
    assert refused(f"solve {file} --method mdp-lp").startswith("solve: 'method' must be one of auto, pomdp-value")
    assert refused("solve tiger --plot map.png") == "plot_policy: 'world' must be one with a map, got 'tiger'."


def test_show(line):
    text = line("show tiger")
    assert "2 states, 3 actions, 2 observations" in text
    assert "The optimal value of the start is 19.3714." in text


# Explanations --------------------------------------------------------------------------------------------------------


def test_a_belief_is_explained(line):
    why = explain("pbvi:size=20", "tiger", steps=1, seed=0)
    heard = why.state  # the last observation
    assert sorted(why.hidden.states.values()) == pytest.approx([0.15, 0.85])
    assert why.hidden.states["tiger-left" if heard == 0 else "tiger-right"] == pytest.approx(0.85)
    assert sum(why.hidden.observations.values()) == pytest.approx(1.0)
    assert max(why.hidden.observations.values()) == pytest.approx(0.85**2 + 0.15**2)
    assert why.hidden.vectors.shape == (len(why.hidden.best), 2)
    now = np.array(list(why.hidden.states.values()))
    assert (why.hidden.vectors @ now).max() == pytest.approx(why.root["q"].max(), abs=0.02)
    text = line("explain pbvi:size=20 tiger --steps 1")
    assert text.startswith("pbvi:size=20 in tiger after 1 steps, seed 0: listen.")
    assert "tiger-left   0.8500" in text or "tiger-right  0.8500" in text
    page = json.loads(line("explain pbvi:size=20 tiger --steps 1 --json"))
    assert page["states"] == why.hidden.states
    assert page["observations"] == why.hidden.observations
    assert (page["observation"], page["action"]) == (heard, "listen")


def test_long_beliefs_are_cut(line):
    text = line("explain random hallway")
    assert "... and 50 more," in text
    assert explain("random", "hallway").hidden.vectors is None


def test_a_hidden_state_is_not_chosen():
    with pytest.raises(InvalidArgument, match="explain: 'state' must be left out, since it is hidden, got 1"):
        explain("random", "tiger", 1)


def test_explanations_are_drawn(tmp_path):
    plot_explanation(explain("pbvi:size=20", "tiger", steps=1), tmp_path / "why.svg")
    assert (tmp_path / "why.svg").stat().st_size > 1000
    plot_explanation(explain("random", "hallway"), tmp_path / "states.svg")


def test_lines_are_alpha_vectors():
    figure = pytest.importorskip("matplotlib.figure")
    left, right = figure.Figure().subplots(1, 2)
    vectors = np.array([[1.0, 0.0], [0.0, 2.0]])
    why = explain("random", "tiger")
    hidden = Hidden({"wet": 0.25, "dry": 0.75}, {}, vectors, np.array([0, 2]))
    _vectors(right, hidden, why)
    thin = [one for one in right.lines if one.get_linewidth() < 1.0]
    assert [one.get_ydata().tolist() for one in thin] == vectors.tolist()
    thick = {one.get_label(): np.array(one.get_ydata()) for one in right.lines if one.get_linewidth() > 2.0}
    assert set(thick) == {"listen", "open-right"}
    p = np.linspace(0, 1, 201)
    np.testing.assert_allclose(np.fmax(*thick.values()), np.maximum(1 - p, 2 * p))
    np.testing.assert_allclose(right.collections[0].get_offsets(), [[0.75, 1.5]])
    _states(left, hidden)
    assert [bar.get_width() for bar in left.patches] == [0.75, 0.25]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["dry", "wet"]
