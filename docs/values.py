"""Make the pictures and the numbers of docs/values.md: `python docs/values.py` (half a minute of CPU).

Values are measured against true ones. Those of the random walk solve V = r + gamma P V; those of the mountain car under
a fixed rule follow from one deterministic episode from each state.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl import make_world
from bayesrl._files import read_text, write_text
from bayesrl.beliefs.covariances import Discrete, Gaussian
from bayesrl.checks import Floats
from bayesrl.core import Streams, Transition, play
from bayesrl.lab.plots.values import plot_bands, plot_surface, plot_weights
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.value import GPTD, KernelSelection, SparseGPTD
from bayesrl.worlds.continuous.mountain_car import HIGH, LOW

DOCS = Path(__file__).parent
PAGE, IMAGES = DOCS / "values.md", DOCS / "images"
WALK, CAR = make_world("random-walk"), make_world("mountain-car")
RIGHT = 0.82
STATES = np.arange(float(WALK.n_states - 1))
COUNTS, REPETITIONS = (1, 5, 20), 200
CANDIDATES = {
    "unrelated states": Discrete(variance=100.0),
    "scale 1": Gaussian(scale=1.0, variance=100.0),
    "scale 3": Gaussian(scale=3.0, variance=100.0),
    "scale 10": Gaussian(scale=10.0, variance=100.0),
}


# The random walk -----------------------------------------------------------------------------------------------------


def walk_moments() -> tuple[Floats, Floats]:
    """True values and standard deviations of returns in the nine states that are not the end, for the fixed policy."""
    n = len(STATES)
    P = np.zeros((n, n))
    for s in range(n):
        P[s, max(s - 1, 0)] += 1.0 - RIGHT
        if s + 1 < n:
            P[s, s + 1] += RIGHT
    gamma, r = WALK.gamma, WALK.reward
    V = np.linalg.solve(np.eye(n) - gamma * P, np.full(n, r))
    squares = np.linalg.solve(np.eye(n) - gamma**2 * P, r**2 + WALK.spread**2 + 2.0 * gamma * r * P @ V)
    return V, np.sqrt(squares - V**2)


def walk_episodes(replicate: int) -> list[list[Transition]]:
    """Twenty episodes, right with probability .82."""
    policy = SoftmaxPolicy.tabular(WALK.n_states, 2, np.tile([0.0, np.log(RIGHT / (1.0 - RIGHT))], WALK.n_states))
    made: list[list[Transition]] = [[]]
    for step in play(policy, WALK, Streams.of(0, replicate), horizon=WALK.horizon):
        made[-1].append(step.transition)
        if step.transition.ends_episode:
            if len(made) == COUNTS[-1]:
                break
            made.append([])
    return made


def walk_beliefs(episodes: list[list[Transition]]) -> dict[int, GPTD]:
    """Beliefs after one, five and twenty episodes; the noise is the standard deviation of a return from the start."""
    made, belief = {}, GPTD(Gaussian(scale=3.0, variance=100.0), noise=float(walk_moments()[1][0]), gamma=WALK.gamma)
    for n, steps in enumerate(episodes, 1):
        belief = belief.update_many(steps)
        if n in COUNTS:
            made[n] = belief
    return made


def bands() -> str:
    """Draw them, and count how often the central 95% hold a true value."""
    true = walk_moments()[0]
    drawn = {f"{n} episode{'s' * (n > 1)}": b for n, b in walk_beliefs(walk_episodes(0)).items()}
    plot_bands(drawn, STATES, IMAGES / "values-bands.png", true)
    held, errors = dict.fromkeys(COUNTS, 0), {n: [] for n in COUNTS}
    for i in range(REPETITIONS):
        for n, belief in walk_beliefs(walk_episodes(i)).items():
            low, high = belief.quantile(0.025, STATES), belief.quantile(0.975, STATES)
            held[n] += int(np.sum((low <= true) & (true <= high)))
            errors[n].append(float(np.mean((belief.mean(STATES) - true) ** 2)))
    lines = ["| episodes | root mean squared error | true values inside the 95% band |", "|---|---|---|"]
    for n in COUNTS:
        share = 100.0 * held[n] / (REPETITIONS * len(STATES))
        lines.append(f"| {n} | {np.sqrt(np.mean(errors[n])):.2f} | {share:.0f}% |")
    return "\n".join(lines)


def weights() -> str:
    """Draw the weights of four covariances over time, and say how they end in ten runs."""
    ends = []
    for i in range(10):
        belief = KernelSelection(list(CANDIDATES.values()), noise=float(walk_moments()[1][0]), gamma=WALK.gamma)
        history = [belief.weights]
        for step in (step for steps in walk_episodes(i) for step in steps):
            belief = belief.update(step)
            history.append(belief.weights)
        if i == 0:
            plot_weights(history[:101], IMAGES / "values-weights.png", list(CANDIDATES))
        ends.append([history[n] for n in (10, 100)])
    mean = np.mean(ends, axis=0)
    lines = ["| transitions | " + " | ".join(CANDIDATES) + " |", "|---|" + "---|" * len(CANDIDATES)]
    lines += [f"| {n} | " + " | ".join(f"{w:.2f}" for w in row) + " |" for n, row in zip((10, 100), mean, strict=True)]
    return "\n".join(lines)


# The mountain car ----------------------------------------------------------------------------------------------------


def car_episode(rng: Generator, state: Floats | None = None) -> list[Transition]:
    """Push in the direction of the movement until the goal is reached."""
    (s, seen), made = CAR.reset(rng), []
    if state is not None:
        s, seen = state, CAR.observe(state)
    while not made or not made[-1].ends_episode:
        a = 2 if seen[1] >= 0.5 else 0
        after = CAR.step(s, a, rng)
        cut = len(made) + 1 == CAR.horizon and not after.terminated
        made.append(Transition(seen, a, after.reward, after.observation, after.terminated, cut))
        s, seen = after.state, after.observation
    return made


def car_value(seen: Floats) -> float:
    """The true value of that rule."""
    steps = len(car_episode(default_rng(0), LOW + seen * (HIGH - LOW)))
    return -(1.0 - CAR.gamma**steps) / (1.0 - CAR.gamma)


def surface() -> str:
    """Draw the values of the rule after twenty episodes, and say how good they are."""
    rng, n = default_rng(1), 0
    belief = SparseGPTD(Gaussian(scale=0.15, variance=1000.0), noise=1.0, gamma=0.99, threshold=10.0, residuals="white")
    for _ in range(20):
        steps = car_episode(rng)
        belief, n = belief.update_many(steps), n + len(steps)
    names = ("position (scaled)", "velocity (scaled)")
    plot_surface(belief, CAR.observations, IMAGES / "values-surface.png", names)
    at = default_rng(5).random((500, 2))
    gap, sd = np.abs(belief.mean(at) - [car_value(x) for x in at]), np.sqrt(belief.variance(at))
    near = sd < 5.0
    held = gap < 1.96 * sd
    lines = ["| states | share | mean absolute error | true values inside the 95% band |", "|---|---|---|---|"]
    for said, there in (("standard deviation below 5", near), ("the others", ~near)):
        cells = f"{100 * there.mean():.0f}% | {gap[there].mean():.1f} | {100 * held[there].mean():.0f}%"
        lines.append(f"| {said} | {cells} |")
    told = f"{n} transitions of 20 episodes, {len(belief.dictionary)} states in the dictionary; 500 random states:"
    return "\n".join([told, "", *lines])


def main() -> None:
    """Make the pictures, and put the numbers between their marks."""
    text = read_text(PAGE)
    for name, made in (("surface", surface()), ("bands", bands()), ("weights", weights())):
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        assert found, f"the page has no mark {begin}"
        text = f"{before}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    write_text(PAGE, text)


if __name__ == "__main__":
    main()
