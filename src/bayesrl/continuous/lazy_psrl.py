"""Lazy posterior sampling (Abbasi-Yadkori and Szepesvári 2015; survey §4.8), for linear systems.

Draw a system from the belief, solve its Riccati equation and act on it: u = -Kx. Draw again only when the determinant
of the precision V has grown by a factor (2) since the last draw. V contains the transitions before the present step.
The criterion is the average cost, so there is no discount.

The determinant is watched because data of one gain lie on a plane: V grows along it, and hardly across it, until the
gain changes. The number of draws grows like log T.

Paper to code: the test of the determinant is `due`; the draw and its controller are `drawn`. Draws outside `accept`,
the paper's parameter set, are drawn again, `tries` times at most. Then the posterior mean is used, and `info` says so
in `of_mean`. A draw that no controller can stabilise is outside, too. `schedule` draws at every step, or every n steps,
for comparison. The planner asks the belief for `precision`, so that a belief of another smooth family may add its own
M(x, u) to it in place of zz'.

Deviations: logarithms of determinants are compared, with 1e-9 to spare, since growth by exactly 2 occurs.
Cost: a determinant a step; for each draw a Riccati equation.
Claims: sampling times equal the rule on a logged trajectory; the gain is that of the drawn system; at a certain belief
it is the Riccati gain; regret on the family `lq` beside the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import HasMeanSystem
from bayesrl.checks import Bools, Floats, Ints, called, frozen
from bayesrl.continuous._linear_control import action_of, gains_of_means, state_of
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.riccati import gains
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register
from bayesrl.traits import Traits

SPARE = 1e-9
"""Rounding error of a logarithm of a determinant."""


@runtime_checkable
class SamplesSystems(HasMeanSystem, Protocol):
    """A belief from which linear systems can be drawn."""

    @property
    def precision(self) -> Floats:
        """V, the precision of the parameters in units of the noise, (n + m, n + m)."""

    def sample_system(self, rng: Generator, replicates: Ints | None = None) -> tuple[Floats, Floats]:
        """A system drawn from the belief: A, (n, n), and B, (n, m). In lockstep: one for each of these replicates."""


class LazyPSRLPlan(NamedTuple):
    """The controller in use. In lockstep each entry has one for each replicate, but for the steps."""

    gain: Floats
    """K of the system in use, (m, n)."""
    log_det: Any
    """log det V when it was drawn."""
    steps: int
    """Decisions since then, or since the last step at which all replicates drew."""


@register(
    "lazy-psrl",
    kind="planner",
    survey="4.8",
    paper="abbasi15",
    example=lambda: LazyPSRL(),
    evidence=(
        "tests/continuous/test_lazy_psrl.py::test_sampling_times_of_the_facts",
        "tests/continuous/test_lazy_psrl.py::test_transcription",
        "tests/continuous/test_lazy_psrl.py::test_regret_on_the_family",
    ),
)
@declared
class LazyPSRL:
    """Act on a linear system drawn from the belief; draw again when the determinant of the precision has doubled.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("lq-system")
    >>> agent = b.BayesAgent(world.default_prior(), LazyPSRL())
    >>> drawn = b.run(agent, world, steps=100, keep=("resampled",)).resampled
    >>> [int(t) for t in drawn.nonzero()[0]]
    [0, 20, 35, 42, 91]
    """

    factor: Annotated[float, AtLeast(1.0), "Growth of the determinant at which a system is drawn."] = 2.0
    tries: Annotated[int, AtLeast(1), "Draws at most, before the posterior mean is used."] = 100
    accept: Annotated[
        Callable[[Floats, Floats], bool] | None,
        "Whether a system (A, B) is in the parameter set; None: all that can be stabilised.",
    ] = None
    schedule: Annotated[
        int | Literal["determinant", "every"], AtLeast(1), "When to draw: by the rule, at every step, or every n steps."
    ] = "determinant"

    needs: ClassVar[tuple[type, ...]] = (SamplesSystems,)
    traits: ClassVar[Traits] = Traits(batched=True)

    def __post_init__(self) -> None:
        if self.accept is not None and not callable(self.accept):
            raise InvalidArgument("LazyPSRL", "accept", "a function of (A, B), or None", self.accept)

    def start(self) -> LazyPSRLPlan | None:
        """No system yet."""
        return None

    def plan(
        self,
        belief: SamplesSystems,
        observation: Any,
        memory: LazyPSRLPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Act on the system in use, or on a new one."""
        x = state_of("LazyPSRL", belief, observation)
        now = np.linalg.slogdet(belief.precision)[1]
        shape = (*np.shape(now), len(belief.R), len(belief.Q))
        if memory is not None and (not isinstance(memory, LazyPSRLPlan) or np.shape(memory.gain) != shape):
            raise InvalidArgument("LazyPSRL", "memory", "what start or plan gave for this belief", memory)
        K = np.zeros(shape) if memory is None else memory.gain
        new = due(self, memory, now)
        rejected, of_mean = np.zeros(new.shape, np.int64), np.zeros(new.shape, np.bool_)
        if new.any():
            K, rejected, of_mean = drawn(self, belief, new, K, rng)
            began = now if memory is None else np.where(new, now, memory.log_det)
            memory = LazyPSRLPlan(K, began, 0 if memory is None or new.all() else memory.steps)
        assert memory is not None  # the first system is due
        info = {"resampled": new, "gain": K, "log_det": now, "rejected": rejected, "of_mean": of_mean}
        if new.ndim == 0:
            info |= {name: info[name].item() for name in ("resampled", "log_det", "rejected", "of_mean")}
        return Decision(action_of(K, x), memory._replace(steps=memory.steps + 1), info)


def due(rule: LazyPSRL, memory: LazyPSRLPlan | None, now: Any) -> Any:
    """Whether a system is drawn at log det V = `now`, () or (replicates,)."""
    if memory is None or rule.schedule == "every":
        return np.ones(np.shape(now), np.bool_)
    if rule.schedule == "determinant":
        return np.asarray(now - memory.log_det >= math.log(rule.factor) - SPARE)
    return np.full(np.shape(now), memory.steps >= rule.schedule)


def drawn(rule: LazyPSRL, belief: SamplesSystems, new: Bools, K: Floats, rng: Generator) -> tuple[Floats, Ints, Bools]:
    """The gains of new systems where they are due, else K; the draws rejected, and whether the mean was used."""
    left = np.flatnonzero(new)
    gain = K.reshape(-1, *K.shape[-2:]).copy()
    rejected, of_mean = np.zeros(new.size, np.int64), np.zeros(new.size, np.bool_)
    for _ in range(rule.tries):
        A, B = belief.sample_system(rng) if new.ndim == 0 else belief.sample_system(rng, left)
        A, B = A.reshape(-1, *A.shape[-2:]), B.reshape(-1, *B.shape[-2:])
        inside = np.ones(len(left), np.bool_)
        if rule.accept is not None:
            inside = np.array([bool(called("LazyPSRL", "accept", rule.accept, A[i], B[i])) for i in range(len(left))])
        found = gains(A[inside], B[inside], belief.Q, belief.R)
        inside[inside] = found.stable
        gain[left[inside]] = found.gain[found.stable]
        left = left[~inside]
        rejected[left] += 1
        if len(left) == 0:
            break
    if len(left):
        theta = belief.theta.reshape(new.size, *belief.theta.shape[-2:])
        gain[left] = gains_of_means(theta[left], belief)
        of_mean[left] = True
    return frozen(gain.reshape(K.shape)), rejected.reshape(new.shape), of_mean.reshape(new.shape)
