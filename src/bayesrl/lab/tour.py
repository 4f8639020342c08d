"""The survey's shop through its chapters: what each view of it assumes, and what methods earn beside the optimum.

    for part in tour(seed=0):
        print(part.chapter, part.title, part.optimum, part.rows)
    draw(parts, comparisons, folder)

Every part is one view of the default shop (worlds/shop.py), and every amount the mean profit of a customer. Intervals
are Student's, of 95%, over independent runs; amounts without one are exact. `share` makes a tour shorter: a share of
the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng

from bayesrl.checks import Floats, integer, number
from bayesrl.core import BayesAgent, Streams, play
from bayesrl.core import run as run_once
from bayesrl.lab.build import agent_for
from bayesrl.lab.compare import compare
from bayesrl.lab.comparison import Comparison
from bayesrl.lab.inverse import infer
from bayesrl.lab.priors import prior_for
from bayesrl.lab.risk import assess, policies_for
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solve import solve
from bayesrl.registry import make, make_world
from bayesrl.statistics import mean_interval

LEAST = 3
"""Runs of the shortest tour."""
PAGE = 2
"""Suggestions at once."""
PLANNERS: Mapping[str, Mapping[str, Any]] = {
    "psrl": {},
    "bamcp": {"simulations": 200},
    "beb": {},
    "vbrb": {},
    "exploit": {},
}
GRADIENTS = ("reinforce", "bpg-1", "bac")
EPSILON, LOG = 0.05, 60
"""The careful policy's percentile, and the steps of the log that it has."""
EXPERT = 20
"""Customers whom the expert is watched with."""
PICTURES = ("tour-shop.png", "tour-bandit.png", "tour-learning.png")


class Row(NamedTuple):
    """The earnings of one method."""

    method: str
    profit: float
    """Mean profit of a customer."""
    low: float | None = None
    high: float | None = None
    """Its interval; None: the profit is exact."""
    note: str = ""


class Part(NamedTuple):
    """One view of the shop."""

    chapter: str
    title: str
    view: str
    """The assumptions of the view."""
    optimum: float
    """The profit of a customer under the best policy of this view, if the law of customers is known."""
    rows: tuple[Row, ...]
    comparison: Comparison | None = None
    """The runs behind the rows, where they are of one kind."""

    def page(self) -> dict[str, Any]:
        """The part as `--json` prints it."""
        rows = [row._asdict() for row in self.rows]
        return {"chapter": self.chapter, "title": self.title, "view": self.view, "optimum": self.optimum, "rows": rows}


def tour(seed: int = 0, share: float = 1.0) -> Iterator[Part]:
    """The parts of the tour, one after the other, each when it is done.

    >>> first = next(tour())
    >>> first.chapter, round(first.optimum, 4), [row.method for row in first.rows]
    ('2', 6.937, ['random', 'best single product', 'value-iteration'])
    """
    seed = integer("tour", "seed", seed, 0, any_length=True)
    share = number("tour", "share", share, 0.0, 1.0, above=True)

    def runs(n: int) -> int:
        return max(LEAST, round(share * n))

    parts: tuple[Callable[[], Part], ...] = (
        planning,
        lambda: bandit(seed, runs(100)),
        lambda: several(seed, runs(100)),
        lambda: contextual(seed, runs(20)),
        lambda: learning(seed, runs(20)),
        lambda: hidden(seed, runs(16)),
        lambda: gradients(seed, runs(10)),
        lambda: careful(seed, runs(12)),
        lambda: watching(seed, runs(12)),
    )
    return (part() for part in parts)


# Chapter 2 -----------------------------------------------------------------------------------------------------------


def planning() -> Part:
    """Everything is known and seen: exact values."""
    world = make_world("online-shop-mdp")
    best = solve(world.mdp)
    single = max(_profit(np.full(world.n_states, a)) for a in range(world.n_actions))
    random = np.full((world.n_states, world.n_actions), 1.0 / world.n_actions)
    rows = (
        Row("random", _profit(random), note="any product"),
        Row("best single product", single, note="the same for everybody"),
        Row("value-iteration", _profit(best.policy), note="a product for each state"),
    )
    view = "kind, willingness and cart are seen, and the law of customers is known"
    return Part("2", "Planning", view, world.optimum(), rows)


# Chapter 3 -----------------------------------------------------------------------------------------------------------


def bandit(seed: int, runs: int, customers: int = 1000) -> Part:
    """One suggestion to each customer, of whom nothing is known."""
    world = make_world("online-shop")
    agents = {name: BayesAgent(world.default_prior(), make(name)) for name in ("random", "thompson", "bayes-ucb")}
    done = compare(agents, world, customers, runs, seed, progress=False)
    view = "nothing is seen of a customer, who gets one suggestion and checks out; purchase rates are learned"
    return Part("3", "A bandit", view, float(world.means.max()), _each_step(done), done)


def several(seed: int, runs: int, customers: int = 1000) -> Part:
    """A page of suggestions to each customer."""
    world = make_world("online-shop-several", suggestions=PAGE)
    agents = {name: agent_for(name, world) for name in ("thompson-combinatorial",)}
    done = compare(agents, world, customers, runs, seed, progress=False)
    best = float(np.sort(world.means)[-PAGE:].sum())
    view = f"the same with {PAGE} suggestions at once, whose profits add up"
    return Part("3", "Several suggestions", view, best, _each_step(done), done)


def contextual(seed: int, runs: int, customers: int = 1000) -> Part:
    """One suggestion to each customer, whose age and origin are seen."""
    world = make_world("contextual-shop")
    agents = {
        "ignores the customer": BayesAgent(make_world("online-shop").default_prior(), make("thompson")),
        "thompson": BayesAgent(world.default_prior(), make("thompson")),
    }
    done = compare(agents, world, customers, runs, seed, progress=False)
    best = float(world.frequency @ world.means.max(axis=1))
    view = "age and origin of the customer are seen before the suggestion; log-odds of purchases are learned"
    return Part("3", "A contextual bandit", view, best, _each_step(done), done)


# Chapter 4 -----------------------------------------------------------------------------------------------------------


def learning(seed: int, runs: int, steps: int = 1000) -> Part:
    """Everything is seen, and the law of customers is learned."""
    world = make_world("online-shop-mdp")
    agents = {name: agent_for(name, world, None, dict(given)) for name, given in PLANNERS.items()}
    done = compare(agents, world, steps, runs, seed, progress=False)
    view = f"all is seen and the law of customers is learned in {steps} steps; rows are tied across carts"
    return Part("4", "Learning the MDP", view, world.optimum(), _each_customer(done), done)


def hidden(seed: int, runs: int, steps: int = 1000) -> Part:
    """Kind and willingness are hidden; their law is known, or learned from weak counts."""
    world = make_world("online-shop-hidden")
    policy = make("pbvi", size=100).solve(world, default_rng(seed))
    agents = {
        "pbvi, law known": BayesAgent(prior_for(world), policy),
        "sampled-pomdps, law learned": agent_for("sampled-pomdps", world, "particle:200", {"models": 5, "size": 30}),
    }
    done = compare(agents, world, steps, runs, seed, progress=False)
    view = "only the cart and the check-out are seen; kind and willingness are inferred, the law is known or learned"
    return Part("4.9", "Hidden customers", view, float(np.mean(world.value)), _each_customer(done), done)


# Chapter 5 -----------------------------------------------------------------------------------------------------------


def gradients(seed: int, runs: int, steps: int = 3300) -> Part:
    """A softmax policy that is linear in features learns without a model."""
    world = make_world("online-shop-mdp")
    rows = []
    for name in GRADIENTS:
        agent, earned = agent_for(name, world), []
        for run in range(runs):
            *_, last = islice(play(agent, world, Streams.of(seed, run)), steps)
            earned.append(_profit(last.mind.policy))
        rows.append(_row(name, np.array(earned), "the exact profit of the learned policy"))
    view = f"no model: a softmax policy, linear in features of customer and product, after {steps} steps"
    return Part("5", "Softmax policies", view, world.optimum(), tuple(rows))


# Chapters 6 and 7 ----------------------------------------------------------------------------------------------------


def careful(seed: int, runs: int) -> Part:
    """Policies from a short log, judged by what they guarantee."""
    world = make_world("online-shop-mdp")
    random, found = agent_for("random", world), []
    for run in range(runs):
        belief = prior_for(world).update_many(run_once(random, world, LOG, seed, replicate=run))
        rng = default_rng([seed, run])
        policies = policies_for(belief, ("percentile",), EPSILON, rng)
        judged = assess(belief, policies, EPSILON, 2000, rng=rng)
        found.append([(_profit(mu), judged[name].quantile) for name, mu in policies.items()])
    earned = np.array(found)  # (runs, policies, 2)
    names = ("best in the mean model", "percentile")
    rows = tuple(
        _row(name, earned[:, k, 0], f"its {EPSILON:.0%} percentile was thought to be {earned[:, k, 1].mean():.2f}")
        for k, name in enumerate(names)
    )
    view = f"a log of {LOG} random suggestions; policies are chosen for what they earn in nearly all models"
    return Part("6", "Careful policies", view, world.optimum(), rows)


def watching(seed: int, runs: int) -> Part:
    """Prices from an expert's suggestions: rewards are linear in the products that leave in the cart."""
    from bayesrl.inverse import UniformPrior, demonstrate

    world = make_world("online-shop-mdp")
    settings = {"features": _leaving(), "prior": UniformPrior(0.0, 20.0), "rationality": 1.0, "step": 1.0}
    earned, prices = [], []
    for run in range(runs):
        rng = default_rng([seed, run])
        shown = demonstrate(world, world.mdp.mean_reward, EXPERT, 12, rng)
        guess = infer("birl", world, shown, settings, 3000, rng=rng)
        earned.append(world.optimum() - guess.value_loss)
        prices.append(guess.weights)
    said = ", ".join(f"{price:.1f}" for price in np.mean(prices, axis=0))
    true = ", ".join(f"{price:g}" for price in world.shop.prices)
    view = f"prices are unknown, and an expert serves {EXPERT} customers; BIRL infers what each product pays"
    row = _row("birl", np.array(earned), f"prices {said} on average; the true ones are {true}")
    return Part("7", "Watching an expert", view, world.optimum(), (row,))


def _leaving() -> Floats:
    """Features (S, N): how many of each product leave in the cart in a step, on average."""
    shop = make_world("online-shop-mdp").shop
    counts = np.array([[cart.count(a) for a in range(shop.n_products)] for cart in shop.carts], float)
    each = shop.leaves[None, :, None, None] * counts
    table = np.broadcast_to(each, (shop.n_kinds, shop.n_levels, *counts.shape)).reshape(-1, shop.n_products)
    return np.vstack([table, np.zeros(shop.n_products)])


# Amounts -------------------------------------------------------------------------------------------------------------


def _profit(policy: Any) -> float:
    """The exact mean profit of a customer under a policy that sees everything."""
    mdp = make_world("online-shop-mdp").mdp
    pi = policy_matrix("tour", policy, mdp.n_states, mdp.n_actions)
    alive = ~mdp.outcomes.terminal
    P = np.einsum("sa,say->sy", pi, mdp.dense()[0])[np.ix_(alive, alive)]
    paid = (pi * mdp.mean_reward).sum(axis=1)[alive]
    return float(mdp.outcomes.start[alive] @ np.linalg.solve(np.eye(len(P)) - P, paid))


def _row(name: str, earned: Floats, note: str = "") -> Row:
    mean, low, high, _ = mean_interval(earned)
    return Row(name, mean, low, high, note)


def _each_step(done: Comparison) -> tuple[Row, ...]:
    """Profits of a step, which is one customer."""
    return tuple(_row(name, done[name].reward.mean(axis=0)) for name in done.labels)


def _each_customer(done: Comparison) -> tuple[Row, ...]:
    """Profits of a check-out, all of a run over the number of them."""
    found = ((name, done[name]) for name in done.labels)
    return tuple(_row(name, record.reward.sum(axis=0) / record.terminated.sum(axis=0)) for name, record in found)


# Pictures ------------------------------------------------------------------------------------------------------------


def draw(parts: list[Part], folder: str | Path = ".") -> tuple[Path, ...]:
    """Draw a finished tour into three files: all parts, the regret of the bandit, the learning of the MDP."""
    from bayesrl.lab.plots.curves import curves
    from bayesrl.lab.plots.posteriors import plot_regret
    from bayesrl.lab.plots.tour import plot_tour

    paths = tuple(Path(folder) / name for name in PICTURES)
    plot_tour(parts, paths[0])
    for part in parts:
        if part.title == "A bandit" and part.comparison is not None:
            plot_regret(part.comparison.regret(make_world("online-shop")), paths[1], title="The shop as a bandit")
        if part.title == "Learning the MDP" and part.comparison is not None:
            curves(part.comparison, paths[2], title="Learning the shop as an MDP")
    return paths
