"""Files are written whole or not at all, and read only if they are regular files that hold what they declare."""

import io
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

import bayesrl as b
from bayesrl import _files
from bayesrl.core import Mind
from bayesrl.errors import BayesRLError, InvalidArgument, UnreadableFile
from bayesrl.io.logs import load_log
from bayesrl.lab.literature import scores
from bayesrl.lab.plots.sheet import new_sheet
from bayesrl.lab.plots.sheet import write as write_sheet
from bayesrl.models.pomdp_file import read_pomdp, write_pomdp
from bayesrl.models.pomdp_solvers.alpha_file import read_alpha_vectors, write_alpha_vectors

TIGER = b.make_world("tiger").pomdp
RECORD = b.Record({"reward": np.zeros(3)}, 1.0, {})
WRITERS = {
    "a record": lambda path: b.save(RECORD, path),
    "a belief": lambda path: b.save(b.make("beta-bernoulli", alpha=[1.0, 2.0], beta=[1.0, 1.0]), path),
    "scores": lambda path: scores.write([], path),
    "a pomdp": lambda path: write_pomdp(TIGER, path),
    "vectors": lambda path: write_alpha_vectors(read_alpha_vectors("0\n1 1\n", TIGER), path),
    "a plot": lambda path: write_sheet("plot", new_sheet("plot", 1.0, 1.0), f"{path}"),
}
READERS = {
    "load": b.load,
    "a log": load_log,
    "a log as text": lambda path: load_log(path),
    "scores": scores.read,
    "a pomdp": read_pomdp,
    "vectors": lambda path: read_alpha_vectors(path, TIGER),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.svg"  # a suffix that plots need


@contextmanager
def small_files(size):
    """No file may grow beyond that size: what a full disk does, without being root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def refusal(write, path):
    with pytest.raises(InvalidArgument) as error:
        write(path)
    assert "\n" not in str(error.value)
    return str(error.value)


# Writing -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_leaves_the_old_file(kind, path):
    path.write_bytes(b"old")
    with small_files(2):
        said = refusal(WRITERS[kind], path)
    assert "File too large: it is larger than files may be here; an existing file has not changed." in said
    assert path.read_bytes() == b"old"
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_keeps_its_mode_and_a_link_stays(kind, path):
    real = path.with_name("real.svg")
    for mode in (0o600, 0o640, 0o666):
        real.write_bytes(b"old")
        real.chmod(mode)
        path.unlink(missing_ok=True)
        path.symlink_to(real.name)
        WRITERS[kind](path)
        assert stat.S_IMODE(real.stat().st_mode) == mode
        assert path.is_symlink()
        assert real.read_bytes() != b"old"
        assert names(path.parent) == [path.name, real.name]


def test_a_new_file_follows_the_umask(path):
    for mask, mode in ((0o077, 0o600), (0o027, 0o640), (0o022, 0o644)):
        path.unlink(missing_ok=True)
        before = os.umask(mask)
        try:
            _files.write(path, b"new")
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_links(path):
    """A link to nothing makes the file that it names; links that name each other are refused."""
    other = path.with_name("other")
    path.symlink_to(other)
    _files.write(path, b"new")
    assert (path.is_symlink(), other.read_bytes()) == (True, b"new")
    other.unlink()
    other.symlink_to(path)
    assert "its links name each other" in refusal(lambda path: _files.write(path, b"new"), path)
    assert names(path.parent) == [path.name, "other"]


def test_nobody_elses_file_is_written(path, monkeypatch):
    """The new file is of our own making: a file or a link of its name is neither followed nor removed."""
    victim = path.with_name("victim")
    victim.write_bytes(b"precious")
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 16)
    planted = path.with_name(f".bayesrl-{'0' * 16}.part")
    planted.symlink_to(victim)
    assert "File exists" in refusal(WRITERS["a record"], path)
    assert (victim.read_bytes(), planted.is_symlink(), path.exists()) == (b"precious", True, False)


@pytest.mark.parametrize(
    "name, why",
    [
        ("no/such/place", "No such file or directory: make the folder first."),
        (".", "Is a directory: name a file in it."),
        ("n" * 256, "File name too long: choose a shorter name."),
        ("pipe", "It is a pipe, a device or a socket."),
        ("file/x", "Not a directory: a part of the path is a file, not a folder."),
    ],
)
def test_what_cannot_be_written(name, why, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"")
    for kind in ("a record", "a belief", "scores", "a pomdp", "vectors"):
        assert refusal(WRITERS[kind], tmp_path / name).endswith(why)
    assert refusal(lambda path: _files.write(path, b"", "plot"), tmp_path / name).endswith(why)
    assert names(tmp_path) == ["file", "pipe"]


def test_the_longest_name(tmp_path):
    b.save(RECORD, tmp_path / ("n" * 255))
    assert b.load(tmp_path / ("n" * 255)) == RECORD


@pytest.mark.parametrize("name", ["nul\0", "\udcff\ud800", 3, None, b"bytes"])
def test_what_is_no_file_name(name):
    assert refusal(WRITERS["a record"], name).startswith("save: 'path' must be the name of a file, got")


def test_file_and_folder_are_flushed_in_this_order(path, monkeypatch):
    """Else a power failure could keep the new name and lose what it names."""
    order = []

    def flush(fd):
        order.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else os.fstat(fd).st_size)

    replace = os.replace
    monkeypatch.setattr("os.fsync", flush)
    monkeypatch.setattr("os.replace", lambda old, new: (order.append("name"), replace(old, new)))
    _files.write(path, b"12345")
    assert order == [5, "name", "folder"]


def test_an_interrupted_write_leaves_nothing_behind(path, monkeypatch):
    path.write_bytes(b"old")

    def interrupt(fd):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _files.write(path, b"new")
    assert (path.read_bytes(), names(path.parent)) == (b"old", [path.name])


KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
from bayesrl.lab.literature import scores, setups
from bayesrl.statistics import Interval

path, kills = Path(sys.argv[1]), int(sys.argv[2])
row = setups.Row(world="chain", method="beb", prior="flat", runs=3)
def made(seed):
    return [scores.Score(row, Interval(1.0, 0.0, 2.0, 40), {}, 1000, 0.95, seed, 1e-3, "0")] * 2000
versions = made(0), made(1)
scores.write(versions[0], path)
bad = 0
for trial in range(kills):
    child = os.fork()
    if child == 0:
        while True:
            for version in versions:
                scores.write(version, path)
    time.sleep(random.Random(trial).uniform(0.0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        found = {score.seed for score in scores.read(path)}
        bad += found not in ({0}, {1})
    except Exception:
        bad += 1
print(bad)
"""
"""Kills a process that writes scores; prints how often the file was neither version."""


def test_ctrl_c_right_after_the_file_is_made(tmp_path, monkeypatch):
    made = os.open

    def interrupted(path, flags, *mode):
        os.close(made(path, flags, *mode))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        b.save(RECORD, tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_scores_survive_kills(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLS, tmp_path / "s.json", "5"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


# Reading -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def impatient():
    """A read that waits is an error."""

    def waited(number, frame):
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", READERS)
def test_regular_files_only(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's name has at most 108 letters
    suffix = ".csv" if kind == "a log as text" else ""
    pipe, home, listener = f"pipe{suffix}", f"socket{suffix}", socket.socket(socket.AF_UNIX)
    os.mkfifo(pipe)
    listener.bind(home)
    os.symlink("/dev/zero", f"zero{suffix}")
    with listener:
        for path in (pipe, home, f"zero{suffix}"):
            with pytest.raises(UnreadableFile) as error:
                READERS[kind](path)
            assert str(error.value) == f"Cannot read '{path}': it is not a regular file."
    with pytest.raises(UnreadableFile, match="it is a directory"):
        READERS[kind](tmp_path)


@pytest.mark.usefixtures("impatient")
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted")
@pytest.mark.parametrize("kind", READERS)
def test_no_file_stays_open(kind, tmp_path):
    """Whatever is read, and wherever reading stops."""
    damaged, pipe = tmp_path / "damaged.csv", tmp_path / "pipe.csv"
    damaged.write_bytes(b"PK\x03\x04 and no more")
    os.mkfifo(pipe)
    before = os.listdir("/proc/self/fd")
    for path in (damaged, pipe, tmp_path, tmp_path / "nothing.csv"):
        with pytest.raises(BayesRLError):
            READERS[kind](path)
        assert os.listdir("/proc/self/fd") == before


def test_the_longest_text_is_read(tmp_path, monkeypatch):
    path = tmp_path / "text"
    for size in (9, 10, 11):
        monkeypatch.setattr(_files, "LARGEST", 10)
        path.write_bytes(b"x" * size)
        if size <= 10:
            assert _files.read(path) == b"x" * size
        else:
            with pytest.raises(UnreadableFile, match="it has 11 bytes, more than 10"):
                _files.read(path)


def test_a_text_that_is_too_long_is_not_read(tmp_path):
    path = tmp_path / "long.csv"
    with open(path, "wb") as file:
        file.truncate(2**40)  # a sparse file: it takes no room
    for kind in ("a log as text", "scores", "a pomdp", "vectors"):
        with pytest.raises(UnreadableFile, match=r"it has 1099511627776 bytes, more than 1073741824\."):
            READERS[kind](path)
    with pytest.raises(UnreadableFile, match="it is not a zip file"):
        b.load(path)


# What a file declares ------------------------------------------------------------------------------------------------


MUCH = 10**8
TWO = b.beliefs.features.Tabular(2)


def rewritten(thing, path, change):
    """Save a thing with its page and members changed by hand."""
    b.save(thing, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    page = json.loads(members["meta.json"])
    change(page.get("value"), members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (members | {"meta.json": json.dumps(page)}).items():
            archive.writestr(name, data)


def field(name, to, *inside):
    def change(value, members):
        for key in inside:
            value = value[key]
        value["fields"][name] = to

    return change


def longer(name):
    def change(value, members):
        members[name] = members.get(name, b"") + bytes(MUCH)

    return change


def header_only(value, members):
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (10**8,)})
    members["arrays/0.npy"] = member.getvalue()
    value["fields"]["alpha"] = {"array": [0, "<f8", [10**8]]}


def table_agent():
    return b.LiveAgent(b.make("q-learning", n_states=2, n_actions=2, gamma=0.9))


def planted(folder):
    """Short files that declare much, and how each is refused (None: it is read)."""
    arms = b.make("beta-bernoulli", alpha=[1.0, 2.0], beta=[1.0, 1.0])
    hidden, expert = (
        b.make("infinite-pomdp", n_actions=2, n_observations=2),
        b.make("policy-prior", n_actions=2, n_observations=2),
    )
    many, length = 10**9, "its member arrays/0.npy has the wrong length"
    size = field("n", 30_000, "fields", "features")
    cases = {
        "actions": (hidden, field("n_actions", many), "'a chain' must be an array of shape (1, 1000000000, 1)"),
        "observations": (hidden, field("n_observations", many), "'a chain' must be an array of shape"),
        "chains": (hidden, field("chains", many), "'data' must be 1000000000 chains"),
        "a policy": (expert, field("n_actions", many), "'a chain' must be an array of shape"),
        "features": (
            b.make("bayesian-linear-regression", features=TWO),
            size,
            "'sums' must be an array of shape (30000, 30000)",
        ),
        "traces": (b.make("lstd-lambda", features=TWO), size, "'traces' must be an array of shape (30000, 30000)"),
        "traces of gptd": (b.make("gptd-lambda", features=TWO), size, "'traces' must be an array of shape"),
        "weights": (b.make("gptd-parametric", features=TWO), size, "'weights' must be finite, of 30000 coordinates"),
        "a table": (table_agent(), field("n_states", many, "agent"), "its mind is not one of its agent's"),
        "dimensions": (b.make_world("continuous-bandit"), field("dims", many), "must be so large that a grid"),
        "an array": (arms, longer("arrays/0.npy"), length),
        "no data": (arms, header_only, length),
        "a member too many": (arms, longer("arrays/9.npy"), None),
        "a column": (RECORD, longer("0/reward.npy"), "its member 0/reward.npy has the wrong length"),
    }
    for name, (thing, change, why) in cases.items():
        rewritten(thing, folder / name, change)
        yield folder / name, why
    with zipfile.ZipFile(folder / "blanks", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.json", b" " * MUCH)
    yield folder / "blanks", f"its meta.json declares {MUCH} bytes, too many for its "


LOADS = """
import resource, sys
from pathlib import Path
import bayesrl as b

b.load(sys.argv[1])  # imports what it needs
limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 2**27
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[2:]:
    try:
        print(b.load(path))
    except b.errors.UnreadableFile as error:
        print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
"""Loads files with at most 128 MB of memory. Prints what was said of each, and the megabytes that were needed."""


def test_short_files_that_declare_much(tmp_path):
    (tmp_path / "planted").mkdir()
    files = dict(planted(tmp_path / "planted"))
    assert max(path.stat().st_size for path in files) < 150_000
    b.save(table_agent(), tmp_path / "good")
    done = subprocess.run([sys.executable, "-c", LOADS, tmp_path / "good", *files], capture_output=True, text=True)
    assert done.stderr == ""
    *said, peak = done.stdout.splitlines()
    for (path, why), line in zip(files.items(), said, strict=True):
        assert line.startswith("BetaBernoulli(") if why is None else f"Cannot read '{path}'" in line and why in line
    assert int(peak) < 50


def zipped(path, *members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, way in members:
            archive.writestr(name, data, way)


def test_members_that_cannot_be(tmp_path):
    """Other compressions, members that overlap, and a member that declares more than deflate can hold."""
    path = tmp_path / "bad.zip"

    def said():
        with pytest.raises(UnreadableFile) as error:
            b.load(path)
        return str(error.value).removeprefix(f"Cannot read '{path}': ")

    zipped(path, ("meta.json", b"{}", zipfile.ZIP_LZMA))
    assert said() == "its member meta.json is compressed in another way than ours."
    zipped(path, ("meta.json", bytes(2000), zipfile.ZIP_DEFLATED))
    data = path.read_bytes()
    at = data.rindex(b"PK\x01\x02")
    assert int.from_bytes(data[at + 24 : at + 28], "little") == 2000
    path.write_bytes(data[: at + 24] + (10**9).to_bytes(4, "little") + data[at + 28 :])
    assert said() == "its member meta.json declares more bytes than it can hold."
    zipped(path, ("meta.json", b" " * 10_000, zipfile.ZIP_STORED))
    data = path.read_bytes()
    at, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    twice = data[at:end].replace(b"meta.json", b"more.json") + data[at:end]
    tail = bytearray(data[end:])
    tail[8:12], tail[12:16] = (2).to_bytes(2, "little") * 2, len(twice).to_bytes(4, "little")
    path.write_bytes(data[:at] + twice + tail)
    assert said() == "its members overlap, or it is cut short."


def test_a_long_page_is_not_compressed(tmp_path, monkeypatch):
    """What `save` writes can be read: a page that may not be compressed is not."""
    for most in (10, 10**6):
        monkeypatch.setattr("bayesrl.io.archive.PAGE", most)
        monkeypatch.setattr("bayesrl.io.archive.DENSE", 1)
        b.save(RECORD, tmp_path / "file")
        assert b.load(tmp_path / "file") == RECORD
        with zipfile.ZipFile(tmp_path / "file") as archive:
            assert (archive.getinfo("meta.json").compress_type == zipfile.ZIP_STORED) == (most == 10)


def test_constant_arrays(tmp_path, monkeypatch):
    """A short file may not hold arrays that fill the memory. What `save` writes can be read."""
    monkeypatch.setattr("bayesrl.io.archive.FREE", 10**6)
    belief = b.beliefs.BetaBernoulli(np.ones(300_000), np.full(300_000, 2.0))
    b.save(belief, tmp_path / "file")
    assert b.load(tmp_path / "file") == belief
    assert (tmp_path / "file").stat().st_size > 4_800_000
    monkeypatch.setattr("bayesrl.io.archive.FREE", 10**7)
    b.save(belief, tmp_path / "short")
    assert (tmp_path / "short").stat().st_size < 48_000
    monkeypatch.setattr("bayesrl.io.archive.FREE", 10**6)
    with pytest.raises(UnreadableFile, match="its arrays have more bytes than 1000000, and than 100 times its own"):
        b.load(tmp_path / "short")


def test_an_array_that_is_named_twice_is_read_once(tmp_path):
    """Else a short page that names a large array often would fill the memory."""
    b.save(Mind(np.ones(3), np.ones(3), None), tmp_path / "file")
    found = b.load(tmp_path / "file")
    assert np.shares_memory(found.belief, found.memory)
    assert not found.belief.flags.writeable


@pytest.mark.parametrize("size", [0, 1, 2**20 // 8, 2**20 // 8 + 1, 300_000])
def test_arrays_of_any_number_of_chunks(size, tmp_path):
    x = np.random.default_rng(0).random(size)
    record = b.Record({"reward": x}, 1.0, {})
    b.save(record, tmp_path / "file")
    np.testing.assert_array_equal(b.load(tmp_path / "file").reward, x)


def test_a_short_pomdp_file_does_not_make_large_tables():
    text = "states: {n} actions: 1 observations: 1 T: * identity O: * uniform"
    with pytest.raises(UnreadableFile, match="the table T has 16810000 entries, more than 16777216"):
        read_pomdp(text.format(n=4100))
    with pytest.raises(UnreadableFile, match="262145 states are too many"):
        read_pomdp(text.format(n=2**18 + 1))
