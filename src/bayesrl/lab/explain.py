"""Explanations of a decision: the values at the root, the posterior outcomes of the chosen action, and a policy map.

    why = explain("bamcp:simulations=2000", "grid5", state=3, steps=200)
    why.root["q"], why.root["visits"]       the entries of the planner's info, for each action
    why.outcomes                            outcomes of the chosen action: posterior means with 95% intervals
    why.hidden                              the belief over a hidden state, and what it expects to see

`sketches.py` prints an explanation as text, `plots/explanation.py` draws it. The method first acts in the world for
`steps` steps, as in `run` with that seed. Then it decides in `state`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl._shown import shown
from bayesrl.capabilities import HasMeanMDP, HasMeanPOMDP, HasRowQuantiles, HasStates, SamplesMDPs, offers
from bayesrl.checks import Floats, Ints, integer
from bayesrl.core import Agent, Family, Mind, Streams, World, draw_world, play
from bayesrl.errors import InvalidArgument
from bayesrl.lab.build import choose, note_on_prior, world_for
from bayesrl.lab.names import merged, named
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.problems import HasPOMDP, NumbersStates, StatesPrior, action_names, is_hidden, layout_of
from bayesrl.registry import make
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.tabular import MDPWorld

M = TypeVar("M")

READINGS = ("q", "visits", "lower", "upper", "probability")
"""Entries of a planner's info that have one value per action."""
DRAWS = 400
"""Number of sampled models for an interval without a closed form."""


class Modelled(HasMeanMDP, SamplesMDPs, Protocol):
    """A belief about the outcomes of actions."""


class Outcome(NamedTuple):
    """An outcome of an action: next state, reward, and posterior mean and central 95% of its probability."""

    next_state: int
    reward: float
    mean: float
    low: float
    high: float


class Hidden(NamedTuple):
    """A belief about a hidden state, in numbers."""

    states: Mapping[str, float]
    """Probability of each state, by name."""
    observations: Mapping[str, float]
    """Probability of each observation after the chosen action, by name."""
    vectors: Floats | None
    """Alpha-vectors of the believed model, (N, 2), if there are two states: values as lines over the belief."""
    best: Ints | None
    """The action of each, (N,)."""


class Plan(NamedTuple):
    """A policy and its values, for a map."""

    values: Floats
    policy: Ints
    """The action of each state, or the most probable one."""
    probability: Floats | None = None
    """The probability of each action in each state, (S, A); None if the policy is deterministic."""


@dataclass(frozen=True)
class Explanation:
    """The decision of a method in a state, and the reasons."""

    method: str
    world: str
    state: int
    """The state of the decision; if it is hidden, the last observation."""
    steps: int
    """Steps taken before."""
    seed: int
    actions: tuple[str, ...]
    """Names of the actions."""
    action: int
    """The chosen action."""
    root: Mapping[str, Floats]
    """The planner's readings for each action: those of READINGS that it has."""
    outcomes: tuple[Outcome, ...]
    """Outcomes of the chosen action, the likeliest first; empty if the method has no belief about them."""
    mean_plan: Plan | None
    """The best policy of the mean model, or None."""
    layout: Ints | None
    """The world's map, or None."""
    hidden: Hidden | None = None
    """The belief over the state, if it is hidden."""
    note: str = ""
    """A sentence about the prior, if it was chosen since the world's own does not fit."""

    __repr__ = shown

    @property
    def title(self) -> str:
        """The decision that is explained."""
        where = f"in state {self.state} of" if self.hidden is None else "in"
        return f"{self.method} {where} {self.world} after {self.steps} steps, seed {self.seed}"

    def page(self) -> dict[str, Any]:
        """The explanation without the map, ready for JSON."""
        rows = [
            {"action": name, **{key: column[a].item() for key, column in self.root.items()}}
            for a, name in enumerate(self.actions)
        ]
        asked = {key: getattr(self, key) for key in ("method", "world", "state", "steps", "seed")}
        if self.hidden is not None:
            asked["observation"] = asked.pop("state")
            asked |= {"states": dict(self.hidden.states), "observations": dict(self.hidden.observations)}
        return asked | {
            "action": self.actions[self.action],
            "root": rows,
            "outcomes": [outcome._asdict() for outcome in self.outcomes],
        }


def explain(
    method: str,
    world: str,
    state: int | None = None,
    *,
    steps: int = 0,
    prior: str | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Explanation:
    """Explain the decision of a method in a state (None: the present one) after a number of steps."""
    integer("explain", "steps", steps, 0)
    integer("explain", "seed", seed, 0, any_length=True)
    place: World | Family = world_for(world)
    if not offers(place, NumbersStates):
        raise InvalidArgument("explain", "world", "one whose states are listed", world)
    if state is not None and is_hidden(place):
        raise InvalidArgument("explain", "state", "left out, since it is hidden", state)
    s = None if state is None else integer("explain", "state", state, 0, place.n_states - 1)
    name, own = named(method) if isinstance(method, str) else (method, {})
    agent, chosen = choose(name, place, prior, merged(name, own, params or {}))
    usual = place.prior if offers(place, StatesPrior) else None
    streams = Streams.of(seed)
    met = cast(MDPWorld | POMDPWorld, draw_world(place, streams))  # the worlds whose states are listed
    layout = layout_of(met)
    mind, here = after_steps(agent, met, steps, streams)
    s = here if s is None else s
    action, mind, info = agent.act(mind, s, streams.planner)
    belief = mind.belief if isinstance(mind, Mind) else None
    modelled = belief if offers(belief, Modelled) else None
    return Explanation(
        method=method,
        world=world,
        state=s,
        steps=steps,
        seed=seed,
        actions=action_names(met, met.n_actions),
        action=int(action),
        root={key: np.asarray(info[key]) for key in READINGS if np.shape(info.get(key)) == (met.n_actions,)},
        outcomes=() if modelled is None else posterior_row(modelled, s, int(action), streams.learning),
        mean_plan=None if modelled is None or layout is None else best_plan(modelled.mean_mdp()),
        layout=layout,
        hidden=believed(belief, met, int(action)) if offers(met, HasPOMDP) and offers(belief, HasStates) else None,
        note=note_on_prior(name, world, usual, prior, chosen),
    )


def believed(belief: HasStates, world: POMDPWorld, action: int) -> Hidden:
    """The belief about a hidden state before an action, in numbers."""
    numbers = tuple(map(str, range(max(world.n_states, world.n_observations))))
    names, shown = world.states or numbers[: world.n_states], world.observations or numbers[: world.n_observations]
    vectors = best = None
    if world.n_states == 2 and offers(belief, HasMeanPOMDP) and belief.gamma < 1.0:
        solved = make("pbvi").solve(belief.mean_pomdp(), default_rng(0))
        vectors, best = solved.vectors, solved.actions
    return Hidden(
        dict(zip(names, belief.states().tolist(), strict=True)),
        dict(zip(shown, belief.predictive(action).tolist(), strict=True)),
        vectors,
        best,
    )


def after_steps(agent: Agent[M], world: World, steps: int, streams: Streams) -> tuple[M, int]:
    """The agent's mind and its observation after that many steps in the world."""
    if steps == 0:
        return agent.start(), world.reset(streams.world)[1]
    (last,) = deque(islice(play(agent, world, streams), steps), maxlen=1)
    return last.mind, last.observation


def posterior_row(belief: Modelled, s: int, a: int, rng: Generator) -> tuple[Outcome, ...]:
    """Outcomes of (s, a), the likeliest first, with intervals from exact quantiles or from sampled models."""
    model = belief.mean_mdp()
    if offers(belief, HasRowQuantiles):
        g = int(model.group[s, a])
        n = int(model.outcomes.size[g])
        succ, reward, mean = model.succ[s, a, :n], model.reward[s, a, :n], model.prob[g, :n]
        low, high = (belief.row_quantile(p, s, a) for p in (0.025, 0.975))
    else:  # by next state, since sampled models may list other outcomes
        drawn = [belief.sample_mdp(rng) for _ in range(DRAWS)]
        low, high = np.quantile([_to_states(m, s, a) for m in drawn], (0.025, 0.975), axis=0)
        succ, mean = np.arange(model.n_states), _to_states(model, s, a)
        paid = _to_states(model, s, a, model.reward[s, a])
        reward = np.divide(paid, mean, out=np.zeros_like(paid), where=mean > 0.0)
    order = [k for k in np.argsort(-mean, kind="stable") if mean[k] > 0.0]
    return tuple(Outcome(int(succ[k]), *(float(x[k]) for x in (reward, mean, low, high))) for k in order)


def _to_states(model: TabularMDP, s: int, a: int, weight: Floats | float = 1.0) -> Floats:
    """The probability (times a weight) of each next state of (s, a), (S,)."""
    into = np.bincount(model.succ[s, a], model.prob[model.group[s, a]] * weight, model.n_states)
    return np.asarray(into, np.float64)


def best_plan(model: TabularMDP) -> Plan | None:
    """The optimal policy of a model and its values; None if the discount is 1."""
    if model.gamma == 1.0:
        return None
    solution = solve(model)
    return Plan(solution.values, np.asarray(solution.policy))
