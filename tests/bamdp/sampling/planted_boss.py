"""Planted bugs of bayesrl.bamdp.sampling.boss."""

MODULE = "bayesrl.bamdp.sampling.boss"
PLANTED = {
    "BOSS redraws one visit late": (
        "== self._knownness(belief)",
        "== self._knownness(belief) + 1",
        ["tests/bamdp/sampling/test_boss.py::test_boss_equals_its_transcription[tied]"],
    ),
    "BOSS redraws at every visit beyond B": (
        "== self._knownness(belief)",
        ">= self._knownness(belief)",
        ["tests/bamdp/sampling/test_boss.py::test_boss_equals_its_transcription[tied]"],
    ),
    "BOSS looks nowhere": (
        's = state_in("BOSS", belief, observation)',
        "s = observation",
        ["tests/bamdp/test_planners.py::test_what_is_no_state_is_refused[boss]"],
    ),
}
