"""Single decisions and known worlds: `bayesrl explain`, `bayesrl solve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesrl._version import code_version
from bayesrl.cli.app import METHOD, Json, Prior, Seed, Set, World, WorldOption, app, check_plot, one_world
from bayesrl.cli.output import put, put_json, put_notes, put_table

if TYPE_CHECKING:
    from bayesrl.lab.explain import Hidden
    from bayesrl.problems import HasPOMDP

STATES_SHOWN, ACTIONS_SHOWN, OUTCOMES_SHOWN = 30, 4, 10
"""Largest numbers of rows and columns in the tables."""


@app.command()
def explain(
    command: typer.Context,
    method: Annotated[str, typer.Argument(help=METHOD, metavar="METHOD")],
    world: World = None,
    world_: WorldOption = None,
    state: Annotated[
        int | None, typer.Option(help="The state of the decision.", show_default="the state after the steps")
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps to run in the world first.")] = 0,
    prior: Prior = None,
    set_: Set = None,
    seed: Seed = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the explanation into this file (.png, .pdf or .svg).")] = None,
    as_json: Json = False,
) -> None:
    """Explain a decision: the values of all actions and the posterior outcomes of the chosen one."""
    from bayesrl.lab.build import settings
    from bayesrl.lab.explain import explain as ask
    from bayesrl.lab.sketches import sketch, sketched_map, sketched_root, unlisted

    check_plot(plot)
    where = one_world(command, world, world_)
    why = ask(method, where, state, steps=steps, prior=prior, params=settings("--set", set_ or ()), seed=seed)
    if plot is not None:
        from bayesrl.lab.plots.explanation import plot_explanation

        plot_explanation(why, plot)
    put_notes([why.note] if why.note else [])
    if as_json:
        return put_json({**why.page(), "version": code_version()})
    put(f"{why.title}: {why.actions[why.action]}.\n", style="bold")
    rows = [
        (("> " if a == why.action else "  ") + name, *(f"{column[a]:.6g}" for column in why.root.values()), drawn)
        for a, (name, drawn) in enumerate(zip(why.actions, sketched_root(why), strict=True))
    ]
    put_table(("  action", *why.root, ""), rows)
    if why.hidden is not None:
        return _put_hidden(why.hidden, why.actions[why.action])
    if not why.outcomes:
        return put("\nThe method has no belief about the outcomes of actions.")
    put(f"\nPosterior outcomes of {why.actions[why.action]} in state {why.state}:")
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


def _put_hidden(hidden: Hidden, action: str) -> None:
    """Print what is believed about a hidden state, and what is expected to be seen after the action."""
    from bayesrl.lab.sketches import sketch

    for what, table in (("state", hidden.states), (f"seen after {action}", hidden.observations)):
        likeliest = sorted(table, key=lambda name: -table[name])[:OUTCOMES_SHOWN]
        rest = [p for name, p in table.items() if name not in likeliest]
        put("")
        rows = [(name, f"{table[name]:.4f}", sketch(0.0, table[name], table[name], 0.0, 1.0)) for name in likeliest]
        put_table((what, "probability", "from 0 to 1"), rows)
        if rest:
            put(f"... and {len(rest)} more, {sum(rest):.3g} in all: --json prints them all.")


@app.command()
def solve(
    command: typer.Context,
    world: World = None,
    world_: WorldOption = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the world; may be repeated.", metavar="KEY=VALUE")
    ] = None,
    method: Annotated[
        str, typer.Option(help="value-iteration, policy-iteration, mdp-lp, ...; if the state is hidden: pbvi, ...")
    ] = "auto",
    plot: Annotated[Path | None, typer.Option(help="Draw the policy on the world's map into this file.")] = None,
    as_json: Json = False,
) -> None:
    """Solve a known world: optimal values, policy and a bound on the error.

    A file FILE.pomdp is a world too. If the state is hidden, values are those of the start.
    """
    from bayesrl.lab.build import settings, world_for
    from bayesrl.models import solve as exact
    from bayesrl.models.pomdp import find_pomdp
    from bayesrl.problems import action_names

    check_plot(plot)
    place = world_for(one_world(command, world, world_), settings("--set", set_ or ()))
    if find_pomdp(place) is not None and plot is None:
        return _solve_hidden(place, method, as_json)
    if plot is not None:
        from bayesrl.lab.plots.explanation import plot_policy

        plot_policy(place, plot)
    values, q, policy, error, _, solver = exact.solve(place, method=method)
    first = float(place.mdp.outcomes.start @ values)
    if as_json:
        page = {"world": place.name, "gamma": place.gamma, "start_value": first, "error_bound": error, "method": solver}
        return put_json(
            {**page, "values": values.tolist(), "policy": policy.tolist(), "q": q.tolist(), "version": code_version()}
        )
    actions = action_names(place, place.n_actions)
    rows = [
        (str(s), f"{values[s]:.4f}", actions[policy[s]], *(f"{x:.4f}" for x in q[s, :ACTIONS_SHOWN]))
        for s in range(min(place.n_states, STATES_SHOWN))
    ]
    put_table(("state", "value", "best", *(f"q({a})" for a in actions[:ACTIONS_SHOWN])), rows)
    if place.n_states > STATES_SHOWN:
        put(f"... and {place.n_states - STATES_SHOWN} more states: --json prints them all.")
    put(f"Value of the start {first:.6g} at discount {place.gamma:g}, error at most {error:.2g}, by {solver}.")
    return put(f"Undiscounted total of the best policy over {place.steps} steps: {place.optimum():.6g}.")


def _solve_hidden(world: HasPOMDP, method: str, as_json: bool) -> None:
    """Solve a world whose state is hidden, and print what is known about its start."""
    from bayesrl.kernels.ties import first_best
    from bayesrl.models.pomdp_solvers.bounds import fast_informed_bound
    from bayesrl.models.solve import solve as solved_by
    from bayesrl.problems import action_names, name_of

    start, solved = world.pomdp.start, solved_by(world, method=method)
    low, error, by = solved.start_value, solved.error_bound, solved.method
    high = max(low, min(low + error, float((fast_informed_bound(world.pomdp) @ start).max())))
    q = solved.q(start)
    if as_json:
        page = {"world": name_of(world), "gamma": world.pomdp.gamma, "start_value": low, "upper_bound": high}
        page |= {"error_bound": error, "method": by, "q": q.tolist()}
        page |= {"actions": solved.actions.tolist(), "vectors": solved.vectors.tolist(), "version": code_version()}
        return put_json(page)
    best, actions = first_best(q), action_names(world, len(q))
    rows = [(("> " if a == best else "  ") + name, f"{q[a]:.6g}") for a, name in enumerate(actions)]
    put_table(("  first action", "value"), rows)
    put(f"Value of the start {low:.6g} at discount {world.pomdp.gamma:g}, by {by} with {len(solved.vectors)} vectors.")
    return put(f"The optimal value is at most {high:.6g}.")
