"""Planted bugs of bayesrl.value.gpsarsa."""

MODULE = "bayesrl.value.gpsarsa"
PLANTED = {
    "an open pair is closed twice": (
        "return Decision(action, Mind(belief, None, mind.episodes), info)",
        "return Decision(action, Mind(belief.restart(), mind.open, mind.episodes), info)",
        ["tests/value/test_gpsarsa.py::test_pairs_are_the_rows_written_by_hand"],
    ),
    "the next action is chosen after learning": (
        "            return Mind(belief, Open(pair, reward), mind.episodes)",
        "            return Mind(belief.update(Transition(pair, None, reward, pair, True)), None, 0)",
        ["tests/value/test_gpsarsa.py::test_the_next_action_is_chosen_on_the_belief_as_it_stands"],
    ),
    "a discount of 1 is allowed without ends": (
        "self.gamma == 1.0 and not may_end(world)",
        "False",
        ["tests/value/test_refusals.py::test_refused"],
    ),
    "epsilon does not decay": (
        "rng.random() < self.epsilon * decay",
        "rng.random() < self.epsilon",
        ["tests/value/test_gpsarsa.py::test_ways_to_choose"],
    ),
    "optimism takes variances": (
        "self.bonus * np.sqrt(mind.belief.variance(pairs))",
        "-self.bonus * mind.belief.variance(pairs)",
        ["tests/value/test_gpsarsa.py::test_ways_to_choose"],
    ),
    "a step is learned again at each question": (
        "return Decision(action, Mind(belief, None, mind.episodes), info)",
        "return Decision(action, Mind(belief, mind.open, mind.episodes), info)",
        ["tests/test_ends.py::test_asking_again_teaches_nothing[gpsarsa]"],
    ),
}
