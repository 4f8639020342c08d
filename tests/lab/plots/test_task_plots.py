"""Pictures of clusters and of transfer, read off their artists; bad input."""

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument
from bayesrl.lab import plot_co_assignment, plot_task_curves
from bayesrl.lab.plots.tasks import consensus

SHARE = np.array([[1.0, 0.1, 0.8, 0.2], [0.1, 1.0, 0.3, 0.6], [0.8, 0.3, 1.0, 0.1], [0.2, 0.6, 0.1, 1.0]])


class Clustered:
    def co_class(self):
        return SHARE


def test_the_matrix_is_drawn_in_cluster_order(tmp_path):
    for thing in (SHARE, Clustered()):
        sheet = plot_co_assignment(thing, tmp_path / "classes.png", names="abcd", title="A test")
        axes = sheet.axes[0]
        order = [0, 2, 1, 3]
        np.testing.assert_array_equal(axes.images[0].get_array(), SHARE[np.ix_(order, order)])
        assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "c", "b", "d"]
        assert [list(line.get_ydata()) for line in axes.lines[:1]] == [[1.5, 1.5]]
        assert len(axes.lines) == 2
        assert sheet.get_suptitle() == "A test"
    assert (tmp_path / "classes.png").exists()


def test_clusters_share_more_than_half_of_the_draws():
    assert consensus(np.ones((3, 3))).tolist() == [0, 0, 0]
    assert consensus(np.eye(3)).tolist() == [0, 1, 2]
    assert consensus(np.full((2, 2), 0.5) + np.eye(2) / 2).tolist() == [0, 1]
    assert consensus(np.ones((1, 1))).tolist() == [0]


def test_curves_are_means_over_runs(tmp_path):
    gained, flat = np.array([[1.0, 3.0], [2.0, 5.0]]), np.ones((2, 2))
    sheet = plot_task_curves({"with": gained, "without": flat}, tmp_path / "curves.svg")
    lines = sheet.axes[0].lines
    assert [line.get_label() for line in lines] == ["with", "without"]
    np.testing.assert_allclose(lines[0].get_ydata(), [1.5, 4.0])
    np.testing.assert_allclose(lines[0].get_xdata(), [1, 2])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plot_co_assignment(np.ones((2, 3))), "'matrix' must be a symmetric matrix"),
        (lambda: plot_co_assignment([[1.0, 0.2], [0.3, 1.0]]), "'matrix' must be a symmetric matrix"),
        (lambda: plot_co_assignment([[1.0, 2.0], [2.0, 1.0]]), "'matrix' must be a symmetric matrix"),
        (lambda: plot_co_assignment([[1.0, np.nan], [np.nan, 1.0]]), "'matrix' must be finite"),
        (lambda: plot_co_assignment("no"), "'matrix' must be an array of numbers"),
        (lambda: plot_co_assignment(SHARE, names=["a"]), "'names' must be 4 names"),
        (lambda: plot_co_assignment(SHARE, "x.txt"), "'path' must be a file that ends in"),
        (lambda: plot_task_curves({}), "'curves' must be arrays"),
        (lambda: plot_task_curves({"a": [1.0]}), "'curves' must be an array of shape"),
        (lambda: plot_task_curves({"a": np.ones((2, 2)), "b": np.ones((2, 3))}), "'curves' must be of as many tasks"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
