"""Planted bugs of bayesrl.continuous.continuous_forward_search."""

MODULE = "bayesrl.continuous.continuous_forward_search"
PLANTED = {
    "a search that does not learn": (
        "new = belief.update(Transition(observation, a, float(rewards[k]), z), rng)",
        "new = belief",
        ["tests/continuous/test_continuous_forward_search.py::test_the_compiled_tree_is_the_plain_one"],
    ),
    "a search that learns from where it was": (
        "new = belief.update(Transition(observation, a, float(rewards[k]), z), rng)",
        "new = belief.update(Transition(observation, a, float(rewards[k]), observation), rng)",
        ["tests/continuous/test_continuous_forward_search.py::test_three_decisions_are_quadrature"],
    ),
    "fresh random numbers for each action": (
        "default_rng(int(t.seeds[level][node]))",
        "default_rng([k, int(t.seeds[level][node])])",
        ["tests/continuous/test_continuous_forward_search.py::test_the_same_random_numbers_serve_all_actions"],
    ),
    "the same random numbers at all nodes of a level": (
        "node * t.width + i)",
        "0)",
        ["tests/continuous/test_continuous_forward_search.py::test_the_compiled_tree_is_the_plain_one"],
    ),
    "one level without discount": (
        "rewards[k] + t.gamma * after.mean()",
        "rewards[k] + (t.gamma if level > 0 else 1.0) * after.mean()",
        ["tests/continuous/test_continuous_forward_search.py::test_every_level_and_the_leaf_are_discounted"],
    ),
    "the leaf is not discounted": (
        "after = t.leaves(drawn)",
        "after = t.leaves(drawn) / t.gamma",
        ["tests/continuous/test_continuous_forward_search.py::test_every_level_and_the_leaf_are_discounted"],
    ),
    "the leaf of the compiled tree is not discounted": (
        "else t.leaves(levels[-1])",
        "else t.leaves(levels[-1]) / t.gamma",
        ["tests/continuous/test_continuous_forward_search.py::test_the_compiled_tree_is_the_plain_one"],
    ),
    "the compiled tree without discount": (
        "here += t.gamma * after",
        "here += after",
        ["tests/continuous/test_continuous_forward_search.py::test_three_decisions_on_a_process_are_quadrature"],
    ),
    "one decision too few": (
        "    if level == t.depth - 1 and t.leaf is None:\n",
        "    if level >= t.depth - 2 and t.leaf is None:\n",
        ["tests/continuous/test_continuous_forward_search.py::test_every_level_and_the_leaf_are_discounted"],
    ),
    "the maximum of the average": (
        "after = np.max([belief.expected_rewards(drawn, b) for b in t.actions], axis=0)",
        "after = np.max([np.full(t.width, belief.expected_rewards(drawn, b).mean()) for b in t.actions], axis=0)",
        ["tests/continuous/test_continuous_forward_search.py::test_the_maximum_is_inside_the_mean"],
    ),
    "the largest draw instead of the mean": (
        "after.mean()",
        "after.max()",
        ["tests/continuous/test_continuous_forward_search.py::test_three_decisions_are_quadrature"],
    ),
    "particles are not thinned": (
        "belief.thinned(self.inner, rng) if offers(belief, Thins) else belief",
        "belief",
        ["tests/continuous/test_continuous_forward_search.py::test_particles_are_thinned_inside_the_tree"],
    ),
    "the first decision is valued with few particles": (
        "np.array([belief.expected_reward(observation, a) for a in A])",
        "np.array([(belief.thinned(self.inner, rng) if offers(belief, Thins) else belief).expected_reward(observation, a) for a in A])",
        ["tests/continuous/test_continuous_forward_search.py::test_particles_are_thinned_inside_the_tree"],
    ),
    "nodes of a level share their seeds": (
        "level + 1, node * t.width + i)",
        "level + 1, i)",
        ["tests/continuous/test_continuous_forward_search.py::test_each_node_draws_for_itself"],
    ),
}
