"""Tables and plots: the numbers in them, and that they can be drawn for any comparison."""

import io
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from lab_toys import Always, Arms, UniformArms
from rich.console import Console

from bayesrl.bandits.bandit_bounds import kaufmann_thompson, lai_robbins_constant
from bayesrl.core import BayesAgent
from bayesrl.errors import InvalidArgument
from bayesrl.lab.compare import compare
from bayesrl.lab.comparison import Comparison
from bayesrl.lab.experiment import Entrant, Experiment, experiment
from bayesrl.lab.literature.figures import Figure
from bayesrl.lab.plots.curves import ROOM, curves, sheet_of
from bayesrl.lab.report import bounds_table, comparison_table, duration, interval
from bayesrl.registry import make, make_world
from bayesrl.statistics import Interval
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit

WORLD = Arms(np.array([0.0, 1.0, 0.5]))


def text(table, width=160):
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


def figure(value, metric="return", provenance="computed"):
    return Figure("m", "w", None, None, 20, {}, metric, value, 0.0, "95% interval", None, "s", provenance)


def test_table_by_hand():
    found = compare({"best": Always(1), "[half]": Always(2)}, WORLD, 20, 30)
    said = text(
        found.table(found.regret(WORLD), {"best": [figure(20.0), figure(19.0), figure(7.0, provenance="recalled")]})
    )
    lines = said.splitlines()
    assert lines[0].split() == ["method", "return", "discounted", "regret", "suboptimal", "per", "step", "published"]
    best = next(line for line in lines if line.startswith("best"))
    assert best.split()[1:7] == ["20", "±", "0", f"{sum(0.9**t for t in range(20)):.6g}", "±", "0"]
    assert best.split()[7:13] == ["0", "±", "0", "0", "±", "0"]
    assert "20 ± 0 agrees" in said
    assert "19 ± 0 differs" in said
    assert "7 ± 0 recalled" in said
    half = next(line for line in lines if line.startswith("[half]"))
    assert "10 ± 0" in half
    assert "20 ± 0" in half  # every choice of the half arm is suboptimal
    assert "30 runs of 20 steps" in said
    few = compare({"best": Always(1)}, WORLD, 20, 4)
    assert "19 ± 0 too few runs to judge" in " ".join(text(few.table(None, {"best": [figure(19.0)]}), 200).split())
    assert "frequentist regret" in said


def test_table_where_episodes_end():
    """Totals over fixed steps say nothing where each step costs 1: the last episodes do."""
    done = experiment(["reinforce:paths=5", "bpg-2:paths=5"], "random-walk", steps=300, runs=2)
    said = text(done.table())
    lines = said.splitlines()
    assert lines[1].split() == ["method", "return", "discounted", "episodes", "last", "20", "per", "step"]
    row = next(line.split() for line in lines if line.startswith("bpg-2"))
    told = next(one for one in done.pages() if one["method"] == "bpg-2")
    assert row[7] == f"{told['episodes']['mean']:.0f}"
    assert float(row[8]) == pytest.approx(told["final_return"]["mean"], rel=0.05)
    assert "last 20: return of the last 20 episodes" in " ".join(said.split())
    assert "episodes" not in text(compare(Always(1), WORLD, 20, 2).table(None))


def test_some_methods_end_no_episode(monkeypatch):
    """Their cells show a dash, and the others' stay in their columns."""
    found = compare({"a": Always(1), "b": Always(2)}, WORLD, 20, 2)
    went = SimpleNamespace(finished=Interval(7.0, 6.0, 8.0, 2), final_return=Interval(31.0, 30.0, 32.0, 2))
    monkeypatch.setattr("bayesrl.lab.report.episodes", lambda records: went if records is found["a"] else None)
    said = text(found.table(None))
    a, b = (next(x.split() for x in said.splitlines() if x.startswith(k)) for k in "ab")
    assert "last 20: return of the last 20 episodes" in " ".join(said.split())
    assert a[-5:-2] != b[-5:-2]
    assert "31.0" in " ".join(a)
    assert b.count("-") == 2


def test_table_without_extras_and_with_one_run():
    found = compare(Always(1), WORLD, 20, 1)
    said = text(comparison_table(found, title="A title"))
    assert "A title" in said
    assert "regret" not in said
    assert "published" not in said
    assert "±" not in said  # one run has no interval
    assert "1 run of 20 steps" in said


def test_a_figure_is_judged_by_its_own_measure():
    found = compare({"a": Always(1)}, UniformArms(), 20, 30)
    lost = found.regret(UniformArms())
    figures = [
        figure(lost["a"].total.mean, "Bayesian regret"),
        figure(100.0, "discounted return"),
        figure(3.0, "applause"),
    ]
    said = text(comparison_table(found, lost, {"a": figures}))
    assert f"Bayesian regret {lost['a'].total.mean:g} ± 0 agrees" in said
    assert "discounted return 100 ± 0 differs" in said
    assert "applause 3 ± 0 computed" in said


def test_narrow_tables_lose_no_number():
    found = compare({"always the first arm": Always(2)}, WORLD, 300, 30)
    total = found.summary()["always the first arm"].total
    said = text(comparison_table(found, found.regret(WORLD), {"always the first arm": [figure(149.0)]}), width=80)
    assert interval(total) in said
    assert "149 ± 0" in said


@pytest.mark.parametrize(
    "x, expected",
    [
        (Interval(3158.27, 3127.5, 3189.04, 500), "3158.3 ± 30.8"),
        (Interval(2940.4, 2542.0, 3338.8, 20), "2940 ± 398"),
        (Interval(31.1234, 30.6, 31.6468, 500), "31.12 ± 0.52"),
        (Interval(3.09123, 3.0, 3.18246, 500), "3.091 ± 0.091"),
        (Interval(386.0, 386.0, 386.0, 10), "386 ± 0"),
        (Interval(386.0, -np.inf, np.inf, 1), "386"),
        (Interval(0.0, -1e-9, 1e-9, 9), "0.000000 ± 0.000000"),
        (None, "-"),
    ],
)
def test_numbers_have_the_digits_their_interval_supports(x, expected):
    assert interval(x) == expected


@pytest.mark.parametrize(
    "seconds, expected",
    [
        (2.5, "2.5 s"),
        (1.0, "1 s"),
        (1e-3, "1 ms"),
        (0.0123, "12.3 ms"),
        (1.97e-4, "197 µs"),
        (9.2e-7, "920 ns"),
        (float("nan"), "-"),
    ],
)
def test_durations(seconds, expected):
    assert duration(seconds) == expected


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_curves_are_drawn(ending, tmp_path):
    found = compare({f"method {k}": Always(k % 3) for k in range(9)}, UniformArms(), 700, 3)
    path = tmp_path / f"curves.{ending}"
    found.plot(path, found.regret(UniformArms()))
    assert path.stat().st_size > 5000
    curves(found, path, references={"best": 500.0}, title="Arms")
    if ending == "svg":
        assert path.read_text().count("<path") > 18  # nine lines and nine bands


def test_curves_of_one_run_and_one_step(tmp_path):
    curves(compare(Always(), WORLD, 1, 1), tmp_path / "one.png")
    assert (tmp_path / "one.png").exists()


@pytest.mark.parametrize(
    "written, sought",
    [
        ("gridworld-blocks", "gridworld-blocks"),
        ("gridworld-blocks:gamma=0.8", "gridworld-blocks"),
        ("gridworld-blocks:size=8,gamma=0.8", "gridworld-blocks"),
        ("gridworld-blocks:size=8,block=2", "gridworld-blocks"),
        ("gridworld-blocks:size=8,block=4", "gridworld-blocks:size=8,block=4"),
        ("gridworld-blocks:size=4,block=4", "gridworld-blocks:size=4,block=4"),
    ],
)
def test_figures_are_sought_under_the_name_of_the_world_or_of_its_variant(monkeypatch, written, sought):
    """A parameter at its default makes no variant, nor does the discount, which is compared for itself."""
    monkeypatch.setattr(import_module("bayesrl.lab.experiment"), "lookup", lambda *told, **named: (*told, named))
    entrants = {"x": Entrant("beb", "flat:2", make("beb", beta=3.0)), "y": Entrant("q-learning", None, Always())}
    comparison = Comparison({"x": [None] * 7})
    world = SimpleNamespace(gamma=0.8)
    found = Experiment(written, world, entrants, comparison, {}, {}, 5, None).figures()
    assert list(found) == ["x", "y"]
    assert found["x"] == ("beb", sought, "flat:2", entrants["x"].params, 7, {"gamma": 0.8})
    assert found["y"] == ("q-learning", sought, None, entrants["y"].params, 7, {"gamma": 0.8})
    assert Experiment(written, world, entrants, comparison, {}, {}, 5, 30).figures() == {}


# Bounds beside regret ------------------------------------------------------------------------------------------------


def drawn(world, steps=300):
    agents = {name: BayesAgent(world.default_prior(), make(name)) for name in ("thompson", "ucb1")}
    found = compare(agents, world, steps, 64)
    held = found.bounds(world)
    return found, held, sheet_of(found, found.regret(world), bounds=held)


def lines(axes):
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def test_bounds_are_drawn_where_the_formulas_put_them():
    """Worked out here from the survey's formulas, not taken from `bounds_of`."""
    _, held, sheet = drawn(make_world("bernoulli", arms=4))
    reward, regret = sheet.axes
    shown = lines(regret)
    assert shown.keys() == held.keys()
    assert lines(reward) == {}
    for name, formula in {
        "Thompson, Russo-Van Roy": lambda T: np.sqrt(0.5 * np.log(4) * 4 * T),
        "Bubeck-Cesa-Bianchi": lambda T: np.sqrt(4 * T),
        "Thompson, Agrawal-Goyal 2013": lambda T: np.sqrt(4 * T * np.log(T)),
    }.items():
        T, value = shown[name].get_data()
        np.testing.assert_allclose(value, formula(T), rtol=1e-8)
        assert T[-1] == 300.0
    assert shown["Thompson, Russo-Van Roy"].get_linestyle() == "--"
    assert shown["Bubeck-Cesa-Bianchi"].get_linestyle() == ":"
    said = " ".join(text.get_text() for text in regret.texts)
    assert "upper: Thompson, Russo-Van Roy" in said
    assert "lower: Bubeck-Cesa-Bianchi (shape only)" in said


def test_frequentist_bounds_keep_the_scale_of_what_was_measured():
    means = np.array([0.7, 0.4, 0.1])
    _, held, sheet = drawn(BernoulliBandit(means))
    regret = sheet.axes[1]
    shown = lines(regret)
    T, value = shown["Lai-Robbins"].get_data()
    np.testing.assert_allclose(value, lai_robbins_constant(means) * np.log(T))
    T, value = shown["Thompson, Kaufmann"].get_data()
    np.testing.assert_allclose(value, kaufmann_thompson(means, T))
    measured = max(line.get_ydata().max() for line in regret.lines if not line.get_gid())
    near = [b.end for b in held.values() if b.end <= ROOM[b.kind] * measured]
    assert measured < regret.get_ylim()[1] <= 1.1 * max([measured, *near])
    assert ROOM["order"] <= 1.0  # what has no constant never widens the scale
    assert "Thompson, Agrawal-Goyal 2012" not in shown
    said = " ".join(text.get_text() for text in regret.texts).replace("\n", " ")
    assert "off the scale at the end: Thompson, Agrawal-Goyal 2012" in said


def test_a_bound_that_says_nothing_is_said_to_be_vacuous():
    """A step loses at most .6 here, 300 steps 180: a bound of 1000 says nothing."""
    world = BernoulliBandit(np.array([0.7, 0.4, 0.1]))
    found, held, _ = drawn(world)
    empty = {"empty": held["Thompson, Kaufmann"]._replace(value=np.full_like(held["Thompson, Kaufmann"].value, 1e3))}
    regret = sheet_of(found, found.regret(world), bounds=empty).axes[1]
    assert "off the scale at the end: empty 1e+03 (vacuous)" in " ".join(text.get_text() for text in regret.texts)
    assert "vacuous: above the largest possible regret" in text(bounds_table(empty), 200)
    assert "vacuous" not in text(bounds_table(held), 200)


def test_the_optimum_is_a_line():
    """The best expected total of t steps, from the origin, beside the curves; families and bandits have none."""
    done = experiment(["beb", "random"], "chain", steps=40, runs=2)
    line = lines(sheet_of(done.comparison, done.regrets, optimum=done.optimum()).axes[0])["optimum"]
    assert line.get_ydata()[0] == 0.0
    assert line.get_ydata()[-1] == pytest.approx(make_world("chain").optimum(40))
    assert len(line.get_xdata()) == 41
    assert experiment(["random"], "gc", steps=5, runs=1).optimum() is None
    assert experiment(["thompson"], "bernoulli:arms=3", steps=5, runs=1).optimum() is None


def test_the_optimum_of_cut_episodes_begins_again():
    """Four episodes of ten steps are worth four times one of them, which is less than forty steps in a row."""
    best = experiment(["random"], "chain", steps=40, runs=1, horizon=10).optimum()
    assert best[[9, 19, 39]] == pytest.approx(np.array([1, 2, 4]) * make_world("chain").optimum(10))
    assert best[-1] < 0.9 * make_world("chain").optimum(40)


def test_bounds_on_choices_have_a_panel_of_their_own():
    found, held, sheet = drawn(make_world("bernoulli", arms=2), 12)
    _, regret, choices = sheet.axes
    assert lines(choices).keys() == {"Thompson, Guha-Munagala"}
    assert "Thompson, Guha-Munagala" not in lines(regret)
    np.testing.assert_array_equal(
        lines(choices)["Thompson, Guha-Munagala"].get_ydata(), held["Thompson, Guha-Munagala"][1]
    )
    wrong = found.regret(make_world("bernoulli", arms=2))["ucb1"].suboptimal
    np.testing.assert_allclose(choices.lines[1].get_ydata()[1:], wrong.mean(axis=1))


def test_the_legend_is_beside_the_curves():
    found = compare({f"method {k}": Always(k % 3) for k in range(4)}, WORLD, 50, 3)
    sheet = sheet_of(found, found.regret(WORLD), {"optimum": 50.0})
    sheet.canvas.draw()
    legend = sheet.legends[0].get_window_extent()
    assert all(axes.get_legend() is None for axes in sheet.axes)
    assert not any(legend.overlaps(axes.get_window_extent()) for axes in sheet.axes)


def test_table_of_bounds():
    held = compare(Always(), make_world("bernoulli", arms=4), 400, 2).bounds(make_world("bernoulli", arms=4))
    rows = [line.split("  ") for line in text(bounds_table(held)).splitlines()[2:]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells == [
        ["Thompson, Russo-Van Roy", "Bayesian regret", f"{np.sqrt(0.5 * np.log(4) * 1600):.4g}", "upper"],
        ["Bubeck-Cesa-Bianchi", "Bayesian regret", "40", "lower, shape only"],
        ["Thompson, Agrawal-Goyal 2013", "Bayesian regret", f"{np.sqrt(1600 * np.log(400)):.4g}", "upper, shape only"],
    ]


def test_steps_of_bounds():
    """Whole numbers of 200 points that grow by a fixed factor from 2 to the last step, each once."""
    world = make_world("bernoulli", arms=4)
    for steps in (1, 2, 7, 3000):
        held = Comparison({"a": [None] * steps}).bounds(world)
        end = max(steps, 2)
        expected = sorted({round(2.0 * (end / 2.0) ** (i / 199)) for i in range(200)})
        assert all(bound.steps.tolist() == expected for bound in held.values())
        assert held


def test_where_curves_cannot_be_written(tmp_path):
    found = compare(Always(), WORLD, 5, 2)
    with pytest.raises(InvalidArgument, match=r"'path' must be a file that ends in \.png, \.pdf or \.svg, got "):
        curves(found, tmp_path / "curves.film")
    with pytest.raises(InvalidArgument, match=r"'path' must be a file that can be written, got .* No such file"):
        curves(found, tmp_path / "nowhere" / "curves.png")
    assert list(tmp_path.iterdir()) == []
