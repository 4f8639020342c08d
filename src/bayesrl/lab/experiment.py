"""Experiments with methods and a world given by name, as in `bayesrl run`, `compare` and `demo`.

done = experiment(["beb:beta=3", "psrl"], "chain", runs=100)
done.pages()        a page of JSON for each method
done.table()        a table for rich.print, with published figures for the same set-up
done.comparison     every step of every run
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesrl._shown import shown
from bayesrl._version import code_version
from bayesrl.capabilities import offers
from bayesrl.checks import Floats
from bayesrl.core import Family, World
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.lab.build import acting, believes, choose, note_on_prior, world_for
from bayesrl.lab.compare import compare
from bayesrl.lab.comparison import Comparison
from bayesrl.lab.literature.figures import Figure, lookup
from bayesrl.lab.literature.gradients import gradients_of
from bayesrl.lab.measures.episodes import episodes
from bayesrl.lab.measures.regret import Regret, optimal_totals
from bayesrl.lab.names import FILE, merged, named
from bayesrl.models.mdp import find_mdp
from bayesrl.problems import HasDiscount, StatesPrior
from bayesrl.record import describe
from bayesrl.registry import find, parameters_of
from bayesrl.statistics import Interval

if TYPE_CHECKING:
    from rich.table import Table

    from bayesrl.bandits.bandit_bounds import Bound


class Entrant(NamedTuple):
    """One method of an experiment."""

    name: str
    prior: str | None
    """None if the method has no belief."""
    agent: Any

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the method, including defaults."""
        acts = getattr(self.agent, "planner", self.agent)
        return parameters_of(getattr(acts, "solver", acts))


@dataclass(frozen=True)
class Experiment:
    """An experiment and its results."""

    world_name: str
    world: World | Family
    entrants: Mapping[str, Entrant]
    """By label, which is the method as written by the user."""
    comparison: Comparison
    regrets: Mapping[str, Regret]
    """Empty if the optimum of the world is not known."""
    bounds: Mapping[str, Bound]
    """Bounds on the regret in this world, by name; empty unless it is a bandit."""
    seed: int
    horizon: int | None
    prior: str | None = None
    """The prior that was asked for; None: the methods chose."""

    __repr__ = shown

    def pages(self) -> list[dict[str, Any]]:
        """One page for each method, ready for JSON."""
        summary = self.comparison.summary()
        bounds = {
            name: {"value": b.end, "side": b.side, "kind": b.kind, "regret": b.regret, "paper": b.paper}
            for name, b in self.bounds.items()
        }
        return [
            {
                "method": entrant.name,
                "world": self.world_name,
                "prior": entrant.prior,
                "params": describe(entrant.params),
                "steps": self.comparison.steps,
                "runs": self.comparison.runs,
                "seed": self.seed,
                "return": summary[label].total.to_json(),
                "discounted_return": summary[label].discounted.to_json(),
                **self._episodes(label),
                **({"regret": self.regrets[label].total.to_json()} if self.regrets else {}),
                **({"bounds": bounds} if bounds else {}),
                "seconds_per_step": summary[label].seconds_per_step,
                "version": code_version(),
            }
            for label, entrant in self.entrants.items()
        ]

    def notes(self) -> list[str]:
        """A sentence for each prior that is not the world's own although none was given."""
        own = self.world.prior if offers(self.world, StatesPrior) else None
        said = (note_on_prior(e.name, self.world_name, own, self.prior, e.prior) for e in self.entrants.values())
        return [note for note in said if note]

    def _episodes(self, label: str) -> dict[str, Any]:
        """How many episodes ended and what the last ones paid, if any ended."""
        found = episodes(self.comparison[label])
        if found is None:
            return {}
        return {"episodes": found.finished.to_json(), "final_return": found.final_return.to_json()}

    def optimum(self) -> Floats | None:
        """The largest expected total of the first t steps, (steps,); None unless the world is a single known MDP."""
        mdp = find_mdp(self.world) if self.regrets and not offers(self.world, Family) else None
        return None if mdp is None else optimal_totals(mdp, self.comparison.steps, self.horizon)

    def figures(self) -> dict[str, list[Figure]]:
        """Published figures for these set-ups, by label; none if the world or the horizon is not the published one."""
        world, params = named(self.world_name)
        if self.horizon is not None or world.endswith(FILE):
            return {}
        usual = find(world).parameters
        if any(usual[k].default != v for k, v in params.items() if k != "gamma"):
            world = self.world_name  # figures of this variant, if there are any
        gamma = self.world.gamma if offers(self.world, HasDiscount) else None
        return {
            label: lookup(e.name, world, e.prior, e.params, self.comparison.steps, gamma=gamma)
            for label, e in self.entrants.items()
        }

    def table(self, regrets: bool = True) -> Table:
        """Returns and regrets with intervals, and published figures for this set-up if there are any."""
        from bayesrl.lab.report import comparison_table

        figures = self.figures()
        believed = " or ".join(dict.fromkeys(e.prior for e in self.entrants.values() if e.prior))
        title = f"{self.world_name}, {'prior ' + believed + ', ' if believed else ''}seed {self.seed}"
        lost = self.regrets if regrets else None
        if not any(figures.values()):
            return comparison_table(self.comparison, lost, None, title)
        measures = {label: self._measures(label) for label in self.entrants}
        return comparison_table(self.comparison, lost, figures, title, measures)

    def _measures(self, label: str) -> dict[str, Interval]:
        """Measures that published figures may have, besides returns and regrets."""
        ended, entrant = episodes(self.comparison[label]), self.entrants[label]
        final = {} if ended is None else {"final return": ended.final_return}
        return final | gradients_of(self.world, entrant.name, entrant.params)


def experiment(
    methods: Sequence[str],
    world: str,
    prior: str | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    steps: int | None = None,
    runs: int = 20,
    seed: int = 0,
    horizon: int | None = None,
    **how: Any,
) -> Experiment:
    """Run methods in a world, all by name; `how` are further arguments of `compare`.

    The prior is used by every method that has a belief, a parameter by every method that has it (at least one).
    """
    place = world_for(world)
    entrants = _entrants(methods, place, prior, params or {})
    agents = {label: e.agent for label, e in entrants.items()}
    comparison = compare(agents, place, steps, runs, seed, horizon=horizon, **how)
    try:
        regrets = comparison.regret(place)
    except InvalidArgument:  # all else was checked before, so the optimum of this world is not known
        regrets = {}
    bounds = comparison.bounds(place) if regrets else {}
    return Experiment(world, place, entrants, comparison, regrets, bounds, seed, horizon, prior)


def _entrants(
    methods: Sequence[str], world: World | Family, prior: str | None, params: Mapping[str, Any]
) -> dict[str, Entrant]:
    parsed = {text: named(text) for text in methods}
    if len(parsed) < len(methods):
        twice = next(text for text in parsed if list(methods).count(text) > 1)
        raise InvalidArgument("experiment", "methods", "different from each other", twice)
    entries = {text: acting(name) for text, (name, _) in parsed.items()}
    believing = {text: believes(entry) for text, entry in entries.items()}
    for key in params:
        if not any(entry.keyword(key) for entry in entries.values()):
            names = " or ".join(dict.fromkeys(entry.name for entry in entries.values()))
            raise UnknownName(f"parameter of {names}", key, {p for e in entries.values() for p in e.parameters})
    entrants = {}
    for text, (name, own) in parsed.items():
        shared = {key: value for key, value in params.items() if entries[text].keyword(key)}
        believed = prior if believing[text] or not any(believing.values()) else None
        agent, chosen = choose(name, world, believed, merged(name, own, shared))
        entrants[text] = Entrant(name, chosen, agent)
    return entrants
