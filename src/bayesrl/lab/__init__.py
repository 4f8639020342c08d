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
plot_taxonomy, plot_transitions       plots of the registry, of a small world   plots/taxonomy.py, plots/transitions.py
plot_surface, plot_bands, ...         plots of values and of gradients          plots/values.py, plots/gradients.py

`dir(bayesrl.lab)` lists all names.
"""

from bayesrl._lazy import export

export(__name__)
