"""The tour of the shop, in small: its parts, optima and pictures, and the command."""

import json

import numpy as np
import pytest

import bayesrl as b
from bayesrl.cli import main
from bayesrl.errors import InvalidArgument
from bayesrl.lab import tour as module
from bayesrl.lab.tour import PICTURES, draw, tour

CHAPTERS = ["2", "3", "3", "3", "4", "4.9", "5", "6", "7"]


def test_planning_is_exact():
    part = module.planning()
    assert [round(row.profit, 4) for row in part.rows] == [3.7712, 4.9921, 6.9370]
    assert all(row.low is row.high is None for row in part.rows)


def test_optima_are_those_of_the_views():
    shop = b.make_world("online-shop-mdp").shop
    rates = shop.frequency @ shop.buys()
    profits = np.sort(rates * shop.prices)
    assert module.bandit(0, 3, 5).optimum == pytest.approx(profits[-1])
    assert module.several(0, 3, 5).optimum == pytest.approx(profits[-2:].sum())
    assert module.contextual(0, 3, 5).optimum == pytest.approx(shop.frequency @ (shop.buys() * shop.prices).max(axis=1))
    assert module.hidden(0, 3, 30).optimum == pytest.approx(5.1112, abs=5e-5)


def test_amounts_are_of_a_customer():
    """Total profit over the number of check-outs, run by run."""
    part = module.learning(0, 3, 60)
    for row in part.rows:
        record = part.comparison[row.method]
        each = [record.reward[:, i].sum() / record.terminated[:, i].sum() for i in range(3)]
        assert row.profit == pytest.approx(np.mean(each))
        assert row.low < row.profit < row.high


def test_features_of_the_expert_say_what_leaves():
    """With prices as weights they are the mean reward of a step."""
    world = b.make_world("online-shop-mdp")
    np.testing.assert_allclose(module._leaving() @ world.shop.prices, world.mdp.mean_reward[:, 0], atol=1e-12)


def test_the_tour_is_drawn_and_printed(monkeypatch, tmp_path, capsys):
    short = {"bandit": 20, "several": 20, "contextual": 20, "learning": 60, "hidden": 60, "gradients": 150}
    for name, steps in short.items():
        whole = getattr(module, name)
        monkeypatch.setattr(module, name, lambda seed, runs, whole=whole, steps=steps: whole(seed, runs, steps))
    monkeypatch.chdir(tmp_path)
    assert main(["tour", "--share", "0.01", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert [part["chapter"] for part in page["parts"]] == CHAPTERS
    assert page["pictures"] == list(PICTURES)
    for picture in PICTURES:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    for part in page["parts"]:
        for row in part["rows"]:
            assert row["low"] is None or row["low"] <= row["profit"] <= row["high"]


def test_the_tour_is_told_in_words(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(module, "tour", lambda seed, share: iter([module.planning(), module.bandit(seed, 3, 20)]))
    monkeypatch.chdir(tmp_path)
    assert main(["tour", "--seed", "1"]) == 0
    text = capsys.readouterr().out
    assert "Chapter 2: Planning" in text
    assert "Chapter 3: A bandit" in text
    assert text.count("6.937") == 2
    assert text.count("  exact  ") == 3
    assert PICTURES[1] in text


def test_the_same_seed_gives_the_same_tour():
    assert module.bandit(3, 3, 20).rows == module.bandit(3, 3, 20).rows != module.bandit(4, 3, 20).rows


def test_a_tour_is_refused():
    with pytest.raises(InvalidArgument, match="'share' must be"):
        tour(share=0.0)
    with pytest.raises(InvalidArgument, match="'seed' must be"):
        tour(seed=-1)


def test_parts_without_runs_are_drawn_alone(tmp_path):
    draw([module.planning()], tmp_path)
    assert (tmp_path / PICTURES[0]).exists()
    assert not (tmp_path / PICTURES[1]).exists()
