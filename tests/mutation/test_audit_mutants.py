"""Bugs that an audit planted and the suite let through; each is now caught by an oracle or a law, not by a trace."""

import pytest

LAWS = "tests/beliefs/test_laws.py::test_belief_laws"
BQL, BAMCP = "tests/bamdp/test_bayesian_q_learning.py::", "tests/bamdp/test_bamcp.py::"
FINITE, RANDOMNESS, COMPARE = (
    "tests/models/test_finite_horizon.py::",
    "tests/test_randomness.py::",
    "tests/lab/test_compare.py::",
)

MUTANTS = {
    # name: (module, old, new, tests)
    "draws of a mean ignore how much is behind it": (
        "bayesrl.beliefs._normal_gamma", "np.sqrt(cells.strength * tau)", "np.sqrt(tau)",
        [BQL + "test_visits_narrow_what_is_drawn"]),
    "draws of a mean ignore how much is behind it, in a belief about rewards": (
        "bayesrl.beliefs._normal_gamma", "np.sqrt(cells.strength * tau)", "np.sqrt(tau)", [LAWS + "[reward-normal]"]),
    "the variance stands for the deviation of log-odds": (
        "bayesrl.beliefs.arms.logistic_arms", "np.sqrt(apply(X * X, 1.0 / self.precision))",
        "apply(X * X, 1.0 / self.precision)", [LAWS + "[logistic-arms]"]),
    "the variance stands for the deviation of correlated log-odds": (
        "bayesrl.beliefs.arms.logistic_laplace_arms", "np.sqrt(np.sum((X @ self.root) ** 2, axis=-1))",
        "np.sum((X @ self.root) ** 2, axis=-1)", [LAWS + "[logistic-laplace-arms]"]),
    "half the degrees of freedom in draws": (
        "bayesrl.beliefs.arms.normal_gamma_arm", "standard_t(2.0 * self.shape)", "standard_t(self.shape)",
        [LAWS + "[normal-gamma-arm]"]),
    "half the degrees of freedom in quantiles": (
        "bayesrl.beliefs.arms.normal_gamma_arm", "special.stdtrit(2.0 * self.shape, p)",
        "special.stdtrit(self.shape, p)", [LAWS + "[normal-gamma-arm]"]),
    "the prior's counts of a sparse row are left out": (
        "bayesrl.beliefs.tabular.sparse_dirichlet", "x.expected(lambda k, N: N + a * k)", "x.N",
        [LAWS + "[sparse-dirichlet]"]),
    "a sparse row counts every conceivable outcome": (
        "bayesrl.beliefs.tabular.sparse_dirichlet", "x.expected(lambda k, N: N + a * k)", "x.N + a * x.size",
        [LAWS + "[sparse-dirichlet]"]),
    "the last policy comes first": (
        "bayesrl.models.solvers._finite_horizon", "policy[horizon - 1 - n] =", "policy[n] =",
        [FINITE + "test_the_policy_changes_as_the_end_comes_near"]),
    "the kept tree is that of another outcome": (
        "bayesrl.kernels.search.history_tree", "code * tree.N.shape[1] + action", "code + action * tree.N.shape[1]",
        [BAMCP + "test_the_kept_tree_is_the_part_below_what_happened"]),
    "the kept tree is that of another action": (
        "bayesrl.bamdp.search.bamcp", "belief.code(last), last.action)", "belief.code(last), 1 - last.action)",
        [BAMCP + "test_the_kept_tree_is_the_part_below_what_happened"]),
    "means in lockstep are drawn once for all": (
        "bayesrl.beliefs.arms.normal_arm", "standard_normal(self.mean_.shape)", "standard_normal(self.mean_.shape[-1:])",
        [LAWS + "[normal-arm]"]),
    "the count of a reward cell leaves out the prior": (
        "bayesrl.beliefs.tabular.reward_normal", "return self.strength\n", "return self.strength - 1.0\n",
        [LAWS + "[reward-normal]"]),
    "every episode of a Gymnasium world has the same seed": (
        "bayesrl.adapters.gymnasium", 'seed=int(generator("GymWorld", rng).integers(2**31))', "seed=0",
        [RANDOMNESS + "test_each_episode_of_a_gymnasium_world_has_a_seed_of_its_own"]),
    "every episode of a slippery lake is the same": (
        "bayesrl.adapters.gymnasium", 'seed=int(generator("GymWorld", rng).integers(2**31))', "seed=0",
        [RANDOMNESS + "test_episodes_of_gymnasium_worlds[FrozenLake-v1-True]"]),
    "an exported world starts its luck anew in every episode": (
        "bayesrl.adapters.gymnasium", "super().reset(seed=seed)", "super().reset(seed=seed or 7)",
        [RANDOMNESS + "test_episodes_of_exported_worlds[grid5]"]),
    "a bandit has a stream of its own": (
        "bayesrl.worlds.bandits.bernoulli", "return PAID if rng.random() < p", "return PAID if np.random.default_rng(0).random() < p",
        [RANDOMNESS + "test_episodes_differ_where_the_world_is_random[online-shop]"]),
    "families are drawn by the world's stream": (
        "bayesrl.core", "world.draw(streams.draw)", "world.draw(streams.world)",
        [RANDOMNESS + "test_worlds_use_their_stream_alone[gc]"]),
    "learning uses the stream of thought": (
        "bayesrl.core", "agent.learn(mind, transition, learning)", "agent.learn(mind, transition, thought)",
        [RANDOMNESS + "test_worlds_use_their_stream_alone[chain]"]),
    "a new episode uses the stream of thought": (
        "bayesrl.core", "after, new = _first(world, luck)", "after, new = _first(world, thought)",
        [RANDOMNESS + "test_worlds_use_their_stream_alone[chain]"]),
    "two streams are one": (
        "bayesrl.core", "map(default_rng, SeedSequence(seed, spawn_key=key).spawn(4))",
        "map(default_rng, 2 * SeedSequence(seed, spawn_key=key).spawn(2))",
        [RANDOMNESS + "test_the_streams_of_a_run_differ"]),
    "a planner draws from numpy's own generator": (
        "bayesrl.bamdp.baselines.random", "rng.random() * A", "np.random.random() * A",
        [RANDOMNESS + "test_methods_use_their_streams_alone[random]"]),
    "nothing is cancelled after a failure": (
        "bayesrl.lab._pool", "pool.shutdown(cancel_futures=True)", "pool.shutdown()",
        [COMPARE + "test_the_rest_is_cancelled_after_a_failure"]),
    "a chunk may take all the time": (
        "bayesrl.kernels.search.uct_on_histories", "0.1 * seconds / lap", "10.0 * seconds / lap",
        [BAMCP + "test_the_time_is_used_and_not_exceeded"]),
    "compiling counts as searching": (
        "bayesrl.kernels.search.uct_on_histories", "    if perf_counter() - began > seconds + COMPILING:\n        began = perf_counter()\n",
        "", [BAMCP + "test_the_time_is_used_and_not_exceeded"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
