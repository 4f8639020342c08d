"""Files: what goes in comes out, equal things make equal files, and what is damaged is refused in one sentence."""

import io
import json
import pickle
import zipfile
from itertools import permutations

import numpy as np
import pytest
from lab_toys import Always, Arms, Betas, Draws, DrawsTogether, Listens, Noise, OracleTiger, UniformArms

from bayesrl.core import BayesAgent, Record, run
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.io.records import load, save, to_arrow
from bayesrl.lab.compare import compare
from bayesrl.lab.comparison import Comparison
from bayesrl.record import column, describe
from bayesrl.registry import make, make_world

ARMS = Arms(np.array([0.3, 0.6]))
AGENTS = {
    "one": BayesAgent(Betas.ones(3), Draws()),
    "many": BayesAgent(Betas.ones(3), DrawsTogether()),
    "ü/1": Always(),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.zip"


def sentence(path):
    with pytest.raises(UnreadableFile) as error:
        load(path)
    text = str(error.value)
    assert "\n" not in text
    assert text.startswith(f"Cannot read '{path}': ")
    return text.removeprefix(f"Cannot read '{path}': ")


# What goes in comes out ----------------------------------------------------------------------------------------------


def odd_record():
    columns = {
        "reward": np.array([0.1, -np.inf, 1e-300]),
        "text": np.array(["a", "ß", "abc"]),
        "bytes": np.array([b"x", b"yz", b""]),
        "complex": np.array([1j, 2.0, 0.0]),
        "small": np.array([1, 2, 3], np.uint8),
        "swapped": np.array([1, 2, 3], ">i4"),
        "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        "deep": np.moveaxis(np.arange(24).reshape(2, 3, 4), 0, 2),
        "none": np.zeros((3, 0)),
    }
    return Record(columns, 1 / 3, {"deep": {"list": [1, 2.5, None, True, "ü"]}}, seconds=9.0)


@pytest.mark.parametrize(
    "thing",
    [
        run(Always(), ARMS, 30),
        run(Always(), Noise(), 30, seed=4, horizon=8),
        run(AGENTS["many"], UniformArms(), 10, lockstep=5),
        compare(AGENTS, UniformArms(), 10, 4),
        compare(Always(), Noise(), 10, 4),
        odd_record(),
    ],
    ids=["run", "vectors", "lockstep", "comparison", "vector comparison", "odd"],
)
def test_round_trip(thing, path):
    save(thing, path)
    again = load(path)
    assert type(again) is type(thing)
    assert again == thing
    ours, theirs = (x.records if isinstance(x, Comparison) else {"": x} for x in (again, thing))
    pairs = zip(ours.items(), theirs.items(), strict=True)
    for (label, a), (other, b) in pairs:
        assert label == other
        assert list(a.columns) == list(b.columns)
        assert all(a.columns[k].dtype == b.columns[k].dtype for k in b.columns)
        assert not any(column.flags.writeable for column in a.columns.values())
        np.testing.assert_array_equal(a.total, b.total)  # to the last bit: the order in memory is kept
    save(again, path.with_name("again"))
    assert path.with_name("again").read_bytes() == path.read_bytes()


def test_wall_time_is_not_saved_and_the_clock_stands_still(path):
    record = odd_record()
    save(record, path)
    first = path.read_bytes()
    save(Record(record.columns, record.gamma, record.provenance, seconds=1.0), path)
    assert path.read_bytes() == first
    assert load(path).seconds == 0.0
    with zipfile.ZipFile(path) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_columns_are_readable_by_numpy_alone(path):
    found = compare(AGENTS, UniformArms(), 10, 4)
    save(found, path)
    with zipfile.ZipFile(path) as archive:
        reward = np.load(io.BytesIO(archive.read("1/reward.npy")), allow_pickle=False)
    np.testing.assert_array_equal(reward, found["many"].reward)


def test_tuples_vectors_and_text_are_columns(path):
    """A tiger with an oracle: observations and actions are tuples, the hidden state and action values are kept."""
    record = run(Listens(), OracleTiger(), 12, seed=1, keep=("state", "q"))
    assert record.observation.dtype.names == ("sound", "answer", "trust")
    assert record.next_observation["sound"].dtype.kind == "U"
    assert record.action.dtype.names == ("f0", "f1")
    assert record.q.shape == (12, 3)
    assert np.isnan(record.q).any()
    save(record, path)
    kept = load(path)
    assert kept == record  # nan is nan
    assert [kept.columns[k].dtype for k in record.columns] == [c.dtype for c in record.columns.values()]
    q = record.q.copy()
    q[3, 0] = 2.0
    assert kept != Record({**record.columns, "q": q}, record.gamma, record.provenance)
    frame = record.to_frame()
    assert frame["next_observation.sound"].tolist() == record.next_observation["sound"].tolist()
    assert len(frame["q"][0]) == 3
    table = to_arrow(record)
    row = table.slice(1, 1).to_pylist()[0]
    seen = record.next_observation[1]
    assert row["next_observation"] == {"sound": seen["sound"], "answer": seen["answer"], "trust": seen["trust"]}
    assert row["q"][2] == 1.0


def test_tuples_of_many_runs(path):
    found = compare({"a": Listens()}, OracleTiger(), 9, 3, keep=("state", "q"))
    save(found, path)
    assert load(path) == found
    assert found["a"].observation.shape == found["a"].state.shape == (9, 3)
    assert found["a"].q.shape == (9, 3, 3)
    alone = run(Listens(), OracleTiger(), 9, replicate=2)
    np.testing.assert_array_equal(found["a"].next_observation["sound"][:, 2], alone.next_observation["sound"])
    assert to_arrow(found).num_rows == 27


def test_a_structured_column_must_be_what_the_page_says(path):
    """A field that holds objects, or other fields than announced, is refused."""
    save(run(Listens(), OracleTiger(), 5), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    page = json.loads(members["meta.json"])
    assert page["methods"][0]["columns"]["action"] == [[["f0", "<i8"], ["f1", "|b1"]], [5]]
    page["methods"][0]["columns"]["action"][0][0][0] = "g0"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (members | {"meta.json": json.dumps(page)}).items():
            archive.writestr(name, data)
    assert "0/action.npy is [['f0', '<i8'], ['f1', '|b1']] (5,), not [['g0'" in sentence(path)


def test_arrow_has_a_row_for_each_method_run_and_step():
    found = compare({"a": Always(0), "b": Always(1)}, Noise(), 5, 3)
    table = to_arrow(found)
    assert table.num_rows == 2 * 3 * 5
    frame = table.to_pandas()
    row = frame[(frame["method"] == "b") & (frame["run"] == 2) & (frame["step"] == 4)].iloc[0]
    assert row["reward"] == found["b"].reward[4, 2]
    np.testing.assert_array_equal(row["observation"], found["b"].state[4, 2])
    assert json.loads(table.schema.metadata[b"bayesrl"])["a"]["runs"] == 3
    alone = run(Always(), ARMS, 6)
    np.testing.assert_array_equal(to_arrow(alone)["reward"].to_numpy(), alone.reward)


# Whole or not at all -------------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_file_alone(path):
    save(odd_record(), path)
    before = path.read_bytes()
    bad = Record({"reward": np.zeros(2), "state": np.array([None, {}])}, 1.0, {})
    with pytest.raises(InvalidArgument) as error:
        save(bad, path)
    assert str(error.value) == "save: 'state' must be a column of plain numbers or text, got 'dtype object'."

    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


PLAIN = Record({"reward": np.zeros(1)}, 1.0, {})
SPACED = Record({"reward": np.zeros(1), "a b": np.zeros(1)}, 1.0, {})
UNSAYABLE = Record({"reward": np.zeros(1)}, 1.0, {"x": {1, 2}})


@pytest.mark.parametrize(
    "thing, target, expected",
    [
        ({"reward": [1.0]}, "f", "save: 'thing' must be a Record or a Comparison, got {'reward': [1.0]}."),
        (UNSAYABLE, "f", "save: 'provenance' must be JSON"),
        (SPACED, "f", "save: 'columns' must be named by identifiers, got 'a b'."),
        (PLAIN, "no/such/place", "save: 'path' must be a file that can be written, got"),
        (PLAIN, "", "save: 'path' must be a file that can be written, got"),
    ],
)
def test_what_cannot_be_saved(thing, target, expected, tmp_path):
    with pytest.raises(InvalidArgument) as error:
        save(thing, tmp_path / target)
    assert str(error.value).startswith(expected)
    assert list(tmp_path.iterdir()) == []


# Refusals ------------------------------------------------------------------------------------------------------------


def test_missing_directory_and_foreign_files(path, tmp_path):
    assert sentence(path) == "there is no such file."
    assert sentence(tmp_path) == "it is a directory."
    path.write_bytes(b"")
    assert sentence(path) == "it is not a zip file."
    path.write_bytes(b"reward,action\n1,0\n")
    assert sentence(path) == "it is not a zip file."
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert sentence(path) == "it has no meta.json, so it is not one of ours."


def edited(path, change):
    """Save a record with its members changed by hand, checksums made anew."""
    save(run(Always(), ARMS, 4), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def meta(**new):
    def change(members):
        members["meta.json"] = json.dumps(json.loads(members["meta.json"]) | new).encode()

    return change


def array(name, x, **options):
    def change(members):
        member = io.BytesIO()
        np.lib.format.write_array(member, x, **options)
        members[name] = member.getvalue()

    return change


def method(**new):
    def change(members):
        page = json.loads(members["meta.json"])
        page["methods"][0] |= new
        members["meta.json"] = json.dumps(page).encode()

    return change


def twice(members):
    """A comparison of two methods of one name."""
    page = json.loads(members["meta.json"])
    page |= {"kind": "comparison", "methods": [method | {"label": "a"} for method in 2 * page["methods"]]}
    members["meta.json"] = json.dumps(page).encode()
    members |= {name.replace("0/", "1/"): data for name, data in members.items() if name.startswith("0/")}


def told(name, kind):
    def change(members):
        page = json.loads(members["meta.json"])
        page["methods"][0]["columns"][name] = kind
        members["meta.json"] = json.dumps(page).encode()

    return change


def both(*changes):
    return lambda members: [change(members) for change in changes]


REWARD = "0/reward.npy"
BOMB = np.array([pickle.Unpickler] * 4, dtype=object)


@pytest.mark.parametrize(
    "change, expected",
    [
        (lambda m: m.update({"meta.json": b"{"}), "its meta.json is not JSON."),
        (lambda m: m.update({"meta.json": b"\xff\xfe\x00"}), "its meta.json is not JSON."),
        (lambda m: m.update({"meta.json": b"[" * 100_000}), "its meta.json is not JSON."),
        (lambda m: m.update({"meta.json": b"[]"}), "it is not one of ours."),
        (meta(format="other"), "it is not one of ours."),
        (meta(version=2), "its format version is 2, and this library reads version 1."),
        (meta(version=None), "its format version is None, and this library reads version 1."),
        (meta(kind="film"), "its meta.json does not describe a record."),
        (meta(methods=[]), "its meta.json does not describe a record."),
        (meta(methods=3), "its meta.json does not describe a record."),
        (method(gamma="x"), "its meta.json does not describe a record."),
        (method(label=["a"]), "its meta.json does not describe a record."),
        (twice, "its meta.json does not describe a record."),
        (method(columns={}), "it has no column of rewards."),
        (told("reward", 7), "its meta.json does not describe a record."),
        (lambda m: m.pop("meta.json"), "it has no meta.json, so it is not one of ours."),
        (lambda m: m.pop("0/reward.npy"), "its member 0/reward.npy is missing."),
        (lambda m: m.update({"0/reward.npy": b"numbers"}), "its member 0/reward.npy is not a .npy array."),
        (lambda m: m.update({"0/reward.npy": b""}), "its member 0/reward.npy is not a .npy array."),
        (lambda m: m.update({"0/reward.npy": m["0/reward.npy"][:-1]}), "its member 0/reward.npy has the wrong length."),
        (
            lambda m: m.update({"0/reward.npy": m["0/reward.npy"] + b"0"}),
            "its member 0/reward.npy has the wrong length.",
        ),
        (
            array("0/reward.npy", np.zeros(3)),
            "its member 0/reward.npy is <f8 (3,), not <f8 (4,) as meta.json says.",
        ),
        (
            array("0/reward.npy", np.zeros(4, np.float32)),
            "its member 0/reward.npy is <f4 (4,), not <f8 (4,) as meta.json says.",
        ),
        (
            both(array("0/reward.npy", np.zeros(3)), told("reward", ["<f8", [3]])),
            "its columns have different lengths.",
        ),
        (
            both(array("0/reward.npy", np.float64(1.0)), told("reward", ["<f8", []])),
            "its member 0/reward.npy is <f8 (), not <f8 () as meta.json says.",
        ),
        (
            both(array("0/reward.npy", BOMB, allow_pickle=True), told("reward", ["|O", [4]])),
            "its member 0/reward.npy holds something else than numbers or text.",
        ),
    ],
)
def test_refusals(change, expected, path):
    edited(path, change)
    assert sentence(path) == expected


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "file.zip"
    found = compare({"a": Always()}, ARMS, 6, 2)
    save(found, path)
    return found, path.read_bytes()


def survives(path, data, thing):
    """Damaged data must be refused, or hold the same thing (damage to what nobody reads)."""
    path.write_bytes(data)
    try:
        return load(path) == thing
    except UnreadableFile as error:
        return "\n" not in str(error)


def test_truncated_anywhere(good, path):
    data = good[1]
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        assert sentence(path) in ("it is damaged or cut short.", "it is not a zip file.")


def test_flipped_anywhere(good, path):
    # Every byte once, a random change each.
    thing, data = good
    rng = np.random.default_rng(0)
    for i in range(len(data)):
        flipped = bytearray(data)
        flipped[i] ^= int(rng.integers(1, 256))
        assert survives(path, bytes(flipped), thing), i


def test_scrambled(good, path):
    # Pieces overwritten, repeated and cut out.
    thing, data = good
    rng = np.random.default_rng(1)
    for _ in range(100):
        a, b, c = sorted(rng.integers(0, len(data), 3))
        noise = rng.bytes(int(b - a))
        for broken in (data[:a] + noise + data[b:], data[:a] + data[c:], data[:c] + data[a:], data + noise):
            assert survives(path, broken, thing)


def test_columns_that_replicates_share_are_repeated():
    """In lockstep a column of steps alone stands for every run."""
    world = make_world("online-shop")
    record = run(BayesAgent(world.default_prior(), make("thompson")), world, 4, lockstep=3)
    shared = Record({**record.columns, "hour": np.arange(4)}, record.gamma, record.provenance)
    table = to_arrow(shared)
    assert table["hour"].to_pylist() == np.repeat(np.arange(4), 3).tolist()
    assert table["reward"].to_pylist() == record.reward.ravel().tolist()
    assert table["run"].to_pylist() == [0, 1, 2] * 4


def test_tuples_of_any_length_in_any_method_are_one_type_of_arrow():
    """A column whose parts have one length in a method, and several in another one: whichever of them comes first."""
    rows = {"one": [((0, 1), 2), ((0, 2), 1)], "several": [((0, 1), 2), ((0,), 1)], "plain": [((1,), 0), ((2,), 2)]}
    told = {}
    for order in permutations(rows):
        records = {}
        for label in order:
            action = column("action", rows[label])
            records[label] = Record({"reward": np.ones((2, 1)), "action": action[:, None]}, 1.0, {"lockstep": None})
        table = to_arrow(Comparison(records))
        assert table["method"].to_pylist() == [label for label in order for _ in range(2)]
        told[order] = dict.fromkeys(order) | {
            label: table["action"].to_pylist()[2 * k : 2 * k + 2] for k, label in enumerate(order)
        }
    first = told["one", "several", "plain"]
    assert all(found == first for found in told.values())
    assert first["several"] == [{"f0": [0, 1], "f1": 2}, {"f0": [0], "f1": 1}]


def test_a_description_is_of_what_an_array_holds_now():
    """Hashes of read-only arrays are kept; that of an array which could still change is not."""
    x = np.arange(3.0)
    assert describe(x) == describe(np.arange(3.0))
    x[0] = 5.0
    x.flags.writeable = False
    assert describe(x) == describe(np.array([5.0, 1.0, 2.0])) == describe(x)
    x.flags.writeable = True
    x[0] = 7.0
    assert describe(x) == describe(np.array([7.0, 1.0, 2.0]))
    assert describe(np.asfortranarray(np.ones((2, 3)))) == describe(np.ones((2, 3)))
    assert describe(np.arange(3)) != describe(np.arange(3.0))
