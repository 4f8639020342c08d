"""The picture of bounds: lines are the numbers given, the band is that of the runs; bad input."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.errors import InvalidArgument
from bayesrl.lab import plot_bound

X = [10, 100, 1000]


def test_lines_are_the_numbers(tmp_path):
    error = default_rng(0).random((3, 200))
    sheet = plot_bound(
        X, {"a": [np.inf, 3.0, 1.0], "b": [5, 2, 1]}, error, tmp_path / "bound.svg", vacuous=4.0, title="t"
    )
    (axes,) = sheet.axes
    drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_array_equal(drawn["a"], [np.nan, 3.0, 1.0])
    np.testing.assert_array_equal(drawn["b"], [5, 2, 1])
    assert drawn["true error"] == pytest.approx(np.median(error, axis=1))
    assert list(drawn["says nothing above"]) == [4.0, 4.0]
    corners = axes.collections[0].get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(np.quantile(error, 0.05, axis=1).min())
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "says nothing above" in (tmp_path / "bound.svg").read_text()
    assert len(plot_bound(X, {"a": [3, 2, 1]}, [1.0, 0.5, 0.1], title="t").axes[0].lines) == 2


@pytest.mark.parametrize(
    "name, x",
    [
        ("visits", []), ("visits", [0, 1, 2]), ("visits", None), ("bounds", {}), ("bounds", [1, 2, 3]),
        ("bounds", {"a": [1, 2]}), ("bounds", {"a": [np.nan, 1, 2]}), ("bounds", {"a": ["x"] * 3}),
        ("error", [1, 2]), ("error", [np.nan, 1, 1]), ("error", np.ones((3, 2, 2))), ("error", 3.0), ("vacuous", 0.0),
        ("vacuous", "x"), ("path", "bound.txt"),
    ],
)  # fmt: skip
def test_bad_input(name, x):
    with pytest.raises(InvalidArgument, match=f"plot_bound: '{name}' must be "):
        plot_bound(**{"visits": X, "bounds": {"a": [3, 2, 1]}} | {name: x})
