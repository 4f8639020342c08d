"""The lab: compare methods over replicates, save the results, and report them with intervals.

compare(agents, world, steps, runs)   many runs of several methods              compare.py
Comparison                            their records                             comparison.py
experiment, agent_for, prior_for      methods, worlds and priors by name        experiment.py, build.py, priors.py
mean_interval, paired_difference, ... confidence intervals                      bayesrl/statistics.py
regret                                regret against the optimum                measures/regret.py
lookup, judge, reproduce              published figures and our scores          literature/
comparison_table                      tables for the terminal                   report.py
explain                               the reasons for an action                 explain.py
assess                                policies on common drawn models           risk.py
infer                                 rewards from demonstrations               inverse.py
curves, plot_posteriors, plot_policy  plots of runs, beliefs about arms, maps   plots/
plot_values, plot_frontier            plots of risk                             plots/risk.py
plot_reward_map, plot_chain           plots of inverse reinforcement learning   plots/inverse.py
plot_co_assignment, plot_task_curves  plots of clusters and of transfer         plots/tasks.py
plot_bound                            bounds against data, with the error       plots/pacbayes.py
plot_surface, plot_bands, ...         plots of values and of gradients          plots/values.py, plots/gradients.py

`dir(bayesrl.lab)` lists all names.
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.statistics import Interval, independent_difference, mean_band, mean_interval, paired_difference

if TYPE_CHECKING:
    from bayesrl.lab import build as build
    from bayesrl.lab import inverse as inverse
    from bayesrl.lab import literature as literature
    from bayesrl.lab import measures as measures
    from bayesrl.lab import plots as plots
    from bayesrl.lab import priors as priors
    from bayesrl.lab import risk as risk
    from bayesrl.lab.build import agent_for as agent_for
    from bayesrl.lab.build import world_for as world_for
    from bayesrl.lab.compare import compare as compare
    from bayesrl.lab.comparison import Comparison as Comparison
    from bayesrl.lab.comparison import Summary as Summary
    from bayesrl.lab.experiment import Experiment as Experiment
    from bayesrl.lab.experiment import experiment as experiment
    from bayesrl.lab.explain import Explanation as Explanation
    from bayesrl.lab.explain import explain as explain
    from bayesrl.lab.inverse import Inference as Inference
    from bayesrl.lab.inverse import infer as infer
    from bayesrl.lab.literature.figures import Figure as Figure
    from bayesrl.lab.literature.figures import lookup as lookup
    from bayesrl.lab.literature.judgement import judge as judge
    from bayesrl.lab.literature.scores import Score as Score
    from bayesrl.lab.literature.scores import reproduce as reproduce
    from bayesrl.lab.measures.regret import Regret as Regret
    from bayesrl.lab.measures.regret import optimal_totals as optimal_totals
    from bayesrl.lab.measures.regret import regret as regret
    from bayesrl.lab.measures.regret import regrets as regrets
    from bayesrl.lab.plots.box_bandit import plot_box_bandit as plot_box_bandit
    from bayesrl.lab.plots.control import plot_control as plot_control
    from bayesrl.lab.plots.curves import curves as curves
    from bayesrl.lab.plots.explanation import plot_explanation as plot_explanation
    from bayesrl.lab.plots.explanation import plot_policy as plot_policy
    from bayesrl.lab.plots.gradients import plot_errors as plot_errors
    from bayesrl.lab.plots.gradients import plot_gradients as plot_gradients
    from bayesrl.lab.plots.inverse import plot_chain as plot_chain
    from bayesrl.lab.plots.inverse import plot_reward_map as plot_reward_map
    from bayesrl.lab.plots.noise import plot_noise as plot_noise
    from bayesrl.lab.plots.pacbayes import plot_bound as plot_bound
    from bayesrl.lab.plots.paths import plot_paths as plot_paths
    from bayesrl.lab.plots.posteriors import plot_posteriors as plot_posteriors
    from bayesrl.lab.plots.posteriors import plot_regret as plot_regret
    from bayesrl.lab.plots.risk import plot_frontier as plot_frontier
    from bayesrl.lab.plots.risk import plot_values as plot_values
    from bayesrl.lab.plots.tasks import plot_co_assignment as plot_co_assignment
    from bayesrl.lab.plots.tasks import plot_task_curves as plot_task_curves
    from bayesrl.lab.plots.trajectories import plot_trajectory as plot_trajectory
    from bayesrl.lab.plots.values import plot_bands as plot_bands
    from bayesrl.lab.plots.values import plot_surface as plot_surface
    from bayesrl.lab.plots.values import plot_weights as plot_weights
    from bayesrl.lab.priors import prior_for as prior_for
    from bayesrl.lab.report import bounds_table as bounds_table
    from bayesrl.lab.report import comparison_table as comparison_table
    from bayesrl.lab.risk import Assessment as Assessment
    from bayesrl.lab.risk import assess as assess

__all__ = ["Interval", "independent_difference", "mean_band", "mean_interval", "paired_difference"]

export(
    __name__,
    {
        "build": ("agent_for", "world_for"),
        "compare": ("compare",),
        "comparison": ("Comparison", "Summary"),
        "experiment": ("Experiment", "experiment"),
        "explain": ("Explanation", "explain"),
        "inverse": ("Inference", "infer"),
        "literature.figures": ("Figure", "lookup"),
        "literature.judgement": ("judge",),
        "literature.scores": ("Score", "reproduce"),
        "measures.regret": ("Regret", "optimal_totals", "regret", "regrets"),
        "plots.box_bandit": ("plot_box_bandit",),
        "plots.control": ("plot_control",),
        "plots.curves": ("curves",),
        "plots.explanation": ("plot_explanation", "plot_policy"),
        "plots.gradients": ("plot_errors", "plot_gradients"),
        "plots.inverse": ("plot_chain", "plot_reward_map"),
        "plots.noise": ("plot_noise",),
        "plots.pacbayes": ("plot_bound",),
        "plots.paths": ("plot_paths",),
        "plots.posteriors": ("plot_posteriors", "plot_regret"),
        "plots.risk": ("plot_frontier", "plot_values"),
        "plots.tasks": ("plot_co_assignment", "plot_task_curves"),
        "plots.trajectories": ("plot_trajectory",),
        "plots.values": ("plot_bands", "plot_surface", "plot_weights"),
        "priors": ("prior_for",),
        "report": ("bounds_table", "comparison_table"),
        "risk": ("Assessment", "assess"),
    },
    modules=("build", "inverse", "literature", "measures", "plots", "priors", "risk"),
)
