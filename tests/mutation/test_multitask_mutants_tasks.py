"""Planted bugs in classes of tasks, their worlds and pictures; see test_mutants.py."""

import pytest

MDPS, LEARNT, LINEAR, WORLDS, PLOTS = (
    "tests/multitask/test_hierarchical_mdp.py::",
    "tests/multitask/test_learnt_concentration.py::",
    "tests/multitask/test_linear_reward_classes.py::",
    "tests/worlds/test_task_worlds.py::",
    "tests/lab/test_task_plots.py::",
)
GIBBS, BELIEF = "bayesrl.multitask._gibbs_of_counts", "bayesrl.multitask.hierarchical_mdp"
RESTAURANT = "bayesrl.beliefs._crp"
REWARDS, MODEL = "bayesrl.multitask._linear_reward_classes", "bayesrl.beliefs._linear_model"
MOVES = "bayesrl.multitask._splits_of_weights"
ENUMERATED = "test_draws_follow_the_enumerated_clusterings"
SPLITS = "test_splits_and_merges_alone_follow_the_enumerated_clusterings"

MUTANTS = {
    # name: (module, old, new, tests)
    "a task is not taken out of its class": (
        GIBBS, "            if z[m] >= 0:\n                move(m, z[m], -1.0, steps, size, N, T)\n", "",
        [MDPS + ENUMERATED]),
    "a new class has weight one": (
        GIBBS, "prior = c[K] if j == new else size[j]", "prior = 1.0 if j == new else size[j]", [MDPS + ENUMERATED]),
    "every class has the same weight": (
        GIBBS, "prior = c[K] if j == new else size[j]", "prior = c[K] if j == new else min(size[j], 1.0)",
        [MDPS + "test_tasks_without_data_follow_the_restaurant"]),
    "the totals of rows are forgotten": (
        GIBBS, "gain += lgamma(steps.total[g] + T[g]) - lgamma(steps.total[g] + T[g] + more)", "gain += 0.0 * more",
        [MDPS + "test_log_evidence_of_one_class_is_that_of_pooled_counts"]),
    "a split is accepted without the probability of its proposal": (
        GIBBS, "log_ratio - log_q if a == b", "log_ratio if a == b", [MDPS + ENUMERATED]),
    "a split forgets the concentration": (
        GIBBS, "log_ratio = 0.0, np.log(c[K if a == b else K - 1])", "log_ratio = 0.0, 0.0", [MDPS + ENUMERATED]),
    "the mean of an unknown concentration given the wrong number of classes": (
        GIBBS, "prior = c[K] if j == new", "prior = c[K - 1] if j == new", [LEARNT + ENUMERATED + "[4]"]),
    "a merge with the unknown concentration of a split": (
        GIBBS, "np.log(c[K if a == b else K - 1])", "np.log(c[K])", [LEARNT + ENUMERATED + "[4]"]),
    "the concentration is not learnt": (
        RESTAURANT, "np.multiply.outer(clusters, np.log(c)) + special", "0.0 * np.multiply.outer(clusters, c) + special",
        [LEARNT + "test_the_weight_of_a_new_class"]),
    "the next task has the concentration of one task fewer": (
        BELIEF, "cluster_counts(z), M + 1)", "cluster_counts(z), M)",
        [LEARNT + "test_unrelated_tasks_make_it_large_and_related_ones_small"]),
    "classes outgrow their arrays": (
        GIBBS, "J += 1\n", "J += 0\n", [MDPS + "test_many_classes"]),
    "a class has the counts of all tasks": (
        BELIEF, "[self.data[m] for m in np.flatnonzero(members)]", "list(self.data)",
        [MDPS + "test_concentration_pools_and_separates"]),
    "the next task is of a known class": (
        BELIEF, "n * x / (M + x)", "n * 0.0 / (M + x)", [MDPS + "test_concentration_pools_and_separates"]),
    "classes of different sizes are as probable for the next task": (
        BELIEF, "(labels == j, (labels == j).sum() / (M + c[i]))", "(labels == j, 1.0 / (M + c[i]))",
        [MDPS + "test_tasks_are_mixtures_over_the_clusterings"]),
    "an update keeps the draws of the posterior before": (
        BELIEF, "labels=frozen(labels), assignments=none)", "labels=frozen(labels), assignments=self.assignments)",
        [MDPS + "test_only_counts_matter"]),
    "all steps are the first task's": (
        BELIEF, 'm = integer("HierarchicalMDP.update", "task", datum.task, 0, MOST_TASKS - 1)', "m = 0",
        [MDPS + "test_tasks_without_data_follow_the_restaurant"]),
    "weights of a task are not taken out of its class": (
        REWARDS, "others = np.where(np.arange(len(z)) == m, -1, z)", "others = z",
        [LINEAR + "test_a_task_moves_by_its_conditional_distribution"]),
    "a split of weights is accepted without the probability of its proposal": (
        MOVES, "log_ratio - log_q if a == b", "log_ratio if a == b", [LINEAR + SPLITS]),
    "a split of weights forgets the sizes of its classes": (
        MOVES, "gammaln(size).sum() - gammaln(size.sum()) + old.sum()", "old.sum()", [LINEAR + SPLITS]),
    "a split of weights has the concentration of one class more": (
        MOVES, "c[K if a == b else K - 1]", "c[K if a == b else K]", [LINEAR + "test_a_learnt_concentration"]),
    "a new class of weights has another number of others": (
        REWARDS, "weight_of_new(self.concentration, len(names), len(z))",
        "weight_of_new(self.concentration, len(names) + 1, len(z))", [LINEAR + "test_a_learnt_concentration"]),
    "the class of a further task ignores its rewards": (
        REWARDS, "+ log_partition(P + precision[M], eta + shift[M]) - log_partition(P, eta)", "", [LINEAR + "test_the_next_task_with_data_of_its_own"]),
    "two kinds of weights stay in one class": (
        REWARDS, "if len(z) > 1:", "if len(z) > 99:",
        [LINEAR + "test_two_kinds_leave_one_class"]),
    "weights of a task forget its own rewards": (
        REWARDS, "return keep @ (phi + C @ b)", "return keep @ (phi + 0.0 * C @ b)", [LINEAR + ENUMERATED + "[4]"]),
    "weights of a class are all equal": (
        MODEL, "np.eye(len(covariance)) + A @ covariance", "np.eye(len(covariance)) + 0.0 * A @ covariance",
        [LINEAR + ENUMERATED + "[4]"]),
    "the noise for its variance": (
        REWARDS, "np.outer(x, x) / self.noise**2", "np.outer(x, x) / self.noise", [LINEAR + ENUMERATED + "[4]"]),
    "a task lasts a step too long": (
        "bayesrl.worlds.tasks._task_sequence", "if age >= self.length:", "if age > self.length:",
        [WORLDS + "test_tasks_take_turns_and_records_say_whose_step_it_was"]),
    "every task of a maze has the weights of its class": (
        "bayesrl.worlds.tasks.coloured_maze", "rng.normal(means[labels], self.class_deviation)", "means[labels]",
        [WORLDS + "test_weights_have_their_law"]),
    "the matrix in its old order": (
        "bayesrl.lab.plots.tasks", "share[np.ix_(order, order)]", "share",
        [PLOTS + "test_the_matrix_is_drawn_in_cluster_order"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
