"""The application, the options that several commands share, and checks of files."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bayesrl._version import code_version
from bayesrl.errors import InvalidArgument, MissingExtra


class Commands(TyperGroup):
    """The commands. Ctrl-C is handled here, because typer drops the notes of a KeyboardInterrupt."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. Ctrl-C ends it with exit code 130, after its notes."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            for note in getattr(stop, "__notes__", ()):
                print(note, file=sys.stderr, flush=True)
            if any(thread.name.startswith("bayesrl") for thread in threading.enumerate()):
                os._exit(130)  # Ctrl-C was pressed again: Python would wait for the threads
            raise typer.Exit(130) from None


app = typer.Typer(
    name="bayesrl",
    cls=Commands,
    help="Bayesian reinforcement learning: list methods and worlds, run and compare them, explain decisions.",
    epilog="For example: bayesrl compare beb:beta=3 psrl --world chain --plot chain.png",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help, since importing rich takes longer than everything else
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback(invoke_without_command=True)
def top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """The options of the program itself."""
    if version:
        print(f"bayesrl {code_version()}")
        raise typer.Exit


# Options -------------------------------------------------------------------------------------------------------------

METHOD = "A method, NAME or NAME:KEY=VALUE,..., e.g. beb:beta=3 (see: bayesrl methods, bayesrl show NAME)."
WORLD = "A world, NAME or NAME:KEY=VALUE,..., e.g. chain:gamma=0.99 (see: bayesrl worlds)."
World = Annotated[str | None, typer.Argument(help=WORLD, metavar="WORLD", show_default=False)]
WorldOption = Annotated[
    str | None, typer.Option("--world", help="The world, in place of the argument WORLD.", metavar="WORLD")
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]
Prior = Annotated[
    str | None,
    typer.Option(
        help="NAME, NAME:VALUE or NAME:KEY=VALUE,..., e.g. flat:1/9, structured, sparse, particle:50, crp-dynamics.",
        metavar="PRIOR",
        show_default="the world's own if it fits, else the first that does",
    ),
]
Steps = Annotated[int | None, typer.Option(help="Length of a run.", show_default="as published for the world")]
Runs = Annotated[int, typer.Option(help="Number of runs, each with its own random numbers.")]
Seed = Annotated[int, typer.Option(help="The seed of all random numbers.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method; may be repeated.", metavar="KEY=VALUE")
]
Horizon = Annotated[
    int | None, typer.Option(help="Cut episodes after this number of steps.", show_default="the world's, if it has one")
]
Workers = Annotated[int, typer.Option(help="Number of threads or processes; the result does not depend on it.")]
Backend = Annotated[str, typer.Option(help="threads or processes.")]
Save = Annotated[Path | None, typer.Option(help="Save every step of every run in this file (bayesrl.load reads it).")]
Plot = Annotated[
    Path | None, typer.Option(help="Draw rewards, regrets and bounds into this file (.png, .pdf or .svg).")
]


def one_world(command: typer.Context, argument: str | None, option: str | None) -> str:
    """The world of a command, which is named once: by the argument WORLD or by --world."""
    given = [world for world in (argument, option) if world is not None]
    if len(given) != 1:
        expected = "given once, as an argument or by --world"
        raise InvalidArgument(command.command_path, "WORLD", expected, " and ".join(given) or None)
    return given[0]


# Checks before the work begins ----------------------------------------------------------------------------------------


def check_file(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written."""
    if path is not None and (path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK)):
        raise InvalidArgument("bayesrl", option, "a file in a directory that can be written to", str(path))


def check_plot(path: Path | None) -> None:
    """Refuse a plot that cannot be written."""
    check_file("--plot", path)
    if path is not None and path.suffix not in (".png", ".pdf", ".svg"):
        raise InvalidArgument("bayesrl", "--plot", "a file that ends in .png, .pdf or .svg", str(path))
    if path is not None and not can_plot():
        raise MissingExtra("--plot", "matplotlib", "lab")


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None
