"""The taxonomy has every method once, where the survey has it, and the drawings have the taxonomy."""

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument
from bayesrl.lab import online_taxonomy, plot_taxonomy, plot_transitions, taxonomy
from bayesrl.lab.plots.transitions import arrows_of
from bayesrl.lab.taxonomy import CHAPTERS, SECTIONS
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import PACKAGES, make_world, methods, online_methods


def names_of(tree):
    return [name for twigs in tree.values() for names in twigs.values() for name in names]


def test_every_method_is_once_in_the_taxonomy():
    assert sorted(names_of(taxonomy())) == [e.name for e in methods() if e.package in PACKAGES]


def test_methods_are_in_their_sections():
    tree = taxonomy()
    for entry in methods():
        chapter = entry.survey.partition(".")[0]
        twig = f"{entry.survey} {SECTIONS[entry.survey]}"
        assert entry.name in tree[f"{chapter} {CHAPTERS[chapter]}"][twig]
    assert list(tree["4 Model-based"])[-1] == "4.10 other priors, structured MDPs"


def test_planners_are_by_depth_and_posterior():
    tree = online_taxonomy()
    assert sorted(name.rstrip("*") for name in names_of(tree)) == sorted(e.name for e in online_methods())
    assert tree["a tree of fixed depth"]["sample 1 per step"] == ("bamcp*",)
    assert "beb" in tree["no tree"]["nothing is drawn"]
    assert tree["a tree of variable depth"]["the mean model"] == ("fsss",)


def test_taxonomies_are_drawn(tmp_path):
    for which, tree in (("all", taxonomy()), ("online", online_taxonomy())):
        path = tmp_path / f"{which}.svg"
        assert plot_taxonomy(path, which) == tree
        assert path.stat().st_size > 10_000
    with pytest.raises(InvalidArgument, match="plot_taxonomy: 'which' must be"):
        plot_taxonomy(tmp_path / "x.png", "bandits")


def test_the_chain_is_drawn(tmp_path):
    arrows = plot_transitions(make_world("chain", gamma=0.99), tmp_path / "chain.png")
    assert (tmp_path / "chain.png").is_file()
    assert len(arrows) == 20  # two outcomes of each pair
    right = {(x.state, x.action, x.next_state, round(x.probability, 12), x.reward) for x in arrows}
    assert {(4, 0, 4, 0.8, 10.0), (4, 1, 4, 0.2, 10.0), (2, 0, 3, 0.8, 0.0), (2, 1, 0, 0.8, 2.0)} <= right
    with pytest.raises(InvalidArgument, match="one with at most 12 states"):
        plot_transitions(make_world("grid5"), tmp_path / "grid.png")


def test_what_happens_after_the_end_is_not_drawn(tmp_path):

    mdp = TabularMDP.from_dense([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.9, terminal=[1])
    assert [arrow.next_state for arrow in arrows_of(mdp)] == [
        0,
        1,
    ]


def test_each_action_has_its_own_probabilities():
    P = [[[0.3, 0.7], [0.6, 0.4]], [[1.0, 0.0], [0.0, 1.0]]]
    arrows = arrows_of(TabularMDP.from_dense(P, np.zeros((2, 2)), 0.9))
    assert {(x.state, x.action, x.next_state, x.probability) for x in arrows} == {
        (0, 0, 0, 0.3), (0, 0, 1, 0.7), (0, 1, 0, 0.6), (0, 1, 1, 0.4), (1, 0, 0, 1.0), (1, 1, 1, 1.0),
    }  # fmt: skip
