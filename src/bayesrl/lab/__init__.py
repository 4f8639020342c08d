"""The lab: compare methods over replicates, keep what happened, and say it with intervals.

compare(agents, world, steps, runs)   many runs of several methods      compare.py
Comparison                            what they gave                    comparison.py
save, load                            keep it in a file                 store.py, record.py
mean_interval, ...                    how sure it is                    statistics.py
regret                                what was lost against the best    regret.py
lookup                                what others published             figures.py
reproduce                             ours beside it, world by world    reproduce.py
comparison_table, curves              tables and plots                  report.py
plot_posteriors, plot_regret          what is believed, what is lost    posteriors.py
explain, plot_policy                  why this action, and a map        explain.py
LiveAgent                             an agent in service               live.py
"""
