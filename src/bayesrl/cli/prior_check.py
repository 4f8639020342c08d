"""Prior or data: `bayesrl check-prior`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesrl._version import code_version
from bayesrl.cli.app import Json, Seed, World, WorldOption, app, one_world
from bayesrl.cli.output import put, put_json, put_table
from bayesrl.cli.risk import listed_prior
from bayesrl.errors import InvalidArgument


@app.command("prior-check", hidden=True)
@app.command("check-prior")
def check_prior(
    command: typer.Context,
    world: World = None,
    world_: WorldOption = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="flat:1/9, structured:0.5, ..., or a file with a belief that bayesrl.save wrote.",
            metavar="PRIOR",
            show_default="the world's own",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A log: FILE.csv with columns state, action, reward, next_state, or a record.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Without --data: random steps in the world.", show_default="the world's")
    ] = None,
    policies: Annotated[int, typer.Option(help="Policies drawn from the prior.")] = 200,
    delta: Annotated[float, typer.Option(help="The probability that a guarantee fails.")] = 0.05,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare the guarantees of a prior and of the data, and say which is better.

    Policies are drawn from the prior, which must not have seen the data: the optimal policies of drawn models. The data
    estimate their returns. A PAC-Bayes bound says what the prior's policies, the policy that looks best in the data,
    and the best mixture of both return at least.
    """
    from numpy.random import SeedSequence, default_rng

    from bayesrl.checks import integer, number
    from bayesrl.core import BayesAgent, run
    from bayesrl.io.logs import load_log
    from bayesrl.lab.build import world_for
    from bayesrl.pacbayes import prior_check as check
    from bayesrl.registry import make

    owner = command.command_path
    integer(owner, "--policies", policies, 1)
    number(owner, "--delta", delta, 0.0, 1.0, above=True, below=True)
    integer(owner, "--seed", seed, 0, any_length=True)
    if data is not None and steps is not None:
        raise InvalidArgument(owner, "--steps", "left out if there is --data", steps)
    place = world_for(one_world(command, world, world_))
    saved = prior is not None and Path(prior).is_file()
    belief = listed_prior(owner, place, None if saved else prior)
    if saved:
        belief = _loaded(owner, belief, str(prior))
    n = place.steps if steps is None else steps
    log: Any = run(BayesAgent(belief, make("random")), place, n, seed=seed) if data is None else load_log(data)
    found = check(belief, log, policies, delta, rng=default_rng(SeedSequence(seed).spawn(1)[0]))
    guarantees = {"prior": found.prior_lower, "data": found.data_lower, "selected": found.lower}
    if as_json:
        learnt = {"steps": n} if data is None else {"data": str(data)}
        return put_json(
            {
                "world": place.name, "rules": found.rules, "sentence": found.sentence, "lower": guarantees,
                "empirical": found.empirical, "kl": found.kl, "temperature": found.temperature,
                "visits": found.visits, "needed": found.needed, "range": [found.least, found.highest],
                "policies": found.policies.tolist(),
                "prior": found.prior_weights.tolist(), "weights": found.weights.tolist(),
                "params": {"prior": place.prior if prior is None else prior, **learnt, "policies": policies,
                           "delta": delta, "gamma": belief.gamma},
                "seed": seed, "version": code_version(),
            }
        )  # fmt: skip
    said = f"{n} random steps" if data is None else str(data)
    span = f"{found.least:.5g} to {found.highest:.5g}"
    put(f"{place.name} after {said}, discount {belief.gamma:g}: returns are from {span}.\n")
    put_table(
        ("policies", f"return at least ({1 - delta:.0%} sure)"),
        [
            ("of the prior", f"{found.prior_lower:.5g}"),
            ("the best in the data", f"{found.data_lower:.5g}"),
            (f"selected, {found.kl:.2f} nats from the prior", f"{found.lower:.5g}"),
        ],
    )
    return put(f"\n{found.sentence}")


def _loaded(owner: str, own: Any, path: str) -> Any:
    """A belief in a file, if it is about the states and actions of the world."""
    from bayesrl.capabilities import ListsStates, require
    from bayesrl.io.store import load

    belief = load(path)
    require(owner, belief, ListsStates)
    shape, needed = (belief.n_states, belief.n_actions), (own.n_states, own.n_actions)
    if shape != needed:
        expected = f"a belief about {needed[0]} states and {needed[1]} actions"
        raise InvalidArgument(owner, "--prior", expected, f"one about {shape[0]} and {shape[1]}")
    return belief
