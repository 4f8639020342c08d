"""Policies with a guarantee: `bayesrl risk`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bayesrl._version import code_version
from bayesrl.cli.app import Json, Prior, Seed, World, WorldOption, app, check_plot, one_world
from bayesrl.cli.output import put, put_json, put_table
from bayesrl.errors import InvalidArgument

if TYPE_CHECKING:
    from bayesrl.checks import Floats
    from bayesrl.lab.risk import Assessment, Solvable

STATES_SHOWN = 30
"""The largest number of states in the table of policies."""
ALWAYS = ("percentile", "max-min", "cvar")
"""Criteria whose policies are always shown; the later ones start from the earlier ones."""


class Study(NamedTuple):
    """The policies of all criteria for one posterior, and how good each is."""

    place: Any
    belief: Solvable
    learnt: dict[str, Any]
    """The origin of the posterior: {"data": file} or {"steps": number}."""
    criterion: str
    epsilon: float
    policies: dict[str, Floats]
    found: dict[str, Assessment]


@app.command()
def risk(
    command: typer.Context,
    world: World = None,
    world_: WorldOption = None,
    criterion: Annotated[str, typer.Option(help="percentile, cvar, max-min or mean.")] = "percentile",
    epsilon: Annotated[float, typer.Option(help="The share of bad models, in (0, 1/2].")] = 0.05,
    data: Annotated[
        Path | None, typer.Option(help="A log: FILE.csv with columns state, action, reward, next_state, or a record.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Without --data: random steps to learn from.", show_default="the world's")
    ] = None,
    prior: Prior = None,
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the posterior returns of all policies into this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find a policy with a guarantee, from a posterior over models, and compare it with others on common draws.

    The posterior comes from a log (--data) or from random steps in the world (--steps). Policies are stationary. The
    nominal policy is optimal in the mean model. The percentile policy maximises a second-order approximation. The
    max-min policy is robust against 100 drawn models: an opponent chooses one of them for each state and action. The
    policies of cvar and mean are local optima on drawn models.
    """
    from bayesrl.checks import choice, integer, number
    from bayesrl.lab.build import world_for
    from bayesrl.lab.risk import CRITERIA

    owner = command.command_path
    choice(owner, "--criterion", criterion, CRITERIA)
    number(owner, "--epsilon", epsilon, 0.0, 0.5, above=True)
    integer(owner, "--seed", seed, 0, any_length=True)
    check_plot(plot)
    if data is not None and steps is not None:
        raise InvalidArgument(owner, "--steps", "left out if there is --data", steps)
    place = world_for(one_world(command, world, world_))
    belief, learnt = _posterior(place, data, steps, prior, seed)
    study = _study(place, belief, learnt, criterion, epsilon, seed)
    if plot is not None:
        from bayesrl.lab.plots.risk import draw_values

        draw_values(study.found, epsilon, plot, f"{place.name}: returns under the posterior")
    if as_json:
        return put_json(_page(study, place.prior if prior is None else prior, seed))
    return _put_study(study)


def _study(place: Any, belief: Solvable, learnt: dict[str, Any], criterion: str, epsilon: float, seed: int) -> Study:
    """Solve for each criterion, and assess all policies on common draws."""
    from numpy.random import SeedSequence, default_rng

    from bayesrl.lab.risk import assess, policies_for

    solving, drawing = map(default_rng, SeedSequence(seed).spawn(2))
    policies = policies_for(belief, [*ALWAYS, *({criterion} - set(ALWAYS))], epsilon, solving)
    found = assess(belief, policies, epsilon, rng=drawing)
    return Study(place, belief, learnt, criterion, epsilon, policies, found)


def _page(study: Study, prior: str, seed: int) -> dict[str, Any]:
    """The study as JSON."""
    from bayesrl.lab.risk import CONFIDENCE, SAMPLES, SCENARIOS, models_drawn

    pages = {name: {"policy": study.policies[name].tolist(), **each._asdict()} for name, each in study.found.items()}
    for page in pages.values():
        del page["returns"]
    chosen, nominal = pages[study.criterion], {key: x for key, x in pages["nominal"].items() if key != "guarantee"}
    params = {
        "prior": prior, **study.learnt, "samples": SAMPLES, "confidence": CONFIDENCE, "scenarios": SCENARIOS,
        "models": models_drawn(study.belief), "gamma": study.belief.gamma,
    }  # fmt: skip
    return {
        "world": study.place.name, "criterion": study.criterion, "epsilon": study.epsilon, "policy": chosen["policy"],
        "value": chosen["quantile"], "guarantee": chosen["guarantee"], "nominal": nominal,
        "alternatives": pages, "params": params, "seed": seed, "version": code_version(),
    }  # fmt: skip


def _put_study(study: Study) -> None:
    """Print a table of the assessments, a table of the policies and the guarantee."""
    from bayesrl.lab.risk import CONFIDENCE, SAMPLES

    place, belief, learnt, criterion, epsilon, policies, found = study
    said = f"{learnt['steps']} random steps" if "steps" in learnt else learnt["data"]
    put(f"{place.name} after {said}, discount {belief.gamma:g}: return from the start in {SAMPLES} drawn models.\n")
    share = f"{100 * epsilon:g}%"
    put_table(
        ("  policy", "mean", f"{share} percentile", f"CVaR of {share}", f"guarantee ({CONFIDENCE:.0%} sure)"),
        [
            (("> " if name == criterion else "  ") + name, *(f"{x:.5g}" for x in each[:4]))
            for name, each in found.items()
        ],
    )
    from bayesrl.problems import action_names

    actions = action_names(place, belief.n_actions)
    put("")
    rows = [(str(s), *(_said(mu[s], actions) for mu in policies.values())) for s in range(belief.n_states)]
    put_table(("state", *policies), rows[:STATES_SHOWN])
    if belief.n_states > STATES_SHOWN:
        put(f"... and {belief.n_states - STATES_SHOWN} more states: --json prints them all.")
    kept = found[criterion].guarantee
    put(f"\nWith posterior probability {1 - epsilon:g} the {criterion} policy returns at least {kept:.6g}.")


def _posterior(
    place: Any, data: Path | None, steps: int | None, prior: str | None, seed: int
) -> tuple[Any, dict[str, Any]]:
    """The belief after a log or after random steps, and what it was learnt from."""
    from bayesrl.core import BayesAgent, run
    from bayesrl.io.logs import load_log
    from bayesrl.registry import make

    belief = listed_prior("bayesrl risk", place, prior)
    if data is not None:
        return belief.update_many(load_log(data)), {"data": str(data)}
    n = place.steps if steps is None else steps
    record = run(BayesAgent(belief, make("random")), place, n, seed=seed)
    return belief.update_many(record), {"steps": n}


def listed_prior(owner: str, place: Any, prior: str | None) -> Any:
    """A prior of a world whose states and transitions are listed; with discount 1 its episodes must end."""
    from bayesrl.capabilities import offers
    from bayesrl.lab.priors import prior_for
    from bayesrl.models.reading import find_mdp
    from bayesrl.problems import Family, HasOutcomes, is_hidden, name_of
    from bayesrl.risk.models import require_ends

    listed = offers(place, HasOutcomes) if offers(place, Family) else find_mdp(place) is not None
    if is_hidden(place) or not listed:
        expected = "one whose states and possible transitions are listed"
        raise InvalidArgument(owner, "world", expected, name_of(place))
    belief = prior_for(place, prior)
    require_ends(owner, belief)
    return belief


def _said(row: Floats, actions: tuple[str, ...]) -> str:
    """The actions of a policy in one state, the most probable first, with their probabilities if there are several."""
    likely = [a for a in row.argsort(kind="stable")[::-1] if row[a] >= 0.005]
    return ", ".join(actions[a] + ("" if len(likely) == 1 else f" {row[a]:.2f}") for a in likely)
