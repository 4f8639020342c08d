"""One name, one meaning: renamed words are accepted by one table, and no word gets a second meaning."""

import ast
import dataclasses
import inspect
import json
import zipfile
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.checks import same
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.gradient import fisher
from bayesrl.io.store import load, save
from bayesrl.lab.build import agent_for
from bayesrl.lab.experiment import experiment
from bayesrl.lab.literature import scores
from bayesrl.lab.priors import prior_for
from bayesrl.pacbayes import prior_check, select
from bayesrl.registry import entries
from bayesrl.renamed import NAMES, WORDS, words_of

ROOT = Path(b.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
MODULES = [
    import_module(".".join(["bayesrl", *p.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__"))
    for p in sorted(ROOT.rglob("*.py"))
    if p.name != "__main__.py"
]
OWNERS = {}
for one in MODULES:
    for thing in vars(one).values():
        if getattr(thing, "__module__", None) == one.__name__ and callable(thing):
            OWNERS.setdefault(thing.__qualname__, []).append(thing)
ROWS = [(owner, old, new) for owner, row in WORDS.items() for old, new in row.items()]
LINE = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.5)
BANDIT = b.DirichletMDP.flat(b.make_world("chain", gamma=0.3))
FUNCTIONS = {
    "boltzmann_q": lambda **c: b.inverse.boltzmann_q(LINE, [0.0, 1.0], **c),
    "boltzmann_log_likelihood": lambda **c: b.inverse.boltzmann_log_likelihood(LINE, [0.0, 1.0], demo=[(0, 1)], **c),
    "demonstrate": lambda **c: b.inverse.demonstrate(LINE, [0.0, 1.0], 2, 5, default_rng(0), **c),
    "select": lambda **c: select([0.1, 0.2], temperatures=[1.0], bound=abs, **{k: [1 / x] * x for k, x in c.items()}),
}
"""A call of each function of the table; the value of its renamed parameter is 2."""
MADE = {e.name: e for e in entries().values() if e.example is not None}
EXAMPLES = {name: e.example for name, e in MADE.items() if isinstance(e.factory, type) and words_of(e.factory)}
EXAMPLES |= {name: partial(b.make_world, name) for name in ("chain", "gc", "tiger", "asking-for-state")}
EXAMPLES |= {"pomdp": lambda: b.make_world("tiger").pomdp, "observed": lambda: b.make_world("tiger").pomdp.observed}
EXAMPLES |= {"model prior": lambda: b.make_world("tiger").model_prior()}
EXAMPLES |= {"streams": partial(b.core.Streams.of, 0)}
EXAMPLES |= {"prior check": lambda: prior_check(BANDIT, [b.Transition(0, 0, 0.0, 1)], 2, rng=default_rng(0))}
"""Makes an instance of each class of the table."""


# The table -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("owner", "old", "new"), ROWS)
def test_a_row_names_what_is_there(owner, old, new):
    (thing,) = (one for one in OWNERS[owner] if not hasattr(one, "py_func"))  # no compiled function
    if not isinstance(thing, type):
        assert new in inspect.signature(thing).parameters
        np.testing.assert_equal(FUNCTIONS[owner](**{old: 2}), FUNCTIONS[owner](**{new: 2}))
        with pytest.raises(InvalidArgument, match=f"'{new}' must be given once"):
            FUNCTIONS[owner](**{old: 2, new: 2})
    else:
        having = [
            kind for kinds in OWNERS.values() for kind in kinds if isinstance(kind, type) and thing in kind.__mro__
        ]
        told = {name for kind in having for name in (*dir(kind), *getattr(kind, "__annotations__", ()))}
        assert new in told
        assert any(thing in type(made()).__mro__ for made in EXAMPLES.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_old_words_of_a_class(name, tmp_path):
    made = EXAMPLES[name]()
    kind = type(made)
    parameters = inspect.signature(kind).parameters
    fields = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set(kind._fields)
    for old, new in words_of(kind).items():
        assert old not in parameters
        assert old not in fields
        assert same(getattr(made, old), getattr(made, new))
        assert callable(getattr(kind, new, None)) == callable(getattr(kind, old, None))
        if new in parameters:
            given = {n: getattr(made, n) for n in parameters if n != new}
            again = kind(**given, **{old: getattr(made, new)})
            assert same(getattr(again, new), getattr(made, new))
            with pytest.raises(InvalidArgument, match=f"'{new}' must be given once"):
                kind(**given, **{old: getattr(made, new), new: getattr(made, new)})
            if name in MADE:
                assert MADE[name].keyword(old) == new
    renamed = {new: old for old, new in words_of(kind).items() if new in fields}
    if renamed and dataclasses.is_dataclass(kind):
        save(made, tmp_path / "new.zip")
        assert load(in_old_words(tmp_path / "new.zip", renamed, f":{kind.__name__}")) == load(tmp_path / "new.zip")


def in_old_words(path, old, kind):
    """The file as an earlier release wrote it."""
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    page = json.loads(parts["meta.json"])

    def back(node):
        if isinstance(node, list):
            return [back(one) for one in node]
        if not isinstance(node, dict):
            return node
        node = {key: back(x) for key, x in node.items()}
        if str(node.get("type", "")).endswith(kind):
            node["fields"] = {old.get(key, key): x for key, x in node["fields"].items()}
        return node

    assert back(page) != page
    parts["meta.json"] = json.dumps(back(page)).encode()
    with zipfile.ZipFile(path.with_name("old.zip"), "w") as whole:
        for name, data in parts.items():
            whole.writestr(name, data)
    return path.with_name("old.zip")


FADING = [name for name, entry in MADE.items() if entry.package == "beliefs" and hasattr(entry.factory, "fade")]


@pytest.mark.parametrize("name", FADING)
def test_old_words_of_methods(name):
    belief = MADE[name].example()
    assert "keep" not in inspect.signature(belief.fade).parameters
    assert belief.fade(belief, keep=0.5) == belief.fade(belief, 0.5) == belief.fade(belief, decay=0.5)
    with pytest.raises(InvalidArgument, match=r"fade: 'decay' must be given once.*keep is another word"):
        belief.fade(belief, keep=0.5, decay=0.5)


def test_an_old_word_of_the_running_information():
    first = fisher.RunningInformation(np.eye(2), 1.0)
    np.testing.assert_equal(first.after(np.eye(2), keep=0.5), first.after(np.eye(2), 0.5))
    np.testing.assert_array_equal(first.after(np.eye(2), keep=0.5).total, 1.5 * np.eye(2))


def test_replace_takes_the_present_word():
    """It passes on every field that it is not given, so the constructor is given both words."""
    belief = MADE["birl"].example()
    assert dataclasses.replace(belief, rationality=7.0).rationality == 7.0
    with pytest.raises(InvalidArgument, match="confidence is another word for it: give rationality only"):
        dataclasses.replace(belief, confidence=7.0)


def test_old_words_of_scores(tmp_path):
    """Parameters in a file of scores that an earlier release wrote."""
    kept = [one for one in scores.read(DOCS / "scores.json") if one.row.method in ("bolt", "pot", "beb")]
    assert {(one.row.method, name) for one in kept for name in ("horizon", "depth") if name in one.params} == {
        ("bolt", "depth"), ("pot", "depth")
    }  # fmt: skip
    page = json.loads((DOCS / "scores.json").read_text("utf-8"))
    assert any("horizon" in one["params"] for one in page)
    scores.write(kept, tmp_path / "new.json")
    assert scores.read(tmp_path / "new.json") == kept


MODULE_ROWS = [(module, old, new) for module, row in NAMES.items() for old, new in row.items()]


@pytest.mark.parametrize(("module", "old", "new"), MODULE_ROWS)
def test_old_names_of_modules(module, old, new):
    home = import_module(module)
    assert old not in dir(home)
    assert getattr(home, old) is getattr(home, new)
    scope = {}
    exec(f"from {module} import {old}", scope)
    assert scope[old] is getattr(home, new)
    assert not hasattr(home, "no_such_name")


# By name -------------------------------------------------------------------------------------------------------------


def test_old_words_by_name():
    """In `make`, in NAME:KEY=VALUE of methods and priors, and in `--set`."""
    assert b.make("forgetting", belief=BETAS, keep=0.5) == b.make("forgetting", belief=BETAS, decay=0.5)
    assert prior_for(BERNOULLI, "forgetting:keep=1/2") == prior_for(BERNOULLI, "forgetting:decay=1/2")
    assert agent_for("bpg-1", WALK, params={"keep": 0.5}) == agent_for("bpg-1", WALK, params={"decay": 0.5})
    done = [experiment([f"bpg-1:{word}=.5", "reinforce"], "random-walk", None, {"paths": 2}, **SHORT) for word in KEEP]
    done += [experiment(["bpg-1", "reinforce"], "random-walk", None, {"paths": 2, word: 0.5}, **SHORT) for word in KEEP]
    agents = [one.entrants[min(one.entrants)].agent for one in done]
    assert all(agent == agents[0] and agent.decay == 0.5 for agent in agents)


def test_an_error_says_the_word_that_was_given():
    for word in KEEP:
        for call in (
            lambda word=word: b.make("bpg-1", **{word: 1.0}),
            lambda word=word: agent_for("bpg-1", WALK, params={word: 1.0}),
        ):
            with pytest.raises(InvalidArgument, match=f"BPG1: '{word}' must be in"):
                call()
    with pytest.raises(UnknownName, match="no parameter of bpg-1 called 'kept'"):
        b.make("bpg-1", kept=0.5)


KEEP = ("keep", "decay")
SHORT = {"steps": 3, "runs": 1}
BETAS = b.beliefs.BetaBernoulli.uniform(2)
BERNOULLI, WALK = b.make_world("bernoulli"), b.make_world("random-walk")


# One meaning ---------------------------------------------------------------------------------------------------------

MEANINGS = {
    "calibration": (),
    "confidence": ("lab/", "live.py", "risk/", "statistics.py"),  # the level of an interval or of a guarantee
    "counts": ("beliefs/", "capabilities/", "testing/"),  # what has been counted
    "horizon": (
        "adapters/gymnasium.py", "bamdp/offline/", "bamdp/optimism/pac_bounds.py", "bamdp/sampling/psrl.py", "bandits/",
        "cli/", "core.py", "lab/", "models/", "problems.py", "risk/", "testing/", "worlds/",
    ),  # the end of an episode, of a run, of a problem
    "keep": ("core.py", "lab/compare.py"),  # columns of a record
    "play": ("core.py",),  # the loop
    "wander": (), "sign": (), "signs": (), "luck": (), "thought": (), "meet": (),
}  # fmt: skip
"""Where a word may name a public parameter, field, method, function or module. docs/notation.md has its meaning."""
ENDS = ("episode", "in all", "in the run", "left", "to go")
"""Words of which a declared `horizon` has one in its help."""
NO_BELIEFS = {
    "FinitePrior", "GaussianPrior", "LaplacePrior", "RewardPrior", "UniformPrior", "DirichletPOMDP",
    "Covariance", "Gaussian", "ArrayLike", "Floats", "F1", "F2", "float", "int",
}  # fmt: skip
"""Densities, priors over models, covariances and numbers: `reward_prior`, `model_prior`, `prior_covariance`, ..."""


def public_names(name, tree):
    """The public parameters, fields, methods, functions and the name of a file, each with its annotation and node."""
    yield name, None, tree
    todo = [(tree, True)]
    while todo:
        node, public = todo.pop()
        for one in ast.iter_child_nodes(node):
            if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
                open_to_all = public and (not one.name.startswith("_") or one.name == "__init__")
                if open_to_all:
                    yield one.name, getattr(one, "returns", None), one
                if isinstance(one, ast.ClassDef):
                    todo.append((one, open_to_all))
                elif open_to_all and one.name != "check_world":  # which is given what a run is given
                    yield from ((x.arg, x.annotation, x) for x in (*one.args.args, *one.args.kwonlyargs))
            elif public and isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                yield one.target.id, one.annotation, one


def other_meanings(place, text):
    """The public names of a file that are used in a meaning that docs/notation.md does not give."""
    for name, told, node in public_names(Path(place).stem, ast.parse(text)):
        inside = list(ast.walk(told)) if told else []
        if name == "prior":
            wrong = bool({n.id for n in inside if isinstance(n, ast.Name)} & NO_BELIEFS)
            wrong |= isinstance(node, ast.FunctionDef) and [x.arg for x in node.args.args] != ["self"]
        elif name == "horizon" and (said := [n.value for n in inside if isinstance(getattr(n, "value", 0), str)]):
            wrong = not any(word in said[-1] for word in ENDS)
        elif name == "counts" and isinstance(node, ast.arg):  # an array of them, given to a function
            wrong = False
        else:
            wrong = name in MEANINGS and not place.startswith(MEANINGS[name])
        if wrong:
            yield name


FILES = [p for p in ROOT.rglob("*.py") if p.name[0] != "_" and "kernels" not in p.relative_to(ROOT).parts]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_word_has_one_meaning(path):
    place = path.relative_to(ROOT).as_posix()
    assert not list(other_meanings(place, path.read_text("utf-8"))), "docs/notation.md says what the word means"


SECOND = {
    "calibration": ["value/calibration.py", "def calibration(log): ...", "class Law:\n  calibration: float"],
    "confidence": ["class Expert:\n  confidence: float", "def demonstrate(confidence=1.0): ..."],
    "counts": ["class Tiger:\n  def counts(self): ...", "class Family:\n  counts: Floats"],
    "horizon": [
        "class BOLT:\n  horizon: Annotated[int, AtLeast(1), 'Decisions planned ahead, H.']", "def plan(horizon): ...",
        "class Planner:\n  horizon: int", "class World:\n  def horizon(self): ...",
    ],
    "keep": ["class Fades:\n  keep: float", "def fade(keep): ...", "def compare(*, keep): ..."],
    "play": ["def play(games): ...", "bandits/play.py", "class Game:\n  def play(self): ..."],
    "prior": [
        "def select(prior: ArrayLike): ...", "class GPTD:\n  prior: Annotated[Covariance, 'Of values.']",
        "class Arms:\n  @classmethod\n  def prior(cls, d): ...", "class Arm:\n  prior: tuple[Floats, Floats]",
        "class BIRL:\n  prior: RewardPrior", "def rows_of(prior: DirichletPOMDP): ...",
    ],
}  # fmt: skip
"""Second meanings: a text of a file, or the place of an empty one."""
FIRST = [
    ("beliefs/mdp.py", "class Rows:\n  def counts(self): ..."), ("value/probe.py", "def moments(counts: Floats): ..."),
    ("value/probe.py", "class Plan:\n  horizon: Annotated[int | None, AtLeast(1), 'Decisions of an episode.']"),
    ("value/probe.py", "class Agent:\n  def check_world(self, world, horizon): ..."),
    ("value/probe.py", "class Agent:\n  prior: Annotated[Belief, 'What is known.']\n  def _keep(self): ..."),
    ("value/probe.py", "class Q:\n  def prior(self) -> NormalGamma: ..."), ("core.py", "def play(keep=()): ..."),
]  # fmt: skip


@pytest.mark.parametrize(("word", "probe"), [(word, probe) for word, probes in SECOND.items() for probe in probes])
def test_a_second_meaning_is_seen(word, probe):
    place, text = (probe, "") if probe.endswith(".py") else ("value/probe.py", probe)
    assert set(other_meanings(place, text)) == {word}


@pytest.mark.parametrize(("place", "text"), FIRST)
def test_the_first_meaning_is_allowed(place, text):
    assert not list(other_meanings(place, text))
