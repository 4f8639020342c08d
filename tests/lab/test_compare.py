"""Comparisons: what depends on the seed alone, what methods share, what happens when something fails."""

import dataclasses
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from lab_toys import (
    Always,
    Arms,
    Betas,
    Counts,
    Dies,
    DiesOnce,
    DiesSending,
    Draws,
    DrawsTogether,
    Fails,
    Interrupts,
    Noise,
    Says,
    UniformArms,
)

from bayesrl import record as recording
from bayesrl.bamdp import Exploit
from bayesrl.bandits import Thompson
from bayesrl.beliefs import BetaBernoulli, DirichletMDP
from bayesrl.core import BayesAgent, Streams, run
from bayesrl.errors import InvalidArgument, LostWorkers, MissingExtra, OutOfMemory, UnknownName
from bayesrl.io.records import save, to_arrow
from bayesrl.lab._progress import Progress
from bayesrl.lab.compare import BLOCK, compact, compare, memory
from bayesrl.lab.explain import explain
from bayesrl.lab.plots.explanation import plot_explanation, plot_policy
from bayesrl.lab.plots.posteriors import plot_posteriors
from bayesrl.record import Record, as_tuples
from bayesrl.registry import make_world
from bayesrl.statistics import independent_difference, mean_interval, paired_difference

module = sys.modules["bayesrl.lab.compare"]  # `bayesrl.lab.compare` is the function

FIXED = Arms(np.array([0.3, 0.6, 0.5]))
ONE_BY_ONE = BayesAgent(Betas.ones(3), Draws())
TOGETHER = BayesAgent(Betas.ones(3), DrawsTogether())


# The seed alone ------------------------------------------------------------------------------------------------------


def test_same_bytes_whatever_the_workers(tmp_path):
    agents = {"one by one": ONE_BY_ONE, "together": TOGETHER, "always": Always(1)}
    files = {}
    for workers, backend in [(1, "threads"), (2, "threads"), (4, "threads"), (3, "processes")]:
        found = compare(agents, UniformArms(), 20, BLOCK + 5, seed=3, workers=workers, backend=backend)
        save(found, tmp_path / "file")
        files[workers, backend] = (tmp_path / "file").read_bytes()
    assert len(set(files.values())) == 1


def test_kept_columns_are_those_of_the_runs():
    """Replicates that run one by one, and replicates in lockstep; by one worker and by two."""
    world = make_world("chain")
    alone = {"exploit": BayesAgent(DirichletMDP.flat(world), Exploit())}
    one, two = (compare(alone, world, 12, 3, seed=4, workers=n, keep=("state", "q")) for n in (1, 2))
    assert one == two
    for i in range(3):
        record = run(alone["exploit"], world, 12, 4, replicate=i, keep=("state", "q"))
        np.testing.assert_array_equal(one["exploit"].columns["state"][:, i], record.columns["state"])
        np.testing.assert_array_equal(one["exploit"].q[:, i], record.q)
    arms = BayesAgent(BetaBernoulli.uniform(3), Thompson())
    one, two = (compare(arms, FIXED, 5, BLOCK + 2, workers=n, keep=["q"])["Thompson"] for n in (1, 2))
    assert one.q.shape == (5, BLOCK + 2, 3)
    assert one == two
    np.testing.assert_array_equal(one.q.argmax(axis=2), one.action)


def test_kept_columns_that_are_shared_or_of_different_lengths():
    one, two = (compare(Says(), Noise(), 4, 3, workers=n, keep=("dice",))["Says"] for n in (1, 2))
    assert one.dice.shape == (4, 3)
    assert one == two
    assert len({len(entry) for entry in one.dice.flat}) > 1
    together = compare(TOGETHER, FIXED, 4, 3, keep=("who",))["DrawsTogether"]
    assert together.who.tolist() == [[[1, 2]] * 3] * 4


def test_what_cannot_be_kept():
    with pytest.raises(InvalidArgument, match=r"compare: 'keep' must be a tuple of names, such as \("):
        compare(ONE_BY_ONE, FIXED, 4, 3, keep="q")
    with pytest.raises(InvalidArgument, match=r"run: 'keep' must be names of entries .*, got 'q'. There are who\."):
        compare(ONE_BY_ONE, FIXED, 4, 3, keep=("q",))


def test_any_replicate_can_be_reproduced_alone():
    found = compare(ONE_BY_ONE, UniformArms(), 50, 7, seed=5)["Draws"]
    for i in range(7):
        alone = run(ONE_BY_ONE, UniformArms(), 50, 5, replicate=i)
        for name, column in alone.columns.items():
            np.testing.assert_array_equal(found.columns[name][:, i], column)
        assert found.total[i] == alone.total
        assert found.discounted[i] == pytest.approx(alone.discounted, rel=1e-12)


def test_totals_are_the_same_to_the_last_bit_as_alone():
    found = compare(Always(), Noise(), 300, 20)["Always"]
    assert [run(Always(), Noise(), 300, replicate=i).total for i in range(20)] == found.total.tolist()


def test_more_runs_only_add_runs():
    for agent in (ONE_BY_ONE, TOGETHER):
        few, many = (compare({"a": agent}, UniformArms(), 10, n)["a"] for n in (3, BLOCK + 3))
        np.testing.assert_array_equal(few.reward, many.reward[:, :3])
        np.testing.assert_array_equal(few.action, many.action[:, :3])


def test_seeds_differ():
    a, b = (compare(ONE_BY_ONE, UniformArms(), 50, 2, seed=s) for s in (0, 1))
    assert a != b
    assert a == compare(ONE_BY_ONE, UniformArms(), 50, 2, seed=0)


# What methods share --------------------------------------------------------------------------------------------------


def test_methods_share_the_worlds_luck():
    # Rewards of Noise are the world's luck alone: the same for everybody, different in each replicate.
    found = compare({"a": Always(0), "b": Always(1)}, Noise(), 30, 5)
    np.testing.assert_array_equal(found["a"].reward, found["b"].reward)
    assert len(np.unique(found["a"].total)) == 5
    assert found.difference("a", "b")[:3] == (0.0, 0.0, 0.0)


def test_difference_is_paired_where_luck_is_shared_and_welchs_where_it_is_not():
    agents = {"one": ONE_BY_ONE, "arm 0": Always(0), "together": TOGETHER}
    found = compare(agents, UniformArms(), 40, 30)
    assert found.difference("one", "arm 0") == paired_difference(found["one"].total, found["arm 0"].total)
    assert found.difference("one", "together") == independent_difference(found["one"].total, found["together"].total)
    assert found.difference("one", "arm 0", "discounted", 0.5) == paired_difference(
        found["one"].discounted, found["arm 0"].discounted, 0.5
    )
    with pytest.raises(InvalidArgument, match=r"difference: 'of' must be one of total, discounted, got 'regret'\."):
        found.difference("one", "arm 0", "regret")


# Lockstep ------------------------------------------------------------------------------------------------------------


def test_lockstep_blocks_are_runs_of_their_own():
    found = compare({"a": TOGETHER}, UniformArms(), 12, BLOCK + 10, seed=2)["a"]
    assert found.provenance["lockstep"] == BLOCK
    assert found.reward.shape == found.state.shape == found.terminated.shape == (12, BLOCK + 10)
    for k, width in ((0, BLOCK), (1, 10)):
        block = run(TOGETHER, UniformArms(), 12, 2, replicate=k, lockstep=BLOCK)
        part = slice(k * BLOCK, k * BLOCK + width)
        np.testing.assert_array_equal(found.reward[:, part], block.reward[:, :width])
        np.testing.assert_array_equal(found.action[:, part], block.action[:, :width])


def test_lockstep_has_the_law_of_single_runs():
    # Two means of 300 runs each; a 99.99% Welch interval of their difference: false alarm 1e-4. Detects a difference of
    # about 8% of the return, such as replicates that all meet one world (the return's spread over worlds is 20%).
    found = compare({"one": ONE_BY_ONE, "together": TOGETHER}, UniformArms(), 40, 300)
    low, high = found.difference("one", "together", confidence=0.9999)[1:3]
    assert low < 0.0 < high
    spread = [np.std(found[label].total) for label in found.labels]
    assert 0.8 < spread[0] / spread[1] < 1.25  # the ratio's standard deviation is .06


def test_lockstep_needs_all_three_to_agree():
    class Unbatched:
        def reset(self, rng): ...
        def step(self, state, action, rng): ...

    assert module.broadcasts(TOGETHER, UniformArms())
    assert not module.broadcasts(ONE_BY_ONE, UniformArms())
    assert not module.broadcasts(TOGETHER, Unbatched())
    assert not module.broadcasts(Always(), UniformArms())


def test_streams_of_blocks_and_replicates_never_meet():
    keys = [(i, lockstep) for i in range(4) for lockstep in (False, True)]
    firsts = [int(g.integers(2**63)) for key in keys for g in Streams.of(0, *key)]
    assert len(set(firsts)) == 4 * len(keys)


# What it holds -------------------------------------------------------------------------------------------------------


def test_summary_is_by_hand():
    found = compare({"a": Always(1)}, FIXED, 25, 9)
    reward = np.stack([run(Always(1), FIXED, 25, replicate=i).reward for i in range(9)])
    total, discounted, seconds = found.summary()["a"]
    assert total == mean_interval(reward.sum(1))
    by_hand = [sum(0.9**t * row[t] for t in range(25)) for row in reward]
    np.testing.assert_allclose(discounted, mean_interval(by_hand), rtol=1e-12)
    assert seconds > 0.0
    np.testing.assert_array_equal(found.cumulative("a"), reward.cumsum(1).T)
    assert (found.labels, found.steps, found.runs) == (("a",), 25, 9)


def test_frame_has_a_row_for_each_method_and_run():
    found = compare({"a": Always(0), "b": Always(1)}, FIXED, 5, 3)
    frame = found.to_frame()
    assert list(frame.columns) == ["method", "run", "total", "discounted"]
    assert frame["method"].tolist() == ["a"] * 3 + ["b"] * 3
    np.testing.assert_array_equal(frame["total"], np.concatenate([found["a"].total, found["b"].total]))


def test_wall_time_is_no_part_of_identity():
    a, b = (compare(Always(), FIXED, 5, 2) for _ in range(2))
    assert a == b
    assert a.seconds_per_step != {}


def test_whole_numbers_are_kept_small():
    for top, kind in ((127, np.int8), (128, np.int16), (40_000, np.int32), (2**40, np.int64)):
        column = np.array([[0, top], [-1, 5]])
        assert compact(column).dtype == kind
        np.testing.assert_array_equal(compact(column), column)
    assert compact(np.zeros((2, 2))).dtype == np.float64
    assert compare(Always(), FIXED, 5, 2)["Always"].action.dtype == np.int8


def test_observations_may_be_arrays_and_episodes_may_end():
    found = compare(Always(), Noise(), 40, 6, horizon=7)["Always"]
    assert found.state.shape == (40, 6, 2)
    assert found.terminated.any()
    assert found.truncated.any()
    assert found.provenance["horizon"] == 7


def test_labels():
    agents = [ONE_BY_ONE, TOGETHER, BayesAgent(Betas.ones(3), Draws()), Always()]
    assert compare(agents, FIXED, 2, 1).labels == ("Draws", "DrawsTogether", "Draws 2", "Always")
    found = compare(Always(), FIXED, 2, 1)
    assert found.labels == ("Always",)
    with pytest.raises(UnknownName, match=r"no method in this comparison called 'alway'\. Did you mean Always\?"):
        found["alway"]


def test_steps_default_to_the_worlds():
    class Short(Arms):
        steps = 6

    assert compare(Always(), Short(FIXED.means), runs=1).steps == 6


# What can go wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers, backend", [(1, "threads"), (3, "threads"), (2, "processes")])
def test_a_failure_surfaces_as_it_was(workers, backend):
    with pytest.raises(InvalidArgument) as error:
        compare({"good": Always(), "bad": Fails()}, FIXED, 3, 20, workers=workers, backend=backend)
    assert str(error.value) == "Fails: 'thought' must be large, got 0.25. On purpose."


def test_a_worker_that_dies_again_and_again():
    """The error says what was running and has what is finished, bit for bit as without the deaths."""
    with pytest.raises(LostWorkers) as error:
        compare({"good": Always(), "dies": Dies()}, FIXED, 3, 20, workers=2, backend="processes")
    assert re.search(r"killed 3 times while it did runs \d+ to \d+ of dies\. .* \(good \d+, dies 0\)", str(error.value))
    assert {record.provenance["replicate"] for record in error.value.kept["good"]} <= set(range(20))
    for record in error.value.kept["good"]:
        assert record == run(Always(), FIXED, 3, replicate=record.provenance["replicate"])
    assert pickle.loads(pickle.dumps(error.value)).kept == error.value.kept


def test_the_runs_of_a_killed_worker_begin_again(tmp_path, monkeypatch):
    """Two workers are killed in different runs, a third one while it sends; nothing is lost and nothing changes.

    Each job has a cell, and each of its steps is counted once; a job that begins again begins at nothing.
    """
    counts, before = [], Progress.shares
    monkeypatch.setattr(Progress, "shares", lambda self: counts.append(list(self.done)) or before(self))
    (tmp_path / "runs").mkdir()
    agents = {"dies": DiesOnce(folder=str(tmp_path / "runs")), "sends": DiesSending(folder=str(tmp_path))}
    agents["good"] = Always()
    found = compare(agents, FIXED, 3, 20, workers=2, backend="processes", progress=True)
    assert counts[-1] == [4] * 60  # one for the beginning, and three steps
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert (tmp_path / "sending").exists()
    assert found == compare(agents, FIXED, 3, 20)


@pytest.fixture
def cancelled(monkeypatch):
    """An event that happens when a pool has cancelled what it has not begun: tests wait for it, not for a time."""
    event, plain = threading.Event(), ThreadPoolExecutor.shutdown

    def shutdown(self, wait=True, *, cancel_futures=False):
        plain(self, wait=False, cancel_futures=cancel_futures)
        event.set()
        plain(self, wait=wait)

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", shutdown)
    return event


def test_the_rest_is_cancelled_after_a_failure(cancelled):
    counts = Counts(cancelled=cancelled)
    with pytest.raises(InvalidArgument):
        compare({"bad": Fails(), "counts": counts}, FIXED, 3, 500, workers=2)
    # All of bad fails, and jobs are taken in order: at most the jobs that two workers had begun went on.
    assert len(counts.started) < 500
    assert not [t for t in threading.enumerate() if t.name.startswith("bayesrl")]


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, also where the suite runs in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_cleanly(workers, cancelled):
    stop, counts = Interrupts(cancelled=cancelled), Counts(cancelled=cancelled)
    with pytest.raises(KeyboardInterrupt):
        compare({"stop": stop, "counts": counts}, FIXED, 1, 3000, workers=workers)
    assert 100 <= len(stop.started) + len(counts.started) < 6000
    assert not [t for t in threading.enumerate() if t.name.startswith("bayesrl")]


def test_processes_need_what_can_be_pickled():
    class Local(Always):
        pass

    with pytest.raises(InvalidArgument, match=r"compare: 'agents' must be picklable when workers are processes"):
        compare({"a": Local()}, FIXED, 3, 4, workers=2, backend="processes")
    assert compare({"a": Local()}, FIXED, 3, 4, workers=2).runs == 4


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"steps": 0}, "compare: 'steps' must be a whole number of at least 1, got 0."),
        ({"steps": None}, "compare: 'steps' must be a whole number of at least 1, got None."),
        ({"steps": 2.5}, "compare: 'steps' must be a whole number of at least 1, got 2.5."),
        ({"runs": 0}, "compare: 'runs' must be a whole number of at least 1, got 0."),
        ({"runs": True}, "compare: 'runs' must be a whole number of at least 1, got True."),
        ({"seed": -1}, "compare: 'seed' must be a whole number of at least 0, got -1."),
        ({"workers": 0}, "compare: 'workers' must be a whole number of at least 1, got 0."),
        ({"backend": "cluster"}, "compare: 'backend' must be one of threads, processes, got 'cluster'."),
        ({"horizon": 0}, "compare: 'horizon' must be a whole number of at least 1, got 0."),
        ({"agents": {}}, "compare: 'agents' must be at least one agent, got {}."),
        ({"agents": []}, "compare: 'agents' must be at least one agent, got []."),
        (
            {"agents": "beb"},
            "compare: 'agents' must be an agent, a sequence of agents or a mapping from labels to agents, got 'beb'.",
        ),
        (
            {"agents": {"a": 3}},
            "compare: 'agents' must be agents (start, act, learn), got 3. Look at 'a'.",
        ),
        (
            {"world": "chain"},
            "compare: 'world' must be a world (reset, step) or a family of worlds (draw), got 'chain'.",
        ),
    ],
)
def test_bad_input(change, sentence):
    call = {"agents": Always(), "world": FIXED, "steps": 5, "runs": 2} | change
    with pytest.raises(InvalidArgument) as error:
        compare(call.pop("agents"), call.pop("world"), **call)
    assert str(error.value) == sentence


# What is seen --------------------------------------------------------------------------------------------------------


def test_progress_is_on_standard_error_alone(capsys):
    compare({"always": Always()}, FIXED, 5, 3, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "always" in err
    assert "100%" in err
    compare({"always": Always()}, FIXED, 5, 3)  # standard error is no terminal here
    assert capsys.readouterr() == ("", "")


def test_imports_are_light():
    heavy = ("matplotlib", "pandas", "pyarrow", "rich", "scipy.stats", "numba")
    code = f"import sys, bayesrl.lab.compare, bayesrl.io.records; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Scripts and installations -------------------------------------------------------------------------------------------

SCRIPT = """\
import bayesrl as b

world = b.make_world("chain")
agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("exploit"))
{call}
"""
CALL = 'print(b.compare(agent, world, 5, 4, workers=2, backend="processes").runs)'


@pytest.mark.parametrize(
    ("call", "code", "out", "err"),
    [
        (
            f"{CALL.replace('processes', 'threads')}\n{CALL}",
            1,
            "4\n",
            "bayesrl.errors.MissingMainGuard: compare: every worker process runs 'script.py' again, so put what line 6 "
            'does under `if __name__ == "__main__":`, or use backend="threads".',
        ),
        (f'def main():\n    {CALL}\nif __name__ == "__main__":\n    main()', 0, "4\n", ""),
    ],
    ids=["no guard", "guard"],
)
def test_processes_need_a_main_guard(tmp_path, call, code, out, err):
    """Worker processes import the script: without a guard that is refused in one sentence, before anything starts.

    Threads need no guard.
    """
    (tmp_path / "script.py").write_text(SCRIPT.format(call=call))
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, out)
    assert done.stderr.strip().endswith(err)
    assert done.stderr.count("Traceback") == code


@pytest.mark.parametrize("package", ["pandas", "pyarrow", "matplotlib"])
def test_a_missing_extra_is_named(monkeypatch, tmp_path, package):
    found = compare(ONE_BY_ONE, FIXED, 5, 2)
    uses = {
        "pandas": [found.to_frame, found["Draws"].to_frame],
        "pyarrow": [lambda: to_arrow(found)],
        "matplotlib": [
            lambda: found.plot(tmp_path / "a.png"),
            lambda: plot_posteriors(BetaBernoulli.uniform(2), tmp_path / "a.png"),
            lambda: plot_policy(make_world("grid5"), tmp_path / "a.png"),
            lambda: plot_explanation(explain("beb", "chain"), tmp_path / "a.png"),
        ],
    }
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    for use in uses[package]:
        with pytest.raises(
            MissingExtra, match=rf"needs {package}, which is not installed: pip install bayesrl\[lab\]\.$"
        ):
            use()


def test_seconds_per_step_are_the_median_of_the_runs(monkeypatch):
    """Three runs of twenty steps that took 2, 12 and 4 seconds: 4 / 20."""
    took = iter((2.0, 12.0, 4.0))

    def timed(job, watch):
        return [dataclasses.replace(record, seconds=next(took)) for record in work(job, watch)]

    work = module.work
    monkeypatch.setattr(module, "work", timed)
    found = compare({"a": Always(1)}, Arms(np.array([0.2, 0.9])), 20, 3)
    assert found.seconds_per_step == {"a": 0.2}


@pytest.mark.parametrize("steps", [1000, 1])
def test_more_runs_than_memory(steps, monkeypatch):
    monkeypatch.setitem(compare.__globals__, "memory", lambda: 64e9)
    with pytest.raises(OutOfMemory, match=r"compare needs more memory .* for 1000000000 runs .* Use fewer runs"):
        compare(Always(), Arms(np.array([0.3])), steps, runs=10**9)


def test_the_memory_of_this_machine():
    assert 1e8 < memory() < 1e16 or sys.platform != "linux"


class Remembers:
    """A world that another library might have: it counts its episodes, and pays their number."""

    gamma, n_states, n_actions = 1.0, 1, 1

    def __init__(self):
        self.episodes = 0

    def fresh(self):
        return Remembers()

    def reset(self, rng):
        self.episodes += 1
        return 0, 0

    def step(self, state, action, rng):
        return 0, 0, float(self.episodes), bool(rng.random() < 0.5)


def test_a_job_of_several_runs_gives_the_records_of_single_jobs():
    """Also in a world that remembers: each run has its own."""
    parts = range(3), range(1), range(1, 2), range(2, 3)
    jobs = [module.Job("x", Always(0), Remembers(), 6, 0, None, (), None, part) for part in parts]
    together, *alone = map(module.work, jobs)
    assert together == [record for part in alone for record in part]
    assert {record.reward[0] for record in together} == {1.0}


@pytest.mark.parametrize(("lockstep", "runs", "size"), [(None, 7, 2), (4, 11, 1), (4, 12, 2), (1, 3, 1)])
def test_what_was_finished_is_told_in_runs(lockstep, runs, size):
    """Whichever jobs were finished, and in whatever order: blocks in lockstep are run in full, and then cut."""
    n = -(-runs // (lockstep or 1))
    parts = list(module._parts(n, size))
    assert [i for part in parts for i in part] == list(range(n))
    jobs = [module.Job(label, None, None, 1, 0, None, (), lockstep, part) for label in "ab" for part in parts]
    rows = [[i * (lockstep or 1) + j for i in part for j in range(lockstep or 1)] for part in parts]
    for seed in range(5):
        done = {k: [] for k in np.random.default_rng(seed).permutation(len(jobs))[: 2 * seed].tolist()}
        told = [sum(i < runs for k in done if jobs[k].label == label for i in rows[k % len(parts)]) for label in "ab"]
        with pytest.raises(KeyboardInterrupt) as stopped, module._telling(jobs, done, runs):
            raise KeyboardInterrupt
        each = f"(a {told[0]}, b {told[1]})"
        assert stopped.value.__notes__ == [f"compare: {sum(told)} of {2 * runs} runs were finished {each}."]
    for k, job in enumerate(jobs):
        mine = [i for i in rows[k % len(parts)] if i < runs]
        said = f"did runs {mine[0]} to {mine[-1]} of {job.label}"
        with pytest.raises(LostWorkers, match=said), module._telling(jobs, {}, runs):
            raise module.Lost(k)


@pytest.mark.parametrize("seed", range(12))
def test_a_gathered_column_holds_what_each_run_recorded(seed):
    """Tuples whose parts have their own lengths and kinds in each run, or in each step."""
    rng = np.random.default_rng(seed)
    each_run, each_step, kind = rng.random() < 0.7, rng.random() < 0.3, rng.integers(2)

    def entry(size):
        members = tuple(rng.integers(9, size=size).tolist())
        return (members, float(rng.random()) if kind else int(rng.integers(3)))

    runs = []
    for _ in range(3):
        size = int(rng.integers(1, 4)) if each_run else 2
        runs.append([entry(int(rng.integers(1, 4)) if each_step else size) for _ in range(4)])
    provenance = {"lockstep": None, "replicate": 0}
    records = [
        Record({"reward": np.zeros(4), "action": recording.column("action", run)}, 1.0, provenance) for run in runs
    ]
    whole = module.gather(records, 3).columns["action"]
    assert whole.shape[:2] == (4, 3)
    for i, run_ in enumerate(runs):
        mine = whole[:, i]
        assert [(tuple(x[0]), x[1]) for x in (as_tuples(mine) if mine.dtype.names else mine)] == run_


class FailsLate(Always):
    """Fails when the others are done."""

    def act(self, mind, seen, rng):
        time.sleep(0.1)
        raise InvalidArgument("FailsLate", "thought", "large", 0.25)


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_comes_back_from_whichever_job(at, workers):
    """Of the first, of the last, and of the last that ends."""
    agents = {str(i): FailsLate() if i == at else Always() for i in range(3)}
    with pytest.raises(InvalidArgument, match="FailsLate"):
        compare(agents, FIXED, 2, 1, workers=workers)
