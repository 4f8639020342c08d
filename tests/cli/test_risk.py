"""`bayesrl risk`: what it prints and draws, its JSON, where its posterior comes from, and what it refuses."""

import contextlib
import io
import json
import sys

import numpy as np
import pytest

import bayesrl as b
from bayesrl._version import code_version
from bayesrl.cli import main
from bayesrl.cli.risk import _posterior
from bayesrl.lab.priors import prior_for
from bayesrl.lab.risk import assess

WORLD = b.make_world("machine-replacement")
PRIOR = b.DirichletMDP.structured(WORLD)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The JSON page and the picture of one call; cvxpy cannot be imported meanwhile."""
    picture, out = tmp_path_factory.mktemp("risk") / "risk.svg", io.StringIO()
    text = f"risk machine-replacement --criterion cvar --steps 60 --seed 1 --json --plot {picture}"
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setitem(sys.modules, "cvxpy", None)
        patch.setattr("bayesrl.lab.risk.MODELS", 200)  # fast
        assert main(text.split()) == 0
    return json.loads(out.getvalue()), picture.read_text()


def test_json(page):
    found, _ = page
    assert list(found) == [
        "world", "criterion", "epsilon", "policy", "value", "guarantee", "nominal", "alternatives", "params", "seed",
        "version",
    ]  # fmt: skip
    assert (found["world"], found["criterion"], found["epsilon"], found["seed"]) == (
        "machine-replacement",
        "cvar",
        0.05,
        1,
    )
    assert found["version"] == code_version()
    assert found["params"]["steps"] == 60
    assert found["params"]["prior"] == "structured:1"
    assert list(found["nominal"]) == ["policy", "mean", "quantile", "cvar"]
    assert list(found["alternatives"]) == ["nominal", "percentile", "max-min", "cvar"]
    for each in found["alternatives"].values():
        assert np.shape(each["policy"]) == (10, 2)
        assert np.sum(each["policy"], axis=1) == pytest.approx(1.0)
        assert each["cvar"] < each["guarantee"] < each["quantile"] < each["mean"]
    own = found["alternatives"]["cvar"]
    assert (found["policy"], found["value"], found["guarantee"]) == (own["policy"], own["quantile"], own["guarantee"])
    nominal = found["alternatives"]["nominal"]
    assert found["nominal"] == {key: nominal[key] for key in found["nominal"]}


def test_the_figures_are_those_of_the_posterior(page):
    """The posterior after 60 random steps, assessed on the second stream of the seed."""
    found, _ = page
    belief = PRIOR.update_many(b.run(b.BayesAgent(PRIOR, b.make("random")), WORLD, 60, seed=1))
    policies = {name: each["policy"] for name, each in found["alternatives"].items()}
    rng = np.random.default_rng(np.random.SeedSequence(1).spawn(2)[1])
    for name, ours in assess(belief, policies, rng=rng).items():
        told = found["alternatives"][name]
        assert [told[key] for key in ("mean", "quantile", "cvar", "guarantee")] == pytest.approx(list(ours[:4]))
    best = b.solve(belief.mean_mdp()).policy
    assert np.argmax(found["nominal"]["policy"], axis=1).tolist() == list(best)


def test_the_picture_shows_every_policy(page):
    _, picture = page
    assert all(word in picture for word in ("nominal", "percentile", "max-min", "cvar", "mean -", "CVaR at 0.05"))


def test_a_log_gives_the_posterior(tmp_path, line, monkeypatch):
    """Sixty days of stock in a file: the same as `update_many`; the table marks the criterion and names actions."""
    monkeypatch.setattr("bayesrl.lab.risk.MODELS", 200)  # fast
    world = b.make_world("inventory-binomial")
    prior = b.DirichletMDP.structured(world)
    record = b.run(b.BayesAgent(prior, b.make("random")), world, 60, seed=0)
    record.to_frame().to_csv(tmp_path / "days.csv")
    text = line(f"risk inventory-binomial --criterion mean --epsilon 0.1 --data {tmp_path}/days.csv")
    assert "> mean" in text
    assert "10% percentile" in text
    assert "order 5" in text
    assert f"inventory-binomial after {tmp_path}/days.csv, discount 0.9" in text
    belief = prior.update_many(record)
    nominal = assess(belief, {"n": b.solve(belief.mean_mdp()).policy}, 0.1, rng=np.random.default_rng(1))["n"]
    row = next(row for row in text.splitlines() if row.startswith("  nominal")).split()
    assert float(row[1]) == pytest.approx(nominal.mean, abs=0.1)  # above four standard errors
    assert "With posterior probability 0.9 the mean policy returns at least" in text


def test_a_world_of_a_family_is_drawn():
    family = b.make_world("gc")
    belief, learnt = _posterior(family, None, 20, None, seed=0)
    prior = prior_for(family)
    assert learnt == {"steps": 20}
    assert belief.alpha.sum() == prior.alpha.sum() + 20
    assert belief == prior.update_many(b.run(b.BayesAgent(prior, b.make("random")), family, 20, seed=0))


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("risk machine", "There is no world called 'machine'."),
        ("risk psrl", "world_for: 'world' must be a world or a family of worlds, got 'psrl'."),
        ("risk bernoulli", "bayesrl risk: 'world' must be one whose states and possible transitions are listed, got"),
        (
            "risk tiger",
            "bayesrl risk: 'world' must be one whose states and possible transitions are listed, got 'tiger'.",
        ),
        ("risk machine-costs", "bayesrl risk: 'world' must be one whose states and possible transitions are listed"),
        ("risk infinite-grid", "bayesrl risk: 'world' must be one whose states and possible transitions are listed"),
        ("risk mountain-car", "bayesrl risk: 'world' must be one whose states and possible transitions are listed"),
        ("risk machine-replacement --criterion var", "bayesrl risk: '--criterion' must be one of percentile, cvar,"),
        ("risk machine-replacement --epsilon 0", "bayesrl risk: '--epsilon' must be in (0, 0.5], got 0.0."),
        ("risk machine-replacement --epsilon 0.6", "bayesrl risk: '--epsilon' must be in (0, 0.5], got 0.6."),
        ("risk machine-replacement --epsilon nan", "bayesrl risk: '--epsilon' must be"),
        ("risk machine-replacement --steps 0", "run: 'steps' must be a whole number of at least 1, got 0."),
        ("risk machine-replacement --seed -1", "bayesrl risk: '--seed' must be a whole number of at least 0, got -1."),
        ("risk machine-replacement --prior narrow", "There is no prior called 'narrow'."),
        (
            "risk machine-replacement:gamma=1",
            "bayesrl risk: 'belief' must be one whose episodes end under every policy, as the discount is 1, "
            "got 'one that need not end from state 0'.",
        ),
        ("risk machine-replacement --data no.csv", "Cannot read 'no.csv': there is no such file."),
        (
            "risk machine-replacement --data no.csv --steps 5",
            "bayesrl risk: '--steps' must be left out if there is --data",
        ),
        ("risk machine-replacement --plot map.txt", "bayesrl: '--plot' must be a file that ends in .png, .pdf or .svg"),
    ],
)
def test_refused(text, sentence, capsys):
    assert main(text.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "row, sentence",
    [
        ("12,0,0,1", "DirichletMDP.update: 'state' must be a whole number from 0 to 9, got 12."),
        ("0,0,0,10", "DirichletMDP.update: 'next_state' must be a whole number from 0 to 9, got 10."),
        ("0,2,0,1", "DirichletMDP.update: 'action' must be a whole number from 0 to 1, got 2."),
        ("0,0,0,5", "DirichletMDP: (0, 0) -> 5 with reward 0"),
        ("0,0,nan,1", "DirichletMDP.update: 'reward' must be a finite number, got nan."),
        ("0,0,0", "Cannot read"),
    ],
)
def test_data_that_do_not_fit(row, sentence, capsys, tmp_path):
    (tmp_path / "log.csv").write_text(f"state,action,reward,next_state\n{row}\n")
    assert main(["risk", "machine-replacement", "--data", str(tmp_path / "log.csv")]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
