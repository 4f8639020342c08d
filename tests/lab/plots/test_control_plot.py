"""The plot of regret of controllers that learn: what is drawn is what is given, read off the artists."""

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.control import control_sheet, plot_control

STEPS = np.array([1.0, 10.0, 100.0])
LOW = np.array([[-1.0, 0.5], [2.0, 1.0], [3.0, 1.0]])
BANDS = {
    "lazy": LOW,
    "every": LOW + np.array([1.0, 0.0]),
    "certain": np.array([[0.0, 0.0], [50.0, 40.0], [900.0, 300.0]]),
}


def test_curves_bands_and_ticks():
    sheet = control_sheet({"narrow": BANDS, "wide": {"lazy": LOW}}, STEPS, {"narrow": [1, 4, 40]}, "loss")
    first, second = sheet.axes
    assert (first.get_title(), second.get_title()) == ("narrow", "wide")
    assert first.get_ylabel() == "loss (mean, 95% band)"
    for line, band in zip(first.lines, BANDS.values(), strict=False):
        np.testing.assert_array_equal(line.get_xdata(), STEPS)
        np.testing.assert_array_equal(line.get_ydata(), band[:, 0])
    edge = first.collections[0].get_paths()[0].vertices
    assert (edge[:, 1].min(), edge[:, 1].max()) == (-1.5, 4.0)
    ticks = [line for line in first.lines if line.get_gid() == "drawn"]
    np.testing.assert_array_equal(ticks[0].get_xdata(), [1, 4, 40])
    assert not [line for line in second.lines if line.get_gid() == "drawn"]
    assert [text.get_text() for text in sheet.legends[0].get_texts()] == list(BANDS)


def test_what_is_far_above_is_named():
    """The scale reaches four times the highest point of the lowest curve, 4."""
    axes = control_sheet({"": BANDS}, STEPS, {}).axes[0]
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["certain ends at 900"]
    low, high = axes.get_ylim()
    assert 16.0 < high < 17.0
    assert -2.5 < low < -1.5


def test_files_and_refusals(tmp_path):
    plot_control({"": BANDS}, STEPS, {}, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"
    for panels, steps, sentence in [
        ({}, STEPS, "'panels' must be curves by method, for each panel"),
        ({"": {}}, STEPS, "'panels' must be curves by method, for each panel"),
        ({"": {"lazy": LOW[:2]}}, STEPS, r"'panels' must be an array of shape \(3, 2\)"),
        ({"": BANDS}, [0.0, 1.0, 2.0], "'steps' must be at least 1 everywhere, got 0"),
    ]:
        with pytest.raises(InvalidArgument, match=f"plot_control: {sentence}"):
            control_sheet(panels, steps, {})
