"""Planted bugs of bayesrl.bapomdp.policy_prior_search."""

MODULE = "bayesrl.bapomdp.policy_prior_search"
PLANTED = {
    "the action now without the discount": (
        "r[:, None] + np.tensordot(",
        "r[:, None] + 1.0 / pomdp.gamma * np.tensordot(",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_values_of_controllers"],
    ),
    "the policy now, not the action": (
        'np.einsum("s,n,sna->a", pomdp.start, node, Q)',
        'np.einsum("s,n,sna,nb->b", pomdp.start, node, Q, pi)',
        ["tests/beliefs/pomdp/test_policy_prior.py::test_values_of_controllers"],
    ),
    "values that do not end": (
        "np.where(pomdp.terminal, 0.0, P)",
        "P",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_values_without_a_discount"],
    ),
    "a controller that stays at its node": (
        '"say,yao,nom->snaym", P, O, eta',
        '"say,yao,nm->snaym", P, O, np.eye(N)',
        ["tests/beliefs/pomdp/test_policy_prior.py::test_values_of_controllers"],
    ),
    "a node that observations do not move": (
        "chain.model.before[:, 0, step.action]) @ chain.model.moves[:, step.next_observation]",
        "chain.model.before[:, 0, step.action])",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_nodes_follow_an_episode"],
    ),
    "a node that ignores what was done": (
        "(now * chain.model.before[:, 0, step.action])",
        "now",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_nodes_follow_an_episode"],
    ),
    "an episode that ends in the memory": (
        "() if last.ends_episode else (*memory, last)",
        "(*memory, last)",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_the_search_weighs_pairs"],
    ),
    "the last step forgotten": (
        "() if last.ends_episode else (*memory, last)",
        "() if last.ends_episode else memory",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_the_search_weighs_pairs"],
    ),
    "pairs of equal weight": (
        "np.inf if self.temperature is None else self.temperature",
        "np.inf",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_the_search_weighs_pairs"],
    ),
    "values of new episodes": (
        "[node_now(chain, memory) for",
        "[node_now(chain, ()) for",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_the_search_weighs_pairs"],
    ),
    "the worst action": (
        "first_best(total",
        "first_best(-total",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_the_search_weighs_pairs"],
    ),
}
