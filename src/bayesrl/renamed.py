"""Words that have changed. Each old word is still accepted; all of them stand in this file.

A parameter, a field or a method gets a new name when its old one meant two things, or was not the field's word. `WORDS`
has a row for each owner: a class (its subclasses inherit the row) or a function.

    BIRL(world, confidence=5.0)        the old word of a parameter
    make("birl", confidence=5.0)       the same by name, in `--set`, and in NAME:KEY=VALUE
    belief.confidence                  the old word of a field or a method
    belief.fade(prior, keep=0.5)       the old word of a parameter of a method
    load("birl.zip")                   a file that was written with the old word

`declared` and `value` read it. Other classes, and functions, take the decorator `with_old_words`. Modules call
`keep_old_names` and packages `export`, which read `NAMES`. Classes in files are found by `CLASSES` and `MODULES`.
Nothing warns: an old word means what it has always meant. Only `dataclasses.replace` wants the present word, because it
passes on every field that it is not given, and says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from bayesrl.errors import InvalidArgument

T = TypeVar("T")

# The tables ----------------------------------------------------------------------------------------------------------

WORDS: Mapping[str, Mapping[str, str]] = {
    "ActionOracle": {"prior": "model_prior"},
    "BNIRL": {"confidence": "rationality"},
    "BPG": {"keep": "decay"},
    "BayesRisk": {"prior": "model_prior"},
    "BetaBernoulli": {"prior": "prior_parameters"},
    "DPMBIRL": {"prior": "reward_prior"},
    "DirichletFamily": {"counts": "transition_counts"},
    "DirichletPOMDP": {"signs": "observed"},
    "ExactPosterior": {"prior": "prior_covariance"},
    "ExponentialArm": {"prior": "prior_parameters"},
    "Forgetting": {"keep": "decay"},
    "LearnsFromPairs": {"keep": "decay"},
    "LearnsFromPaths": {"keep": "decay"},
    "LinearGaussianArms": {"prior": "isotropic"},
    "LogisticArms": {"prior": "isotropic"},
    "LogisticLaplaceArms": {"prior": "isotropic"},
    "Medusa": {"prior": "model_prior"},
    "NormalArm": {"prior": "prior_parameters"},
    "NormalGammaArm": {"prior": "prior_parameters"},
    "ObservationOutcomes": {"sign": "observation"},
    "OnLattice": {"confidence": "rationality", "prior": "reward_prior"},
    "Oracle": {"counts": "model_prior"},
    "OverHyperStates": {"prior": "model_prior"},
    "POMCP": {"wander": "rollout"},
    "POMDPWorld": {"counts": "model_prior"},
    "PlansWithImagined": {"horizon": "depth"},
    "PoissonArm": {"prior": "prior_parameters"},
    "PriorCheck": {"prior": "prior_weights"},
    "Published": {"declared": "declared_optimum"},
    "SeveralExperts": {"confidence": "rationality"},
    "SparseGPTD": {"prior": "prior_covariance"},
    "Streams": {"thought": "planner"},
    "TabularPOMDP": {"sign_prob": "observation_prob", "signs": "observed"},
    "boltzmann_log_likelihood": {"confidence": "rationality"},
    "boltzmann_q": {"confidence": "rationality"},
    "demonstrate": {"confidence": "rationality"},
    "select": {"prior": "prior_weights"},
}
"""Old and new words of parameters, fields and methods, by the name of the class or function that has them."""

METHODS: Mapping[str, Mapping[str, str]] = {"after": {"keep": "decay"}, "fade": {"keep": "decay"}}
"""Old and new words of parameters of methods, by the name of the method; of every class that `with_old_words` reads."""

NAMES: Mapping[str, Mapping[str, str]] = {
    "bayesrl.core": {"meet": "draw_world"},
    "bayesrl.models": {"Signs": "ObservationOutcomes"},
    "bayesrl.models.pomdp": {"Signs": "ObservationOutcomes"},
    "bayesrl.multiagent": {"play": "run_game"},
    "bayesrl.multiagent.run_game": {"play": "run_game"},
}
"""Old and new names of functions and classes, by the module or the package that has them."""

MODULES: Mapping[str, str] = {
    "bayesrl.beliefs.arms._bandit_models": "bayesrl.beliefs.arms.bandit_models",
    "bayesrl.beliefs.continuous._gp_paths": "bayesrl.beliefs.dynamics.gp_paths",
    "bayesrl.beliefs.hidden._beam": "bayesrl.beliefs.pomdp._beam",
    "bayesrl.beliefs.hidden._chains": "bayesrl.beliefs.pomdp.chains",
    "bayesrl.beliefs.hidden._hyper_states": "bayesrl.beliefs.pomdp.hyper_states",
    "bayesrl.beliefs.hidden._weighted_states": "bayesrl.beliefs.pomdp._weighted_states",
    "bayesrl.beliefs.values._observations": "bayesrl.beliefs.values.observations",
    "bayesrl.beliefs.values._recursion": "bayesrl.beliefs.values.recursion",
    "bayesrl.beliefs.values._trajectory": "bayesrl.beliefs.values.trajectory",
    "bayesrl.beliefs.rewards.likelihood": "bayesrl.beliefs.rewards.demonstrations",
    "bayesrl.continuous._gp_pomdp_model": "bayesrl.beliefs.dynamics._gp_pomdp_model",
    "bayesrl.continuous._particles": "bayesrl.beliefs.dynamics._particles",
    "bayesrl.continuous._trajectories": "bayesrl.beliefs.dynamics._trajectories",
    "bayesrl.inverse._likelihood": "bayesrl.beliefs.rewards.demonstrations",
    "bayesrl.inverse._policy_walk": "bayesrl.beliefs.rewards._policy_walk",
    "bayesrl.inverse._target": "bayesrl.beliefs.rewards._target",
    "bayesrl.multitask._gibbs_of_counts": "bayesrl.beliefs.tasks._gibbs_of_counts",
    "bayesrl.multitask._linear_reward_classes": "bayesrl.beliefs.tasks.linear_reward_classes",
    "bayesrl.multitask._value_tasks": "bayesrl.multitask.value_tasks",
    "bayesrl.risk._measure": "bayesrl.risk.measure",
    "bayesrl.risk._models": "bayesrl.risk.models",
}
"""Modules of classes whose names stand in several files, where they were when older files were written."""

CLASSES: Mapping[str, str] = {
    "bayesrl.bamdp.optimism.mbie_eb:Plan": "MBIEPlan",
    "bayesrl.bamdp.optimism.rmax:Plan": "RMaxPlan",
    "bayesrl.bamdp.sampling.bayesian_dp:Plan": "BayesianDPPlan",
    "bayesrl.bamdp.sampling.boss:Plan": "BOSSPlan",
    "bayesrl.bamdp.sampling.psrl:Plan": "PSRLPlan",
    "bayesrl.bamdp.sampling.sboss:Plan": "SBOSSPlan",
    "bayesrl.bamdp.sampling.value_of_information:Sample": "ModelSample",
    "bayesrl.bapomdp.sampled_pomdps:Model": "DrawnPOMDP",
    "bayesrl.beliefs.games._belief_tree:Tree": "BeliefTree",
    "bayesrl.continuous.lazy_psrl:Plan": "LazyPSRLPlan",
    "bayesrl.models.pomdp:Signs": "ObservationOutcomes",
    "bayesrl.risk.sigma_point_robust:Plan": "SigmaPointPlan",
}
"""Classes in files that were written before they got other names."""

# Reading them --------------------------------------------------------------------------------------------------------


def words_of(thing: object) -> Mapping[str, str]:
    """The old and new words of a class or a function of this library.

    >>> from bayesrl.beliefs.rewards.birl import BIRL
    >>> words_of(BIRL)["confidence"]
    'rationality'
    """
    owners = reversed(thing.__mro__) if isinstance(thing, type) else [thing]
    ours = [x for x in owners if str(getattr(x, "__module__", "")).startswith("bayesrl.")]
    return {old: new for x in ours for old, new in WORDS.get(getattr(x, "__qualname__", ""), {}).items()}


def in_new_words(thing: object, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments by name, each under its present name. A parameter that is given twice is refused."""
    words = words_of(thing)
    return given if words.keys().isdisjoint(given) else _translated(_name(thing), words, given)


def _translated(owner: str, words: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, x in given.items():
        new = words.get(name, name)
        if new in found:
            old = next(one for one in (name, *given) if words.get(one) == new)
            hint = f"{old} is another word for it: give {new} only."
            raise InvalidArgument(owner, new, "given once", x, hint)
        found[new] = x
    return found


def _name(thing: object) -> str:
    return str(getattr(thing, "__name__", thing))


def with_old_words(thing: T) -> T:
    """Let a class or a function accept the old words of its row, as keywords and (a class) as names of its members."""
    words = words_of(thing)
    made: Any = thing
    for name in METHODS.keys() & vars(made).keys() if isinstance(thing, type) else ():
        method = vars(made)[name]
        if isinstance(method, FunctionType) and not set(METHODS[name].values()).isdisjoint(method.__code__.co_varnames):
            setattr(made, name, _accepting(f"{_name(thing)}.{name}", METHODS[name], method))
    if words and isinstance(made, FunctionType):
        made = _accepting(_name(thing), words, made)
    elif words:
        for name, kind in (("__init__", lambda f: f), ("__new__", staticmethod)):  # of a dataclass, of a named tuple
            maker = vars(made).get(name)
            maker = maker.__func__ if isinstance(maker, staticmethod) else maker
            if isinstance(maker, FunctionType) and not set(words.values()).isdisjoint(maker.__code__.co_varnames):
                setattr(made, name, kind(_accepting(_name(thing), words, maker)))
        for old, new in words.items():
            setattr(made, old, OldWord(new))
    found: T = made
    return found


def _accepting(owner: str, words: Mapping[str, str], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if words.keys().isdisjoint(kwargs):
            return function(*args, **kwargs)
        new = _translated(owner, words, kwargs)
        with saying(words, kwargs):
            return function(*args, **new)

    return call


@contextmanager
def saying(words: Mapping[str, str], given: Mapping[str, Any]) -> Iterator[None]:
    """Errors of the body about a parameter name it by the word that was given."""
    try:
        yield
    except InvalidArgument as error:
        old = next((old for old, new in words.items() if new == error.name and old in given), None)
        if old is None:
            raise
        raise InvalidArgument(error.owner, old, error.expected, error.got, error.hint) from None


def keep_old_names(module: str) -> None:
    """Let a module answer to the old names of its row. It calls this once, at its end."""
    here = sys.modules[module]

    def get(name: str) -> Any:
        new = NAMES[module].get(name)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(here, new)

    here.__dict__["__getattr__"] = get


class OldWord:
    """The old word for a member of a class."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __get__(self, thing: object, kind: type | None = None) -> Any:
        return getattr(kind if thing is None else thing, self.new)
