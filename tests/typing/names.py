"""The types of names. `make check` runs mypy on this file; an ignore without an error is an error, too."""

from typing import Any, assert_type

import bayesrl as b
from bayesrl.bamdp import PSRL, QLearning
from bayesrl.beliefs import BetaBernoulli
from bayesrl.worlds.bandits.bernoulli import BernoulliFamily
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.tabular import MDPWorld


def methods() -> None:
    assert_type(b.make("psrl"), PSRL)
    assert_type(b.make("psrl", horizon=20), PSRL)
    b.make("psrl", length=20)  # type: ignore[call-overload]
    b.make("psrl", horizon="twenty")  # type: ignore[call-overload]
    b.make("psrl").solve()  # type: ignore[attr-defined]
    b.make("beb", ties="second")  # type: ignore[call-overload]
    b.make("beb", beta="theory")


def worlds() -> None:
    assert_type(b.make("chain", gamma=0.9), MDPWorld)
    assert_type(b.make_world("chain"), MDPWorld)
    assert_type(b.make_world("tiger"), POMDPWorld)
    assert_type(b.make_world("bernoulli", arms=3), BernoulliFamily)
    b.make_world("chain", gama=0.9)  # type: ignore[call-overload]
    b.make_world("chain", gamma="high")  # type: ignore[call-overload]


def agents(prior: BetaBernoulli) -> None:
    assert_type(b.agent("psrl", "chain"), b.BayesAgent[Any])
    assert_type(b.agent("thompson", b.make_world("bernoulli"), prior), b.BayesAgent[Any])
    assert_type(b.agent("q-learning", "chain", rate=0.1), QLearning)
    b.agent("q-learning", "chain", rate="high")  # type: ignore[call-overload]
    b.agent("psrl", "chain", length=3)  # type: ignore[call-overload]
    b.agent("psrl", 3)  # type: ignore[call-overload]


def known_when_it_runs(name: str, parameters: dict[str, Any]) -> None:
    assert_type(b.make(name), Any)
    assert_type(b.make(name, **parameters), Any)
    assert_type(b.make_world(name, **parameters), Any)
    assert_type(b.agent(name, "chain", "flat", **parameters), Any)
    assert_type(b.registry.make(name, beta=3.0), Any)
