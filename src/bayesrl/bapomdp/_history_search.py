"""The common parts of POMCP and BA-POMCP: from a belief over a hidden state to a search on histories, and back."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import HasMeanPOMDP, PrefersActions, Restarts, SimulatesHidden, demand, offers, reasons
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.search.history_tree import Tree, subtree
from bayesrl.kernels.search.search_bounds import AUTO
from bayesrl.kernels.search.uct_on_histories import Budget, SearchSettings, best_action
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.search_budget import SearchBudget
from bayesrl.models.solve import solve
from bayesrl.parameters import AtLeast, shared


class POMCPNeeds(SimulatesHidden, Restarts, Protocol):
    """A belief for POMCP."""


class Memory(NamedTuple):
    """The parts of the last search that may be used again: its tree, and the values of leaves with their model."""

    tree: Tree | None
    leaf: tuple[TabularMDP, Floats] | None


@shared
class SearchesHistories(SearchBudget):
    """A planner that searches histories of actions and observations: POMCP and BA-POMCP."""

    __slots__ = ()

    exploration: Annotated[
        float | Literal["auto"] | None,
        AtLeast(0),
        'The UCB constant, c; None: the range of the rewards of a step; "auto": the rule of BAMCP.',
    ] = None

    needs: ClassVar[tuple[type, ...]]

    def start(self) -> Memory | None:
        """No tree yet."""
        return None


def check_settings(planner: SearchesHistories, belief: POMCPNeeds, preferred: bool) -> None:
    """Raise an error if the belief cannot serve what the planner's settings ask for."""
    name = type(planner).__name__
    if planner.leaf == "mean" and not offers(belief, HasMeanPOMDP):
        raise Incompatible(f"{name} with leaf='mean'", type(belief).__name__, ["mean_pomdp"])
    if preferred and not offers(belief, PrefersActions):
        missing = ["preferred_actions"]
        raise Incompatible(f"{name} with rollout='preferred'", type(belief).__name__, missing, reasons(belief, missing))
    if planner.exploration is None and not np.isfinite(belief.reward_range()).all():
        expected = 'a number or "auto" if rewards have no bounds'
        raise InvalidArgument(name, "exploration", expected, None)


def decide(
    planner: SearchesHistories, belief: POMCPNeeds, memory: Memory | None, rng: Generator, last: Transition | None,
    preferred: Floats | None,
) -> Decision:  # fmt: skip
    """Search from the present belief.

    Rollouts choose uniformly among all actions or, if `preferred` (S, A) is given, among those with a positive entry.
    """
    began = perf_counter()
    if not offers(belief, Restarts):  # a planner may be used without an agent
        demand(planner, belief)
    low, high = belief.reward_range()
    c = high - low if planner.exploration is None else AUTO if planner.exploration == "auto" else planner.exploration
    leaf = _leaf(planner, belief, memory)
    action, tree, info = best_action(
        belief.simulate(planner.depth),
        start=-1,  # the simulator draws the state
        rollout_q=np.zeros((0, belief.n_actions)) if preferred is None else preferred,
        leaf_values=np.zeros(0) if leaf is None else leaf[1],
        settings=SearchSettings(belief.gamma, c, 1.0 if preferred is None else 0.0, planner.depth),
        budget=Budget(planner.simulations, planner.milliseconds),
        kept=_kept(planner, memory, last),
        began=began,
        rng=rng,
    )
    kept = Memory(tree if planner.reuse else None, leaf)
    return Decision(action, kept if planner.reuse or leaf is not None else None, info | {"nodes": int(tree.used[0])})


def _kept(planner: SearchesHistories, memory: Memory | None, last: Transition | None) -> Tree | None:
    """The part of the last tree below what really happened; none at the start of an episode."""
    if not planner.reuse or memory is None or memory.tree is None or last is None or last.ends_episode:
        return None
    return subtree(memory.tree, last.next_observation, last.action)


def _leaf(planner: SearchesHistories, belief: POMCPNeeds, memory: Memory | None) -> tuple[TabularMDP, Floats] | None:
    """The mean model, and its values if states are seen, (S,); kept while it is the same."""
    if planner.leaf == "zero":
        return None
    if not offers(belief, HasMeanPOMDP):
        demand(planner, belief)  # which refuses it
        return None
    mdp = belief.mean_pomdp().mdp
    if memory is not None and memory.leaf is not None and _same(memory.leaf[0], mdp):
        return memory.leaf
    return mdp, np.array(solve(mdp).values)


def _same(one: TabularMDP, two: TabularMDP) -> bool:
    """Whether two models share what their values depend on: the discount and all arrays but the start.

    The mean model of a belief starts in the belief over the state, which moves at each step.
    """
    of_one, of_two = vars(one.outcomes), vars(two.outcomes)
    shared = all(of_one.get(name) is of_two.get(name) for name in READ_BY_VALUES)
    return shared and one.prob is two.prob and one.gamma == two.gamma


READ_BY_VALUES = ("succ", "reward", "flat_rewards", "group", "size", "otherwise", "terminal", "end")
"""The entries of `Outcomes` that the values of a model depend on."""
