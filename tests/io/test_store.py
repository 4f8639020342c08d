"""Saved beliefs, planners and agents behave as before, to the last random number; what is damaged is refused."""

import dataclasses
import importlib
import io
import json
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from lab_toys import Draws
from own_probes import probe_for

import bayesrl as b
from bayesrl.bamdp.sampling.psrl import PSRLPlan
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.forgetting import Forgetting
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.unknown_rewards import UnknownRewards
from bayesrl.beliefs.pomdp.chains import Chain
from bayesrl.beliefs.rewards.reward_beta import RewardBeta
from bayesrl.capabilities import HasLogEvidence, offers
from bayesrl.checks import same
from bayesrl.core import BayesAgent, Mind, Transition, run
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.io.archive import Refused, pack, unpack
from bayesrl.io.store import _class, _decode, _same_kind, _state, classes_by_name, load, save
from bayesrl.live import LiveAgent
from bayesrl.parameters import unchecked
from bayesrl.registry import entries, find, make, make_world, methods
from bayesrl.renamed import CLASSES, MODULES
from bayesrl.testing.probes import learned

SHELF = ["book", "film", "game"]
KINDS = ("belief", "planner", "agent")
OF_FUNCTIONS = ("normal-wishart-dynamics",)
"""Functions of the user cannot be kept; beliefs/dynamics/test_normal_wishart_dynamics.py has the refusal."""
EXAMPLES = {
    e.name: e.example
    for e in methods()
    if e.kind in KINDS and e.factory.__module__.startswith("bayesrl.") and e.name not in OF_FUNCTIONS
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kept.zip"


def again(thing, path):
    save(thing, path)
    return load(path)


def alike(a, b):
    """Equal in all that is held, in type, order in memory and derived fields too."""
    if dataclasses.is_dataclass(a):
        x, y = _state(a), _state(b)
        return type(a) is type(b) and x.keys() == y.keys() and all(alike(x[k], y[k]) for k in x)
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.flags.f_contiguous == b.flags.f_contiguous and np.array_equal(a, b)
    if hasattr(a, "entries"):  # a ledger
        return np.array_equal(a.entries, b.entries) and np.array_equal(a.counts(), b.counts())
    return type(a) is type(b) and same(a, b)


def aged(belief, n=40, seed=0):
    """The belief after some data of its own kind."""
    rng, probe = np.random.default_rng(seed), probe_for(belief)
    theta = probe.draw(belief, rng)
    for _ in range(n):
        belief = learned(probe, belief, probe.datum(belief, theta, rng), rng)
    return belief


# What goes in comes out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_everything_registered_survives(name, path):
    thing = EXAMPLES[name]()
    assert alike(again(thing, path), thing)


BELIEFS = [e.name for e in methods() if e.kind == "belief" and e.name in EXAMPLES and e.name != "forgetting"]


@pytest.mark.parametrize("name", BELIEFS)
def test_beliefs_with_data_behave_the_same(name, path):
    belief = aged(EXAMPLES[name]())
    kept = again(belief, path)
    assert alike(kept, belief)
    probe = probe_for(belief)
    np.testing.assert_array_equal(probe.expect(kept), probe.expect(belief))
    draws = [probe.read(x, probe.draw(x, np.random.default_rng(7))) for x in (belief, kept)]
    np.testing.assert_array_equal(*draws)
    datum = probe.datum(belief, probe.draw(belief, np.random.default_rng(8)), np.random.default_rng(9))
    rngs = (np.random.default_rng(10), np.random.default_rng(10))
    assert alike(learned(probe, kept, datum, rngs[0]), learned(probe, belief, datum, rngs[1]))
    if offers(belief, HasLogEvidence):
        np.testing.assert_array_equal(kept.log_evidence(), belief.log_evidence())


def test_the_ledger_and_the_prior_under_dirichlet_counts_survive(path):
    chain = b.make_world("chain")
    record = run(BayesAgent(b.DirichletMDP.flat(chain, 1 / 9), b.make("psrl")), chain, 700)
    belief = b.DirichletMDP.flat(chain, 1 / 9).update_many(record)
    kept = again(belief, path)
    assert kept.seen == belief.seen == 700
    np.testing.assert_array_equal(kept._prior, belief._prior)
    np.testing.assert_array_equal(kept._ledger.entries, belief._ledger.entries)
    assert kept.log_evidence() == belief.log_evidence()
    draws = [x.sample_mdp(np.random.default_rng(1)).prob for x in (kept, belief)]
    np.testing.assert_array_equal(*draws)
    both = UnknownRewards(belief, RewardBeta(np.full((5, 2), 1.5), np.ones((5, 2)), low=0.0, high=2.0))
    assert alike(again(both, path), both)


OTHERS = {
    "agent": lambda: BayesAgent(Forgetting(NormalArm.standard(3), decay=0.95), Thompson()),
    "lockstep forgetting": lambda: (
        Forgetting(BetaBernoulli.uniform(3)).batch(4).update(Transition(0, np.array([0, 1, 2, 0]), np.ones(4), 0))
    ),
    "lockstep": lambda: aged(BetaBernoulli.uniform(3)).batch(5),
    "odd": lambda: Transition(
        (1, "ü"), [np.int64(3), np.float32(0.5)], math.nan, {"a": -math.inf, 2: (True, None)}, True
    ),
    "fortran": lambda: Mind(None, np.asfortranarray(np.arange(6.0).reshape(2, 3)), None),
    "both orders": lambda: Mind(None, (np.asfortranarray(np.eye(3)), np.eye(3)), None),
    "both shapes": lambda: Mind(None, (np.arange(6.0), np.arange(6.0).reshape(2, 3), np.arange(6)), None),
    "empty": lambda: Mind(10**40, np.zeros((0, 3)), np.array("text")),
    "solution": lambda: b.solve(b.make_world("chain")),
    "mdp": lambda: b.make_world("chain").mdp,
    "family": lambda: b.make_world("gc"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_values_survive(name, path):
    thing = OTHERS[name]()
    kept = again(thing, path)
    assert type(kept) is type(thing)
    assert repr(kept) == repr(thing)
    if not isinstance(thing, tuple) or thing[0] is None:
        assert alike(kept, thing)


def test_equal_things_make_equal_files_and_arrays_are_kept_once(path):
    live = LiveAgent(BayesAgent(BetaBernoulli.uniform(3), Thompson()))
    save(live, path)
    first = path.read_bytes()
    save(load(path), path)
    assert path.read_bytes() == first
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 2  # the page and one array of ones: alpha and beta, of prior and belief
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert np.load(io.BytesIO(archive.read("arrays/0.npy"))).tolist() == [1.0, 1.0, 1.0]


def test_records_and_agents_share_one_pair_of_functions(path):
    world = b.make_world("online-shop")
    record = run(BayesAgent(world.default_prior(), Thompson()), world, 10)
    b.save(record, path)
    assert b.load(path) == record
    b.save(world.default_prior(), path)
    assert b.load(path) == world.default_prior()


# Agents in service ---------------------------------------------------------------------------------------------------


def live_agents():
    laplace = LogisticLaplaceArms.isotropic(6)
    yield "plain", LiveAgent(BayesAgent(BetaBernoulli.uniform(3), Thompson()), seed=3), None
    yield "named", LiveAgent(BayesAgent(BetaBernoulli.uniform(3), Thompson()), seed=4, actions=SHELF), None
    yield "ids", LiveAgent(BayesAgent(Forgetting(BetaBernoulli.uniform(2)), Thompson()), actions=[11, 7]), None
    yield "contextual", LiveAgent(BayesAgent(laplace, Thompson()), actions=SHELF), np.array([1.0, -0.5])
    yield "sets", LiveAgent(BayesAgent(SemiBandit(BetaBernoulli.uniform(4)), ThompsonCombinatorial(2))), None
    yield "ucb", LiveAgent(BayesAgent(LinearGaussianArms.isotropic(2), b.make("bayes-ucb"))), np.eye(2)
    yield "coins", LiveAgent(BayesAgent(b.make("binarised-rewards", inside=BetaBernoulli.uniform(3)), Thompson())), None


def serve(live, context, n):
    """Some customers whose answers depend on nothing but their number."""
    chosen = []
    for i in range(n):
        action = live.act(context)
        live.learn(action, [i % 2, 1] if isinstance(action, list) else i % 3 == 0, context)
        chosen.append(action)
    return chosen


@pytest.mark.parametrize("live, context", [pytest.param(x, c, id=name) for name, x, c in live_agents()])
def test_a_live_agent_goes_on_as_if_nothing_had_happened(live, context, path):
    serve(live, context, 25)
    kept = again(live, path)
    assert alike(kept.mind, live.mind)
    assert kept.actions == live.actions
    np.testing.assert_array_equal(kept.probability(context, draws=40), live.probability(context, draws=40))
    assert serve(kept, context, 25) == serve(live, context, 25)
    assert alike(kept.belief, live.belief)


# What cannot be saved ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "thing, sentence",
    [
        (
            Mind(Draws(), 0, None),
            "save: 'thing' must be made of values of this library, numbers, text and arrays, got 'Draws'.",
        ),
        (
            Mind(None, np.array([None, {}]), None),
            "save: 'thing' must be made of values of this library, numbers, text and arrays, got 'ndarray'.",
        ),
        (
            Mind(None, len, None),
            "save: 'thing' must be made of values of this library, numbers, text and arrays, got "
            "'builtin_function_or_method'.",
        ),
    ],
)
def test_what_cannot_be_saved(thing, sentence, path):
    path.write_text("before")
    with pytest.raises(InvalidArgument) as error:
        save(thing, path)
    assert str(error.value) == sentence
    assert path.read_text() == "before"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


# Refusals ------------------------------------------------------------------------------------------------------------


def sentence(path):
    with pytest.raises(UnreadableFile) as error:
        load(path)
    text = str(error.value)
    assert "\n" not in text
    return text.removeprefix(f"Cannot read '{path}': ")


def kept_agent():
    live = LiveAgent(BayesAgent(BetaBernoulli.uniform(2), Thompson()), actions=["a", "b"])
    serve(live, None, 6)
    return live


def edited(thing, path, change):
    """Save a thing with its page changed by hand, checksums made anew."""
    save(thing, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    page = json.loads(members["meta.json"])
    change(page["value"], page, members)
    members["meta.json"] = json.dumps(page).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def put(*where, to):
    def change(value, page, members):
        for key in where[:-1]:
            value = value[key]
        value[where[-1]] = to

    return change


CHAIN = b.DirichletMDP.flat(b.make_world("chain")).update(Transition(0, 0, 0.0, 1))
BETA = aged(BetaBernoulli.uniform(3))
NO_VALUE = "its meta.json does not describe a saved value."
OTHER = "which is not a value of this library."


@pytest.mark.parametrize(
    "thing, change, expected",
    [
        (BETA, put("type", to="os:system"), f"it holds a os:system, {OTHER}"),
        (BETA, put("type", to="bayesrl.cli:main"), f"it holds a bayesrl.cli:main, {OTHER}"),
        (BETA, put("type", to="bayesrl.io.store:os"), f"it holds a bayesrl.io.store:os, {OTHER}"),
        (BETA, put("type", to="bayesrl.core:dataclass"), f"it holds a bayesrl.core:dataclass, {OTHER}"),
        (BETA, put("type", to="bayesrl.nothing:Nothing"), f"it holds a bayesrl.nothing:Nothing, {OTHER}"),
        (BETA, put("type", to="bayesrl.core:Belief"), f"it holds a bayesrl.core:Belief, {OTHER}"),
        (BETA, put("type", to="bayesrl/../os:path"), f"it holds a bayesrl/../os:path, {OTHER}"),
        (BETA, put("type", to=7), NO_VALUE),
        (BETA, put("fields", to={}), NO_VALUE),
        (BETA, put("fields", "extra", to=1), "its BetaBernoulli has other fields than this library's."),
        (
            BETA,
            put("fields", "gamma", to=1.5),
            "it holds a value that is refused (BetaBernoulli: 'gamma' must be in [0, 1], got 1.5).",
        ),
        (
            BETA,
            put("fields", "alpha", to=None),
            "it holds a value that is refused (BetaBernoulli: 'alpha' must be an array of numbers, got None).",
        ),
        (
            BETA,
            put("fields", "prior_parameters", to=3),
            "its BetaBernoulli has a field prior_parameters of the wrong kind.",
        ),
        (
            BETA,
            put("fields", "prior_parameters", to={"tuple": []}),
            "its BetaBernoulli has a field prior_parameters of the wrong kind.",
        ),
        (
            BETA,
            put("fields", "prior_parameters", to={"set": []}),
            "it holds something called 'set', which this library does not know.",
        ),
        (BETA, put("fields", "gamma", to={"float": "one"}), NO_VALUE),
        (BETA, put("fields", "alpha", "array", to=[9, "<f8", [3]]), "its member arrays/9.npy is missing."),
        (
            BETA,
            put("fields", "alpha", "array", to=[0, "<f8", [4]]),
            "its member arrays/0.npy is <f8 (3,), not <f8 (4,) as meta.json says.",
        ),
        (BETA, put("fields", "alpha", "array", to=["../0", "<f8", [3]]), NO_VALUE),
        (BETA, lambda value, page, members: page.update(value=[]), NO_VALUE),
        (BETA, lambda value, page, members: page.pop("kind"), NO_VALUE),
        (BETA, lambda value, page, members: page.pop("value"), "its meta.json does not describe a record."),
        (
            BETA,
            lambda value, page, members: page.update(version=2),
            "its format version is 2, and this library reads version 1.",
        ),
        (
            BETA,
            lambda value, page, members: members.update({"arrays/0.npy": b"x"}),
            "its member arrays/0.npy is not a .npy array.",
        ),
        (CHAIN, put("fields", "_ledger", to={"ledger": 5}), NO_VALUE),
        (CHAIN, put("fields", "_ledger", to=None), NO_VALUE),
        (CHAIN, put("fields", "_prior", to={"tuple": []}), "its DirichletMDP has a field _prior of the wrong kind."),
        (
            kept_agent(),
            put("seed", to=-1),
            "it holds a value that is refused (LiveAgent: 'seed' must be a whole number of at least 0, got -1).",
        ),
        (kept_agent(), put("mind", to=None), "its mind is not one of its agent's."),
        (kept_agent(), put("mind", "items", 0, to=None), "its mind is not one of its agent's."),
        (kept_agent(), put("mind", "items", to=[]), NO_VALUE),
        (kept_agent(), put("planner", to={}), NO_VALUE),
        (kept_agent(), put("learning", "state", "state", to="x"), NO_VALUE),
        (kept_agent(), put("learning", "state", "state", to=-1), NO_VALUE),
        (kept_agent(), put("planner", "bit_generator", to="MT19937"), NO_VALUE),
        (
            kept_agent(),
            put("actions", to={"tuple": ["a"]}),
            "it holds a value that is refused (LiveAgent: 'actions' must be 2 names, one for each arm, got ['a']).",
        ),
    ],
)
def test_refusals(thing, change, expected, path):
    edited(thing, path, change)
    assert sentence(path) == expected


def test_cells_that_do_not_exist(path):
    save(CHAIN, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    entries = json.loads(members["meta.json"])["value"]["fields"]["_ledger"]["ledger"]["array"]
    for cell in (-1, 50):
        member = io.BytesIO()
        np.save(member, np.array([cell]))
        members[f"arrays/{entries[0]}.npy"] = member.getvalue()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        assert sentence(path) == "its ledger has cells that do not exist."


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "kept.zip"
    live = kept_agent()
    save(live, path)
    return live, path.read_bytes()


def refused_or_the_same(path, data, live):
    """Damaged data must be refused, or hold the same agent (damage to what nobody reads)."""
    path.write_bytes(data)
    try:
        kept = load(path)
    except UnreadableFile as error:
        return "\n" not in str(error)
    return (
        alike(kept.mind, live.mind)
        and kept.streams.planner.bit_generator.state == live.streams.planner.bit_generator.state
    )


def test_truncated_anywhere(good, path):
    data = good[1]
    for length in range(0, len(data), 5):
        path.write_bytes(data[:length])
        assert sentence(path) in ("it is damaged or cut short.", "it is not a zip file.")


def test_flipped_anywhere(good, path):
    # Every byte once, a random change each.
    live, data = good
    rng = np.random.default_rng(0)
    for i in range(len(data)):
        flipped = bytearray(data)
        flipped[i] ^= int(rng.integers(1, 256))
        assert refused_or_the_same(path, bytes(flipped), live), i


def test_scrambled_pages(good, path):
    # The page itself is damaged and the checksums made anew: parts of the JSON exchanged, dropped, or retyped.
    live, _ = good
    rng = np.random.default_rng(1)
    odd = [
        None,
        -1,
        1e308,
        "x",
        [],
        {},
        {"array": [0, "<f8", [2]]},
        {"tuple": [1]},
        {"type": "bayesrl.core:Mind", "items": [1, 2, 3]},
    ]

    def places(node, found):
        if isinstance(node, (dict, list)):
            for key in node if isinstance(node, dict) else range(len(node)):
                found.append((node, key))
                places(node[key], found)
        return found

    def damage(value, page, members):
        found = places(page["value"], [])
        node, key = found[rng.integers(len(found))]
        other, place = found[rng.integers(len(found))]
        node[key] = odd[rng.integers(len(odd))] if rng.random() < 0.7 else json.loads(json.dumps(other[place]))

    for _ in range(300):
        edited(live, path, damage)
        try:
            kept = load(path)
        except UnreadableFile as error:
            kept = str(error)
        if isinstance(kept, str):
            assert "\n" not in kept
        else:  # a change that makes another valid agent, a seed of 0 for instance: it works
            assert isinstance(kept, LiveAgent)
            serve(kept, None, 2)


# Files of the previous release ---------------------------------------------------------------------------------------

DATA = Path(__file__).parent / "data"


def test_files_of_the_previous_release_are_read():
    """They name modules that have moved, `bayesrl.beliefs.beta_bernoulli` say, and columns `state` and `next_state`."""
    shop = load(DATA / "shop-0.1.zip")
    fresh = LiveAgent(BayesAgent(BetaBernoulli.uniform(3), Thompson()), actions=["book", "film", "game"])
    for i in range(5):
        fresh.learn(fresh.act(), reward=float(i % 2))
    assert shop.mind == fresh.mind
    assert [shop.act() for _ in range(20)] == [fresh.act() for _ in range(20)]
    record = load(DATA / "record-0.1.zip")
    world = make_world("chain")
    again = run(BayesAgent(DirichletMDP.flat(world), make("exploit")), world, 20)
    assert list(record.columns)[:4] == ["state", "action", "reward", "next_state"]
    for old, new in (("state", "observation"), ("action", "action"), ("next_state", "next_observation")):
        np.testing.assert_array_equal(record.columns[old], again.columns[new])
        np.testing.assert_array_equal(getattr(record, new), getattr(again, old))
    assert DirichletMDP.flat(world).update_many(record) == DirichletMDP.flat(world).update_many(again)


@pytest.mark.parametrize("name", ["pbvi", "perseus", "pomdp-value-iteration"])
def test_a_field_that_is_newer_than_the_file_has_its_default(name):
    assert load(DATA / f"{name}-d707df2.zip") == find(name).example()


def test_items_of_named_tuples_that_have_changed():
    """The minds of these agents were saved after a decision. Each takes the same next action as it did then."""
    assert load(DATA / "live-bayesian-dp-chain-d707df2.zip").act(0) == 1
    assert load(DATA / "live-gittins-bernoulli-d707df2.zip").act(0) == 1
    assert load(DATA / "live-sampled-pomdps-tiger-d707df2.zip").act(1) == 0
    plan = _decode({"type": "bayesrl.bamdp.sampling.psrl:Plan", "items": [{"list": [-2.0, 1.0]}, 3]}, None)
    assert plan == PSRLPlan([-2.0, 1.0], 2.0, 3)


def test_shops_of_earlier_versions_are_read():
    """Their shop had eight products and paid 1 for a sale; the worlds in a file stay what they were."""
    worlds = {name: load(DATA / f"old-{name}.zip") for name in ("online-shop", "contextual-shop", "online-shop-hidden")}
    assert worlds["online-shop"].means.round(3).tolist() == [0.136, 0.144, 0.104, 0.144, 0.124, 0.133, 0.072, 0.118]
    assert worlds["contextual-shop"].means.shape == (6, 8)
    assert worlds["online-shop-hidden"].value == (3.347, 4.1839)
    for name, world in worlds.items():
        assert world.name == name
        assert world.n_actions == 8
    agent = BayesAgent(worlds["online-shop"].default_prior(), Thompson())
    assert set(run(agent, worlds["online-shop"], 50).reward.tolist()) <= {0.0, 1.0}


def test_everything_registered_has_a_name_of_its_own():
    """So that a file is read after its class has moved."""
    known = classes_by_name()
    kinds = {type(e.example()) for e in entries().values() if e.example and e.kind in ("belief", "planner", "agent")}
    moved = [kind for kind in kinds if kind.__module__.startswith("bayesrl.")]
    assert moved
    assert [kind for kind in moved if known.get(kind.__name__) is not kind] == []


def test_renamed_classes_are_there():
    """Files of earlier releases name a class by its old name."""
    assert [new for new in CLASSES.values() if new not in classes_by_name()] == []
    assert all(_class(old).__name__ == new for old, new in CLASSES.items())


@pytest.mark.parametrize("old", MODULES)
def test_classes_of_common_names_are_found_where_they_went(old):
    """Such a class is not found by its name alone: other files have one of that name."""
    module = importlib.import_module(MODULES[old])
    own = [n for n, kind in vars(module).items() if isinstance(kind, type) and kind.__module__ == MODULES[old]]
    saved = [n for n in own if dataclasses.is_dataclass(vars(module)[n]) or hasattr(vars(module)[n], "_fields")]
    assert saved
    assert all(_class(f"{old}:{name}") is vars(module)[name] for name in saved)


def test_fields_are_of_the_same_kind():
    """Class, dtype, shape and length; an empty tuple may have grown."""
    one = np.zeros((2, 3))
    assert _same_kind(one, np.ones((2, 3)))
    for other in (np.zeros((2, 3), np.float32), np.zeros((3, 2)), np.zeros((2, 3), np.int64), 0.0, None):
        assert not _same_kind(one, other)
    assert _same_kind((one, 1), (one, 2))
    assert not _same_kind((one, 1), (one, 2, 3))
    assert not _same_kind((one, 1), (one, "a"))
    assert _same_kind((), ((1, 2), (3, 4)))
    assert _same_kind((), ((1, 2),))
    assert not _same_kind((), ((1, 2), (3, "a")))


def damaged():
    """(What is wrong, a belief with a field that no data could have made)."""
    rng, step = np.random.default_rng(0), Transition(0, 1, 0.0, 1)
    for name in ("infinite-pomdp", "policy-prior"):
        belief = EXAMPLES[name]().update(step, rng)
        data, (x, model, now) = belief.data, belief.data.chains[0]
        chains = {
            "state": Chain(x + len(now), model, now),
            "length": Chain(x[:-1], model, now),
            "row": Chain(x, model._replace(moves=model.moves * 0.5), now),
            "shape": Chain(x, model, now[:-1]),
        }
        bad = {what: data._replace(chains=(one, *data.chains[1:])) for what, one in chains.items()}
        bad["fewer"] = data._replace(chains=data.chains[1:])
        bad["step"] = data._replace(steps=data.steps + 9)
        bad["steps"] = data._replace(steps=data.steps[:0])
        bad["dtype"] = data._replace(steps=data.steps.astype(np.float64))
        bad["weight"] = data._replace(log_weight=data.log_weight * np.nan)
        bad["kind"] = tuple(data)
        yield from ((f"{name}, {what}", unchecked(belief, data=new)) for what, new in bad.items())
    graph = EXAMPLES["factored-dbn"]()
    before, actions = np.zeros((2, len(graph.sizes)), np.int64), np.zeros(2, np.int64)
    after = before.copy()
    for what, log in {
        "value": (before + 9, actions, after),
        "action": (before, actions - 1, after),
        "shape": (before, actions, after[:1]),
        "dtype": (before, actions, after.astype(np.int32)),
    }.items():
        yield f"factored-dbn, {what}", unchecked(graph, log=log)
    particles = EXAMPLES["pomdp-particles"]().update(Transition(-1, 0, 0.0, 0), rng)
    states, weights = particles.sample
    for what, sample in {
        "state": particles.sample._replace(states=states + 99),
        "weight": particles.sample._replace(weights=weights * 2.0),
        "length": particles.sample._replace(weights=weights[:-1]),
        "kind": (states, weights),
    }.items():
        yield f"pomdp-particles, {what}", unchecked(particles, sample=sample)


def test_what_no_data_could_have_made_is_refused(path):
    for what, belief in damaged():
        print(what)
        with pytest.raises(InvalidArgument, match="must be one that can be read back"):
            save(belief, path)


LINE = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.9)
FIXED = {
    "birl": {"demonstrations": [1], "draws": [1], "accepted": [0], "at": [0]},
    "bnirl": {"demonstrations": [0, 1], "labels": [0], "assignments": [1], "goals": [1]},
    "dpm-birl": {"labels": [0], "weights": [0, 1], "assignments": [0, 1], "samples": [0, 1, 2], "accepted": [0]},
    "multitask-birl": {"weights": [0, 1], "thetas": [0], "samples": [0, 1, 2], "accepted": [0], "sums": [0]},
    "hierarchical-mdp": {"labels": [0], "assignments": [1]},
    "LinearRewardClasses": {"gram": [0, 1, 2], "moment": [0, 1], "labels": [0], "assignments": [1]},
    "variable-reward-transfer": {
        "policies": [0, 1], "vectors": [0, 1, 2], "gains": [0, 1], "tasks": [0, 1], "iterations": [0],
    },
}  # fmt: skip
"""Fields of chains and caches, and the axes whose lengths the others fix."""
COUNTED = {"demonstrations": 0, "at": 0, "labels": -1, "assignments": 0, "goals": 0, "thetas": 0, "policies": 0}
"""Fields of whole numbers from this one on."""


def grown():
    """(Name, a belief with draws)."""
    rng, pairs = np.random.default_rng(0), [(0, 1), (1, 1), (1, 0)]
    for name in ("birl", "bnirl", "dpm-birl", "multitask-birl"):
        log = [pairs, pairs] if name in ("dpm-birl", "multitask-birl") else pairs
        yield name, b.make(name, problem=LINE).update_many(log).refresh(rng, 4)
    steps = [Transition(0, 1, 0.0, 1, task=m) for m in (0, 1, 1)]
    yield "hierarchical-mdp", b.make("hierarchical-mdp", problem=LINE).update_many(steps).refresh(rng, 4)
    classes = b.multitask.LinearRewardClasses(1.0, 0.5, np.eye(2), [0.0, 0.0], np.eye(2))
    yield "LinearRewardClasses", classes.update_many([(0, [1.0, 0.0], 1.0), (1, [0.0, 1.0], 0.0)]).refresh(rng, 4)
    cache = EXAMPLES["variable-reward-transfer"]()
    yield "variable-reward-transfer", cache.update([0.0, 1.0]).update([1.0, 1.0])


def test_a_chain_without_a_lattice_stands_nowhere(path):
    belief = b.make("birl", problem=LINE, reward_prior=b.inverse.GaussianPrior())
    save(belief, path)
    with pytest.raises(InvalidArgument, match="must be one that can be read back"):
        save(unchecked(belief, at=np.array([0, 1])), path)


def test_draws_that_do_not_belong_together_are_refused(path):
    """One entry more along an axis, and numbers just outside their range; what was not damaged is kept."""
    for name, belief in grown():
        save(belief, path)
        for field, axes in FIXED[name].items():
            x = getattr(belief, field)
            wrong = [np.concatenate([x, np.take(x, [0], axis)], axis) for axis in axes]
            if field in COUNTED:
                wrong += [np.where(x == x.flat[0], COUNTED[field] - 1, x), np.where(x == x.flat[0], 99, x)]
            for bad in wrong:
                with pytest.raises(InvalidArgument, match="must be one that can be read back"):
                    save(unchecked(belief, **{field: bad}), path)


def test_an_agent_that_begins_without_a_mind(path):
    live = LiveAgent(b.agent("medusa", "asking-for-state", models=4, size=5))
    save(live, path)
    assert load(path).mind is None
    live.act(-1)
    save(live, path)
    kept = load(path)
    assert type(kept.mind) is type(live.mind)
    assert kept.mind is not None
    assert [kept.act(-1) for _ in range(5)] == [live.act(-1) for _ in range(5)]
    live.mind = Transition(0, 0, 0.0, 0)
    with pytest.raises(InvalidArgument, match="But its mind is not one of its agent's"):
        save(live, path)


def test_an_array_that_a_page_names_twice_is_read_once():
    """So it takes memory once, and counts once among the bytes that a file may have."""
    x = np.arange(50.0)
    _, members = unpack(io.BytesIO(pack({}, {"x.npy": x})))
    room = members.room
    first = members.array("x.npy", "<f8", [50])
    assert members.room == room - x.nbytes
    assert members.array("x.npy", "<f8", [50]) is first
    assert members.room == room - x.nbytes


@pytest.mark.parametrize("dtype, shape", [("<f8", [5, 10]), ("<f8", [49]), ("<i8", [50])])
def test_an_array_that_a_page_names_twice_has_one_form(dtype, shape):
    _, members = unpack(io.BytesIO(pack({}, {"x.npy": np.arange(50.0)})))
    members.array("x.npy", "<f8", [50])
    with pytest.raises(Refused, match=r"its member x\.npy is "):
        members.array("x.npy", dtype, shape)
