"""Experiments: `bayesrl run`, `bayesrl compare`, `bayesrl reproduce`, `bayesrl demo`, `bayesrl tour`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bayesrl.cli.app import (
    METHOD,
    WORLD,
    Backend,
    Horizon,
    Json,
    Plot,
    Prior,
    Runs,
    Save,
    Seed,
    Set,
    Steps,
    Workers,
    World,
    WorldOption,
    app,
    can_plot,
    check_file,
    check_plot,
    one_world,
)
from bayesrl.cli.output import console, put, put_json, put_notes, put_results, put_table
from bayesrl.errors import InvalidArgument

DEMO = (
    "exploit:ties=first", "exploit:ties=random", "bayesian-dp", "psrl", "beb", "epsilon-greedy", "softmax",
    "q-learning", "random",
)  # fmt: skip
"""The methods of the demonstration."""
DEMO_PLOT = Path("out/chain.png")


@app.command()
def run(
    command: typer.Context,
    method: Annotated[str, typer.Argument(help=METHOD, metavar="METHOD")],
    world: World = None,
    world_: WorldOption = None,
    prior: Prior = None,
    steps: Steps = None,
    runs: Runs = 20,
    seed: Seed = 0,
    set_: Set = None,
    horizon: Horizon = None,
    workers: Workers = 1,
    backend: Backend = "threads",
    save: Save = None,
    as_json: Json = False,
) -> None:
    """Run a method in a world several times and print its mean return with an interval."""
    from bayesrl.io.records import save as write
    from bayesrl.lab.build import settings
    from bayesrl.lab.experiment import experiment

    check_file("--save", save)
    params = settings("--set", set_ or ())
    done = experiment(
        [method], one_world(command, world, world_), prior, params,
        steps=steps, runs=runs, seed=seed, horizon=horizon, workers=workers, backend=backend,
    )  # fmt: skip
    if save is not None:
        write(done.comparison, save)
    put_notes(done.notes())
    if as_json:
        put_json(done.pages()[0])
    else:
        put_results(done)


@app.command()
def compare(
    method: Annotated[list[str], typer.Argument(help=METHOD, metavar="METHOD")],
    world: Annotated[str, typer.Option(help=WORLD, metavar="WORLD")],
    prior: Prior = None,
    steps: Steps = None,
    runs: Runs = 20,
    seed: Seed = 0,
    set_: Set = None,
    horizon: Horizon = None,
    workers: Workers = 1,
    backend: Backend = "threads",
    save: Save = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Run several methods in one world on common random numbers.

    The prior is used by every method that has a belief, a --set by every method that has the parameter. With --json the
    output is a list of what `run` prints.
    """
    from bayesrl.io.records import save as write
    from bayesrl.lab.build import settings
    from bayesrl.lab.experiment import experiment

    check_file("--save", save)
    check_plot(plot)
    params = settings("--set", set_ or ())
    done = experiment(
        method, world, prior, params,
        steps=steps, runs=runs, seed=seed, horizon=horizon, workers=workers, backend=backend,
    )  # fmt: skip
    if save is not None:
        write(done.comparison, save)
    if plot is not None:
        done.comparison.plot(plot, done.regrets, done.bounds, done.optimum())
    put_notes(done.notes())
    if as_json:
        put_json(done.pages())
    else:
        put_results(done)


@app.command()
def reproduce(
    world: Annotated[
        list[str] | None,
        typer.Option(help="Only this world; may be repeated.", metavar="WORLD", show_default="all that have scores"),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Runs of every row.", show_default="as stated for each row")] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Three runs of each fast method.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Save the scores in this file (JSON); scores that it holds already are not run again."),
    ] = None,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Also reuse scores in that file that another version made; they are marked.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run every method of chapter 4 on the worlds of the literature, beside published figures.

    All worlds take hours on one core, the chain about ten minutes; --quick takes about a minute for each world.
    """
    from bayesrl._version import code_version
    from bayesrl.checks import integer
    from bayesrl.lab.literature import page, scores, setups

    check_file("--save", save)
    runs = None if runs is None else integer("bayesrl", "--runs", runs, 1)
    rows = setups.chosen(world or (), quick=quick)
    done = known = [] if save is None or not save.exists() else scores.read(save)
    foreign = [score for score in known if score.version != code_version()]
    if foreign:
        taken = "reused" if reuse else "not reused (--reuse does)"
        print(
            f"{len(foreign)} of the {len(known)} scores in {save} were made by another version and are {taken}.",
            file=sys.stderr,
        )

    def tell(row: setups.Row, score: scores.Score) -> None:
        nonlocal done
        done = scores.replaced(done, score)
        if save is not None:
            scores.write(done, save)
        if not sys.stderr.isatty():
            print(f"{row.world} {row.method}: {score.ours.mean:.6g}, {score.ours.n} runs", file=sys.stderr)

    how = {"workers": workers, "backend": "processes" if workers > 1 else "threads"}
    runs = setups.QUICK_RUNS if quick and runs is None else runs
    found = scores.reproduce(rows, seed, runs, known, tell, reuse=reuse, **how)
    if as_json:
        return put_json(page.pages(found))
    for table in page.tables(found):
        console().print(table, "")
    return None


@app.command()
def demo(
    runs: Runs = 100,
    workers: Workers = 2,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the curves into this file (.png, .pdf or .svg).", show_default="out/chain.png"),
    ] = None,
) -> None:
    """Run nine methods on the chain: a table and, with the extra `lab`, a plot."""
    from bayesrl.lab.experiment import experiment
    from bayesrl.lab.literature.figures import lookup

    picture = plot if plot is not None or not can_plot() else DEMO_PLOT
    if picture is not None:
        try:
            picture.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidArgument("bayesrl", "--plot", "in a directory", str(picture), f"{error.strerror}.") from None
        check_plot(picture)
    done = experiment(DEMO, "chain:gamma=0.99", runs=runs, workers=workers, backend="processes", progress=True)
    best, ahead, back = (lookup(name, "chain")[0].value for name in ("optimum", "always-a", "always-b"))
    put_results(done)
    put(f"Exact values: the optimum is {best:.2f}, always choosing a gives {ahead:.2f}, always b {back:.2f}.")
    if picture is None:
        print("No plot was drawn, since matplotlib is missing: pip install bayesrl[lab].", file=sys.stderr)
        return
    from bayesrl.lab.plots.curves import curves

    curves(done.comparison, picture, done.regrets, title="The chain", optimum=done.optimum())
    put(f"The plot is in {picture}.")


@app.command()
def tour(
    seed: Seed = 0,
    share: Annotated[float, typer.Option(help="Share of the runs: a smaller one is a faster tour.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Walk the survey's shop through the chapters: optimum and earnings of each view, and pictures of them."""
    from bayesrl.lab.tour import draw, tour

    parts, pictures = [], []
    for part in tour(seed, share):
        parts.append(part)
        if not as_json:
            put(f"Chapter {part.chapter}: {part.title}", style="bold")
            put(f"Here {part.view}.")
            rows = [(row.method, f"{row.profit:.3f}", _interval(row.low, row.high), row.note) for row in part.rows]
            put_table(("method", "profit", "95% interval", ""), [*rows, ("(optimum)", f"{part.optimum:.3f}", "", "")])
            put("")
    if can_plot():
        pictures = [str(path) for path in draw(parts)]
    else:
        put_notes(["No pictures were drawn, since matplotlib is missing: pip install bayesrl[lab]."])
    if as_json:
        put_json({"seed": seed, "parts": [part.page() for part in parts], "pictures": pictures})
    elif pictures:
        put(f"Profits are of one customer. Pictures: {', '.join(pictures)}. The story is told in docs/shop.md.")


def _interval(low: float | None, high: float | None) -> str:
    return "exact" if low is None or high is None else f"{low:.3f} to {high:.3f}"
