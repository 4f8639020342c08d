"""The self-play table of docs/multiagent.md: python docs/games.py [RUNS]. Two agents, unknown payoffs, 50 rounds."""

import sys

from scipy.stats import binomtest

import bayesrl as b
from bayesrl.multiagent import run_game

WORLDS = {"climbing": ("climbing-game", {}, 11.0)}
WORLDS |= {f"penalty k = {k}": ("penalty-game", {"k": k}, 10.0) for k in (0, -20, -100)}
CHOICES = {
    "greedy": {"choose": "greedy"},
    "lookahead": {"choose": "lookahead", "depth": 2, "leaf": "mean"},
    "vpi": {"choose": "vpi", "samples": 20},
}


def share(hits: int, runs: int) -> str:
    """A share in per cent with its Wilson interval."""
    low, high = binomtest(hits, runs).proportion_ci(method="wilson")
    return f"{100 * hits / runs:.0f} ({100 * low:.0f} to {100 * high:.0f})"


def main(runs: int) -> None:
    """Print how often the last round is the best joint action, and how often it is an equilibrium."""
    print("| game | " + " | ".join(CHOICES) + " |\n|---|" + "---|" * len(CHOICES))
    for label, (name, settings, best) in WORLDS.items():
        world, cells = b.make_world(name, **settings), []
        for chosen in CHOICES.values():
            agent = b.make("bayesian-marl", prior=world.default_prior(), **chosen)
            ends = [run_game([agent, agent], world, steps=50, seed=0, replicate=i)[0] for i in range(runs)]
            hits = sum(bool(one.reward[-1] == best) for one in ends)
            cells.append(f"{share(hits, runs)}, {sum(one.total for one in ends) / runs / 50:.1f}")
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
