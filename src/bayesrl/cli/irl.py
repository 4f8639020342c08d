"""Rewards inferred from an expert's behaviour: `bayesrl infer-reward`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesrl._version import code_version
from bayesrl.cli.app import Json, Seed, Set, World, WorldOption, app, check_plot, one_world
from bayesrl.cli.output import put, put_json, put_table
from bayesrl.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.random import Generator

    from bayesrl.lab.inverse import Inference

WEIGHTS_SHOWN = 30
"""The largest number of weights in the table."""
TRAJECTORIES, LENGTH = 10, 60
"""Trajectories of the simulated expert, and the steps of each, unless told otherwise."""


@app.command("irl", hidden=True)
@app.command("infer-reward")
def infer_reward(
    command: typer.Context,
    method: Annotated[
        str,
        typer.Argument(
            help="birl, modified-birl, map-birl, bnirl, multitask-birl, em-irl or dpm-birl.", metavar="METHOD"
        ),
    ],
    world: World = None,
    world_: WorldOption = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(help="A log: FILE.csv or a record; may be repeated, one trajectory each."),
    ] = None,
    trajectories: Annotated[
        int | None, typer.Option(help="Without --data: trajectories of an expert.", show_default=str(TRAJECTORIES))
    ] = None,
    length: Annotated[int | None, typer.Option(help="Without --data: steps of each.", show_default=str(LENGTH))] = None,
    sweeps: Annotated[int, typer.Option(help="Sweeps of a sampler.")] = 2000,
    setting: Set = None,
    seed: Seed = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the reward map into this file.")] = None,
    as_json: Json = False,
) -> None:
    """Infer rewards from demonstrations, and the policy that is optimal for them.

    The world's transitions are known to the method and its rewards are not. Demonstrations come from logs (--data), or
    from an expert that is optimal for the world's own rewards. The loss is what the policy found loses under them.
    """
    from numpy.random import SeedSequence, default_rng

    from bayesrl.checks import integer
    from bayesrl.lab.build import settings, world_for
    from bayesrl.lab.inverse import infer

    owner = command.command_path
    integer(owner, "--seed", seed, 0, any_length=True)
    integer(owner, "--sweeps", sweeps, 1)
    check_plot(plot)
    _check_expert(owner, data, {"--trajectories": trajectories, "--length": length})
    place = _known(owner, world_for(one_world(command, world, world_)))
    showing, thinking = map(default_rng, SeedSequence(seed).spawn(2))
    demonstrations, source = _demonstrations(place, data, trajectories, length, showing)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = infer(method, place, demonstrations, settings(method, setting or ()), sweeps, rng=thinking)
    for each in told:
        print(each.message, file=sys.stderr)
    if plot is not None:
        from bayesrl.lab.plots.inverse import plot_reward_map

        plot_reward_map(place, found.posterior, plot, f"{place.name}: what {method} infers")
    if as_json:
        return put_json(_page(method, place, found, seed))
    put(f"{place.name}: {method} after {source}.\n")
    return _put_weights(place, found)


def _check_expert(owner: str, data: list[Path] | None, numbers: dict[str, int | None]) -> None:
    """Refuse an option of the simulated expert that is not a whole number from 1, or that stands beside --data."""
    from bayesrl.checks import integer

    for name, x in numbers.items():
        if x is not None and data:
            raise InvalidArgument(owner, name, "left out if there is --data", x)
        if x is not None:
            integer(owner, name, x, 1)


def _demonstrations(
    place: Any, data: list[Path] | None, trajectories: int | None, length: int | None, rng: Generator
) -> tuple[list[Any], str]:
    """The demonstrations from logs or of an optimal expert, and their source in words."""
    from bayesrl.inverse import demonstrate
    from bayesrl.io.logs import load_log

    if data:
        return [load_log(path) for path in data], f"{len(data)} log{'s' * (len(data) > 1)}"
    N, L = TRAJECTORIES if trajectories is None else trajectories, LENGTH if length is None else length
    shown = demonstrate(place, place.mdp.mean_reward, N, L, rng)
    return list(shown), f"{N} trajectories of {L} steps of an optimal expert"


def _page(method: str, place: Any, found: Inference, seed: int) -> dict[str, Any]:
    """The result as JSON."""
    from bayesrl.lab.inverse import uniform_loss

    return {
        "method": method, "world": place.name, "weights": found.weights.tolist(), "policy": found.policy.tolist(),
        "value_loss": found.value_loss, "log_posterior": found.log_posterior, "uniform_loss": uniform_loss(place),
        "seed": seed, "version": code_version(),
    }  # fmt: skip


def _put_weights(place: Any, found: Inference) -> None:
    """Print a table of the weights and the loss of the policy."""
    from bayesrl.lab.inverse import uniform_loss

    one = found.weights.ndim == 1
    columns = (found.weights,) if one else tuple(found.weights)
    d = len(columns[0])
    names = ("weight",) if one else tuple(f"weights {k}" for k in range(len(columns)))
    rows = [(str(j), *(f"{w[j]:.3f}" for w in columns)) for j in range(min(d, WEIGHTS_SHOWN))]
    put_table(("feature", *names), rows)
    if d > WEIGHTS_SHOWN:
        put(f"... and {d - WEIGHTS_SHOWN} more: --json prints them all.")
    put(
        f"\nUnder the world's own rewards the policy loses {found.value_loss:.4g} from the start; "
        f"the uniform policy loses {uniform_loss(place):.4g}."
    )


def _known(owner: str, place: Any) -> Any:
    """Refuse a world whose transitions are not listed."""
    from bayesrl.models.reading import find_mdp, mdp_of
    from bayesrl.models.solvers.proper import must_be_proper
    from bayesrl.problems import is_hidden, name_of

    if is_hidden(place) or find_mdp(place) is None:
        expected = "a single world whose states and transitions are listed"
        raise InvalidArgument(owner, "world", expected, name_of(place))
    must_be_proper(owner, "world", mdp_of(place))
    return place
