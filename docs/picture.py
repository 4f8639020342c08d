"""Draw docs/images/chain.png, the first picture of the README: `python docs/picture.py` (some minutes)."""

from __future__ import annotations

from pathlib import Path

from bayesrl.lab.experiment import experiment
from bayesrl.lab.plots.curves import curves
from bayesrl.models.solve import optimal_total
from bayesrl.registry import make_world

METHODS = ("beb:beta=3", "exploit:ties=first", "bayesian-dp", "exploit:ties=random", "q-learning", "random")
WORLD = "chain:gamma=0.99"


def main() -> None:
    """Run the methods, draw the curves, print final returns."""
    done = experiment(METHODS, WORLD, runs=100, workers=2, backend="processes")
    optimum = optimal_total(make_world("chain", gamma=0.99), 1000)
    path = Path(__file__).parent / "images" / "chain.png"
    curves(done.comparison, path, references={"optimum": round(optimum, 2)}, title="The chain")
    for label, summary in done.comparison.summary().items():
        print(label, summary.total)


if __name__ == "__main__":
    main()
