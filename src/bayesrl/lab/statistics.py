"""Means with confidence intervals, as the lab uses them: see `bayesrl.statistics`."""

from bayesrl.statistics import Interval, independent_difference, mean_band, mean_interval, paired_difference

__all__ = ["Interval", "independent_difference", "mean_band", "mean_interval", "paired_difference"]
