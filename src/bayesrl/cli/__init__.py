"""The commands of `bayesrl`, in the order of ORDER. Older names (`prior-check`, `irl`) work and are not listed.

Results go to standard output, everything else (progress, notes, errors) to standard error. With --json standard output
holds strict JSON and nothing else. A user error prints one sentence and gives exit code 2; an internal error gives exit
code 1 (with BAYESRL_DEBUG=1 in the environment also a traceback).

Methods and worlds are written as NAME or NAME:KEY=VALUE,KEY=VALUE (see lab/build.py). Heavy modules are imported inside
the commands, so that help is fast.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache

import typer

from bayesrl.cli import decisions, experiments, irl, listings, prior_check, risk
from bayesrl.cli.app import app
from bayesrl.errors import BayesRLError

__all__ = ["app", "decisions", "experiments", "irl", "listings", "main", "prior_check", "risk"]

ORDER = (
    "demo", "tour", "methods", "worlds", "show", "run", "compare", "explain", "solve", "risk", "check-prior",
    "infer-reward", "reproduce",
)  # fmt: skip
"""The commands as help lists them: what there is, experiments, decisions, then the work of whole chapters."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; no exception escapes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        if hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="replace")  # a terminal that lacks a character shows ?
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OSError as error:  # the disk is full, or the reader has closed the pipe
        if error.errno != errno.EPIPE:
            print(f"The system refused: {error.strerror}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    return code


@cache
def _command() -> Callable[..., object]:
    """The commands of `app`, made once. Those that ORDER does not name come last."""
    places = {name: place for place, name in enumerate(ORDER)}
    app.registered_commands.sort(key=lambda known: places.get(_name(known), len(ORDER)))
    return typer.main.get_command(app)


def _name(command: typer.models.CommandInfo) -> str:
    return str(command.name or getattr(command.callback, "__name__", ""))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        _command()(args=arguments, prog_name="bayesrl")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BayesRLError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # before or after the command
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
