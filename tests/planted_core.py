"""Planted bugs of bayesrl.core."""

MODULE = "bayesrl.core"
PLANTED = {
    "families are drawn by the world's stream": (
        "world.draw(streams.draw)",
        "world.draw(streams.world)",
        ["tests/test_randomness.py::test_worlds_use_their_stream_alone[gc]"],
    ),
    "learning uses the stream of the planner": (
        "agent.learn(mind, transition, learning_rng)",
        "agent.learn(mind, transition, planner_rng)",
        ["tests/test_randomness.py::test_worlds_use_their_stream_alone[chain]"],
    ),
    "a new episode uses the stream of the planner": (
        "after, new = _first(world, world_rng)",
        "after, new = _first(world, planner_rng)",
        ["tests/test_randomness.py::test_worlds_use_their_stream_alone[chain]"],
    ),
    "two streams are one": (
        "map(default_rng, SeedSequence(seed, spawn_key=key).spawn(4))",
        "map(default_rng, 2 * SeedSequence(seed, spawn_key=key).spawn(2))",
        ["tests/test_randomness.py::test_the_streams_of_a_run_differ"],
    ),
    "planner and world share a stream": (
        "agent.act(mind, seen, planner_rng)",
        "agent.act(mind, seen, streams.world)",
        ["tests/test_core.py"],
    ),
    "an episode is cut one step late": (
        "truncated = age == horizon",
        "truncated = age > horizon",
        ["tests/test_core.py"],
    ),
    "a hidden state survives its episode": (
        "            belief = belief.restart()\n",
        "            pass\n",
        ["tests/test_core.py"],
    ),
    "an end keeps the age": (
        "            age = task = 0\n",
        "            age, task = age if terminated else 0, 0\n",
        ["tests/test_core.py::test_the_age_of_an_episode_starts_anew_after_an_end"],
    ),
}
