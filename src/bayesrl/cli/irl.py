"""What does an expert want? `bayesrl irl`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesrl._version import code_version
from bayesrl.cli.app import WORLD, Json, Seed, Set, app, check_plot
from bayesrl.cli.output import put, put_json, put_table
from bayesrl.errors import InvalidArgument

WEIGHTS_SHOWN = 30
"""The largest number of weights in the table."""


@app.command()
def irl(
    method: Annotated[
        str,
        typer.Argument(
            help="birl, modified-birl, map-birl, bnirl, multitask-birl, em-irl or dpm-birl.", metavar="METHOD"
        ),
    ],
    world: Annotated[str, typer.Argument(help=WORLD, metavar="WORLD")],
    data: Annotated[
        list[Path] | None,
        typer.Option(help="A log: FILE.csv or a record; may be repeated, one trajectory each."),
    ] = None,
    trajectories: Annotated[
        int | None, typer.Option(help="Without --data: trajectories of an expert.", show_default="10")
    ] = None,
    length: Annotated[int | None, typer.Option(help="Without --data: steps of each.", show_default="60")] = None,
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
    from bayesrl.inverse import demonstrate
    from bayesrl.io.logs import load_log
    from bayesrl.lab.build import settings, world_for
    from bayesrl.lab.inverse import infer, uniform_loss

    owner = "bayesrl irl"
    integer(owner, "--seed", seed, 0, any_length=True)
    integer(owner, "--sweeps", sweeps, 1)
    check_plot(plot)
    for name, x in (("--trajectories", trajectories), ("--length", length)):
        if x is not None and data:
            raise InvalidArgument(owner, name, "left out if there is --data", x)
        if x is not None:
            integer(owner, name, x, 1)
    place = _known(world_for(world))
    showing, thinking = map(default_rng, SeedSequence(seed).spawn(2))
    demonstrations: list[Any]
    if data:
        demonstrations = [load_log(path) for path in data]
    else:
        N, L = 10 if trajectories is None else trajectories, 60 if length is None else length
        demonstrations = list(demonstrate(place, place.mdp.mean_reward, N, L, showing))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = infer(method, place, demonstrations, settings(method, setting or ()), sweeps, rng=thinking)
    for each in told:
        print(each.message, file=sys.stderr)
    if plot is not None:
        from bayesrl.lab.plots.inverse import plot_reward_map

        plot_reward_map(place, found.posterior, plot, f"{place.name}: what {method} infers")
    if as_json:
        return put_json(
            {
                "method": method, "world": place.name, "weights": found.weights.tolist(),
                "policy": found.policy.tolist(), "value_loss": found.value_loss, "log_posterior": found.log_posterior,
                "uniform_loss": uniform_loss(place), "seed": seed, "version": code_version(),
            }
        )  # fmt: skip
    if data:
        put(f"{place.name}: {method} after {len(data)} log{'s' * (len(data) > 1)}.\n")
    else:
        put(f"{place.name}: {method} after {N} trajectories of {L} steps of an optimal expert.\n")
    one = found.weights.ndim == 1
    columns = (found.weights,) if one else tuple(found.weights)
    d = len(columns[0])
    names = ("weight",) if one else tuple(f"weights {k}" for k in range(len(columns)))
    rows = [(str(j), *(f"{w[j]:.3f}" for w in columns)) for j in range(min(d, WEIGHTS_SHOWN))]
    put_table(("feature", *names), rows)
    if d > WEIGHTS_SHOWN:
        put(f"... and {d - WEIGHTS_SHOWN} more: --json prints them all.")
    return put(
        f"\nUnder the world's own rewards the policy loses {found.value_loss:.4g} from the start; "
        f"the uniform policy loses {uniform_loss(place):.4g}."
    )


def _known(place: Any) -> Any:
    """Refuse a world whose transitions are not listed."""
    from bayesrl.models.reading import find_mdp
    from bayesrl.problems import is_hidden, name_of

    if is_hidden(place) or find_mdp(place) is None:
        expected = "a single world whose states and transitions are listed"
        raise InvalidArgument("bayesrl irl", "world", expected, name_of(place))
    if place.gamma == 1.0:
        raise InvalidArgument("bayesrl irl", "world", "one with a discount below 1", place.gamma)
    return place
