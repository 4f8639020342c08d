"""A particle filter of a known POMDP or of any generative world (Silver and Veness 2010; not in the survey).

The belief is a sample of hidden states. It serves worlds whose states cannot be listed, and tables that are too large
for the exact filter. POMCP was published with such a belief.

Algorithm: `update` draws a next state for each particle. If the world can say how probable an observation is, the
particle is weighted by it; if not, particles are drawn until enough of them show the observation that came (rejection).
The end of an episode is evidence in the same way. Weighted particles are resampled systematically below half the
effective sample size. Before the first update of an episode the belief is the start itself.
Deviations: no particles are added afterwards to avoid depletion. If no particle explains what came, the error says what
to do. With `rescue` the belief goes on until two draws explain it: it draws the episode's start again and replays the
episode, with more and more particles, and keeps all draws that fit.
The probability of what came is the mean probability over the draws. If draws stop at the k-th that fits, the share that
fits is taken to be (k - 1) / (n - 1) for n draws (Girshick, Mosteller and Savage 1946): a rescue takes 1 / (n - 1) if
the second fits at draw n. Where all draws have the same law, as in the first step of an episode, this is unbiased.
Over several steps it is approximate: particles depend on each other, and a replay draws them anew.
Cost: O(N) steps of the world for each update, by rejection O(N / p) for an observation of probability p.
Claims: the error to the exact filter falls as N^-1/2, by weights and by rejection; the evidence of a step is unbiased.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from math import log
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import Particles, refuse_oracle
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.pomdp._weighted_states import Drawn, Sample, drawn_together, followed, moved, thinned
from bayesrl.beliefs.pomdp.pomdp_filter import POMDPFilter, predicted
from bayesrl.capabilities import offers
from bayesrl.checks import DEEPEST, Bools, Floats, array, frozen, generator, indices, integer, rows_sum_to_one, truth
from bayesrl.core import Transition, World
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.simulators.hidden_model import Rooted, cumulative, rooted
from bayesrl.kernels.simulators.simulator import Simulator
from bayesrl.models.pomdp import TabularPOMDP, find_pomdp
from bayesrl.parameters import AtLeast, unchecked, value
from bayesrl.problems import (
    BoundsRewards,
    HasPOMDP,
    Simulable,
    WeighsObservations,
    is_hidden,
    legal_of,
    name_of,
    preferred_of,
)
from bayesrl.registry import register
from bayesrl.traits import Traits

MOST_TRIES = 100
"""Rejection gives up after this many draws for each particle wanted."""
MOST_RESCUES = 6
"""A rescue replays an episode up to this many times, each time with twice as many particles."""


def _example() -> POMDPParticles:
    P = [[[0.7, 0.3], [0.2, 0.8]], [[0.4, 0.6], [0.5, 0.5]]]
    O = [[[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.9, 0.1]]]
    return POMDPParticles(TabularPOMDP.from_dense(P, O, [[1.0, 0.0], [0.0, 2.0]], 0.9, start=[0.6, 0.4]), particles=300)


def prior_for(problem: object, particles: Particles = 1000) -> POMDPParticles:
    """The known dynamics; the state is a sample. Episodes are replayed if the sample dies out."""
    refuse_oracle("pomdp-particles", problem)
    simulated = offers(problem, HasPOMDP) or offers(problem, Simulable)
    if not (is_hidden(problem) and simulated and offers(problem, World)):
        expected = "a world with a hidden state and a table or a compiled simulator"
        raise InvalidArgument("The prior 'pomdp-particles'", "problem", expected, name_of(problem))
    return POMDPParticles(problem, particles, rescue=True)


@register(
    "pomdp-particles",
    kind="belief",
    survey="2.3",
    paper="silver10",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/pomdp/test_pomdp_particles.py::test_the_error_falls_as_the_root_of_the_particles",
        "tests/beliefs/pomdp/test_particles_by_hand.py::test_the_evidence_of_a_rescue_is_unbiased",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class POMDPParticles:
    """A sample of the hidden states of a known world.

    A world has `reset` and `step`. These may be added: `pomdp`, its table; `observation_probability(next_state, action,
    observation)`, by which particles are weighted; `simulator()`, its compiled steps
    (`kernels/simulators/simulator.py`), for searches and updates, which then ask for the probabilities of a whole array
    of states; `preferred`, `legal`, `n_actions`, `gamma` and `reward_range()`.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = POMDPParticles(b.make_world("tiger")).update(b.Transition(-1, 0, -1.0, 0), default_rng(0))
    >>> bool(abs(belief.states()[0] - 0.85) < 0.04)
    True
    """

    world: Annotated[World | TabularPOMDP, "A world that can be simulated (reset, step), or a POMDP."]
    particles: Annotated[int, AtLeast(1), "States in the sample, N."] = 1000
    rescue: Annotated[
        bool, "Whether an episode is replayed from its start if fewer than two particles explain what came."
    ] = False
    sample: Sample | None = field(init=False, repr=False)
    """None at the start of an episode."""
    episode: tuple[Any, ...] = field(init=False, repr=False)
    """The steps of this episode, newest first: (step, (step before, ...)); empty without `rescue`."""
    log_probability: float = field(init=False, repr=False)

    traits: ClassVar[Traits] = Traits(grows=("sample", "episode"))

    def __post_init__(self) -> None:
        if not isinstance(self.world, (TabularPOMDP, World)):
            raise InvalidArgument("POMDPParticles", "world", "a world (reset, step) or a TabularPOMDP", self.world)
        for name, new in (("sample", None), ("episode", ()), ("log_probability", 0.0)):
            object.__setattr__(self, name, new)

    def check_grown(self) -> None:
        """Refuse a sample that does not fit, when a file is read."""
        if self.sample is None:
            return
        if not isinstance(self.sample, Sample):
            raise InvalidArgument("POMDPParticles", "sample", "weighted states", type(self.sample).__name__)
        states, weights = self.sample
        w = array("POMDPParticles", "weights", weights, (len(states),), low=0.0)
        rows_sum_to_one("POMDPParticles", "weights", w)
        if self.pomdp is not None:
            indices("POMDPParticles", "states", states, (len(states),), self.pomdp.n_states)

    @cached_property
    def pomdp(self) -> TabularPOMDP | None:
        """The table of the world; None if it has none."""
        return find_pomdp(self.world)

    @cached_property
    def _table(self) -> TabularPOMDP:
        if self.pomdp is None:
            raise InvalidArgument("POMDPParticles", "world", "one with a table `pomdp` for this question", self.world)
        return self.pomdp

    @cached_property
    def _filter(self) -> POMDPFilter:
        return POMDPFilter(self._table, legal=legal_of(self.world))

    @property
    def unsupported(self) -> dict[str, str]:
        """The members that this world does not allow, with the reason."""
        listed = ("n_states", "n_observations", "states", "predictive", "mean_pomdp", "sample_pomdp")
        missing = {} if self.pomdp is not None else dict.fromkeys(listed, "The world has no table `pomdp`.")
        if preferred_of(self.world) is None:
            missing["preferred_actions"] = "The world does not say which actions it prefers (`preferred`)."
        if self.pomdp is None and not offers(self.world, Simulable):
            missing["simulate"] = "The world has neither a table `pomdp` nor a compiled `simulator()`."
        return missing

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> POMDPParticles:
        """The sample after an action and its observation."""
        owner = "POMDPParticles.update"
        rng, ended = generator(owner, rng), truth(owner, "terminated", datum.terminated)
        a, o = datum.action, datum.next_observation
        if self.pomdp is not None:
            a = integer(owner, "action", a, 0, self.pomdp.n_actions - 1)
            o = integer(owner, "next_observation", o, 0, self.pomdp.n_observations - 1)
        step = (a, o, ended)
        episode = (step, self.episode) if self.rescue else ()
        drawn = self._drawn(self.sample, step, self.particles, rng)
        if self.rescue and drawn.fitting < 2:
            found, p = self._rescued(drawn, episode, rng)
        else:
            found, p = drawn.sample(rng)
        if found is None:
            raise self._impossible(step)
        return unchecked(self, sample=found, episode=episode, log_probability=self.log_probability + log(p))

    def update_many(self, log: Log, rng: Generator | None = None) -> POMDPParticles:
        """The sample after a log of transitions. It restarts after each end of an episode, as an agent does."""
        new = self
        for datum in transitions("POMDPParticles.update_many", log, "action", "next_observation"):
            new = new.update(datum, rng)
            new = new.restart() if datum.ends_episode else new
        return new

    def restart(self) -> POMDPParticles:
        """The belief at the start of a new episode. The evidence is kept."""
        return unchecked(self, sample=None, episode=())

    def _drawn(self, old: Sample | None, step: tuple[Any, Any, bool], n: int, rng: Generator) -> Drawn:
        """Draws of a step from a sample, or from the start, n of them; by rejection n that fit."""
        a, o, ended = step
        if self.pomdp is not None:
            old = self._start(n, rng) if old is None else old
            states, likelihood = moved(self._filter._hidden_model, self._filter._tables, old.states, *step, rng)
            return Drawn(states, old.weights * likelihood)
        world = cast(World, self.world)
        if not offers(world, WeighsObservations):
            return self._accepted(old, step, n, rng)
        old = self._start(n, rng) if old is None else old
        if offers(world, Simulable):
            after, done = followed(world.simulator(), old.states, a, rng)
            seen = np.asarray(world.observation_probability(after, a, o), np.float64)
            return Drawn(after, old.weights * np.where(done == ended, seen, 0.0))
        drawn = [world.step(s, a, rng) for s in old.states]
        likelihood = np.array(
            [float(world.observation_probability(x[0], a, o)) if bool(x[3]) == ended else 0.0 for x in drawn]
        )
        return Drawn(tuple(x[0] for x in drawn), old.weights * likelihood)

    def _accepted(self, old: Sample | None, step: tuple[Any, Any, bool], n: int, rng: Generator) -> Drawn:
        """Draw steps until n of them, and two, show the observation; fewer are kept after MOST_TRIES draws for each."""
        kept: list[Any] = []
        numbers: list[int] = []
        (a, o, ended), tries, enough = step, 0, max(n, 2)
        world = cast(World, self.world)
        while len(kept) < enough and tries < MOST_TRIES * n:
            s = world.reset(rng)[0] if old is None else old.states[int(rng.random() * len(old.states))]
            after, seen, _, done = world.step(s, a, rng)[:4]
            tries += 1
            if bool(done) == ended and np.array_equal(seen, o):
                kept.append(after)
                numbers.append(tries)
        share = (enough - 1) / (tries - 1) if len(kept) == enough else len(kept) / tries
        kept = kept[:n]
        return Drawn(tuple(kept), np.full(len(kept), share / max(len(kept), 1)), (numbers, tries))

    def _start(self, n: int, rng: Generator) -> Sample:
        """The start of an episode as a sample of size n."""
        weights = frozen(np.full(n, 1.0 / n))
        if self.pomdp is None:
            states = [cast(World, self.world).reset(rng)[0] for _ in range(n)]
            return Sample(np.array(states) if offers(self.world, Simulable) else tuple(states), weights)
        return Sample(rng.choice(self.pomdp.n_states, size=n, p=self.pomdp.start), weights)

    def _rescued(self, first: Drawn, episode: tuple[Any, ...], rng: Generator) -> tuple[Sample | None, float]:
        """The sample after the episode, and an estimate of the last step's probability, from draws until two fit.

        The last step has been drawn from the belief. Then the episode is replayed from its start.
        """
        steps: list[tuple[Any, Any, bool]] = []
        while episode:
            step, episode = episode
            steps.insert(0, step)
        all_drawn = [first]
        for doubling in range(1, MOST_RESCUES + 1):
            n = self.particles * 2**doubling
            old: Sample | None = None
            for step in steps[:-1]:
                old, _ = self._drawn(old, step, n, rng).sample(rng)
                if old is None:
                    break
            else:
                all_drawn.append(self._drawn(old, steps[-1], n, rng))
                if sum(drawn.fitting for drawn in all_drawn) > 1:
                    break
        return drawn_together(all_drawn, self.particles, rng)

    def _impossible(self, step: tuple[Any, Any, bool]) -> ImpossibleEvidence:
        a, o, ended = step
        seen = f"observation {o} after action {a}" + (" with the end of the episode" if ended else "")
        if self.rescue:
            why = f"no particle explains it, nor did up to {self.particles * 2**MOST_RESCUES} from the episode's start"
        else:
            why = f"none of {self.particles} particles explains it; take more, or rescue=True to replay the episode"
        return ImpossibleEvidence("POMDPParticles", seen, why)

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """S."""
        return self._table.n_states

    @property
    def n_observations(self) -> int:
        """Z."""
        return self._table.n_observations

    @property
    def n_actions(self) -> int:
        """A."""
        return int(cast(Any, self.world).n_actions)

    @property
    def gamma(self) -> float:
        """Discount."""
        return float(cast(Any, self.world).gamma)

    def states(self) -> Floats:
        """Probability of each state now, (S,)."""
        if self.sample is None:
            return self._table.start
        return np.bincount(self.sample.states, self.sample.weights, self._table.n_states).astype(np.float64)

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,), summed over all steps of the particles."""
        a = integer("POMDPParticles.predictive", "action", action, 0, self._table.n_actions - 1)
        return predicted(self.states(), a, self._table.n_observations, *self._filter._tables)

    def log_evidence(self) -> float:
        """An estimate of the log probability of all observations and ends of episodes, given the actions."""
        return self.log_probability

    def sample_state(self, rng: Generator) -> Any:
        """A state drawn from the belief."""
        generator("POMDPParticles.sample_state", rng)
        drawn = self._start(1, rng) if self.sample is None else thinned(self.sample, 1, rng)
        return drawn.states[0]

    def mean_pomdp(self) -> TabularPOMDP:
        """The table of the world. Its start is the belief over the state now."""
        return self._table.starting(np.array(self.states()))

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """The table of the world. Its start is certain: a state drawn from the belief."""
        point = np.zeros(self._table.n_states)
        point[self.sample_state(rng)] = 1.0
        return self._table.starting(point)

    def preferred_actions(self) -> Bools:
        """Which actions a rollout prefers in each state, (S, A), as the world says."""
        if "preferred_actions" in self.unsupported:
            raise Incompatible("preferred_actions", "POMDPParticles", ["preferred"])
        return cast(Bools, preferred_of(self.world))

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step; infinite if the world does not say."""
        if self.pomdp is not None:
            return self._filter.reward_range()
        low, high = self.world.reward_range() if offers(self.world, BoundsRewards) else (-np.inf, np.inf)
        return float(low), float(high)

    def simulate(self, depth: int) -> Simulator:
        """The belief for compiled searches, which draw a particle at the root."""
        integer("POMDPParticles.simulate", "depth", depth, 0, DEEPEST)
        if self.pomdp is not None:
            return rooted(self._filter._hidden_model, np.asarray(self.states()))
        steps = cast(Simulable, self.world).simulator()
        if self.sample is None:
            return Rooted(np.zeros(0, np.int64), np.zeros((1, 0)), steps)
        return Rooted(np.array(self.sample.states, np.int64), cumulative(self.sample.weights[None]), steps)
