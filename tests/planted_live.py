"""Planted bugs of bayesrl.live."""

MODULE = "bayesrl.live"
PLANTED = {
    "a warm start uses the stream of the planner": (
        "_call_or_restore(self.streams.learning, learnt)",
        "_call_or_restore(self.streams.planner, learnt)",
        ["tests/test_live.py::test_warm_start_of_beliefs_that_learn_otherwise"],
    ),
    "Ctrl-C leaves a generator where it was": (
        "    except BaseException:\n        rng.bit_generator.state = kept",
        "    except Exception:\n        rng.bit_generator.state = kept",
        ["tests/test_live.py::test_a_failed_call_changes_neither_mind_nor_generators[KeyboardInterrupt]"],
    ),
    "drawn intervals use up the stream of the agent": (
        "            rng = Streams.of(self.seed).draw\n            low, high",
        "            rng = self.streams.draw\n            low, high",
        [
            "tests/test_borders.py::test_questions_neither_change_an_agent_nor_depend_on_those_before[beta-bernoulli-True]"
        ],
    ),
}
