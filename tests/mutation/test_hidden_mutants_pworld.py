"""Planted bugs in worlds with hidden states, their laws, priors and files; see test_mutants.py."""

import pytest

HERE = "tests/worlds/test_pomdp_worlds.py::"
FILES = "tests/models/test_pomdp_file.py::"
CLI = "tests/cli/test_hidden.py::"
LAWS = HERE + "test_hidden_world_laws"
HIDDEN, POMDPS = "bayesrl.worlds.hidden", "bayesrl.worlds.pomdps."

MUTANTS = {
    # name: (module, old, new, tests)
    "what is seen depends on the old state": (
        HIDDEN, "self.pomdp.sign_prob[signs.group[y, a]]", "self.pomdp.sign_prob[signs.group[s, a]]", [LAWS]),
    "signs of the old state": (
        HIDDEN, "signs.sign[y, a, possible]", "signs.sign[s, a, possible]", [LAWS]),
    "the start is uniform": (
        HIDDEN, "states = np.flatnonzero(self.pomdp.start)\n        return cumulative(self.pomdp.start[states])",
        "states = np.arange(self.n_states)\n        return cumulative(np.full(len(states), 1 / len(states)))", [LAWS]),
    "terminal states are ignored": (
        HIDDEN, "ends = self.pomdp.signs, bool(self.pomdp.terminal[y])", "ends = self.pomdp.signs, False", [LAWS]),
    "the end is that of the old state": (
        HIDDEN, "ends = self.pomdp.signs, bool(self.pomdp.terminal[y])",
        "ends = self.pomdp.signs, bool(self.pomdp.terminal[s])", [LAWS]),
    "the mean reward is paid": (
        HIDDEN, "WorldStep(y, o, self.pomdp.reward(s, a, y, o), ends)",
        "WorldStep(y, o, float(self.pomdp.mean_reward[s, a]), ends)",
        [HERE + "test_a_reward_that_depends_on_what_is_seen"]),
    "one random number for both draws": (
        HIDDEN, "            shown, steps = after[bisect_right(row, rng.random())]\n"
        "            return steps[bisect_right(shown, rng.random())]",
        "            u = rng.random()\n            shown, steps = after[bisect_right(row, u)]\n"
        "            return steps[bisect_right(shown, u)]", [LAWS]),
    "something is seen at a reset": (
        HIDDEN, "states[bisect_right(row, rng.random())]), NOTHING", "states[bisect_right(row, rng.random())]), 0",
        [LAWS]),
    "what is known is counted": (
        HIDDEN, "known = (None if counts is None else ~counts.any(axis=1) for counts in (phi, psi))",
        "known = (None if counts is None else ~counts.any(axis=1) | True for counts in (phi, psi))",
        [HERE + "test_counts_are_of_what_is_unknown"]),
    "listening pays": (
        POMDPS + "tiger", "[[-1.0, paid, 10.0], [-1.0, 10.0, paid]]", "[[1.0, paid, 10.0], [1.0, 10.0, paid]]",
        [HERE + "test_tiger_by_hand", HERE + "test_tiger_values"]),
    "the state is where the treasure is": (
        POMDPS + "tiger", "[[-1.0, paid, 10.0], [-1.0, 10.0, paid]]", "[[-1.0, 10.0, paid], [-1.0, paid, 10.0]]",
        [HERE + "test_tiger_by_hand"]),
    "the tie is of left and left": (
        POMDPS + "tiger", "    sign[1, LISTEN] = 1, 0", "    sign[1, LISTEN] = 0, 1",
        [HERE + "test_tigers_differ_in_what_is_tied"]),
    "a load is lost on the way": (
        POMDPS + "load_unload", "there == n - 1 or (loaded and there > 0)", "there == n - 1",
        [HERE + "test_load_unload_by_hand"]),
    "backing into the station costs": (
        POMDPS + "shuttle", "R[3, 2, 0] = 10.0", "R[3, 2, 0] = -10.0", [HERE + "test_shuttle_by_hand"]),
    "left and right exchanged": (
        POMDPS + "hallway", "EFFECTS = ((0, 0), (3, 3), (1, 1), (2, 2), (2, 0))",
        "EFFECTS = ((0, 0), (3, 1), (1, 3), (2, 2), (2, 0))", [HERE + "test_hallway_follows_the_rule"]),
    "being in the goal pays": (
        POMDPS + "hallway", "R[: 4 * GOAL, :, 4 * GOAL :] = 1.0", "R[4 * GOAL :] = 1.0",
        [HERE + "test_hallway_follows_the_rule"]),
    "a sampled rock stays good": (
        POMDPS + "rock_sample", "s - (is_good << np.maximum(rock, 0)), end)", "s, end)",
        [HERE + "test_rock_sample_follows_the_rule"]),
    "a sample without a rock goes on": (
        POMDPS + "rock_sample", "s - (is_good << np.maximum(rock, 0)), end)", "s - (is_good << np.maximum(rock, 0)), s)",
        [HERE + "test_rock_sample_follows_the_rule"]),
    "every edge is the east edge": (
        POMDPS + "rock_sample", "[FORBIDDEN, LEFT, FORBIDDEN, FORBIDDEN]", "LEFT",
        [HERE + "test_rock_sample_follows_the_rule"]),
    "the robot moves the other way": (
        POMDPS + "follow", "dx + px - rx, dy + py - ry", "dx + px + rx, dy + py + ry", [HERE + "test_follow_by_hand"]),
    "counts follow the next state": (
        POMDPS + "follow", "group[s] = person", "group[s] = 0", [HERE + "test_follow_by_hand"]),
    "neighbours that work do harm": (
        POMDPS + "sysadmin", "failed = np.pad(1 - works,", "failed = np.pad(works,",
        [HERE + "test_sysadmin_by_hand", HERE + "test_values_of_seen_states"]),
    "a reboot is free": (
        POMDPS + "sysadmin", " - (np.arange(A) >= n)[:, None]", "", [HERE + "test_sysadmin_by_hand"]),
    "the customer before the step buys": (
        POMDPS + "_tables", "paid = mean_over_signs(R, seen)", "paid = np.einsum('sayo,sao->say', R, seen)",
        [HERE + "test_values_of_seen_states"]),
    "a question about the hidden state": (
        "bayesrl.lab.explain", '    if state is not None and is_hidden(place):\n', "    if False:\n",
        [CLI + "test_a_hidden_state_is_not_chosen"]),
    "the states of an explanation are predictions": (
        "bayesrl.lab.explain", "dict(zip(names, belief.states().tolist()", "dict(zip(names, belief.predictive(0).tolist()",
        [CLI + "test_a_belief_is_explained"]),
    "the discount of a file cannot be changed": (
        HIDDEN, "        if gamma is not None:\n            pomdp = replace", "        if gamma is None:\n            pomdp = replace",
        [CLI + "test_a_file_is_a_world"]),
    "the bound forgets the prior's totals": (
        "bayesrl.beliefs.hidden.bapomdp_bounded", "largest + MORE if bound is None", "float(MORE) if bound is None",
        ["tests/lab/test_priors.py::test_priors_of_worlds_with_hidden_states"]),
    "agents get no counts": (
        "bayesrl.lab.build", 'told["prior"] = world.model_prior()', 'told["prior"] = None',
        [CLI + "test_agents_get_the_counts_of_the_world"]),
    "rollouts are not told what to prefer": (
        "bayesrl.beliefs.hidden.pomdp_filter", "preferred_of(problem)", "None",
        ["tests/lab/test_priors.py::test_the_filter_knows_what_rollouts_prefer"]),
    "Gymnasium counts observations from zero": (
        "bayesrl.adapters.gymnasium", "Discrete(n + 1, start=-1)", "Discrete(n + 1)",
        ["tests/adapters/test_gymnasium.py::test_hidden_states_are_seen_from_minus_one"]),
    "the first statement about a large row wins": (
        "bayesrl.models.pomdp_file", "np.unique(cell[::-1], return_index=True)  # a later statement wins\n"
        "        p = x[i][::-1][last]", "np.unique(cell, return_index=True)\n        p = x[i][last]",
        [FILES + "test_large_tables_are_kept_as_lists"]),
    "rounded rows of a large file are not divided": (
        "bayesrl.models.pomdp_file", "p = p / np.where(rounded, total, 1.0).ravel()[cell // S]", "pass",
        [FILES + "test_large_tables_are_kept_as_lists"]),
    "tied outcomes of a written row are not added up": (
        "bayesrl.models.pomdp_file", "    rows.sum_duplicates()\n", "    rows.data = np.minimum(rows.data, 0.4)\n",
        [FILES + "test_tied_outcomes_are_written_once"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
