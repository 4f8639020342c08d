"""Bandits beside river, mabwiser and bayesianbandits: microseconds per decision, compilation excluded, in one run.

A decision consists of choosing an arm and learning from its reward; the reward is drawn in the same cheap way for all
libraries. Ours uses `run`, which also makes a record. Peers that are not installed are left out with a message. Every
figure is the best of a few alternating repeats, since the machine may be busy.

Agrawal and Goyal's linear Thompson sampling has one weight vector for all arms; of the peers only bayesianbandits
offers it. The others have a model for each arm (disjoint), which is more work; they are labelled so.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
from numpy.random import default_rng

from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.simulate_bandit import simulate
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.ucb1 import UCB1
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.core import BayesAgent, Transition, run
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit

Timed = dict[str, tuple[Callable[[], object], int]]
"""For each competitor the function to call, and its number of decisions."""


def microseconds(timed: Timed, repeats: int = 5) -> dict[str, float]:
    """Per decision, the best of some alternating repeats; the first one may compile and does not count."""
    best = dict.fromkeys(timed, float("inf"))
    for k in range(repeats + 1):
        for name, (call, decisions) in timed.items():
            began = time.perf_counter()
            call()
            if k:
                best[name] = min(best[name], 1e6 * (time.perf_counter() - began) / decisions)
    return best


# Beta-Bernoulli ------------------------------------------------------------------------------------------------------


def means_of(arms: int) -> list[float]:
    return default_rng(0).random(arms).tolist()


def ours(arms: int, steps: int) -> Callable[[], object]:
    world = BernoulliBandit(np.array(means_of(arms)))
    agent = BayesAgent(world.default_prior(), Thompson())
    return lambda: run(agent, world, steps)


def ours_own_loop(arms: int, steps: int) -> Callable[[], object]:
    """The user's own loop: `act` and `learn`."""
    means = means_of(arms)
    agent = BayesAgent(BernoulliBandit(np.array(means)).default_prior(), Thompson())

    def live() -> None:
        mind, rng, draw = agent.start(), default_rng(0), random.Random(0).random
        for _ in range(steps):
            arm, mind, _ = agent.act(mind, None, rng)
            mind = agent.learn(mind, Transition(None, arm, float(draw() < means[arm]), None), rng)

    return live


def river_thompson(arms: int, steps: int) -> Callable[[], object]:
    from river import bandit, proba

    means, ids = means_of(arms), range(arms)

    def live() -> None:
        policy, draw = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1), random.Random(0).random
        for _ in range(steps):
            arm = policy.pull(ids)
            policy.update(arm, draw() < means[arm])

    return live


def mabwiser_thompson(arms: int, steps: int) -> Callable[[], object]:
    from mabwiser.mab import MAB, LearningPolicy

    means = means_of(arms)

    def live() -> None:
        mab, draw = MAB(list(range(arms)), LearningPolicy.ThompsonSampling(), seed=1), random.Random(0).random
        mab.fit([0], [1])
        for _ in range(steps):
            arm = mab.predict()
            mab.partial_fit([arm], [int(draw() < means[arm])])

    return live


def bayesianbandits_thompson(arms: int, steps: int) -> Callable[[], object]:
    from bayesianbandits import Agent, Arm, DirichletClassifier, ThompsonSampling

    means = means_of(arms)

    def live() -> None:
        made = [
            Arm(i, reward_function=lambda x: x[..., 1], learner=DirichletClassifier({0: 1.0, 1: 1.0}))
            for i in range(arms)
        ]
        agent, draw = Agent(made, ThompsonSampling(), random_seed=1), random.Random(0).random
        for _ in range(steps):
            (arm,) = agent.pull()
            agent.select_for_update(arm).update(np.array([int(draw() < means[arm])]))

    return live


PLAIN = {
    "river": river_thompson,
    "mabwiser": mabwiser_thompson,
    "bayesianbandits": bayesianbandits_thompson,
}


def peers(arms: int, steps: int) -> Timed:
    timed: Timed = {}
    for name, make in PLAIN.items():
        n = steps if name == "river" else max(steps // 20, 5)
        if call := available(name, make, arms, n):
            timed[name] = (call, n)
    return timed


def one_replicate(arms: int, steps: int) -> dict[str, float]:
    timed: Timed = {
        "bayesrl, run": (ours(arms, steps), steps),
        "bayesrl, own loop": (ours_own_loop(arms, steps), steps),
    }
    return microseconds(timed | peers(arms, steps))


def lockstep(replicates: int = 1000, arms: int = 10, steps: int = 200) -> dict[str, float]:
    """Per decision: a lockstep run, only the Beta draws of the same beliefs, and the peers."""
    world = BernoulliBandit(default_rng(0).random((replicates, arms)))
    prior = BernoulliBandit(np.full(arms, 0.5)).default_prior().batch(replicates)
    agent = BayesAgent(prior, Thompson())
    pairs, mind, rng = [], agent.start(), default_rng(0)
    for _ in range(steps):
        pairs.append((mind.belief.alpha, mind.belief.beta))
        action, mind, _ = agent.act(mind, 0, rng)
        mind = agent.learn(mind, Transition(0, action, world.step(None, action, rng)[2], 0), rng)

    def bare() -> None:
        draw = default_rng(0)
        for alpha, beta in pairs:
            draw.beta(alpha, beta)

    n = steps * replicates
    timed: Timed = {"bayesrl": (lambda: run(agent, world, steps), n), "bare Beta draws": (bare, n)}
    return microseconds(timed | peers(arms, 2000), repeats=8)


def compiled(steps: int = 200_000) -> dict[str, float]:
    """The whole run of one replicate as compiled code."""
    world = BernoulliBandit(np.array(means_of(10)))
    timed: Timed = {}
    for planner in (Thompson(), UCB1(), BayesUCB()):
        agent = BayesAgent(world.default_prior(), planner)
        n = steps if not isinstance(planner, BayesUCB) else steps // 10
        timed[type(planner).__name__] = (lambda agent=agent, n=n: simulate(agent, world, n), n)
    return microseconds(timed, repeats=3)


# Linear --------------------------------------------------------------------------------------------------------------


def linear_contexts(arms: int, d: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    rng = default_rng(0)
    return rng.standard_normal((steps, arms, d)) / np.sqrt(d), rng.standard_normal(steps)


def ours_linear(arms: int, d: int, steps: int) -> Callable[[], object]:
    X, noise = linear_contexts(arms, d, steps)
    agent = BayesAgent(LinearGaussianArms.isotropic(d), Thompson())

    def live() -> None:
        mind, rng = agent.start(), default_rng(0)
        for x, e in zip(X, noise, strict=True):
            arm, mind, _ = agent.act(mind, x, rng)
            mind = agent.learn(mind, Transition(x, arm, float(x[arm, 0] + e), None), rng)

    return live


def bayesianbandits_linear(arms: int, d: int, steps: int) -> Callable[[], object]:
    """One NormalRegressor for all arms, used directly: sample all arms' rewards jointly, update with the chosen row."""
    from bayesianbandits import NormalRegressor

    X, noise = linear_contexts(arms, d, steps)

    def live() -> None:
        learner = NormalRegressor(alpha=1.0, beta=1.0, random_state=default_rng(0))
        for x, e in zip(X, noise, strict=True):
            arm = int(np.argmax(learner.sample(x)))
            learner.partial_fit(x[arm : arm + 1], np.array([x[arm, 0] + e]))

    return live


def mabwiser_linear(arms: int, d: int, steps: int) -> Callable[[], object]:
    from mabwiser.mab import MAB, LearningPolicy

    X, noise = linear_contexts(arms, d, steps)

    def live() -> None:
        mab = MAB(list(range(arms)), LearningPolicy.LinTS(alpha=1.0), seed=1)
        mab.fit([0], [0.0], X[0, :1])
        for x, e in zip(X, noise, strict=True):
            arm = mab.predict(x[:1])
            mab.partial_fit([arm], [x[arm, 0] + e], x[:1])

    return live


def river_linear(arms: int, d: int, steps: int) -> Callable[[], object]:
    """River's linear contextual policy is LinUCB with a model for each arm."""
    from river import bandit

    X, noise = linear_contexts(arms, d, steps)

    def live() -> None:
        policy = bandit.LinUCBDisjoint(alpha=1.0, seed=1)
        ids = list(range(arms))
        for x, e in zip(X, noise, strict=True):
            context = dict(enumerate(x[0].tolist()))
            arm = policy.pull(ids, context=context)
            policy.update(arm, context, float(x[arm, 0] + e))

    return live


LINEAR = {
    "bayesianbandits": bayesianbandits_linear,
    "mabwiser, disjoint": mabwiser_linear,
    "river, disjoint LinUCB": river_linear,
}


def linear(arms: int = 100, d: int = 50, steps: int = 200) -> dict[str, float]:
    timed: Timed = {"bayesrl": (ours_linear(arms, d, steps), steps)}
    for name, make in LINEAR.items():
        n = steps if name == "bayesianbandits" else 5
        if call := available(name, make, arms, d, n):
            timed[name] = (call, n)
    return microseconds(timed, repeats=3)


# The table -----------------------------------------------------------------------------------------------------------


def available(name: str, make: Callable[..., Callable[[], object]], *arguments: int) -> Callable[[], object] | None:
    try:
        return make(*arguments)
    except ImportError as error:
        print(f"bandits: {name} is left out ({error}).")
        return None


def main() -> None:
    from contextlib import nullcontext

    from rich.console import Console
    from rich.table import Table

    try:
        from threadpoolctl import threadpool_limits

        pinned = threadpool_limits(1)
    except ImportError:
        pinned = nullcontext()
    with pinned:
        small, large, many, loops, lin = (
            one_replicate(10, 2000),
            one_replicate(1000, 100),
            lockstep(),
            compiled(),
            linear(),
        )
    table = Table("task", "who", "us per decision", "times bayesrl", title="Bandits, compilation excluded, one thread")

    def rows(task: str, found: dict[str, float], base: float) -> None:
        for who, us in found.items():
            table.add_row(task, who, f"{us:.3g}", f"{us / base:.2f}")
            task = ""
        table.add_section()

    rows("Beta-Bernoulli Thompson, 10 arms", small, small["bayesrl, run"])
    rows("the same, 1000 arms", large, large["bayesrl, run"])
    rows("1000 replicates in lockstep, 10 arms", many, many["bayesrl"])
    rows("one replicate, compiled whole, 10 arms", loops, loops["Thompson"])
    rows("linear Thompson, d = 50, 100 arms", lin, lin["bayesrl"])
    Console().print(table)
    limits = [
        ("one replicate, 10 arms: at most 1.5 times river", small["bayesrl, run"] / small.get("river", np.nan), 1.5),
        ("one replicate, 1000 arms: faster than river", large["bayesrl, run"] / large.get("river", np.nan), 1.0),
        ("lockstep: at most 1.5 times the bare Betas", many["bayesrl"] / many["bare Beta draws"], 1.5),
        (
            "lockstep: at most 1/20 of the fastest peer",
            many["bayesrl"] / min([*many.values()][2:], default=np.nan),
            0.05,
        ),
        ("linear: at most 1/4 of the fastest peer", lin["bayesrl"] / min([*lin.values()][1:], default=np.nan), 0.25),
    ]
    for said, ratio, limit in limits:
        verdict = "no peer" if np.isnan(ratio) else "holds" if ratio <= limit else "LOST"
        print(f"{said}: {ratio:.3f} ({verdict})")


if __name__ == "__main__":
    main()
