"""`bayesrl irl`: what it prints and draws, its JSON, where demonstrations come from, and what it refuses."""

import json

import numpy as np
import pytest

import bayesrl as b
from bayesrl.cli import main
from bayesrl.inverse import value_loss
from bayesrl.lab.inverse import METHODS, infer, uniform_loss

SMALL = "gridworld-blocks:size=4,noise=0.1"
WORLD = b.make_world("gridworld-blocks", size=4, noise=0.1)
KEYS = ["method", "world", "weights", "policy", "value_loss", "log_posterior"]


def page(text, capsys):
    assert main(text.split()) == 0
    return json.loads(capsys.readouterr().out)


def test_json_of_map(capsys):
    """What the page says is true: the policy is optimal for the weights, and the loss is its loss."""
    found = page(
        f"irl map-birl {SMALL} --trajectories 3 --length 20 --set rationality=5 --set restarts=2 --json", capsys
    )
    assert list(found)[:6] == KEYS
    assert (found["method"], found["world"]) == ("map-birl", "gridworld-blocks")
    mdp, policy = WORLD.mdp, np.array(found["policy"])
    assert policy.shape == mdp.group.shape
    assert found["value_loss"] == pytest.approx(value_loss(WORLD, mdp.mean_reward, policy))
    assert value_loss(WORLD, WORLD.features @ found["weights"], policy) == pytest.approx(0.0, abs=1e-8)
    assert found["value_loss"] < found["uniform_loss"] / 2.0
    assert found["uniform_loss"] == pytest.approx(uniform_loss(WORLD))


def test_logs_give_the_demonstrations(tmp_path, line):
    record = b.run(b.solve(WORLD).policy, WORLD, 30, seed=0)
    record.to_frame().to_csv(tmp_path / "driver.csv")
    options = "--sweeps 1500 --set step=0.25"
    text = line(f"irl birl {SMALL} --data {tmp_path}/driver.csv {options} --plot {tmp_path}/map.png")
    assert "birl after 1 log." in text
    assert "the uniform policy loses" in text
    assert (tmp_path / "map.png").stat().st_size > 1000
    rng = np.random.default_rng(np.random.SeedSequence(0).spawn(2)[1])
    found = infer("birl", WORLD, [record], {"step": 0.25}, 1500, rng=rng)
    rows = [row.split() for row in text.splitlines() if row[:1].isdigit()]
    assert [float(row[1]) for row in rows] == pytest.approx(found.weights.tolist(), abs=6e-4)
    assert f"loses {found.value_loss:.4g} from the start" in text


def test_a_chain_that_has_not_mixed_is_noted(capsys):
    assert main(f"irl birl {SMALL} --sweeps 200 --set step=0.01 --json".split()) == 0
    out, err = capsys.readouterr()
    assert "take more sweeps" in err
    assert json.loads(out)["method"] == "birl"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(method, capsys):
    several = method in ("multitask-birl", "em-irl", "dpm-birl")
    more = {"em-irl": " --set clusters=2 --set restarts=1", "map-birl": " --set restarts=1"}.get(method, "")
    text = f"irl {method} {SMALL} --trajectories 3 --length 6 --sweeps 30 --json{more}"
    found = page(text, capsys)
    assert np.ndim(found["weights"]) == (2 if several else 1)
    assert np.shape(found["policy"])[-2:] == WORLD.mdp.group.shape
    assert np.sum(found["policy"], axis=-1) == pytest.approx(1.0)
    assert found == page(text, capsys)  # the same seed, the same page


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("irl psrl chain", "There is no method of inverse reinforcement learning called 'psrl'."),
        ("irl birl nowhere", "There is no world called 'nowhere'."),
        ("irl birl tiger", "bayesrl irl: 'world' must be a single world whose states and transitions are listed, got"),
        ("irl birl gc", "bayesrl irl: 'world' must be a single world whose states and transitions are listed, got"),
        (
            "irl birl chain:gamma=1",
            "bayesrl irl: 'world' must be one whose episodes end under every policy, as the discount is 1, "
            "got 'one that need not end from state 0'.",
        ),
        ("irl birl chain --trajectories 0", "bayesrl irl: '--trajectories' must be a whole number of at least 1, got"),
        ("irl birl chain --length 0", "bayesrl irl: '--length' must be a whole number of at least 1, got 0."),
        ("irl birl chain --sweeps 0", "bayesrl irl: '--sweeps' must be a whole number of at least 1, got 0."),
        ("irl birl chain --data no.csv", "Cannot read 'no.csv': there is no such file."),
        ("irl birl chain --data no.csv --length 3", "bayesrl irl: '--length' must be left out if there is --data"),
        ("irl birl chain --set colour=3", "There is no parameter called 'colour'."),
        ("irl birl chain --set rationality=-1", "BIRL: 'rationality' must be greater than 0, got -1."),
        ("irl birl chain --plot map.txt", "bayesrl: '--plot' must be a file that ends in .png, .pdf or .svg"),
    ],
)
def test_refused(text, sentence, capsys):
    assert main(text.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
