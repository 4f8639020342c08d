"""The contractors: steps follow the stated law, regret is against known types, records hold coalitions."""

import io
import zipfile

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import Record
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.io.records import to_arrow
from bayesrl.lab.build import agent_for
from bayesrl.lab.compare import _stacked
from bayesrl.lab.measures.regret import regret
from bayesrl.multiagent import TypeBelief
from bayesrl.record import column
from bayesrl.testing import assert_frequencies, check_agent
from bayesrl.worlds.games.coalitions import CoalitionWorld, problem_of

FAMILY = b.make_world("coalitions", agents=3)
WORLD = CoalitionWorld(FAMILY.problem, (1, 2, 0))


def test_steps_follow_the_contract():
    """Frequencies of outcomes against the binomial law by hand; shares; false-alarm rate 1e-6 for each option."""
    rng = default_rng(0)
    for members, a, points, need in (((0, 1), 2, 3, 6), ((0,), 0, 1, 1), ((0, 1, 2), 1, 3, 3)):
        steps = [WORLD.step(None, (members, a), rng) for _ in range(2000)]
        p = points / (points + need)
        seen = np.bincount([s.observation for s in steps], minlength=3)
        assert_frequencies(seen, np.array([(1 - p) ** 2, 2 * p * (1 - p), p * p]), false_alarm=1e-6)
        pays = ((0.0, 0.5, 1.0), (0.0, 1.5, 4.0), (0.0, 3.0, 12.0))[a]
        assert {s.reward for s in steps} <= {x / len(members) for x in pays}
        assert not any(s.terminated for s in steps)


def test_gaps_are_against_known_types():
    profile = 1 * 9 + 2 * 3 + 0
    shares = dict(zip(WORLD.problem.options, WORLD.problem.payoffs[profile].tolist(), strict=True))
    best = max(shares, key=shares.get)
    assert WORLD.gap(None, best) == 0.0
    assert WORLD.gap(None, ((0,), 0)) == pytest.approx(shares[best] - shares[(0,), 0])
    p = 3 / 9  # me and the able one have 3 points, a large project needs 6
    assert shares[(0, 1), 2] == pytest.approx((2 * p * (1 - p) * 3 + p * p * 12) / 2)


def test_an_agent_that_knows_has_no_regret():
    sure = TypeBelief.independent(WORLD.problem, [[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    agent = b.make("coalition-formation", prior=sure)
    assert regret(b.run(agent, WORLD, 20, seed=0), WORLD).total.mean == 0.0


def test_agents_run_and_records_hold_coalitions():
    for choose in ("myopic", "vpi", "lookahead"):
        agent = agent_for("coalition-formation", FAMILY, None, {"choose": choose})
        check_agent(agent, FAMILY, steps=20)
        record = b.run(agent, FAMILY, 20, seed=5)
        assert all(0 in members and 0 <= a < 3 for members, a in record.action)
    found = b.compare({"vpi": agent_for("coalition-formation", FAMILY, None, {"choose": "vpi"})}, FAMILY, 8, 3, seed=0)
    assert (found.regret(FAMILY)["vpi"].curve >= 0.0).all()


def test_columns_of_coalitions():
    """Coalitions of several lengths stay tuples; runs whose columns differ in kind are put together as objects."""
    ragged = column("action", [((0,), 1), ((0, 1), 0)])
    assert ragged.dtype == object
    assert ragged.tolist() == [((0,), 1), ((0, 1), 0)]
    one, two = column("action", [((0,), 1)] * 2), column("action", [((0, 1), 1)] * 2)
    assert [x.dtype.names for x in (one, two)] == [("f0", "f1")] * 2
    found = _stacked([one, two, ragged])
    assert [[tuple(map(int, pair[0])) for pair in row] for row in found] == [[(0,)] * 2, [(0, 1)] * 2, [(0,), (0, 1)]]
    assert _stacked([one, one]).dtype == one.dtype
    again = Record({"action": ragged, "reward": np.zeros(2)}, 1.0, {})
    assert again == Record({"action": column("action", [((0,), 1), ((0, 1), 0)]), "reward": np.zeros(2)}, 1.0, {})
    assert again != Record({"action": column("action", [((0,), 1), ((0, 2), 0)]), "reward": np.zeros(2)}, 1.0, {})


def test_runs_with_coalitions_of_several_sizes_are_saved(tmp_path):
    """A run, and a comparison of such runs, are read back equal; tables have a row for each step."""
    agents = {c: agent_for("coalition-formation", FAMILY, None, {"choose": c}) for c in ("vpi", "myopic")}
    record = b.run(agents["vpi"], FAMILY, 20, seed=6)
    assert {len(members) for members, _ in record.action} == {1, 2}
    found = b.compare(agents, FAMILY, 12, 5)
    assert {len(members) for members, _ in found["vpi"].action.flat} == {1, 2}
    for thing in (record, found):
        b.save(thing, tmp_path / "kept.zip")
        assert b.load(tmp_path / "kept.zip") == thing
    again = b.load(tmp_path / "kept.zip")["vpi"].action
    assert {type(x) for x in (again[0, 0], again[0, 0][0])} == {tuple}
    options = [(tuple(row["action"]["f0"]), row["action"]["f1"]) for row in to_arrow(found).to_pylist()]
    assert options[: 12 * 5] == found["vpi"].action.ravel().tolist()
    assert record.to_frame()["action"].tolist() == record.action.tolist()


def test_columns_of_tuples_are_written_whole_or_refused(tmp_path):
    path, reward = tmp_path / "kept.zip", np.zeros(2)
    for values in ([((0,), 1), ((0, 1), 0)], [((0.5, 1.0), "a"), ((), "bc")], [((True,), 1), ((), 2)]):
        record = Record({"action": column("action", values), "reward": reward}, 1.0, {})
        b.save(record, path)
        assert b.load(path) == record
        assert b.load(path).action.tolist() == values
    for values in ([((0,), None), ((0, 1), 0)], [((0, "a"), 1), ((), 2)], [((2**70,), 1), ((), 2)], [((), 1), (3, 2)]):
        ragged = np.fromiter(values, object, 2)
        with pytest.raises(InvalidArgument, match="'action' must be a column of plain numbers or text"):
            b.save(Record({"action": ragged, "reward": reward}, 1.0, {}), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    table = np.load(io.BytesIO(members["0/action.npy"]))  # the last record saved, by numpy alone
    table["f0_length"] = 7, 0
    changed = io.BytesIO()
    np.save(changed, table)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (members | {"0/action.npy": changed.getvalue()}).items():
            archive.writestr(name, data)
    with pytest.raises(UnreadableFile, match=r"its member 0/action\.npy has lengths that cannot be"):
        b.load(path)


def test_curious_agents_lose_less():
    """Bayesian regret of 50 rounds of five agents over 60 worlds: vpi loses less by three standard errors of pairs."""
    family = b.make_world("coalitions")
    runs = {c: agent_for("coalition-formation", family, None, {"choose": c}) for c in ("myopic", "vpi")}
    lost = b.compare(runs, family, 50, 60, seed=0).regret(family)
    saved = lost["myopic"].curve[-1] - lost["vpi"].curve[-1]
    assert saved.mean() > 3.0 * saved.std(ddof=1) / np.sqrt(len(saved))


def test_draws_are_the_prior_and_each_agent_has_its_own_view():
    # Types of the others are uniform: 300 draws of two agents, false-alarm rate 1e-6.
    drawn = np.array([FAMILY.draw(default_rng(i)).types for i in range(300)])
    assert (drawn[:, 0] == 1).all()
    for i in (1, 2):
        assert_frequencies(np.bincount(drawn[:, i], minlength=3), np.full(3, 1 / 3), false_alarm=1e-6)
    assert FAMILY.default_prior().marginal(0).tolist() == [0.0, 1.0, 0.0]
    assert problem_of(3, me=2).coalitions == ((2,), (0, 2), (1, 2), (0, 1, 2))


BAD = {
    "agents": lambda: b.make_world("coalitions", agents=0),
    "too many agents": lambda: b.make_world("coalitions", agents=9),
    "agents of text": lambda: b.make_world("coalitions", agents="x"),
    "half an agent": lambda: b.make_world("coalitions", agents=2.5),
    "ability of text": lambda: b.make_world("coalitions", ability="x"),
    "discount": lambda: b.make_world("coalitions", gamma=2.0),
    "ability": lambda: b.make_world("coalitions", ability=3),
    "types": lambda: CoalitionWorld(FAMILY.problem, (1, 2, 3)),
    "types of two": lambda: CoalitionWorld(FAMILY.problem, (1, 2)),
    "a number of no option": lambda: WORLD.step(None, 12, default_rng(0)),
    "a coalition without me": lambda: WORLD.step(None, ((1,), 0), default_rng(0)),
    "an action that is none": lambda: WORLD.step(None, ((0,), 3), default_rng(0)),
    "three things": lambda: WORLD.gap(None, ((0,), 0, 0)),
    "no generator": lambda: WORLD.step(None, ((0,), 0), 3),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_in_one_sentence(name):
    with pytest.raises(InvalidArgument, match="must be") as error:
        BAD[name]()
    assert "\n" not in str(error.value)
