"""Plots of values and gradients: what is drawn is what the belief says, read off the artists."""

import numpy as np
import pytest
from scipy import stats

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.features import Tabular
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.gradient import Gradient
from bayesrl.lab.plots.gradients import errors_sheet, gradients_sheet, plot_errors, plot_gradients
from bayesrl.lab.plots.values import (
    bands_sheet,
    plot_bands,
    plot_surface,
    plot_weights,
    surface_sheet,
    weights_sheet,
)
from bayesrl.value import GPTD, LSTD, KernelSelection, SparseGPTD

RNG = np.random.default_rng(0)
WALK = np.cumsum(RNG.normal(0.0, 0.2, (41, 2)), axis=0) % 1.0
PLANE = SparseGPTD(Gaussian(scale=0.3), noise=0.3, gamma=0.9, threshold=0.1).update_many((WALK, WALK[:-1, 0]))
BOX = ([0.0, 0.5], [1.0, 2.5])
LINE = np.linspace(0.0, 4.0, 9)
ROW = GPTD(Gaussian(scale=1.0), noise=0.3, gamma=0.5).update_many((LINE, np.sin(LINE[:-1])))
MIXED = KernelSelection([Gaussian(scale=0.3), Gaussian(scale=3.0)], noise=0.3, gamma=0.5).update_many(
    (LINE[:4], np.sin(LINE[:3]))
)
PNG = b"\x89PNG"


# Values --------------------------------------------------------------------------------------------------------------


def test_the_surface_is_the_belief_at_the_middle_of_each_cell():
    sheet = surface_sheet(PLANE, BOX, ("position", "velocity"), resolution=5)
    mean, deviation = (axes.images[0] for axes in sheet.axes[:2])
    for row in range(5):
        for column in range(5):
            state = [[0.1 + 0.2 * column, 0.7 + 0.4 * row]]
            assert mean.get_array()[row, column] == pytest.approx(PLANE.mean(state)[0], abs=1e-12)
            assert deviation.get_array()[row, column] ** 2 == pytest.approx(PLANE.variance(state)[0], abs=1e-12)
    for axes, image in zip(sheet.axes, (mean, deviation), strict=False):
        assert tuple(image.get_extent()) == (0.0, 1.0, 0.5, 2.5)
        assert image.origin == "lower"
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("position", "velocity")
        np.testing.assert_array_equal(np.column_stack(axes.lines[0].get_data()), PLANE.dictionary)
        assert f"{len(PLANE.dictionary)} states in the dictionary" in axes.get_title()


def test_a_belief_without_a_dictionary_has_a_surface():
    exact = GPTD(Gaussian(scale=0.3), noise=0.3, gamma=0.9)
    for belief in (exact, exact.update_many((WALK, WALK[:-1, 0])), SparseGPTD(Gaussian(scale=0.3))):
        sheet = surface_sheet(belief, BOX, resolution=3)
        assert not sheet.axes[0].lines
        assert sheet.axes[0].get_title() == "mean of the value"


def ends(collection):
    """The lower and the upper edge of a filled band, by x."""
    corners = collection.get_paths()[0].vertices
    return np.array([[corners[corners[:, 0] == x, 1].min(), corners[corners[:, 0] == x, 1].max()] for x in LINE]).T


@pytest.mark.parametrize("belief", [ROW, MIXED], ids=["Gaussian", "mixture"])
def test_bands_are_quantiles(belief):
    sheet = bands_sheet({"prior": GPTD(), "now": belief}, LINE, truth=np.cos(LINE), levels=(0.4, 0.9))
    axes = sheet.axes[1]
    wide, narrow = axes.collections
    np.testing.assert_allclose(ends(wide), [belief.quantile(0.05, LINE), belief.quantile(0.95, LINE)])
    np.testing.assert_allclose(ends(narrow), [belief.quantile(0.3, LINE), belief.quantile(0.7, LINE)])
    shown = {line.get_gid(): line.get_data() for line in axes.lines}
    np.testing.assert_array_equal(shown["mean"], [LINE, belief.mean(LINE)])
    np.testing.assert_array_equal(shown["truth"], [LINE, np.cos(LINE)])
    assert [a.get_title() for a in sheet.axes] == ["prior", "now"]
    assert sheet.axes[0].get_ylim() == axes.get_ylim()
    assert [t.get_text() for t in sheet.legends[0].texts][:2] == ["90% of the posterior", "40% of the posterior"]


def test_states_of_two_coordinates_are_placed_by_distance():
    line = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    drawn = bands_sheet({"now": PLANE}, line).axes[0].lines
    assert len(drawn) == 1  # no truth
    np.testing.assert_allclose(drawn[0].get_xdata(), [0.0, 5.0, 6.0])
    np.testing.assert_array_equal(drawn[0].get_ydata(), PLANE.mean(line))


def test_weights_over_time():
    history = [[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]]
    axes = weights_sheet(history, ["short", "long"], steps=[0, 10, 30]).axes[0]
    np.testing.assert_array_equal([line.get_ydata() for line in axes.lines], np.transpose(history))
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), [0, 10, 30])
    assert [line.get_label() for line in axes.lines] == ["short", "long"]
    np.testing.assert_array_equal(weights_sheet(history, ["a", "b"]).axes[0].lines[0].get_xdata(), [0, 1, 2])


# Gradients -----------------------------------------------------------------------------------------------------------

ROOT = np.array([[1.0, 0.2, 0.0], [0.5, 2.0, 0.3], [0.1, -0.4, 0.7]])
POSTERIOR = Gradient(np.array([1.0, -2.0, 3.0]), ROOT @ ROOT.T, np.zeros(3))


@pytest.mark.parametrize("pair", [(0, 1), (2, 0)])
def test_ellipses_hold_their_share_of_the_posterior(pair):
    """Points of the edge are at the squared Mahalanobis distance of the chi-square quantile; axes are eigenvalues."""
    axes = gradients_sheet({"bpg": POSTERIOR, "other": [0.0, 1.0, 2.0]}, [4.0, 5.0, 6.0], pair, level=0.8).axes[0]
    (ellipse,) = axes.patches
    pair = list(pair)
    block, centre = POSTERIOR.covariance[np.ix_(pair, pair)], POSTERIOR.mean[pair]
    radius = stats.chi2(2).ppf(0.8)
    lengths = sorted([ellipse.width / 2.0, ellipse.height / 2.0])
    np.testing.assert_allclose(lengths, np.sqrt(radius * np.linalg.eigvalsh(block)))
    np.testing.assert_array_equal(ellipse.center, centre)
    gap = ellipse.get_co_vertices() + ellipse.get_vertices() - centre
    np.testing.assert_allclose(np.einsum("ij,ij->i", gap, np.linalg.solve(block, gap.T).T), radius)
    shown = {line.get_label(): np.ravel(line.get_data()) for line in axes.lines}
    np.testing.assert_array_equal(shown["bpg"], centre)
    np.testing.assert_array_equal(shown["other"], np.array([0.0, 1.0, 2.0])[pair])
    np.testing.assert_array_equal(shown["exact"], np.array([4.0, 5.0, 6.0])[pair])
    assert axes.get_aspect() == 1.0
    assert axes.get_xlabel() == f"coordinate {pair[0]}"


def test_errors_are_means_with_bands():
    errors = {"bpg": RNG.exponential(size=(3, 50)), "bac": RNG.exponential(size=(3, 50))}
    axes = errors_sheet(errors, [5, 10, 20], {"squared norm": 2.0}).axes[0]
    for line, band, (label, given) in zip(axes.lines, axes.collections, errors.items(), strict=False):
        assert line.get_label() == label
        np.testing.assert_allclose(line.get_data(), [[5, 10, 20], given.mean(axis=1)])
        half = stats.t(49).ppf(0.975) * given.std(axis=1, ddof=1) / np.sqrt(50)
        corners = band.get_paths()[0].vertices
        for x, mean, h in zip([5, 10, 20], given.mean(axis=1), half, strict=True):
            here = corners[corners[:, 0] == x, 1]
            assert (here.min(), here.max()) == pytest.approx((mean - h, mean + h))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [line.get_ydata()[0] for line in axes.lines if line.get_gid() == "squared norm"] == [2.0]


# Files and refusals --------------------------------------------------------------------------------------------------


def test_files_are_written(tmp_path):
    plot_surface(PLANE, BOX, tmp_path / "1.png", resolution=4, title="Values")
    plot_bands({"now": ROW}, LINE, tmp_path / "2.png")
    plot_weights([MIXED.weights], tmp_path / "3.png", ["short", "long"])
    plot_gradients({"bpg": POSTERIOR}, tmp_path / "4.png", names=["left", "right"])
    plot_errors({"one repetition": [[1.0], [0.5]]}, [5, 10], tmp_path / "5.png")
    for k in range(1, 6):
        assert (tmp_path / f"{k}.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda p: plot_surface(PLANE, 3, p), "plot_surface: 'box' must be a lower and an upper corner, got 3."),
        (lambda p: plot_surface(PLANE, ([0.0], [1.0]), p), "plot_surface: 'box' must be an array of shape (2,)"),
        (
            lambda p: plot_surface(PLANE, ([0.0, 1.0], [1.0, 1.0]), p),
            "plot_surface: 'box' must be a lower corner below the upper one, got ([0.0, 1.0], [1.0, 1.0]).",
        ),
        (lambda p: plot_surface(PLANE, BOX, p, names=["x"]), "plot_surface: 'names' must be 2 of them, one for each"),
        (lambda p: plot_surface(PLANE, BOX, p, resolution=1), "plot_surface: 'resolution' must be"),
        (lambda p: plot_surface(ROW, BOX, p), "GPTD.mean: 'states' must be points of 1 coordinate"),
        (lambda p: plot_bands({}, LINE, p), "plot_bands: 'beliefs' must be at least one belief, got {}."),
        (lambda p: plot_bands({"a": ROW}, [np.nan], p), "plot_bands: 'states' must be finite everywhere"),
        (lambda p: plot_bands({"a": ROW}, LINE, p, truth=[1.0]), "plot_bands: 'truth' must be an array of shape (9,)"),
        (lambda p: plot_bands({"a": ROW}, LINE, p, levels=0.9), "plot_bands: 'levels' must be an array of shape (2,)"),
        (
            lambda p: plot_bands({"a": ROW}, LINE, p, levels=(0.5, 1.0)),
            "plot_bands: 'levels' must be two probabilities",
        ),
        (
            lambda p: plot_bands({"a": ROW}, LINE, p, levels=(0.9, 0.5)),
            "plot_bands: 'levels' must be two probabilities",
        ),
        (lambda p: plot_weights([[0.5, 0.6]], p, "ab"), "plot_weights: 'weights' must be rows that sum to 1, got 1.1."),
        (lambda p: plot_weights([[1.5, -0.5]], p, "ab"), "plot_weights: 'weights' must be at least 0 everywhere"),
        (lambda p: plot_weights([[0.5, 0.5]], p, ["a"]), "plot_weights: 'names' must be 2 of them, one for each covar"),
        (
            lambda p: plot_weights([[1.0], [1.0]], p, ["a"], steps=[3, 3]),
            "plot_weights: 'steps' must be increasing, got [3.0, 3.0].",
        ),
        (lambda p: plot_gradients({}, p), "plot_gradients: 'gradients' must be at least one estimate, got {}."),
        (lambda p: plot_gradients({"a": [1.0, np.inf]}, p), "plot_gradients: 'gradients' must be finite everywhere"),
        (
            lambda p: plot_gradients({"a": [1.0, 2.0], "b": POSTERIOR}, p),
            "plot_gradients: 'gradients' must be of equal length, got [2, 3].",
        ),
        (
            lambda p: plot_gradients({"b": POSTERIOR}, p, coordinates=(0, 3)),
            "plot_gradients: 'coordinates' must be whole numbers from 0 to 2, got 3",
        ),
        (
            lambda p: plot_gradients({"b": POSTERIOR}, p, [1.0]),
            "plot_gradients: 'exact' must be an array of shape (3,)",
        ),
        (lambda p: plot_gradients({"b": POSTERIOR}, p, level=1.0), "plot_gradients: 'level' must be in (0, 1), got 1"),
        (lambda p: plot_gradients({"b": POSTERIOR}, p, names=["x"]), "plot_gradients: 'names' must be 2 of them"),
        (lambda p: plot_errors({}, [5], p), "plot_errors: 'errors' must be of at least one method, got {}."),
        (lambda p: plot_errors({"a": [[1.0]]}, [5, 10], p), "plot_errors: 'errors' must be an array of shape (2, any)"),
        (lambda p: plot_errors({"a": [[-1.0]]}, [5], p), "plot_errors: 'errors' must be at least 0 everywhere"),
        (lambda p: plot_errors({"a": [[1.0], [1.0]]}, [9, 5], p), "plot_errors: 'episodes' must be increasing"),
        (lambda p: plot_errors({"a": [[1.0]]}, [0], p), "plot_errors: 'episodes' must be greater than 0 everywhere"),
    ],
)
def test_refusals(call, sentence, tmp_path):
    with pytest.raises(InvalidArgument) as error:
        call(tmp_path / "x.png")
    assert str(error.value).startswith(sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_belief_without_error_bars_is_refused(tmp_path):
    fitted = LSTD(Tabular(3))
    for call in (lambda p: plot_surface(fitted, BOX, p), lambda p: plot_bands({"a": fitted}, LINE, p)):
        with pytest.raises(Incompatible, match=r"needs .*'variance'.*, which LSTD lacks"):
            call(tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []
