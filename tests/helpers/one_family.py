"""One false-alarm rate for everything that compares measured regret with theory or with reference figures.

A correct library fails at least one of the comparisons below with probability RATE at most, shared equally among them
(Bonferroni). A comparison that fails is not rerun with another seed.
"""

from scipy import stats

RATE = 1e-3
COMPARISONS = {
    "reference figures": 3,  # test_regret: Thompson, Bayes-UCB, UCB1
    "lockstep and single runs": 1,  # test_regret
    "slope and Lai and Robbins's constant": 2,  # test_regret: either end of the band
    "no less than the optimum": 14,  # test_regret: seven planners, reward and suboptimal choices
    "stochastic regret within twice the optimum": 1,  # test_regret
    "below Russo and Van Roy's bound": 3,  # test_bounds: three families
    "the value that the tree says": 2,  # test_bayes_optimal: the optimum, Thompson
    "information-directed, not Thompson's": 2,  # test_information_directed: both forms
}
SHARE = RATE / sum(COMPARISONS.values())
Z = float(stats.norm.isf(SHARE / 2.0))
"""Standard errors of a two-sided comparison (4.1)."""
