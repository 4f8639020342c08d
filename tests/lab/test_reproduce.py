"""Scores beside published figures: every method is run, and every figure stands somewhere."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayesrl._version import code_version
from bayesrl.cli import main
from bayesrl.core import Streams, draw_world, run
from bayesrl.errors import UnknownName, UnreadableFile
from bayesrl.lab.build import believes, named, world_for
from bayesrl.lab.experiment import experiment
from bayesrl.lab.literature import judgement, page, scores, setups
from bayesrl.lab.literature.figures import ROUNDING, published
from bayesrl.models.solve import solve
from bayesrl.registry import find
from bayesrl.statistics import Interval, mean_interval

FAMILIES = ["gc", "gdl", "grid-bbrl"]
WORLDS = ["chain-tied", "chain-semi", "chain", "double-loop", "grid5", "grid10", "dearden-maze", *FAMILIES]


def score(row, mean=0.0, half=1.0, **change):
    made = scores.Score(row, Interval(mean, mean - half, mean + half, 40), {}, 1000, 0.95, 0, 1e-3, "0")
    return replace(made, **change)


def row(method, **change):
    return setups.Row(
        **({"world": "double-loop:gamma=0.95", "method": method, "prior": "flat:1/9", "runs": 3} | change)
    )


def test_all_worlds_and_all_methods():
    """On every world every acting method of chapter 4 has a row, on a family one for each prior; no row is twice."""
    assert list(setups.set_ups()) == WORLDS
    chapter = {entry.name for entry in setups.chapter()}
    for name, rows in setups.set_ups().items():
        optimum = {setups.OPTIMUM} if name in FAMILIES else set()
        assert {named(row.method)[0] for row in rows} == chapter | optimum, name
        assert len({(r.method, r.prior, r.steps, r.since) for r in rows}) == len(rows)
        assert {r.metric for r in rows if not r.since} == {"discounted return" if optimum else "return"}
    unbelieving = {entry.name for entry in setups.chapter() if not believes(entry)}
    for name in FAMILIES:
        rows = setups.set_ups()[name]
        for prior in ("accurate", "inaccurate"):
            assert {named(row.method)[0] for row in rows if row.prior == prior} == chapter - unbelieving
        assert {named(row.method)[0] for row in rows if row.prior is None} == unbelieving | {setups.OPTIMUM}


def test_a_row_stands_for_every_prior_of_its_world():
    """Unless it names its own; a method without a belief has one row. A world with one prior is as it was."""
    rows = [{"method": "psrl", "runs": 3}, {"method": "beb", "runs": 2, "prior": "inaccurate"}]
    rows += [{"method": "q-learning", "runs": 4}, {"method": "optimum", "runs": 5}]
    page = {"world": "gc", "prior": ["accurate", "inaccurate"], "discounted": True, "rows": rows}
    found = [(r.method, r.prior, r.runs, r.metric) for r in setups._rows(page)]
    assert found == [
        ("psrl", "accurate", 3, "discounted return"),
        ("q-learning", None, 4, "discounted return"),
        ("optimum", None, 5, "discounted return"),
        ("psrl", "inaccurate", 3, "discounted return"),
        ("beb", "inaccurate", 2, "discounted return"),
    ]
    rows = [{"method": "psrl", "runs": 3}, {"method": "psrl", "runs": 2, "prior": "sparse"}]
    found = setups._rows({"world": "grid5", "prior": "flat:1/25", "rows": rows})
    assert [(r.prior, r.runs, r.metric) for r in found] == [("flat:1/25", 3, "return"), ("sparse", 2, "return")]


def test_every_figure_stands_beside_a_row():
    """All that is published on these worlds is beside one row, known exactly, or of no method here."""
    made = []
    for row in setups.chosen():
        place, (name, own) = world_for(row.world), named(row.method)
        defaults = {} if name == setups.OPTIMUM else find(name).parameters
        params = {p.name: p.default for p in defaults.values()} | own
        made.append(score(row, params=params, steps=row.steps or place.steps, gamma=place.gamma))
    beside = [line.figure for line in judgement.judge(made) if line.figure is not None]
    assert len(beside) == len({id(figure) for figure in beside})  # each once
    for figure in published():
        if figure.world in WORLDS and figure not in beside:
            assert figure in judgement.missing(figure.world) or figure.method in judgement.EXACT, figure


def test_exact_figures():
    """Optimal and fixed policies' returns, computed elsewhere: to the last digit."""
    found = [pair for world in WORLDS for pair in judgement.exact(world)]
    assert len(found) == 8
    for figure, ours in found:
        assert ours == pytest.approx(figure.value, rel=ROUNDING)


def test_a_score_is_an_experiments():
    """The same numbers as `compare` gives; a late return leaves the first steps out."""
    here = row("psrl", steps=60)
    found = scores.measure(here, seed=5)
    done = experiment(["psrl"], here.world, here.prior, steps=60, runs=3, seed=5)
    assert found.ours == done.comparison.summary()["psrl"].total
    late = scores.measure(row("psrl", steps=60, since=20), seed=5)
    assert late.ours.mean == pytest.approx(done.comparison["psrl"].columns["reward"][20:].sum(axis=0).mean())
    assert late.row.metric == "return in steps 21 to 60"


def test_a_discounted_score_of_a_family():
    """The mean over the worlds drawn of what `compare` calls the discounted return."""
    here = row("psrl", world="gc", prior="inaccurate", steps=40, discounted=True)
    done = experiment(["psrl"], "gc", "inaccurate", steps=40, runs=3, seed=5)
    assert scores.measure(here, seed=5).ours == done.comparison.summary()["psrl"].discounted


def test_the_optimum_of_a_family_is_met_in_the_worlds_of_the_other_rows():
    """The best policy of each world that replicate i of any method meets, with the luck of that replicate."""
    here = row("optimum", world="gc", prior=None, discounted=True)
    found, family = scores.measure(here, seed=5), world_for("gc")
    met = [draw_world(family, Streams.of(5, i)) for i in range(3)]
    alone = [run(solve(world).policy, world, 250, 5, replicate=i).discounted for i, world in enumerate(met)]
    assert found.ours == pytest.approx(mean_interval(alone), rel=ROUNDING)
    assert (found.steps, found.gamma, found.params, found.seed) == (250, 0.95, {}, 5)


def test_what_is_known_is_not_run_again(tmp_path):
    rows = [row("beb:beta=1"), row("random", steps=20), row("q-learning", prior=None, steps=20)]
    told = []
    first = scores.reproduce(rows[:2], 0, tell=lambda row, score: told.append(row.method))
    scores.write(first, tmp_path / "scores.json")
    kept = scores.read(tmp_path / "scores.json")
    assert kept == [replace(score, row=replace(score.row, seconds=0.5)) for score in first]
    again = scores.reproduce(rows, 0, known=kept, tell=lambda row, score: told.append(row.method))
    assert told == ["beb:beta=1", "random", "q-learning"]
    assert again[:2] == kept
    assert scores.reproduce(rows[:1], 1, known=kept)[0].seed == 1  # another seed is another score
    foreign = [replace(score, version="0.1.0") for score in kept]
    del told[:]
    assert scores.reproduce(rows[:2], 0, known=foreign, reuse=True) == foreign
    again = scores.reproduce(rows[1:2], 0, known=foreign, tell=lambda row, score: told.append(row.method))
    assert told == ["random"]  # what other code made is not reused in silence
    assert [s.version for s in scores.replaced(foreign, again[0])] == ["0.1.0", code_version()]
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(UnreadableFile):
        scores.read(tmp_path / "other.json")


def test_judged_together():
    """A figure stands beside the last row that fits; all judged are one family; recalled ones have no verdict."""
    rows = [row(f"bamcp:simulations={n}") for n in (10, 100, 1000)] + [row("beb:beta=1.0")]
    given = [{"simulations": n} for n in (10, 100, 1000)] + [{"beta": 1.0}]
    means = [245.6, 300.0, 390.0, 386.0]
    made = [score(r, m, h, params=p) for r, m, h, p in zip(rows, means, (1, 1, 1, 0), given, strict=True)]
    lines = judgement.judge(made)
    said = [(line.score.row.method, line.figure.value, line.verdict) for line in lines]
    assert said == [
        ("bamcp:simulations=10", 245.6, "agrees"),
        ("bamcp:simulations=100", 328.3, "differs"),
        ("bamcp:simulations=1000", 380.833, "agrees"),
        ("bamcp:simulations=1000", 390.0, "agrees"),
        ("bamcp:simulations=1000", 387.6, ""),
        ("beb:beta=1.0", 386, "agrees"),
        ("beb:beta=1.0", 386, "agrees"),
    ]
    assert {line.judged for line in lines} == {6}
    pages = page.pages(made)
    assert [len(page["published"]) for page in pages] == [1, 1, 3, 2]
    json.dumps(pages, allow_nan=False)


def test_the_page_and_the_tables(tmp_path):
    """Notes written by hand survive; every world has its table, with what is not run there."""
    told = next(row for row in setups.set_ups()["double-loop"] if row.remark)
    made = [score(told), score(setups.set_ups()["grid10"][0], np.pi)]
    scores.write(made, tmp_path / "scores.json")
    page.main([str(tmp_path / "scores.json"), str(tmp_path / "scores.md")])
    text = (tmp_path / "scores.md").read_text("utf-8")
    assert "## double-loop:gamma=0.95" in text
    assert f"- {told.method}: {told.remark}" in text
    assert "optimum 400, published 400" in text
    assert "Not run for this page" in text
    (tmp_path / "scores.md").write_text(text.replace("<!-- notes -->\n", "<!-- notes -->\nBy hand.\n"), "utf-8")
    page.main([str(tmp_path / "scores.json"), str(tmp_path / "scores.md")])
    assert "By hand.\n" in (tmp_path / "scores.md").read_text("utf-8")
    assert [table.title for table in page.tables(made)] == ["double-loop:gamma=0.95", "grid10:gamma=0.95"]


def test_the_page_in_docs_is_what_its_scores_say(tmp_path):
    docs = Path(__file__).parents[2] / "docs"
    shutil.copy(docs / "scores.md", tmp_path)
    page.main([str(docs / "scores.json"), str(tmp_path / "scores.md")])
    text = (docs / "scores.md").read_text("utf-8")
    assert (tmp_path / "scores.md").read_text("utf-8") == text
    assert "Not run for this page" not in text
    assert all(f"## {name}:gamma=0.95" in text for name in FAMILIES)


def test_what_the_page_says_of_the_families():
    """Its notes say that all ten judged figures agree; each family has its optimum in the same worlds as every row."""
    docs = Path(__file__).parents[2] / "docs"
    assert "All ten figures that are judged agree" in (docs / "scores.md").read_text("utf-8")
    lines = judgement.judge(scores.read(docs / "scores.json"))
    lines = [line for line in lines if named(line.score.row.world)[0] in FAMILIES]
    assert [line.verdict for line in lines if line.verdict] == ["agrees"] * 10
    assert {line.score.seed for line in lines} == {0}
    assert {line.score.row.metric for line in lines} == {"discounted return"}


def test_the_command(monkeypatch, capsys, tmp_path):
    """A table, or JSON alone; scores kept in a file; a mistake is one sentence."""
    rows = (row("beb:beta=1"), row("random", seconds=9.0))
    monkeypatch.setattr(setups, "set_ups", lambda: {"double-loop": rows})
    assert main(["reproduce", "--quick", "--save", str(tmp_path / "scores.json")]) == 0
    said = capsys.readouterr().out
    assert "386 ± 0" in said
    assert "agrees" in said
    assert "random" not in said  # too slow for --quick
    assert "2 figures judged" in said
    assert [kept.row.method for kept in scores.read(tmp_path / "scores.json")] == ["beb:beta=1"]
    both = ["reproduce", "--runs", "1", "--save", str(tmp_path / "both.json")]
    assert main(["reproduce", "--quick", "--runs", "1", "--save", str(tmp_path / "both.json")]) == 0
    assert main(both) == 0
    capsys.readouterr()
    methods = [row.method for row in rows]
    assert [score.row.method for score in scores.read(tmp_path / "both.json")] == methods
    before = (tmp_path / "both.json").read_bytes()
    assert main(both) == 0  # nothing is left to do
    assert (tmp_path / "both.json").read_bytes() == before
    assert main(["reproduce", "--save", str(tmp_path / "all.json")]) == 0
    capsys.readouterr()
    assert [score.row.method for score in scores.read(tmp_path / "all.json")] == methods
    assert main(["reproduce", "--world", "double-loop", "--runs", "2", "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)
    assert [page["ours"]["n"] for page in pages] == [2, 2]
    assert [known["verdict"] for known in pages[0]["published"]] == ["agrees", "agrees"]
    assert main(["reproduce", "--world", "double-lop"]) == 2
    said = "There is no world with published scores called 'double-lop'. Did you mean double-loop?"
    assert capsys.readouterr().err.strip() == said
    assert main(["reproduce", "--runs", "0"]) == 2


def test_what_is_chosen():
    quick = setups.chosen(["double-loop"], quick=True)
    assert quick
    assert all(r.seconds <= setups.QUICK_SECONDS for r in quick)
    assert {named(r.world)[0] for r in setups.chosen()} == set(WORLDS)
    with pytest.raises(UnknownName, match="Did you mean chain"):
        setups.chosen(["chan"])


@pytest.mark.parametrize("n", [0, 1, 2, 12])
def test_a_file_holds_all_scores_that_were_written(n, tmp_path):
    """Also over a longer file, and written again."""
    path, kept = tmp_path / "scores.json", [score(row("random", runs=i + 1), mean=float(i)) for i in range(n)]
    scores.write([score(row("random"))] * 30, path)
    scores.write(kept, path)
    assert [each.ours.mean for each in scores.read(path)] == [float(i) for i in range(n)]
    before = path.read_bytes()
    scores.write(scores.read(path), path)
    assert path.read_bytes() == before
