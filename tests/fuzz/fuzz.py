"""Nonsense, systematically: every public constructor and method is called with arguments that make no sense.

    python tests/fuzz/fuzz.py drawn --calls 50000 --seed 0      # arguments drawn at random
    python tests/fuzz/fuzz.py each                              # every argument wrong by itself, in every way listed
    python tests/fuzz/fuzz.py odd                               # methods of things that accepted an odd argument

Whatever comes, the library answers with a result or with one of its own errors. Another exception, a call that takes
more than ten seconds, a crash, and a NaN in a result are findings. Targets are read off the registry and the
signatures, so that a new method is fuzzed as soon as it is registered.
"""

from __future__ import annotations

import argparse
import inspect
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from decimal import Decimal
from fractions import Fraction
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, default_rng

import bayesrl as b
from bayesrl.beliefs import covariances, features
from bayesrl.core import Decision, Transition
from bayesrl.errors import BayesRLError
from bayesrl.models import TabularPolicy
from bayesrl.registry import Entry, entries

SECONDS = 10
"""The longest that one call may take."""


class Empty:
    """An object that has a length and no members."""

    def __len__(self) -> int:
        return 0


class Liar:
    """An object that says that it is an array, and is none."""

    shape, dtype, ndim, size = (2, 2), np.dtype(float), 2, 4

    def __len__(self) -> int:
        return 2

    def __getitem__(self, _: Any) -> float:
        raise IndexError("none")


NONSENSE: list[Callable[[], Any]] = [
    lambda: None, lambda: "x", lambda: "", lambda: float("nan"), lambda: float("inf"), lambda: -float("inf"),
    lambda: -1, lambda: 0, lambda: 1, lambda: 2, lambda: 2**70, lambda: -(2**70), lambda: 1e308, lambda: 1e-320,
    lambda: 0.5, lambda: 3.5, lambda: -2.5, lambda: True, list, dict, lambda: (), lambda: object(),
    lambda: np.array([]), lambda: np.array(3), lambda: np.full((2, 2), np.nan), lambda: np.zeros((0, 3)),
    lambda: np.ones(3), lambda: np.ones((2, 3)), lambda: -np.ones((2, 2)), lambda: np.eye(2), lambda: np.full(2, 1e308),
    lambda: np.full((2, 2, 2), 0.5), lambda: b"x", lambda: (1, 2, 3), lambda: [[1], [2, 3]], lambda: np.array(["a"]),
    lambda: 1j, lambda: len, lambda: int, lambda: {"action": [0]}, lambda: Transition(0, 0, 0.0, 0),
    lambda: Transition(None, "x", float("nan"), -1), lambda: Transition(0, 99, 1.0, 99, True),
    lambda: [Transition(0, 0, 0.0, 0)], lambda: np.datetime64("2020-01-01"), lambda: default_rng(0),
    lambda: np.eye(2, dtype=bool), lambda: np.arange(4).reshape(2, 2), lambda: np.ones(2, np.float32),
    lambda: np.ones(2, complex), lambda: np.array([None, "x"]), lambda: np.array([[1, 2**70]]),
    lambda: np.full((2, 2), 2**63, np.uint64), lambda: np.ma.masked_all(2), lambda: np.full((5, 2), 0.5),
    lambda: np.full((2, 5, 5), 0.2), lambda: np.full((5, 2), -np.inf), lambda: np.full(5, 1e-320),
    lambda: np.array([[0.5, np.nan]]), lambda: np.zeros((2, 0)), lambda: np.zeros((1, 1, 1, 1)),
    lambda: np.array(np.nan), lambda: [None], lambda: [[]], lambda: [np.ones(2), np.ones(3)], lambda: [["a", 1.0]],
    lambda: [10**400], lambda: [True, False], lambda: {0: 1.0, "a": None}, lambda: {1, 2}, lambda: range(3),
    lambda: range(0), lambda: iter([1, 2]), lambda: (x for x in ()), lambda: Fraction(1, 3), lambda: Decimal("NaN"),
    lambda: 10**400, lambda: -0.0, lambda: np.float32(0.1), lambda: np.int8(-3), lambda: np.bool_(True),
    lambda: np.str_("bamcp"), lambda: "chain", lambda: "nan", lambda: "1", lambda: "\x00", lambda: ...,
    lambda: Transition(0, 0, 1e308, 0), lambda: Transition(0, 0, "1", 0), lambda: Transition(0, 0.5, 0.0, 0),
    lambda: Transition([0], [0], [0.0], [0]), lambda: Transition(0, 0, 0.0, 0, "yes", None),
    lambda: Transition(-1, -1, 0.0, -1), lambda: [Transition(0, 0, np.nan, 0), 3], Empty, Liar, lambda: type,
]  # fmt: skip
NAN_IS_SAID = {"load", "average", "simulate", "enumerable", "diagnostics"}
"""Methods whose documentation gives NaN a meaning: a thing as it was saved, an arm never played, a chain without
proposals, and a weight that is not computed yet in the table that compiled code fills (`SparseDirichletMDP._table`)."""


CHECKED_BEFORE = {"matrix", "variances", "derivatives", "with_parameters", "split", "scaled", "whiten"}
CHECKED_BEFORE |= {"of_distance", "slope", "learn_steps", "noise_covariance", "tie"}
"""Methods of covariances and of beliefs about values whose arguments were checked by those who call them."""


class Finding(NamedTuple):
    """A call that was not answered as it should be."""

    target: str
    what: str
    arguments: str


class TooLong(Exception):
    """A call that did not come back."""


Call = tuple[str, Callable[..., Any], dict[str, Any]]
"""(name, callable, arguments)."""


def targets() -> Iterator[Call]:
    """(name, callable, arguments that make sense where they are known)."""
    for name, entry in entries().items():
        made = example(entry)
        yield name, entry.factory, fields(entry.factory, made)
        if made is None or inspect.isfunction(made):
            continue
        for method in public_methods(made):
            yield f"{name}.{method}", getattr(made, method), sensible(entry, made)
    yield from exported()


def exported() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """What users import that is not registered: functions, and classes with an instance of each."""
    world = b.make_world("chain")
    mdp, agent = world.mdp, b.BayesAgent(b.DirichletMDP.flat(world), b.make("exploit"))
    arms = b.BayesAgent(b.beliefs.BetaBernoulli.uniform(3), b.make("thompson"))
    given: dict[str, Any] = {
        "agent": agent,
        "world": world,
        "steps": 3,
        "runs": 2,
        "seed": 0,
        "problem": mdp,
        "mdp": mdp,
    }
    given |= {"belief": b.DirichletMDP.flat(world), "policy": np.zeros(5, np.int64), "horizon": 2, "name": "chain"}
    given |= of_chapter_5() | {"logs": [of_chapter_5()["log"]], "task": (np.eye(2), [1.0, 0.0])}
    record = b.run(agent, world, steps=3, seed=0)
    made = [mdp, mdp.outcomes, agent, b.LiveAgent(arms), record, b.solve(mdp), TabularPolicy(np.full((5, 2), 0.5))]
    step = Transition(-1, 0, 0.0, 0)
    made += [b.beliefs.InfinitePOMDP(2, 2, chains=2, rewards=(0.0, 1.0)).update(step, default_rng(0))]
    made += [b.beliefs.PolicyPrior(2, 2, chains=2).update(step, default_rng(0))]
    made += [*values_of_chapter_5(), *values_of_chapter_6(), *values_of_tasks(), *values_of_games()]
    known = {entry.factory for entry in entries().values()}
    families = (b.models, b.beliefs, b.bandits, b.bamdp, b.bapomdp, b.continuous, b.value, b.gradient, b.risk)
    families += (b.pacbayes, b.inverse, b.multiagent, b.multitask)
    for module in (b, *families, covariances, features):
        for name in sorted(module.__all__ if module is b else dir(module)):
            thing = getattr(module, name)
            if isinstance(thing, type) and issubclass(thing, tuple):
                continue  # a named tuple carries whatever it is given; those who read it check
            if name.startswith("_") or not callable(thing) or thing in known or name in ("TYPE_CHECKING", "export"):
                continue
            if inspect.isabstract(thing) or getattr(thing, "_is_protocol", False):
                continue
            if module in (covariances, features) and not (
                isinstance(thing, type) and thing.__module__ == module.__name__
            ):
                continue  # what the module imports, and its helpers
            one = next((x for x in made if type(x) is thing), None)
            yield name, thing, given | fields(thing, one)
            for method in class_methods(thing) if isinstance(thing, type) else ():
                yield f"{name}.{method}", getattr(thing, method), given
    for one in made:
        for method in public_methods(one):
            local = {"mind": one.start()} if hasattr(one, "start") and callable(one.start) else {}
            state = {"observation": 0, "state": 0, "action": 0, "context": None, "reward": 1.0}
            yield f"{type(one).__name__}().{method}", getattr(one, method), given | state | local


def of_chapter_5() -> dict[str, Any]:
    """Arguments that make sense to covariances, features, policies and estimates."""
    log = [Transition(0, 1, 1.0, 1), Transition(1, 0, 2.0, 0, terminated=True)]
    policy = b.gradient.SoftmaxPolicy.tabular(2, 2)
    U, rho = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.arange(3.0)
    X, k = np.array([[0.0], [1.0]]), covariances.Gaussian()
    given = {"X": X, "Y": X, "states": X, "points": X, "values": [1.0, 2.0], "mean": [0.0], "covariance": [[1.0]]}
    given |= {
        "scores": U,
        "returns": rho,
        "hessians": np.zeros((3, 2, 2)),
        "information": np.eye(2),
        "transitions": log,
    }
    given |= {"policy": policy, "parameters": policy.parameters, "p": 0.5, "k": k, "log": log}
    return given | {"measure": b.gradient.GaussianMeasure([0.0], [[1.0]])}


def values_of_chapter_5() -> list[Any]:
    """Covariances, features, policies, measures, and beliefs that have seen something."""
    k, phi, step = covariances.Gaussian(), features.RBF([0.0, 1.0]), Transition(0.0, 0, 1.0, 1.0)
    made = [k, covariances.Matern(), covariances.Polynomial(), covariances.Linear(), covariances.Discrete()]
    made += [covariances.Direction(), covariances.Fisher(np.eye(1)), k + k, k * covariances.Discrete()]
    made += [covariances.StateAction(k, covariances.Discrete(), dims=1)]
    made += [
        features.Tabular(2),
        phi,
        features.Tiles([0.0], [1.0], 2, 2),
        features.Polynomial(),
        features.Fourier([0], [1]),
    ]
    made += [b.gradient.SoftmaxPolicy.tabular(2, 2), b.gradient.GaussianPolicy(None, [1.0], learn_sigma=True)]
    made += [b.gradient.GaussianMeasure([0.0], [[1.0]]), b.gradient.UniformMeasure([0.0], [1.0])]
    beliefs = [b.value.GPTD(), b.value.WhiteGPTD(), b.value.SparseGPTD(), b.value.ParametricGPTD(phi)]
    beliefs += [b.value.LambdaGPTD(phi), b.value.LSTD(phi, ridge=0.1), b.value.KernelSelection([k])]
    made += [belief.update(step) for belief in beliefs]
    made += [b.beliefs.NormalWishart([0.0, 1.0], 1.0, 4.0, np.eye(2)).update([0.1, 0.2])]
    made += [b.beliefs.GPRegression().update((0.0, 1.0)), b.beliefs.BayesianLinearRegression(phi).update((0.0, 1.0))]
    return made


def values_of_games() -> list[Any]:
    """A known game, and beliefs about games."""
    game = b.multiagent.StochasticGame.stage([[1.0, 0.0], [0.0, 1.0]], 0.9)
    made = [game, b.multiagent.RepeatedGame(payoff=game.R[0]), b.multiagent.FiniteGames([game])]
    counts = np.ones((2, 2))
    made += [b.multiagent.RepeatedGame(alpha=counts, beta=counts)]
    return [*made, b.multiagent.DirichletGame.flat(game, history=1, values=[0.0, 1.0])]


def values_of_chapter_6() -> list[Any]:
    """Measures, moments, a belief about rewards, and solutions that are planners."""
    chain, rng = b.DirichletMDP.flat(b.make_world("chain")), default_rng(0)
    costs, cvar = b.make_world("machine-costs", n_states=3).belief, b.risk.Measure.cvar(0.3)
    few = [chain.sample_mdp(rng) for _ in range(2)]
    made = [cvar, b.risk.value_moments(chain, np.zeros(5, np.int64)), costs]
    made += [b.make("percentile", restarts=1, samples=100).solve(chain, rng), b.make("scenario-max-min").solve(few)]
    made += [b.make("percentile-measure", measure=cvar).solve(costs, rng)]
    made += [b.make("percentile-measure", measure=cvar, horizon=2).solve(few)]
    return [*made, b.make("k-of-n", k=1, n=2, horizon=2, iterations=3).solve(chain, rng)]


def values_of_tasks() -> list[Any]:
    """Solutions of several tasks: common priors, classes, and policies."""
    tasks = [(np.eye(2), [1.0, 0.0]), (np.ones((1, 2)), [0.5])]
    made = [b.make(name).solve(tasks, default_rng(0)) for name in ("multitask-gptd", "multitask-gptd-dp")]
    logs = [[Transition(0, 1, 1.0, 1), Transition(1, 0, 2.0, 0, terminated=True)]]
    return [*made, b.multitask.policy_iteration(b.make("multitask-gptd"), logs, np.eye(4).reshape(2, 2, 4), 0.9)]


def class_methods(cls: type) -> list[str]:
    """The public class methods and static methods of a class of ours."""
    own = {name: x for parent in cls.__mro__ if "bayesrl" in parent.__module__ for name, x in vars(parent).items()}
    made = [n for n, x in own.items() if isinstance(x, (classmethod, staticmethod))]
    return [n for n in made if not n.startswith("_") and n != "unchecked"]


def fields(factory: Callable[..., Any], made: Any) -> dict[str, Any]:
    """The arguments with which an instance could have been made, as far as it keeps them."""
    return {name: getattr(made, name) for name in names_of(factory) if made is not None and hasattr(made, name)}


def example(entry: Entry) -> Any:
    """A small instance of what is registered."""
    if entry.example is not None:
        return entry.example()
    try:
        return entry.factory()
    except (TypeError, BayesRLError):
        return None


def public_methods(made: Any) -> list[str]:
    """The public methods of an instance, class methods included.

    Not those that every tuple has. `unchecked` is left out too: it is the way around the checks, and its name says so.
    """
    names = [name for name in dir(type(made)) if not name.startswith("_") and name not in (*dir(tuple), "unchecked")]
    if type(made).__module__.startswith(("bayesrl.beliefs.covariances", "bayesrl.beliefs.values")):
        names = [name for name in names if name not in CHECKED_BEFORE]
    return [name for name in names if callable(inspect.getattr_static(type(made), name, None)) or _bound(made, name)]


def _bound(made: Any, name: str) -> bool:
    return isinstance(inspect.getattr_static(type(made), name, None), (classmethod, staticmethod))


def sensible(entry: Entry, made: Any) -> dict[str, Any]:
    """Arguments that make sense, by name: a belief that fits a planner, a world's state and action, a memory."""
    given: dict[str, Any] = {"observation": 0, "state": 0, "action": 0, "context": None, "memory": None, "mind": None}
    given |= {"datum": Transition(0, 0, 0.0, 0), "transition": Transition(0, 0, 0.0, 0), "last": None}
    if entry.kind == "planner":
        given["belief"] = belief_for(entry)
    if callable(getattr(type(made), "start", None)):  # of a world it is a state, if that is certain
        given["memory"] = given["mind"] = made.start()
    if entry.kind == "world":
        given["state"] = made.reset(default_rng(0))[0]
    return given


def belief_for(entry: Entry) -> Any:
    """A belief that a planner fits."""
    from bayesrl.lab.priors import prior_for
    from bayesrl.registry import make_world

    if entry.package == "bapomdp":
        world = make_world("tiger")
        beliefs = [b.beliefs.POMDPFilter(world.pomdp), b.beliefs.ExactBAPOMDP(world.model_prior())]
        return next(x for x in beliefs if all(b.capabilities.offers(x, need) for need in entry.factory.needs))
    home = "combinatorial" if entry.name == "thompson-combinatorial" else None
    home = "continuous-bandit" if entry.name == "gp-sparse-sampling" else home
    home = "blimp" if entry.name == "continuous-forward-search" else home
    home = "lq-system" if entry.name in ("lazy-psrl", "certainty-equivalence") else home
    home = home or ("bernoulli" if ".bandits." in entry.factory.__module__ else "chain")
    return prior_for(make_world(home))


def arguments(
    call: Callable[..., Any], known: dict[str, Any], rng: Generator, share: float | None = None
) -> dict[str, Any] | None:
    """Arguments for a call, a share or all of them nonsense; None if its signature cannot be read."""
    try:
        parameters = [p for p in inspect.signature(call).parameters.values() if p.name != "self"]
    except (TypeError, ValueError):
        return None
    share = rng.choice([0.3, 0.6, 1.0]) if share is None else share
    chosen: dict[str, Any] = {}
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            continue
        bad = rng.random() < share
        if p.name == "rng":
            chosen[p.name] = nonsense(rng) if rng.random() < 0.1 * (share > 0.0) else default_rng(0)
        elif bad or (p.default is p.empty and p.name not in known):
            chosen[p.name] = nonsense(rng)
        elif p.name in known:
            chosen[p.name] = known[p.name]
    return chosen


def nonsense(rng: Generator) -> Any:
    """Something that makes no sense, mostly."""
    return NONSENSE[int(rng.integers(len(NONSENSE)))]()


def attempt(name: str, call: Callable[..., Any], given: dict[str, Any]) -> Finding | None:
    """Make one call; a finding if it is not answered as it should be. The time to compile does not count."""
    before = signal.signal(signal.SIGPROF, _ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # time of this process, however busy the machine is
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = call(**given)
            if inspect.isgenerator(result):
                result = next(result, None)
    except BayesRLError:
        return None
    except BaseException as wrong:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Finding(name, f"{type(wrong).__name__}: {wrong}"[:150], shown(given))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if name.rpartition(".")[2] not in NAN_IS_SAID and has_nan(result) and not any(has_nan(x) for x in given.values()):
        return Finding(name, "NaN in the result", shown(given))
    return None


def _ring(_: int, frame: FrameType | None) -> None:
    """Stop the call, unless it is being compiled: an error inside the compiler would be lost, or break it."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(("numba.", "llvmlite.")):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            return
        frame = frame.f_back
    raise TooLong(f"more than {SECONDS} seconds")


def has_nan(x: Any, depth: int = 0) -> bool:
    """Whether there is a NaN in a number, an array, or a tuple of them."""
    if isinstance(x, float):
        return x != x
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f" and bool(np.isnan(x).any())
    if isinstance(x, Decision):
        return any(has_nan(v, depth + 1) for v in x.info.values())
    return depth < 3 and isinstance(x, (tuple, list)) and any(has_nan(v, depth + 1) for v in x)


def shown(given: dict[str, Any]) -> str:
    """The arguments in a line."""
    return ", ".join(f"{k}={' '.join(repr(v).split())[:40]}" for k, v in given.items())


def fuzz(calls: Iterable[Call]) -> tuple[list[Finding], int]:
    """Make the calls in a folder of their own, as some of them write files: (findings, number of calls)."""
    findings: dict[tuple[str, str], Finding] = {}
    made = 0
    with TemporaryDirectory() as folder, chdir(folder):
        for call in calls:
            found, made = attempt(*call), made + 1
            if found is not None:
                findings.setdefault((found.target, found.what[:40]), found)
    return list(findings.values()), made


def drawn_calls(calls: int, seed: int, only: str = "") -> Iterator[Call]:
    """So many calls with arguments drawn at random, spread over all targets."""
    rng = default_rng(seed)
    all_targets = [t for t in targets() if only in t[0]]
    for i in range(calls):
        name, call, known = all_targets[i % len(all_targets)]
        given = arguments(call, known, rng)
        if given is not None:
            yield name, call, given


def one_at_a_time(only: str = "") -> Iterator[Call]:
    """Every argument of every target as each piece of nonsense, the others as they make sense or by default.

    A required argument of which nothing is known is drawn too.
    """
    rng = default_rng(0)
    for name, call, known in targets():
        for argument in names_of(call) if only in name else ():
            for wrong in NONSENSE:
                yield name, call, (arguments(call, known, rng, share=0.0) or {}) | {argument: wrong()}


def odd_instances(only: str = "") -> Iterator[Call]:
    """Every public method of registered things that were made with one odd argument, and accepted it."""
    rng = default_rng(0)
    for name, entry in entries().items():
        made = example(entry) if only in name else None
        if made is None or inspect.isfunction(made) or not isinstance(entry.factory, type):
            continue
        good = fields(entry.factory, made)
        for argument in names_of(entry.factory):
            for wrong in NONSENSE if argument != "milliseconds" else ():  # a search of so many is no hang
                given = good | {argument: wrong()}
                try:
                    with warnings.catch_warnings(), np.errstate(all="ignore"):
                        warnings.simplefilter("ignore")
                        odd = entry.factory(**given)
                        known = sensible(entry, odd)
                except BayesRLError:
                    continue
                said = f"{name}({argument}={' '.join(repr(given[argument]).split())[:60]})"
                for method in public_methods(odd):
                    call = getattr(odd, method)
                    yield f"{said}.{method}", call, arguments(call, known, rng, share=0.0) or {}


def names_of(call: Callable[..., Any]) -> list[str]:
    """The names of a call's arguments."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.name != "self" and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=["drawn", "each", "odd"])
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    drawn = drawn_calls(asked.calls, asked.seed, asked.only)
    found, made = fuzz({"drawn": drawn, "each": one_at_a_time(asked.only), "odd": odd_instances(asked.only)}[asked.how])
    for one in found:
        print(f"{one.target}: {one.what}  <-  {one.arguments}")
    kinds = Counter(one.what.partition(":")[0] for one in found)
    print(f"{len(found)} findings in {made} calls: {dict(kinds)}")
