"""Regret: the loss against the optimal policy of the true world (survey §2.1 and chapter 3).

The three regrets of the survey are expectations over different things, computed from the same runs:

    frequentist   E_theta[Regret(T)]   runs on one fixed world
    Bayesian      E[Regret(T)]         a world drawn from the prior for each run (a family)
    stochastic    E[number of suboptimal choices]   (Guha and Munagala 2014; there the worlds are drawn)

In a bandit the regret of a run is the sum of the gaps Delta_a of the arms played. It has the expectation of the
survey's difference of rewards, without the noise of rewards. In an MDP it is the largest expected total of t steps
minus the rewards earned. That total is computed exactly, without discount; an episode that ends is followed by the
next, as in `run`. A choice is suboptimal if Q*(s, a) < V*(s) at the world's discount. In a world without end that
declares its largest average reward (`average_reward`), regret is t times that minus the rewards earned.

Worlds of a family are drawn again from the seed, so records need not store them.
Cost: one backward induction of T steps for each world.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayesrl.capabilities import offers
from bayesrl.checks import Floats, frozen
from bayesrl.core import Family, Streams, World, draw_world
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.problems import HasAverageReward, HasGaps, HasMDP, TellsGaps
from bayesrl.record import Record, describe
from bayesrl.registry import register
from bayesrl.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from bayesrl.lab.comparison import Comparison
    from bayesrl.models.mdp import TabularMDP

TOLERANCE = 1e-6
"""In an MDP a smaller gap, relative to the largest reward, counts as zero, since solvers have finite accuracy."""


@value
class Regret:
    """The regret of one method in each of its runs."""

    curve: Floats
    """Regret up to and including step t in replicate i, shape (steps, runs)."""
    suboptimal: Floats | None
    """Suboptimal choices up to and including step t in replicate i; None if they are not known."""
    drawn: bool
    """Whether each run had its own world, drawn from a family."""

    @property
    def name(self) -> str:
        """The kind of regret that the mean over the runs estimates."""
        return "Bayesian regret" if self.drawn else "frequentist regret"

    @property
    def total(self) -> Interval:
        """The mean regret at the end (frequentist or Bayesian) with its 95% interval."""
        return mean_interval(self.curve[-1])

    @property
    def stochastic(self) -> Interval | None:
        """The mean number of suboptimal choices with its 95% interval."""
        return None if self.suboptimal is None else mean_interval(self.suboptimal[-1])


@register(
    "regret",
    kind="tool",
    survey="3.1",
    paper="guha2014stochastic",
    evidence=(
        "tests/lab/measures/test_regret.py::test_a_single_run_has_its_own_world",
        "tests/lab/measures/test_regret.py::test_bandit_regret_is_the_sum_of_gaps",
        "tests/lab/measures/test_regret.py::test_bayesian_regret_redraws_the_worlds_of_the_runs",
        "tests/lab/measures/test_regret.py::test_mdp_regret_against_enumerated_policies",
        "tests/lab/measures/test_regret.py::test_regret_of_optimal_play_is_zero_on_average",
    ),
)
def regret(record: Record, world: World | Family) -> Regret:
    """Frequentist, Bayesian and stochastic regret of recorded runs in a world or a family of worlds."""
    _check(record, world)
    return _regret(record, _references([record], world), offers(world, Family))


def regrets(comparison: Comparison, world: World | Family) -> dict[str, Regret]:
    """The regret of every method; shared worlds are drawn and solved once."""
    for record in comparison.records.values():
        _check(record, world)
    met = _references(comparison.records.values(), world)
    return {label: _regret(r, met, offers(world, Family)) for label, r in comparison.records.items()}


# Worlds of runs, and the regret in them
# --------------------------------------------------------------------------------


class _Reference:
    """The optimum of a world (or of a block of worlds in lockstep), against which regret is measured."""

    def __init__(self, world: World | Family, steps: int, horizon: int | None) -> None:
        if not (offers(world, HasMDP) or offers(world, TellsGaps) or offers(world, HasAverageReward)):
            expected = "a world with a table ('mdp'), with gaps ('gap') or with an 'average_reward'"
            raise InvalidArgument("regret", "world", expected, world)
        self.judged: object = world  # it has one of them
        self.best = optimal_totals(world.mdp, steps, horizon) if offers(world, HasMDP) else np.zeros(0)

    def lost(self, state: Any, action: Any, reward: Floats) -> tuple[Floats, Floats | None]:
        """Regret and suboptimal choices, both cumulative, of a run (steps,) or a block of them (steps, n)."""
        if offers(self.judged, HasAverageReward):
            return np.cumsum(self.judged.average_reward - reward, axis=0), None
        if offers(self.judged, HasMDP):
            return self._lost_in(self.judged, state, action, reward)
        told = cast(TellsGaps, self.judged)
        gaps = np.asarray([told.gap(s, a) for s, a in zip(state, action, strict=True)], np.float64)
        return np.cumsum(gaps, axis=0), np.cumsum(gaps > 0.0, axis=0, dtype=np.float64)

    def _lost_in(self, world: HasMDP, state: Any, action: Any, reward: Floats) -> tuple[Floats, Floats | None]:
        """The same in a known MDP; choices are not judged if the world has no `gaps`, or if its values are infinite."""
        mdp, lost = world.mdp, self.best - np.cumsum(reward)
        endless = mdp.gamma == 1.0 and not mdp.outcomes.terminal.any()
        if endless or not offers(world, HasGaps):
            return lost, None
        wrong = world.gaps[state, action] > TOLERANCE * np.abs(mdp.mean_reward).max()
        return lost, np.cumsum(wrong, dtype=np.float64)


def _references(records: Iterable[Record], world: World | Family) -> dict[tuple[int, int | None], _Reference]:
    """The worlds of these runs by (replicate or block, lockstep); a fixed world is the same for all replicates."""
    met: dict[tuple[int, int | None], _Reference] = {}
    for record in records:
        said = record.provenance
        lockstep = said["lockstep"]
        for i in _replicates(record):
            if not offers(world, Family) and (0, lockstep) in met:
                met[i, lockstep] = met[0, lockstep]
            if (i, lockstep) not in met:
                streams = Streams.of(said["seed"], i, lockstep is not None)
                met[i, lockstep] = _Reference(draw_world(world, streams, lockstep), said["steps"], said["horizon"])
    return met


def _replicates(record: Record) -> Sequence[int]:
    """The numbers of the replicates, or of the lockstep blocks, that a record holds."""
    said = record.provenance
    return [said["replicate"]] if "replicate" in said else range(-(-said["runs"] // (said["lockstep"] or 1)))


def _regret(record: Record, met: Mapping[tuple[int, int | None], _Reference], drawn: bool) -> Regret:
    lockstep = record.provenance["lockstep"]
    state, action, reward = record.state, record.action, record.reward
    if reward.ndim == 1:
        state, action, reward = state[:, None], action[:, None], reward[:, None]
    elif state.ndim == 1:  # all replicates of a lockstep block have the same state
        state = np.broadcast_to(state[:, None], reward.shape)
    steps, runs = reward.shape
    losses, mistakes = [], []
    for k, i in enumerate(_replicates(record)):
        # A block was run in full and then cut; missing replicates repeat the last one and are cut again below.
        part = k if lockstep is None else np.minimum(np.arange(k * lockstep, (k + 1) * lockstep), runs - 1)
        loss, wrong = met[i, lockstep].lost(state[:, part], action[:, part], reward[:, part])
        losses.append(loss.reshape(steps, -1))
        mistakes.append(np.full((steps, 1), np.nan) if wrong is None else wrong.reshape(steps, -1))
    curve, suboptimal = (np.concatenate(parts, axis=1)[:, :runs] for parts in (losses, mistakes))
    return Regret(frozen(curve), None if np.isnan(suboptimal).any() else frozen(suboptimal), drawn)


def optimal_totals(mdp: TabularMDP, steps: int, horizon: int | None = None) -> Floats:
    """The largest expected undiscounted total of the first t steps, t = 1..steps, over successive episodes.

    A terminal state is the start of the next episode. Truncation every `horizon` steps makes episodes independent.
    """
    start, terminal = mdp.outcomes.start, mdp.outcomes.terminal
    length = steps if horizon is None else min(horizon, steps)
    if length < steps and terminal.any():
        hint = "Its episodes can also terminate, and then the optimum depends on their age."
        raise InvalidArgument("regret", "horizon", "None in this world", horizon, hint)
    S, A = mdp.group.shape
    best, V = np.zeros(length + 1), np.zeros(S)
    for n in range(length):
        V = np.where(terminal, start @ V, V)
        V = (mdp.mean_reward + (mdp.matrix @ V).reshape(S, A)).max(axis=1)
        best[n + 1] = start @ V
    t = np.arange(1, steps + 1)
    return frozen(t // length * best[length] + best[t % length])


def _check(record: Record, world: World | Family) -> None:
    if not isinstance(record, Record):
        raise InvalidArgument("regret", "record", "a Record", record)
    if record.provenance.get("world") != describe(world):
        raise InvalidArgument("regret", "world", "the one that the runs were made in", world)
