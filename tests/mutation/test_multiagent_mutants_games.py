"""Planted bugs in games and the beliefs about them; see test_mutants.py."""

import pytest

MARL, GAMES, WORLDS = (f"tests/multiagent/test_{x}.py::" for x in ("bayesian_marl", "stochastic_games", "game_worlds"))
TREE, BELIEFS = "bayesrl.beliefs.games._belief_tree", "bayesrl.beliefs.games."
EXACT, RECURSION = MARL + "test_lookahead_in_exact_arithmetic", GAMES + "test_lookahead_equals_the_recursion"

MUTANTS = {
    # name: (module, old, new, tests)
    "the tree does not learn the other's strategy": (
        TREE, "played[same, j[same] % B] += 1.0", "pass", [EXACT]),
    "the tree does not learn rewards": (
        TREE, "paid[here, j[here], v[here]] += 1.0", "pass", [EXACT]),
    "the tree does not learn transitions": (
        TREE, "moved[here, j[here], y[here]] += 1.0", "pass", [RECURSION]),
    "counts of another state": (
        TREE, "here = np.flatnonzero(where // (C // S) == s)", "here = np.arange(n)", [RECURSION]),
    "the other's counts of another context": (
        TREE, "same: Bools = where == c", "same: Bools = where // (C // S) == s", [RECURSION]),
    "beliefs with different histories are merged": (
        TREE, "np.unique(np.column_stack([after, beyond])", "np.unique(np.column_stack([after * 0, beyond])", [EXACT]),
    "leaves of the prior": (
        TREE, "    if u.moves_learn:\n        np.add.at(moves, (i, s, j, y), 1.0)\n", "", [RECURSION]),
    "lookahead is discounted twice": (
        TREE, "later = u.gamma * v[", "later = u.gamma**2 * v[", [RECURSION]),
    "a payoff is counted for the transposed joint action": (
        BELIEFS + "_repeated_game", "added(getattr(self, name), (a, o))", "added(getattr(self, name), (o, a))",
        [MARL + "test_beliefs_count_what_was_seen"]),
    "a payoff of one is counted as zero": (
        BELIEFS + "_repeated_game", '"alpha" if r == 1.0 else "beta"', '"beta" if r == 1.0 else "alpha"',
        [MARL + "test_beliefs_count_what_was_seen"]),
    "the other's actions depend on the present joint action": (
        BELIEFS + "_dirichlet_game", "(s, self.last + 1, o) if", "(s, a * self.n_others + o + 1, o) if",
        [GAMES + "test_the_last_joint_action_is_forgotten_at_the_end_of_an_episode"]),
    "an episode's last joint action is kept": (
        BELIEFS + "_dirichlet_game", "return unchecked(self, last=-1)", "return self",
        [GAMES + "test_the_last_joint_action_is_forgotten_at_the_end_of_an_episode"]),
    "strategies weigh the games": (
        BELIEFS + "_finite_games", "u = shares(u[n] * self._x[:, s[n], b].T)", "u = u[n]",
        [MARL + "test_finite_games_to_depth_three"]),
    "games of other rewards are not excluded": (
        BELIEFS + "_finite_games", "self._P[:, s, a, o, y] * paid,", "self._P[:, s, a, o, y],",
        [MARL + "test_finite_games_to_depth_three"]),
    "greedy sees the value of information": (
        "bayesrl.multiagent.bayesian_marl", "mind.greedy_q(s) if self.choose", "mind.lookahead_q(s, 2, self.leaf) if self.choose",
        [MARL + "test_known_payoffs_make_the_best_response_optimal"]),
    "the second player's action comes second": (
        "bayesrl.multiagent._play", "((a, b), (b, a))", "((a, b), (a, b))", [MARL + "test_two_players_see_each_other"]),
    "the second player is paid as the first": (
        "bayesrl.multiagent._play", "rules.rewards(1))", "rules.rewards(0))", [MARL + "test_two_players_see_each_other"]),
    "the lower right block of the climbing game": (
        "bayesrl.worlds.games.climbing_game", "[-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]", "[-30.0, 7.0, 0.0], [0.0, 6.0, 5.0]",
        [WORLDS + "test_payoffs"]),
    "a disagreement pays": (
        "bayesrl.worlds.games.two_agent_chain", "R[:, a, a, 0], R[-1, a, a, -1]", "R[:, a, :, 0], R[-1, a, a, -1]",
        [WORLDS + "test_two_agent_chain_by_hand"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
