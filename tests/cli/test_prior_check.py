"""`bayesrl prior-check`: what it prints, its JSON, where prior and data come from, and what it refuses."""

import json

import numpy as np
import pytest

import bayesrl as b
from bayesrl._version import code_version
from bayesrl.cli import main

WORLD = b.make_world("chain", gamma=0.3)
PRIOR = b.DirichletMDP.flat(WORLD, 1.0)


@pytest.fixture(scope="module")
def record():
    return b.run(b.BayesAgent(PRIOR, b.make("random")), WORLD, 400, seed=3)


def found_by(record, prior=PRIOR):
    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
    return b.pacbayes.prior_check(prior, record, 20, 0.1, rng=rng)


def test_json_of_random_steps(line, record):
    text = "prior-check chain:gamma=0.3 --prior flat --steps 400 --policies 20 --delta 0.1 --seed 3 --json"
    page, ours = json.loads(line(text)), found_by(record)
    assert list(page) == [
        "world", "rules", "sentence", "lower", "empirical", "kl", "temperature", "visits", "needed", "range",
        "policies", "prior", "weights", "params", "seed", "version",
    ]  # fmt: skip
    assert (page["world"], page["rules"], page["sentence"]) == ("chain", ours.rules, ours.sentence)
    assert page["lower"] == {"prior": ours.prior_lower, "data": ours.data_lower, "selected": ours.lower}
    assert page["weights"] == pytest.approx(ours.weights)
    assert page["policies"] == ours.policies.tolist()
    assert page["range"] == [ours.least, ours.highest]
    assert page["params"] == {"prior": "flat", "steps": 400, "policies": 20, "delta": 0.1, "gamma": 0.3}
    assert (page["seed"], page["version"]) == (3, code_version())


def test_a_log_and_a_saved_prior(line, record, tmp_path):
    """A prior learnt elsewhere, in a file; the sentence is the last line."""
    learnt = PRIOR.update_many(b.run(b.BayesAgent(PRIOR, b.make("random")), WORLD, 100, seed=8))
    b.save(learnt, tmp_path / "elsewhere.zip")
    record.to_frame().to_csv(tmp_path / "log.csv")
    files = f"--prior {tmp_path}/elsewhere.zip --data {tmp_path}/log.csv"
    text = line(f"prior-check chain:gamma=0.3 {files} --policies 20 --delta 0.1 --seed 3")
    assert text.rstrip().endswith(found_by(record, learnt).sentence)
    assert f"chain after {tmp_path}/log.csv, discount 0.3" in text
    assert "90% sure" in text


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            "tiger",
            "bayesrl prior-check: 'world' must be one whose states and possible transitions are listed, got 'tiger'",
        ),
        (
            "chain:gamma=1",
            "bayesrl prior-check: 'belief' must be one whose episodes end under every policy, as the discount is 1, ",
        ),
        ("chain --delta 0", "bayesrl prior-check: '--delta' must be in (0, 1), got 0.0."),
        ("chain --delta 1", "bayesrl prior-check: '--delta' must be in (0, 1), got 1.0."),
        ("chain --policies 0", "bayesrl prior-check: '--policies' must be a whole number of at least 1, got 0."),
        ("chain --seed -1", "bayesrl prior-check: '--seed' must be a whole number of at least 0, got -1."),
        ("chain --steps 0", "run: 'steps' must be a whole number of at least 1, got 0."),
        ("chain --prior narrow", "There is no prior called 'narrow'."),
        ("chain --prior no.zip", "There is no prior called 'no.zip'."),
        ("chain --data no.csv", "Cannot read 'no.csv': there is no such file."),
        ("chain --data no.csv --steps 5", "bayesrl prior-check: '--steps' must be left out if there is --data, got 5."),
    ],
)
def test_refused(text, sentence, capsys):
    assert main(["prior-check", *text.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)


def test_files_that_are_no_prior_of_the_world(tmp_path, record, capsys):
    b.save(record, tmp_path / "record.zip")
    b.save(b.DirichletMDP.flat(b.make_world("double-loop")), tmp_path / "other.zip")
    (tmp_path / "text.zip").write_text("x")
    for name, sentence in (
        ("record.zip", "bayesrl prior-check needs a belief with"),
        ("other.zip", "bayesrl prior-check: '--prior' must be a belief about 5 states and 2 actions, got"),
        ("text.zip", "Cannot read"),
    ):
        assert main(["prior-check", "chain", "--prior", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.startswith(sentence)
