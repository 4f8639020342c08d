"""Laws that every belief, planner, agent and world must obey, with stated false-alarm rates."""

from bayesrl.testing.laws import (
    check_agent,
    check_belief,
    check_cache,
    check_hidden_world,
    check_kept_answers,
    check_needs,
    check_planner,
    check_point_belief,
    check_world,
)
from bayesrl.testing.moments import check_moments
from bayesrl.testing.probes import Probe, probe_for
from bayesrl.testing.randomness import check_episodes, check_streams
from bayesrl.testing.statistics import (
    assert_chain_mean,
    assert_frequencies,
    assert_mean_equal,
    assert_quantiles,
    assert_uniform_ranks,
)

__all__ = [
    "Probe", "assert_chain_mean", "assert_frequencies", "assert_mean_equal", "assert_quantiles", "assert_uniform_ranks",
    "check_agent",
    "check_belief", "check_cache", "check_episodes", "check_hidden_world", "check_kept_answers", "check_moments",
    "check_needs", "check_planner", "check_point_belief", "check_streams", "check_world", "probe_for",
]  # fmt: skip
