"""k-of-n by counterfactual regret minimisation (Chen and Bowling 2012; survey §6, theorem on k-of-N).

The criterion draws n models from the belief and averages the k worst returns of the policy. It is a zero-sum game: the
other player sees the policy and the n models and chooses k of them. Regret minimisation at every information set solves
it, and needs nothing but draws of models. Use it where `percentile-measure` cannot list or sample enough of them.

    each iteration:  sigma(i) by regret matching at every information set i
                     draw n models afresh, evaluate sigma in each, keep the k worst
                     counterfactual values q(i, a) against their average, backwards
                     regret(i, a) += q(i, a) - sum_b sigma(i, b) q(i, b)

Counterfactual values are weighted by the probability of the models' own moves on the way to i. The answer is the
average of the realisation plans of all iterations. An average of action probabilities would be a different policy.

Paper to code (_regret_matching.py): regret matching `match`, evaluation `returns_of`, the k worst `worst_of` and values
against them `values_against`, regrets and average `iterate`; the number of iterations `k_of_n_iterations`.
Deviations: with `variant="plus"` regrets are cut at zero and iteration t has weight t in the average (regret matching+,
Tammelin 2014), which has a bound of the same order. On small finite posteriors the paper's variant, the default, came
closer to the optimum: regrets that cannot be negative follow the noise of fresh draws (docs/risk.md has figures).
Rewards are discounted by the belief's discount. Where transitions are known and shared, information sets are pairs (t,
s) as in the paper, and plans are occupancies. Next states that no model can reach are left out.
Cost: O(N A (n + k)) per iteration for N information sets, and n draws of a model.
Claims: equal to a plain transcription; below the linear program and within .02 of it; k = n is the Bayes-adaptive
optimum; the error falls about like T^-1/2 ("plus") or faster ("plain").
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.capabilities import SamplesMDPs
from bayesrl.checks import Floats, array, frozen, generator, integer, number, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, Shape, Within, declared, value
from bayesrl.registry import register
from bayesrl.risk._draws import Drawn
from bayesrl.risk._information_sets import HistorySolution, InformationSets, strategy_of
from bayesrl.risk._regret_matching import Game, game_of, iterate, match, plan_of, returns_of
from bayesrl.risk.measure import Measure
from bayesrl.statistics import Interval, mean_interval
from bayesrl.traits import Traits

BLOCK = 2**20
"""Numbers that the models drawn ahead may take."""
MOST = 100_000
"""The largest number of models of an iteration."""


@register(
    "k-of-n",
    kind="solver",
    survey="6",
    paper="Chen2012TO",
    example=lambda: KOfN(k=1, n=3, horizon=2, iterations=50, samples=20),
    evidence=(
        "tests/risk/test_k_of_n.py::test_transcription",
        "tests/risk/test_k_of_n.py::test_close_to_the_linear_program_from_below",
        "tests/risk/test_k_of_n.py::test_all_of_n_is_the_bayes_adaptive_optimum",
    ),
)
@declared
class KOfN:
    """A policy for the k worst of n models drawn from a belief, by counterfactual regret minimisation.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.DirichletMDP.structured(b.make_world("chain-tied"))
    >>> solution = KOfN(k=1, n=5, horizon=3, iterations=2000).solve(belief, default_rng(0))
    >>> print(f"{solution.value.mean:.1f}, {len(solution.sets)} information sets")
    2.9, 21 information sets
    """

    k: Annotated[int, AtLeast(1), "Worst models that count, k."]
    n: Annotated[int, Within(1, MOST), "Models drawn, n."]
    horizon: Annotated[int, AtLeast(1), "Decisions of an episode, T."]
    iterations: Annotated[int, AtLeast(1), "Iterations of regret minimisation."] = 10_000
    variant: Annotated[Literal["plus", "plain"], "Regrets cut at zero and linear averaging, or the paper's."] = "plain"
    strategy: Annotated[
        Literal["average", "random"], "The average of all iterations, or the strategy of one drawn iteration."
    ] = "average"
    samples: Annotated[
        int, AtLeast(2), "Draws of n models for the value of a belief that does not list its models."
    ] = 1000
    nodes: Annotated[int, AtLeast(1), "The largest number of information sets."] = 200_000

    needs: ClassVar[tuple[type, ...]] = (SamplesMDPs,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def __post_init__(self) -> None:
        if self.k > self.n:
            raise InvalidArgument("KOfN", "k", f"at most n, which is {self.n}", self.k)

    def solve(self, problem: SamplesMDPs, rng: Generator | None = None) -> KOfNSolution:
        """The strategy after all iterations, or that of one iteration, which is drawn from `rng` before any model."""
        rng = generator("KOfN", rng)
        drawn = Drawn("KOfN", problem, self.horizon, self.nodes, rng)
        last = int(rng.integers(self.iterations)) if self.strategy == "random" else self.iterations
        game, (N, A) = game_of(drawn), (len(drawn.sets), drawn.sets.n_actions)
        regret, total, done = np.zeros((N, A)), np.zeros((N, A)), 0
        size = max(1, BLOCK // (self.n * drawn.size))
        while done < last:
            rows = min(size, last - done)
            (prob, reward), column = drawn.columns(rows * self.n, rng)
            which = column.reshape(rows, self.n)
            iterate(game, prob, reward, which, self.k, self.variant == "plus", done, regret, total)
            done += rows
        now = match(regret)
        strategy = frozen(now if self.strategy == "random" else strategy_of(total, now))
        return KOfNSolution(self, drawn.sets, strategy, self._value(drawn, game, strategy, rng))

    def _value(self, drawn: Drawn, game: Game, strategy: Floats, rng: Generator) -> float | Interval:
        """The value of a strategy: exact if models are listed, else the mean of the k worst of n over fresh draws."""
        arrive, x = plan_of(game, strategy.copy())  # a copy can be written, so that nothing is compiled again
        if drawn.weights is not None:
            returns = returns_of(game, arrive, x, *drawn.all, np.arange(len(drawn.weights)))
            return float(Measure.k_of_n(self.k, self.n).value(returns, drawn.weights))
        size, found = max(1, BLOCK // (self.n * drawn.size)), []
        for begin in range(0, self.samples, size):
            rows = min(size, self.samples - begin)
            table, column = drawn.columns(rows * self.n, rng)
            worst = np.sort(returns_of(game, arrive, x, *table, column).reshape(rows, self.n), axis=1)[:, : self.k]
            found.append(worst.mean(axis=1))
        return mean_interval(np.concatenate(found))


@explain_failures
@value
class KOfNSolution(HistorySolution):
    """A strategy over information sets, and its value. It is a planner; see `HistorySolution`."""

    solver: KOfN
    """The solver that made it."""
    sets: InformationSets
    """The information on which it may decide."""
    strategy: Annotated[Floats, AtLeast(0), Shape("(N, A)"), "Probability of each action in each information set."]
    value: float | Interval
    """Its k-of-n value: exact for a belief that lists its models, else an interval of 95% from fresh draws."""

    def __post_init__(self) -> None:
        if not isinstance(self.sets, InformationSets):
            raise InvalidArgument("KOfNSolution", "sets", "InformationSets", self.sets)
        array("KOfNSolution", "strategy", self.strategy, (len(self.sets), self.sets.n_actions))
        rows_sum_to_one("KOfNSolution", "strategy", self.strategy)


def k_of_n_iterations(horizon: int, spread: float, infosets: int, n_actions: int, delta: float, epsilon: float) -> int:
    """The number of iterations after which, by the theorem, a drawn iteration's strategy is within `epsilon`.

    With probability 1 - delta, the strategy of an iteration drawn uniformly from the first

        (1 + 2 / sqrt(delta))^2  16 T^2 Delta^2 |I|^2 |A| / (delta^2 epsilon^2)

    loses at most `epsilon` (Chen and Bowling 2012; survey §6). Here T is the `horizon`, T Delta the largest difference
    of total reward (`spread` is Delta, that of a step), |I| the number of information sets. It assumes
    `variant="plain"` and `strategy="random"`. Rewards are not discounted; a discount makes the spread smaller.

    >>> k_of_n_iterations(horizon=2, spread=1.0, infosets=9, n_actions=2, delta=0.1, epsilon=0.1)
    5562339792
    """
    owner = "k_of_n_iterations"
    T, I, A = (
        integer(owner, name, x, 1)
        for name, x in (("horizon", horizon), ("infosets", infosets), ("n_actions", n_actions))
    )
    spread = number(owner, "spread", spread, 0.0, moderate=True)
    d = number(owner, "delta", delta, 0.0, 1.0, above=True)
    e = number(owner, "epsilon", epsilon, 0.0, above=True, moderate=True)
    needed = (1.0 + 2.0 / np.sqrt(d)) ** 2 * 16.0 * (T * spread * I / (d * e)) ** 2 * A
    return max(1, int(np.ceil(needed)))
