"""The command line: `bayesrl methods`, `worlds`, `show`, `run`, `compare`, `reproduce`, `explain`, `solve`, `demo`.

Results go to standard output, everything else (progress, errors) to standard error. With --json standard output holds
strict JSON and nothing else. A mistake of the user's is answered with one sentence and exit code 2; a mistake of ours
with exit code 1 (and, with BAYESRL_DEBUG=1 in the environment, a traceback).

Methods and worlds are named NAME or NAME:KEY=VALUE,KEY=VALUE (see lab/build.py). Heavy modules are imported inside the
commands, so that help answers at once.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesrl._version import code_version
from bayesrl.errors import BayesRLError, InvalidArgument

if TYPE_CHECKING:
    from rich.console import Console

    from bayesrl.lab.experiment import Experiment
    from bayesrl.registry import Entry

app = typer.Typer(
    name="bayesrl",
    help="Bayesian reinforcement learning: what there is, how it does, and how sure that is.",
    epilog="For example: bayesrl compare beb:beta=3 psrl --world chain --plot chain.png",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: importing rich would cost more time than everything else
    context_settings={"help_option_names": ["--help", "-h"]},
)

METHOD = "A method, NAME or NAME:KEY=VALUE,..., e.g. beb:beta=3 (see: bayesrl methods)."
WORLD = "A world, NAME or NAME:KEY=VALUE,..., e.g. chain:gamma=0.99 (see: bayesrl worlds)."
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]
Prior = Annotated[
    str | None,
    typer.Option(
        help="flat:1/9, structured:0.5, sparse:0.2, ...; for families accurate or inaccurate.",
        metavar="PRIOR",
        show_default="the world's own",
    ),
]
Steps = Annotated[int | None, typer.Option(help="Length of a run.", show_default="as published for the world")]
Runs = Annotated[int, typer.Option(help="Number of runs, each with its own random numbers.")]
Seed = Annotated[int, typer.Option(help="All that the outcome depends on.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method; may be repeated.", metavar="KEY=VALUE")
]
Horizon = Annotated[int | None, typer.Option(help="Cut episodes after so many steps.", show_default="never")]
Workers = Annotated[int, typer.Option(help="Threads or processes at work; the outcome is the same.")]
Backend = Annotated[str, typer.Option(help="threads or processes.")]
Save = Annotated[Path | None, typer.Option(help="Keep every step of every run in this file (bayesrl.load reads it).")]
Plot = Annotated[
    Path | None, typer.Option(help="Draw rewards, regrets and bounds into this file (.png, .pdf or .svg).")
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; no exception leaves."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        if hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="replace")  # a terminal without our letters shows ? in their place
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OSError as error:  # the disk is full, or the reader went away: nothing more can be said there
        if error.errno != errno.EPIPE:
            print(f"The system refused: {error.strerror}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        typer.main.get_command(app)(args=arguments, prog_name="bayesrl")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BayesRLError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("BAYESRL_DEBUG"):
            raise
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        print(f"This is a bug in bayesrl, please report it ({said}); BAYESRL_DEBUG=1 shows where.", file=sys.stderr)
        return 1
    return 0


@app.callback(invoke_without_command=True)
def top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """The options that belong to no command."""
    if version:
        print(f"bayesrl {code_version()}")
        raise typer.Exit


# What there is -------------------------------------------------------------------------------------------------------


@app.command()
def methods(as_json: Json = False) -> None:
    """List every method: beliefs, planners, agents, solvers and tools."""
    from bayesrl import registry

    found = registry.methods()
    if as_json:
        return put_json([entry.card() for entry in found])
    rows = [(e.name, e.kind, e.family, e.survey, e.summary) for e in found]
    return put_table(("method", "kind", "family", "§", "what it does"), rows)


@app.command()
def worlds(as_json: Json = False) -> None:
    """List every world and family of worlds."""
    from bayesrl import registry

    found = registry.worlds()
    if as_json:
        return put_json([{"name": e.name, "kind": e.kind, "summary": e.summary} for e in found])
    made = [(e, registry.make_world(e.name)) for e in found]
    rows = [(e.name, e.kind, w.prior, str(w.steps), e.summary) for e, w in made]
    return put_table(("world", "kind", "prior", "steps", "what it is"), rows)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A method or a world.", metavar="NAME")], as_json: Json = False
) -> None:
    """Show a method or a world: its idea, parameters and evidence."""
    from bayesrl import registry
    from bayesrl.lab.build import parameters

    entry = registry.find(name)
    takes = parameters(entry)
    if as_json:
        return put_json({**entry.card(), "doc": doc_of(entry), "parameters": [p._asdict() for p in takes]})
    paper = f", paper {entry.paper}" if entry.paper else ""
    put(f"{entry.name}: {entry.summary}", style="bold")
    put(f"{entry.kind} of {entry.family}, survey §{entry.survey}{paper}\n")
    for paragraph in doc_of(entry).split("\n\n"):
        drawn = any(line.startswith((" ", "- ")) for line in paragraph.splitlines())  # a formula, a table, a list
        for part in [paragraph] if drawn else re.split(r"\n(?=[A-Z][a-z ]+:)", paragraph):
            put(part if drawn else " ".join(part.split()))
        put("")
    if takes:
        without = "from the world" if entry.kind == "agent" else "to be given"
        rows = [(p.name, p.type, without if p.default is None else p.default, p.doc) for p in takes]
        columns = ("parameter", "type", "default", "meaning")
        said = 4 if any(p.doc for p in takes) else 3
        put_table(columns[:said], [row[:said] for row in rows])
        put("")
    if entry.kind in ("world", "family"):
        made = registry.make_world(name)
        sizes = [f"{getattr(made, f'n_{what}')} {what}" for what in ("states", "actions") if hasattr(made, f"n_{what}")]
        put(", ".join([f"Default prior {made.prior}", f"{made.steps} steps", *sizes]) + ".\n")
    put("Evidence, the tests that fail if it is wrong:" if entry.evidence else "There is no evidence for it yet.")
    for test in entry.evidence:
        print(f"  {test}")
    return None


def doc_of(entry: Entry) -> str:
    """The page of an entry: what its file says, and what its class or function adds to its summary."""
    import inspect

    page = inspect.getdoc(sys.modules[entry.factory.__module__]) or ""
    own = (inspect.getdoc(entry.factory) or "").partition("\n\n")[2]
    return "\n\n".join(part.strip() for part in (page, own) if part.strip())


# How it does ---------------------------------------------------------------------------------------------------------


@app.command()
def run(
    method: Annotated[str, typer.Argument(help=METHOD, metavar="METHOD")],
    world: Annotated[str, typer.Argument(help=WORLD, metavar="WORLD")],
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
    """Run a method in a world several times and say what it earned."""
    from bayesrl.io.records import save as write
    from bayesrl.lab.build import settings
    from bayesrl.lab.experiment import experiment

    check_file("--save", save)
    params = settings("--set", set_ or ())
    done = experiment(
        [method], world, prior, params,
        steps=steps, runs=runs, seed=seed, horizon=horizon, workers=workers, backend=backend,
    )  # fmt: skip
    if save is not None:
        write(done.comparison, save)
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
    """Run several methods in one world, with the same luck.

    The prior goes to every method that has a belief, a --set to every method that has the parameter. With --json: a
    list of what `run` prints.
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
        done.comparison.plot(plot, done.regrets, done.bounds)
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
    runs: Annotated[int | None, typer.Option(help="Runs of every row.", show_default="as each row has it")] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Three runs of what takes seconds.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Keep the scores in this file (JSON); what it holds already is not run again."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run every method of chapter 4 on the worlds of the literature, beside published figures.

    Everything takes hours on one core, the chain some ten minutes; --quick takes about a minute for each world.
    """
    from bayesrl.checks import integer
    from bayesrl.lab.literature import reproduce as lab

    check_file("--save", save)
    runs = None if runs is None else integer("bayesrl", "--runs", runs, 1)
    rows = lab.chosen(world or (), quick=quick)
    known = [] if save is None or not save.exists() else lab.read(save)
    done = list(known)

    def tell(row: lab.Row, score: lab.Score) -> None:
        done.append(score)
        if save is not None:
            lab.write(done, save)
        if not sys.stderr.isatty():
            print(f"{row.world} {row.method}: {score.ours.mean:.6g}, {score.ours.n} runs", file=sys.stderr)

    how = {"workers": workers, "backend": "processes" if workers > 1 else "threads"}
    scores = lab.reproduce(rows, seed, lab.QUICK_RUNS if quick and runs is None else runs, known, tell, **how)
    if as_json:
        return put_json(lab.pages(scores))
    for table in lab.tables(scores):
        console().print(table, "")
    return None


@app.command()
def explain(
    method: Annotated[str, typer.Argument(help=METHOD, metavar="METHOD")],
    world: Annotated[str, typer.Argument(help=WORLD, metavar="WORLD")],
    state: Annotated[int | None, typer.Option(help="Where to decide.", show_default="where the run has got to")] = None,
    steps: Annotated[int, typer.Option(help="Steps to live in the world first.")] = 0,
    prior: Prior = None,
    set_: Set = None,
    seed: Seed = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw it into this file (.png, .pdf or .svg).")] = None,
    as_json: Json = False,
) -> None:
    """Explain a decision: the root of the search and what is believed of the action chosen."""
    from bayesrl.lab.build import settings
    from bayesrl.lab.explain import explain as ask
    from bayesrl.lab.explain import plot_explanation, sketch, sketched_map, sketched_root, unlisted

    check_plot(plot)
    why = ask(method, world, state, steps=steps, prior=prior, params=settings("--set", set_ or ()), seed=seed)
    if plot is not None:
        plot_explanation(why, plot)
    if as_json:
        return put_json({**why.page(), "version": code_version()})
    put(f"{why.title}: {why.actions[why.action]}.\n", style="bold")
    rows = [
        (("> " if a == why.action else "  ") + name, *(f"{column[a]:.6g}" for column in why.root.values()), drawn)
        for a, (name, drawn) in enumerate(zip(why.actions, sketched_root(why), strict=True))
    ]
    put_table(("  action", *why.root, ""), rows)
    if not why.outcomes:
        return put("\nIt has no belief about where actions lead.")
    put(f"\nWhere {why.actions[why.action]} leads from {why.state}, as believed:")
    likeliest = why.outcomes[:OUTCOMES_SHOWN]
    put_table(
        ("next state", "reward", "probability", "95% interval", "from 0 to 1"),
        [
            (str(o[0]), f"{o[1]:g}", f"{o[2]:.4f}", f"{o[3]:.4f} to {o[4]:.4f}", sketch(o[3], o[2], o[4], 0.0, 1.0))
            for o in likeliest
        ],
    )
    for line in unlisted(why.outcomes, OUTCOMES_SHOWN):
        put(f"... {line}: --json prints them all.")
    if plan := sketched_map(why):
        put("\nThe best policy of the mean model:")
        put("\n".join(plan))
    return None


@app.command()
def solve(
    world: Annotated[str, typer.Argument(help=WORLD, metavar="WORLD")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the world; may be repeated.", metavar="KEY=VALUE")
    ] = None,
    method: Annotated[str, typer.Option(help="value-iteration, policy-iteration, mdp-lp, ...")] = "auto",
    plot: Annotated[Path | None, typer.Option(help="Draw the policy on the world's map into this file.")] = None,
    as_json: Json = False,
) -> None:
    """Solve a known world: optimal values, policy, bound on the error."""
    from bayesrl.lab.build import settings, world_for
    from bayesrl.models import solve as exact

    check_plot(plot)
    place = world_for(world, settings("--set", set_ or ()))
    if plot is not None:
        from bayesrl.lab.explain import plot_policy

        plot_policy(place, plot)
    values, q, policy, error, _, solver = exact.solve(place, method=method)
    first = float(place.mdp.outcomes.start @ values)
    if as_json:
        page = {"world": place.name, "gamma": place.gamma, "start_value": first, "error_bound": error, "method": solver}
        return put_json(
            {**page, "values": values.tolist(), "policy": policy.tolist(), "q": q.tolist(), "version": code_version()}
        )
    actions = place.actions or tuple(map(str, range(place.n_actions)))
    rows = [
        (str(s), f"{values[s]:.4f}", actions[policy[s]], *(f"{x:.4f}" for x in q[s, :ACTIONS_SHOWN]))
        for s in range(min(place.n_states, STATES_SHOWN))
    ]
    put_table(("state", "value", "best", *(f"q({a})" for a in actions[:ACTIONS_SHOWN])), rows)
    if place.n_states > STATES_SHOWN:
        put(f"... and {place.n_states - STATES_SHOWN} more states: --json prints them all.")
    put(f"From the start {first:.6g} at discount {place.gamma:g}, error at most {error:.2g}, by {solver}.")
    return put(f"Undiscounted total of the best policy over {place.steps} steps: {place.optimum():.6g}.")


@app.command()
def demo(
    runs: Runs = 100,
    workers: Workers = 2,
    plot: Annotated[Path, typer.Option(help="Where the curves go.")] = Path("out/chain.png"),
) -> None:
    """Run the methods so far on the Chain: a table and a plot."""
    from bayesrl.lab.experiment import experiment
    from bayesrl.lab.literature.figures import lookup
    from bayesrl.lab.report import curves

    try:
        plot.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgument("bayesrl", "--plot", "in a directory", str(plot), f"{error.strerror}.") from None
    check_plot(plot)
    done = experiment(DEMO, "chain:gamma=0.99", runs=runs, workers=workers, backend="processes", progress=True)
    best, ahead, back = (lookup(name, "chain")[0].value for name in ("optimum", "always-a", "always-b"))
    curves(done.comparison, plot, done.regrets, {"optimum": best}, "The chain")
    put_results(done)
    put(f"Known exactly: the optimum is {best:.2f}, always choosing a gives {ahead:.2f}, always b {back:.2f}.")
    put(f"The curves are in {plot}.")


DEMO = (
    "exploit:ties=first", "exploit:ties=random", "bayesian-dp", "psrl", "beb", "epsilon-greedy", "softmax",
    "q-learning", "random",
)  # fmt: skip
STATES_SHOWN, ACTIONS_SHOWN, OUTCOMES_SHOWN = 30, 4, 10
"""The sizes of the tables of `solve` and `explain`."""


# Saying it -----------------------------------------------------------------------------------------------------------


def console() -> Console:
    """Standard output; as wide as it takes where it is not a terminal, so that nothing is cut."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 1000, highlight=False)


def put(text: str, style: str = "") -> None:
    """A line or a paragraph of prose."""
    from rich.text import Text

    console().print(Text(text, style))


def put_results(done: Experiment) -> None:
    """The table of an experiment; where the terminal is too narrow for it, without the regrets."""
    out, table = console(), done.table()
    published = any("regret" in figure.metric for found in done.figures().values() for figure in found)
    wide = out.measure(table, options=out.options.update_width(1000)).maximum > out.width
    out.print(done.table(regrets=False) if wide and not published else table)
    if done.bounds:
        from bayesrl.lab.report import bounds_table

        out.print("", bounds_table(done.bounds))


def put_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """A plain table; what is too long goes on in the next line."""
    from rich.table import Table
    from rich.text import Text

    *first, last = columns
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in first:
        table.add_column(name, no_wrap=True)
    table.add_column(last, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def put_json(page: Any) -> None:
    """Strict JSON: what is not a finite number is null."""
    print(json.dumps(_finite(page), indent=2, allow_nan=False))


def _finite(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: _finite(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_finite(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


# Refusing before the work rather than after it -----------------------------------------------------------------------


def check_file(option: str, path: Path | None) -> None:
    """Refuse a file that could not be written."""
    if path is not None and (path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK)):
        raise InvalidArgument("bayesrl", option, "a file in a directory that can be written to", str(path))


def check_plot(path: Path | None) -> None:
    """Refuse a picture that could not be drawn."""
    from importlib.util import find_spec

    check_file("--plot", path)
    if path is not None and path.suffix not in (".png", ".pdf", ".svg"):
        raise InvalidArgument("bayesrl", "--plot", "a file that ends in .png, .pdf or .svg", str(path))
    if path is not None and find_spec("matplotlib") is None:
        raise InvalidArgument("bayesrl", "--plot", "left out without matplotlib", str(path), "pip install bayesrl[lab]")


if __name__ == "__main__":
    sys.exit(main())
