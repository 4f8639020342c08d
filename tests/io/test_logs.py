"""Logs in files: text, records and comparisons; files that cannot be read."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.errors import UnreadableFile
from bayesrl.io.logs import load_log

WORLD = b.make_world("chain")
PRIOR = b.DirichletMDP.structured(WORLD)
HEAD = "state,action,reward,next_state\n"


def test_text(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("day, state ,action,reward,next_state,terminated\n1, 0, 0, 0.0, 1, false\n\n2,1,1,2,0,True\n")
    log = load_log(path)
    assert {name: column.tolist() for name, column in log.items()} == {
        "state": [0, 1], "action": [0, 1], "reward": [0.0, 2.0], "next_state": [1, 0], "terminated": [False, True],
    }  # fmt: skip


def test_a_record_as_text_and_as_a_file_say_the_same(tmp_path):
    record = b.run(b.BayesAgent(PRIOR, b.make("random")), WORLD, 50, seed=0)
    record.to_frame().to_csv(tmp_path / "log.csv")
    b.save(record, tmp_path / "log.zip")
    for name in ("log.csv", "log.zip"):
        assert PRIOR.update_many(load_log(tmp_path / name)) == PRIOR.update_many(record)


def test_all_runs_of_a_comparison_are_read(tmp_path):
    agents = {"random": b.BayesAgent(PRIOR, b.make("random")), "greedy": b.BayesAgent(PRIOR, b.make("exploit"))}
    done = b.compare(agents, WORLD, 10, runs=3)
    b.save(done, tmp_path / "log.zip")
    log = load_log(tmp_path / "log.zip")
    assert len(log["state"]) == 60
    assert log["reward"][10:20].tolist() == done["random"].reward[:, 1].tolist()  # run by run
    assert PRIOR.update_many(log).alpha.sum() == PRIOR.alpha.sum() + 60


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "it has no column state"),
        (HEAD, "it has no rows"),
        ("state,action,reward\n0,0,1\n", "it has no column next_state"),
        (HEAD + "0,0,1\n", "line 2 has 3 entries, the header has 4"),
        (HEAD + "0,0,0,1\n0,left,0,1\n", "line 3: action must be a whole number, got 'left'"),
        (HEAD + "0,0,much,1\n", "line 2: reward must be a number, got 'much'"),
        (HEAD + "0.5,0,0,1\n", "line 2: state must be a whole number, got '0.5'"),
        ("terminated," + HEAD + "perhaps,0,0,0,1\n", "line 2: terminated must be true or false, got 'perhaps'"),
        (HEAD + '0,0,"0,1\n', "it is not a table: unexpected end of data"),
    ],
)
def test_text_that_cannot_be_read(tmp_path, text, why):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(UnreadableFile) as caught:
        load_log(path)
    assert str(caught.value) == f"Cannot read '{path}': {why}."


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "other.zip").write_bytes(b"nothing")
    (tmp_path / "folder.csv").mkdir()
    for name, why in (
        ("bytes.csv", "it is not text"),
        ("other.zip", "it is not a zip file"),
        ("folder.csv", "it is a directory"),
        ("absent.csv", "there is no such file"),
        ("absent", "there is no such file"),
    ):
        with pytest.raises(UnreadableFile, match=why):
            load_log(tmp_path / name)


def test_a_record_without_next_states_is_refused(tmp_path):
    record = b.Record({"reward": np.zeros(2), "action": np.zeros(2, int)}, 0.9, {})
    b.save(record, tmp_path / "log.zip")
    with pytest.raises(UnreadableFile, match="it has no column state"):
        load_log(tmp_path / "log.zip")
