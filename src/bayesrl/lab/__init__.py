"""The lab: compare methods over replicates, save the results, and report them with intervals.

compare(agents, world, steps, runs)   many runs of several methods              compare.py
Comparison                            their records                             comparison.py
experiment, agent_for, prior_for      methods, worlds and priors by name        experiment.py, build.py, priors.py
mean_interval, ...                    confidence intervals                      statistics.py
regret                                regret against the optimum                measures/regret.py
lookup, judge, reproduce              published figures and our scores          literature/
comparison_table                      tables for the terminal                   report.py
curves, plot_posteriors, plot_policy  plots                                     plots/
plot_values, plot_frontier            plots of risk                             plots/risk.py
plot_reward_map, plot_chain           plots of inverse reinforcement learning   plots/inverse.py
plot_co_assignment, plot_task_curves  plots of clusters and of transfer         plots/tasks.py
plot_bound                            bounds against data, with the error       plots/pacbayes.py
assess                                policies on common drawn models           risk.py
plot_surface, plot_bands, ...         plots of values and of gradients          plots/values.py, plots/gradients.py
explain                               why a method takes an action              explain.py
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.lab.plots.explanation import plot_policy as plot_policy
    from bayesrl.lab.plots.inverse import plot_chain as plot_chain
    from bayesrl.lab.plots.inverse import plot_reward_map as plot_reward_map
    from bayesrl.lab.plots.pacbayes import plot_bound as plot_bound
    from bayesrl.lab.plots.risk import plot_frontier as plot_frontier
    from bayesrl.lab.plots.risk import plot_values as plot_values
    from bayesrl.lab.plots.tasks import plot_co_assignment as plot_co_assignment
    from bayesrl.lab.plots.tasks import plot_task_curves as plot_task_curves
    from bayesrl.lab.risk import Assessment as Assessment
    from bayesrl.lab.risk import assess as assess

export(
    __name__,
    {
        "plots.explanation": ("plot_policy",),
        "plots.inverse": ("plot_chain", "plot_reward_map"),
        "plots.pacbayes": ("plot_bound",),
        "plots.risk": ("plot_frontier", "plot_values"),
        "plots.tasks": ("plot_co_assignment", "plot_task_curves"),
        "risk": ("Assessment", "assess"),
    },
)
