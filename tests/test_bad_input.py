"""Malformed calls, each with the exact sentence it is answered with; and nothing is changed by a failed call.

The objects below are shared by all calls and compared with copies after each one, so that a call which changes one of
them fails here. The random generator is among them: a refused call draws nothing.
"""

import copy
import dataclasses
import io
import json
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

import bayesrl as b
from bayesrl.adapters.gymnasium import GymWorld
from bayesrl.bamdp import exact_q
from bayesrl.beliefs import RewardBeta, RewardDirichlet, RewardNormal, UnknownRewards
from bayesrl.checks import same
from bayesrl.cli import main
from bayesrl.core import Transition
from bayesrl.errors import (
    BayesRLError,
    ImpossibleEvidence,
    Incompatible,
    InvalidArgument,
    UnknownName,
    UnreadableFile,
)
from bayesrl.lab.build import agent_for, world_for
from bayesrl.lab.experiment import experiment
from bayesrl.lab.measures.regret import regret
from bayesrl.lab.priors import prior_for
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import evaluate_policy, finite_horizon, optimal_total
from bayesrl.statistics import mean_interval
from bayesrl.worlds.mdps._dirichlet_family import DirichletFamily
from bayesrl.worlds.tabular import MDPWorld

# What the calls are made on ------------------------------------------------------------------------------------------


def things():
    chain = b.make_world("chain")
    flat = b.DirichletMDP.flat(chain).update(Transition(0, 0, 0.0, 1)).update(Transition(1, 1, 2.0, 0))
    ends = TabularMDP.from_dense([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [0.0]], gamma=1.0, terminal=[1])
    planner = b.make("exploit")
    beta = RewardBeta(np.full((5, 2), 1.5), np.ones((5, 2)), low=0.0, high=2.0)
    return SimpleNamespace(
        P=np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]]),
        R=np.array([[0.0, 1.0], [2.0, 3.0]]),
        chain=chain,
        loop=b.make_world("double-loop"),
        gc=b.make_world("gc"),
        flat=flat,
        tied=b.DirichletMDP.structured(b.make_world("chain-tied")).update(Transition(0, 0, 0.0, 1)),
        ends=b.DirichletMDP.flat(ends),
        beta=beta,
        dirichlet=RewardDirichlet(np.array([0.0, 2.0, 10.0]), np.ones((5, 2, 3))),
        normal=RewardNormal.strens((5, 2)),
        both=UnknownRewards(flat, beta),
        planner=planner,
        agent=b.BayesAgent(flat, planner),
        record=b.run(b.BayesAgent(flat, b.make("random")), chain, steps=3),
        states=b.beliefs.InfinitePOMDP(2, 3, chains=2).update(Transition(-1, 0, 0.0, 1)),
        paid=b.beliefs.InfinitePOMDP(2, 3, chains=2, rewards=(0.0, 1.0)).update(Transition(-1, 0, 1.0, 1)),
        expert=b.beliefs.PolicyPrior(3, 2, chains=2).update(Transition(-1, 2, 0.0, 1)),
        tiger=b.beliefs.POMDPFilter(b.make_world("tiger").pomdp),
        rng=np.random.default_rng(0),
    )


T = things()
BEFORE = copy.deepcopy(T)


def unchanged():
    now, then = vars(T), vars(BEFORE)
    for name in now:
        if name == "rng":
            assert now[name].bit_generator.state == then[name].bit_generator.state
        else:
            assert same(now[name], then[name]), f"{name} was changed"
    assert T.flat.seen == 2  # equality compares the counts, not how they came about


def with_entry(array, where, entry):
    other = array.copy()
    other[where] = entry
    return other


def outcomes(
    succ=((0, 1), (1, 0)), group=((0,), (1,)), size=(2, 2), otherwise=0.0, start=(1.0, 0.0), terminal=(False,) * 2
):
    succ = np.array(succ, float)[:, None, :]
    return Outcomes(succ, np.zeros(succ.shape), group, size, otherwise, start, terminal)


see = Transition

CALLS = {
    # arrays: known models
    "P has a NaN": (
        lambda: TabularMDP.from_dense(with_entry(T.P, (1, 0, 1), np.nan), T.R, 0.9),
        "TabularMDP: 'P' must be finite everywhere, got nan. First at index (1, 0, 1).",
    ),
    "P has an infinity": (
        lambda: TabularMDP.from_dense(with_entry(T.P, (0, 0, 0), np.inf), T.R, 0.9),
        "TabularMDP: 'P' must be finite everywhere, got inf. First at index (0, 0, 0).",
    ),
    "P has a negative probability": (
        lambda: TabularMDP.from_dense(with_entry(T.P, (0, 1), [1.5, -0.5]), T.R, 0.9),
        "TabularMDP: 'P' must be at least 0 everywhere, got -0.5. First at index (0, 1, 1).",
    ),
    "a row of P does not sum to one": (
        lambda: TabularMDP.from_dense(with_entry(T.P, (1, 1, 0), 0.5), T.R, 0.9),
        "TabularMDP: 'P' must be rows that sum to 1, got 1.25. First at row (1, 1).",
    ),
    "P is a matrix": (
        lambda: TabularMDP.from_dense(np.eye(2), T.R, 0.9),
        "TabularMDP: 'P' must be an array of shape (any, any, any), got an array of shape (2, 2).",
    ),
    "P leads to a third state of two": (
        lambda: TabularMDP.from_dense(np.full((2, 2, 3), 1 / 3), T.R, 0.9),
        "TabularMDP: 'P' must be of shape (S, A, S), got an array of shape (2, 2, 3).",
    ),
    "P is empty": (
        lambda: TabularMDP.from_dense(np.zeros((0, 0, 0)), T.R, 0.9),
        "TabularMDP: 'P' must be a non-empty array, got an array of shape (0, 0, 0).",
    ),
    "P is ragged": (
        lambda: TabularMDP.from_dense([[1.0], [0.5, 0.5]], T.R, 0.9),
        "TabularMDP: 'P' must be an array of numbers, got [[1.0], [0.5, 0.5]].",
    ),
    "P is text": (
        lambda: TabularMDP.from_dense([[["1"]]], T.R, 0.9),
        "TabularMDP: 'P' must be an array of numbers, got [[['1']]].",
    ),
    "P is complex": (
        lambda: TabularMDP.from_dense([[[1.0 + 0j]]], T.R, 0.9),
        "TabularMDP: 'P' must be an array of numbers, got [[[(1+0j)]]].",
    ),
    "P is missing": (
        lambda: TabularMDP.from_dense(None, T.R, 0.9),
        "TabularMDP: 'P' must be an array of numbers, got None.",
    ),
    "R has a NaN": (
        lambda: TabularMDP.from_dense(T.P, with_entry(T.R, (1, 1), np.nan), 0.9),
        "TabularMDP: 'R' must be finite everywhere, got nan. First at index (1, 1).",
    ),
    "R has the wrong shape": (
        lambda: TabularMDP.from_dense(T.P, np.zeros(3), 0.9),
        "TabularMDP: 'R' must be of shape (2, 2, 2), (2, 2) or (2,), got an array of shape (3,).",
    ),
    "gamma above one": (
        lambda: TabularMDP.from_dense(T.P, T.R, gamma=1.5),
        "TabularMDP: 'gamma' must be in [0, 1], got 1.5.",
    ),
    "gamma below zero": (
        lambda: b.make_world("chain", gamma=-0.1),
        "TabularMDP: 'gamma' must be in [0, 1], got -0.1.",
    ),
    "gamma is NaN": (
        lambda: dataclasses.replace(T.flat, gamma=np.nan),
        "DirichletMDP: 'gamma' must be in [0, 1], got nan.",
    ),
    "gamma is text": (
        lambda: b.make_world("gc", gamma="high"),
        "DirichletFamily: 'gamma' must be in [0, 1], got 'high'.",
    ),
    "the start is no state": (
        lambda: TabularMDP.from_dense(T.P, T.R, 0.9, start=2),
        "TabularMDP: 'start' must be a whole number of at least 0 and at most 1, got 2.",
    ),
    "the start does not sum to one": (
        lambda: TabularMDP.from_dense(T.P, T.R, 0.9, start=[0.5, 0.6]),
        "Outcomes: 'start' must be rows that sum to 1, got 1.1.",
    ),
    "a terminal state is no state": (
        lambda: TabularMDP.from_dense(T.P, T.R, 0.9, terminal=[7]),
        "TabularMDP: 'terminal' must be a whole number of at least 0 and at most 1, got 7.",
    ),
    "terminal is a number": (
        lambda: TabularMDP.from_dense(T.P, T.R, 0.9, terminal=1),
        "TabularMDP: 'terminal' must be a sequence of states, got 1.",
    ),
    "sparse matrices of different sizes": (
        lambda: TabularMDP.from_sparse([np.eye(2), np.eye(3)], T.R, 0.9),
        "TabularMDP: 'P' must be one square sparse matrix for each action, got 'list'.",
    ),
    "no Gymnasium table": (
        lambda: TabularMDP.from_gymnasium(object(), 0.9),
        "TabularMDP: 'env' must be an environment with a transition table P, got 'object'.",
    ),
    "a Gymnasium table with holes": (
        lambda: TabularMDP.from_gymnasium({1: {0: [(1.0, 1, 0.0, False)]}}, 0.9),
        "TabularMDP: 'P' must be a table of every state and action, numbered from 0, got [1].",
    ),
    "a Gymnasium table that leads nowhere": (
        lambda: TabularMDP.from_gymnasium({0: {0: [(1.0, 3, 0.0, False)]}}, 0.9),
        "TabularMDP: 'P[0][0]' must be of states that are in the table, got 3.",
    ),
    "groups with a gap": (
        lambda: outcomes(group=((0,), (2,)), size=(2, 2, 2)),
        "Outcomes: 'group' must be whole numbers from 0 to 1, got 2.0. First at index (1, 0).",
    ),
    "an outcome leads to no state": (
        lambda: outcomes(succ=((0, 1), (1, 5))),
        "Outcomes: 'succ' must be whole numbers from 0 to 1, got 5.0. First at index (1, 0, 1).",
    ),
    "an outcome leads to half a state": (
        lambda: outcomes(succ=((0, 0.5), (1, 0))),
        "Outcomes: 'succ' must be whole numbers from 0 to 1, got 0.5. First at index (0, 0, 1).",
    ),
    "a group without outcomes": (
        lambda: outcomes(size=(2, 0)),
        "Outcomes: 'size' must be at least 1 everywhere, got 0.",
    ),
    "rewards that do not broadcast": (
        lambda: outcomes(otherwise=np.zeros(3)),
        "Outcomes: 'otherwise' must be broadcastable to (2, 1, 2), got an array of shape (3,).",
    ),
    "probabilities of another problem": (
        lambda: TabularMDP(T.chain.mdp.outcomes, np.full((2, 2), 0.5), 0.9),
        "TabularMDP: 'prob' must be an array of shape (10, 2), got an array of shape (2, 2).",
    ),
    "a model without outcomes": (
        lambda: TabularMDP(None, [[1.0]], 0.9),
        "TabularMDP: 'outcomes' must be Outcomes, got None. See from_dense for arrays.",
    ),
    # solving
    "a family is solved": (
        lambda: b.solve(T.gc),
        "solve: 'problem' must be a TabularMDP or a world that has one, got 'DirichletFamily'. "
        "That is a family of worlds, which has no table: draw(rng) a world first.",
    ),
    "a family is asked for its table": (
        lambda: T.gc.dense(),
        "dense: 'world' must be a single world, got 'gc'. "
        "That is a family of worlds, which has no table: draw(rng) a world first.",
    ),
    "nothing is solved": (
        lambda: b.solve(None),
        "solve: 'problem' must be a TabularMDP or a world that has one, got 'NoneType'.",
    ),
    "an unknown solver": (
        lambda: b.solve(T.chain, method="vlaue"),
        "solve: 'method' must be one of auto, value-iteration, policy-iteration, modified-policy-iteration, mdp-lp, "
        "got 'vlaue'.",
    ),
    "neither a discount nor an end": (
        lambda: b.solve(b.make_world("chain", gamma=1.0)),
        "solve: 'problem' must be one in which every state can come to an end, as the discount is 1, "
        "got 'one without an end'. See finite_horizon, average_reward.",
    ),
    "no tolerance": (lambda: b.solve(T.chain, 0.0), "solve: 'tol' must be greater than 0, got 0.0."),
    "first values of another problem": (
        lambda: b.solve(T.chain, initial=np.ones(3)),
        "solve: 'initial' must be an array of shape (5,), got an array of shape (3,).",
    ),
    "a bonus of another problem": (
        lambda: b.solve(T.chain, bonus=np.ones(3)),
        "solve: 'bonus' must be an array of shape (5, 2), got an array of shape (3,).",
    ),
    "a policy of an unknown action": (
        lambda: evaluate_policy(T.chain, [0, 0, 0, 0, 7]),
        "evaluate_policy: 'policy' must be whole numbers from 0 to 1, got 7.0. First at index 4.",
    ),
    "a policy whose rows do not sum to one": (
        lambda: evaluate_policy(T.chain, np.ones((5, 2))),
        "evaluate_policy: 'policy' must be rows that sum to 1, got 2.0. First at row 0.",
    ),
    "a horizon of zero": (
        lambda: finite_horizon(T.chain, 0),
        "finite_horizon: 'horizon' must be a whole number of at least 1, got 0.",
    ),
    "an optimum over one and a half steps": (
        lambda: optimal_total(T.chain, 1.5),
        "optimal_total: 'steps' must be a whole number of at least 1, got 1.5.",
    ),
    # beliefs: priors
    "a concentration of zero": (
        lambda: b.DirichletMDP.flat(T.chain, 0.0),
        "DirichletMDP.flat: 'concentration' must be greater than 0 everywhere, got 0.0.",
    ),
    "a NaN concentration": (
        lambda: b.DirichletMDP.structured(T.chain, np.nan),
        "DirichletMDP.structured: 'concentration' must be finite everywhere, got nan.",
    ),
    "a concentration of the wrong shape": (
        lambda: b.DirichletMDP.flat(T.chain, np.ones(3)),
        "DirichletMDP.flat: 'concentration' must be broadcastable to (10, 5), got an array of shape (3,).",
    ),
    "a belief about nothing": (
        lambda: b.DirichletMDP.flat(None),
        "DirichletMDP: 'problem' must be a TabularMDP or a world with a table, got 'NoneType'.",
    ),
    "counts of the wrong shape": (
        lambda: b.DirichletMDP(T.flat.outcomes, np.ones((2, 2)), 0.9),
        "DirichletMDP: 'alpha' must be an array of shape (10, 5), got an array of shape (2, 2).",
    ),
    "a negative count": (
        lambda: dataclasses.replace(T.flat, alpha=with_entry(T.flat.alpha, (3, 2), -1.0)),
        "DirichletMDP: 'alpha' must be at least 0 everywhere, got -1.0. First at index (3, 2).",
    ),
    "a count of zero": (
        lambda: dataclasses.replace(T.flat, alpha=0.0 * T.flat.alpha),
        "DirichletMDP: 'alpha' must be greater than 0 for every outcome, got 0.0. "
        "List only the outcomes that are possible.",
    ),
    "known groups as numbers": (
        lambda: b.DirichletMDP(T.flat.outcomes, T.flat.alpha, 0.9, known=[0, 1] * 5),
        "DirichletMDP: 'known' must be an array of 10 truth values, got [0, 1, 0, 1, 0, 1, 0, 1, 0, 1].",
    ),
    "too few known groups": (
        lambda: b.DirichletMDP.structured(T.chain, known=[True, False]),
        "DirichletMDP.structured: 'known' must be a truth value, or 10 of them, got [True, False].",
    ),
    # beliefs: evidence
    "update: no such state": (
        lambda: T.flat.update(see(5, 0, 0.0, 0)),
        "DirichletMDP.update: 'state' must be a whole number from 0 to 4, got 5.",
    ),
    "update: a negative state": (
        lambda: T.flat.update(see(-1, 0, 0.0, 0)),
        "DirichletMDP.update: 'state' must be a whole number from 0 to 4, got -1.",
    ),
    "update: no such action": (
        lambda: T.flat.update(see(0, 2, 0.0, 0)),
        "DirichletMDP.update: 'action' must be a whole number from 0 to 1, got 2.",
    ),
    "update: no such next state": (
        lambda: T.flat.update(see(0, 0, 0.0, 9)),
        "DirichletMDP.update: 'next_state' must be a whole number from 0 to 4, got 9.",
    ),
    "update: half a state": (
        lambda: T.flat.update(see(0.5, 0, 0.0, 0)),
        "DirichletMDP.update: 'state' must be a whole number from 0 to 4, got 0.5.",
    ),
    "update: no transition": (
        lambda: T.flat.update((0, 0, 0.0, 1)),
        "DirichletMDP.update: 'datum' must be a Transition, got (0, 0, 0.0, 1).",
    ),
    "update: a NaN reward": (
        lambda: T.flat.update(see(0, 0, np.nan, 1)),
        "DirichletMDP.update: 'reward' must be a finite number, got nan.",
    ),
    "update: a reward that is not paid there": (
        lambda: T.flat.update(see(0, 0, 5.0, 1)),
        ImpossibleEvidence,
        "DirichletMDP: (0, 0) -> 1 with reward 5 has probability zero under this belief: no outcome is listed for it.",
    ),
    "update: a successor that is not listed": (
        lambda: T.tied.update(see(0, 0, 0.0, 3)),
        ImpossibleEvidence,
        "DirichletMDP: (0, 0) -> 3 with reward 0 has probability zero under this belief: no outcome is listed for it.",
    ),
    "update: out of a terminal state": (
        lambda: T.ends.update(see(1, 0, 0.0, 1)),
        ImpossibleEvidence,
        "DirichletMDP: (1, 0) -> 1 with reward 0 has probability zero under this belief: "
        "a terminal state has no transitions.",
    ),
    "update_many: the second is impossible": (
        lambda: T.flat.update_many([see(0, 0, 2.0, 0), see(0, 0, 9.0, 0)]),
        ImpossibleEvidence,
        "DirichletMDP: (0, 0) -> 0 with reward 9 has probability zero under this belief: no outcome is listed for it.",
    ),
    "update_many: a column is missing": (
        lambda: T.flat.update_many({"state": [0], "reward": [0.0]}),
        "DirichletMDP.update_many: 'log' must be with a column 'action', got ['state', 'reward'].",
    ),
    "update_many: columns of different lengths": (
        lambda: T.flat.update_many({"state": [0], "action": [0, 1], "reward": [0.0], "next_state": [0]}),
        "DirichletMDP.update_many: 'log' must be columns of one length, got [1, 2, 1, 1].",
    ),
    "update_many: a number": (
        lambda: T.flat.update_many(3),
        "DirichletMDP.update_many: 'log' must be transitions, a record, or columns "
        "observation, action, reward, next_observation, got 3.",
    ),
    # beliefs: rewards
    "reward-beta: counts of zero": (
        lambda: RewardBeta(np.zeros((2, 2)), np.ones((2, 2))),
        "RewardBeta: 'alpha' must be greater than 0 everywhere, got 0.0. First at index (0, 0).",
    ),
    "reward-beta: two shapes": (
        lambda: RewardBeta(np.ones((2, 2)), np.ones((2, 3))),
        "RewardBeta: 'beta' must be an array of shape (2, 2), got an array of shape (2, 3).",
    ),
    "reward-beta: low is high": (
        lambda: RewardBeta(np.ones((2, 2)), np.ones((2, 2)), low=1.0, high=1.0),
        "RewardBeta: 'high' must be greater than 1, got 1.0.",
    ),
    "reward-beta: another reward": (
        lambda: T.beta.update(((0, 0), 0.5)),
        ImpossibleEvidence,
        "RewardBeta: reward 0.5 has probability zero under this belief: rewards are 0 or 2.",
    ),
    "reward-beta: no such cell": (
        lambda: T.beta.update(((9, 0), 2.0)),
        "RewardBeta.update: 'cell' must be inside the shape (5, 2), got (9, 0).",
    ),
    "reward-beta: half a cell": (
        lambda: T.beta.update(((0,), 2.0)),
        "RewardBeta.update: 'cell' must be a tuple of 2 whole numbers, got (0,).",
    ),
    "reward-dirichlet: values out of order": (
        lambda: RewardDirichlet([1.0, 0.0], np.ones((2, 2, 2))),
        "RewardDirichlet: 'values' must be strictly increasing, got [1.0, 0.0].",
    ),
    "reward-dirichlet: counts for other values": (
        lambda: RewardDirichlet([0.0, 1.0], np.ones((2, 2, 3))),
        "RewardDirichlet: 'alpha' must be of shape (..., 2), got an array of shape (2, 2, 3).",
    ),
    "reward-dirichlet: another reward": (
        lambda: T.dirichlet.update(((0, 0), 5.0)),
        ImpossibleEvidence,
        "RewardDirichlet: reward 5.0 has probability zero under this belief: rewards are one of 0, 2, 10.",
    ),
    "reward-normal: a NaN reward": (
        lambda: T.normal.update(((0, 0), np.nan)),
        "RewardNormal.update: 'reward' must be a finite number, got nan.",
    ),
    "reward-normal: no spread": (
        lambda: RewardNormal.strens((2, 2), sigma0=0.0),
        "RewardNormal.strens: 'sigma0' must be greater than 0 everywhere, got 0.0.",
    ),
    "unknown rewards of another shape": (
        lambda: UnknownRewards(T.flat, RewardBeta(np.ones((2, 2)), np.ones((2, 2)))),
        "UnknownRewards: 'rewards' must be a reward belief with cells of shape (5, 2) or (5, 2, 5), got (2, 2).",
    ),
    "unknown rewards: another reward": (
        lambda: T.both.update(see(0, 0, 0.5, 1)),
        ImpossibleEvidence,
        "RewardBeta: reward 0.5 has probability zero under this belief: rewards are 0 or 2.",
    ),
    # exact values and worlds
    "exact_q: no such state": (
        lambda: exact_q(T.flat, 9, horizon=2),
        "exact_q: 'state' must be a whole number of at least 0 and at most 4, got 9.",
    ),
    "exact_q: a negative horizon": (
        lambda: exact_q(T.flat, 0, horizon=-1),
        "exact_q: 'horizon' must be a whole number of at least 0, got -1.",
    ),
    "exact_q: no belief": (
        lambda: exact_q(T.chain, 0, horizon=1),
        Incompatible,
        "exact_q needs a belief with 'outcomes', 'exact_rows', which MDPWorld lacks.",
    ),
    "exact_q: too many rewards": (
        lambda: exact_q(UnknownRewards(T.flat, T.normal), 0, horizon=1),
        Incompatible,
        "exact_q needs a belief with 'exact_rows', which UnknownRewards lacks. The rewards of RewardNormal do not take "
        "finitely many values.",
    ),
    "step: no such state": (
        lambda: T.chain.step(5, 0, T.rng),
        "chain: 'state' must be a whole number of at least 0 and at most 4, got 5.",
    ),
    "step: no such action": (
        lambda: T.chain.step(0, -1, T.rng),
        "chain: 'action' must be a whole number of at least 0 and at most 1, got -1.",
    ),
    "step: half an action": (
        lambda: T.chain.step(0, 0.5, T.rng),
        "chain: 'action' must be a whole number of at least 0 and at most 1, got 0.5.",
    ),
    "a world without a model": (
        lambda: MDPWorld("mine", None),
        "MDPWorld: 'mdp' must be a TabularMDP, got 'NoneType'.",
    ),
    "a family with an impossible row": (
        lambda: DirichletFamily("mine", np.zeros((2, 1, 2)), np.zeros((2, 1, 2))),
        "DirichletFamily: 'transition_counts' must be positive somewhere in every row, got 0.0.",
    ),
    "no Gymnasium environment": (
        lambda: GymWorld(None),
        "GymWorld: 'env' must be a Gymnasium environment, got 'NoneType'.",
    ),
    # names and parameters
    "an unknown method": (lambda: b.make("bebb"), UnknownName, "There is no method called 'bebb'. Did you mean beb?"),
    "an unknown world": (
        lambda: b.make_world("chian"),
        UnknownName,
        "There is no world called 'chian'. Did you mean chain?",
    ),
    "an unknown parameter": (
        lambda: b.make("beb", bta=1.0),
        UnknownName,
        "There is no parameter of beb called 'bta'. Did you mean beta?",
    ),
    "a parameter of a world that has none": (
        lambda: b.make_world("chain", slip=0.1),
        UnknownName,
        "There is no parameter of chain called 'slip'. Known: gamma.",
    ),
    "a missing parameter": (lambda: b.make("q-learning"), "q-learning: 'n_states' must be given, got None."),
    "a negative bonus": (lambda: b.make("beb", beta=-1), "BEB: 'beta' must be at least 0, got -1."),
    "a NaN bonus": (lambda: b.make("beb", beta=float("nan")), "BEB: 'beta' must be at least 0, got nan."),
    "an unknown tie rule": (
        lambda: b.make("exploit", ties="last"),
        "Exploit: 'ties' must be one of first, random, got 'last'.",
    ),
    "a probability above one": (
        lambda: b.make("epsilon-greedy", epsilon=1.5),
        "EpsilonGreedy: 'epsilon' must be in [0, 1], got 1.5.",
    ),
    "a temperature of zero": (
        lambda: b.make("softmax", temperature=0),
        "Softmax: 'temperature' must be greater than 0, got 0.",
    ),
    "a model for no steps": (
        lambda: b.make("bayesian-dp", every=0),
        "BayesianDP: 'every' must be a whole number of at least 1, got 0.",
    ),
    "half a step": (
        lambda: b.make("psrl", horizon=2.5),
        "PSRL: 'horizon' must be a whole number of at least 1, got 2.5.",
    ),
    "a rate of zero": (
        lambda: b.make("q-learning", n_states=2, n_actions=2, gamma=0.9, rate=0),
        "QLearning: 'rate' must be in (0, 1], got 0.",
    ),
    "an unknown prior": (
        lambda: prior_for(T.chain, "flt:1"),
        UnknownName,
        "There is no prior called 'flt'. Did you mean flat?",
    ),
    "a prior of zero": (
        lambda: prior_for(T.chain, "flat:0"),
        "flat: 'concentration' must be greater than 0, got 0.",
    ),
    "a prior divided by zero": (
        lambda: prior_for(T.chain, "flat:1/0"),
        "flat: 'concentration' must be greater than 0, got '1/0'.",
    ),
    "a prior that is a number": (
        lambda: prior_for(T.chain, 3),
        "prior: 'spec' must be NAME, NAME:VALUE or NAME:KEY=VALUE,..., got 3.",
    ),
    "a flat prior of a family": (
        lambda: prior_for(T.gc, "flat:1"),
        Incompatible,
        "The prior 'flat' needs a problem with 'mdp', which gc lacks. That is a family of worlds, which has no table: "
        "draw(rng) a world first.",
    ),
    "an accurate prior with a concentration": (
        lambda: prior_for(T.gc, "accurate:2"),
        "prior: 'accurate' must be given without a value, got 2.",
    ),
    "a belief that should act": (
        lambda: agent_for("dirichlet-mdp", T.chain),
        "agent_for: 'method' must be a planner or an agent, got 'dirichlet-mdp'. "
        "It is a belief, not something that acts.",
    ),
    "a solver that should act": (
        lambda: agent_for("bamdp-exact", T.chain),
        "agent_for: 'method' must be a planner or an agent, got 'bamdp-exact'. "
        "It is a solver, not something that acts.",
    ),
    "a prior for an agent without belief": (
        lambda: agent_for("q-learning", T.chain, "flat:1"),
        "q-learning: 'prior' must be left out, got 'flat:1'. It has no belief, so it takes no prior.",
    ),
    "states for an agent that learns them from the world": (
        lambda: agent_for("q-learning", T.chain, params={"n_states": 3}),
        "q-learning: 'n_states' must be left to the world, got 3.",
    ),
    "a world's parameter without a value": (
        lambda: world_for("chain:gamma"),
        "chain: 'setting' must be KEY=VALUE, got 'gamma'.",
    ),
    "a world's parameter twice": (
        lambda: world_for("chain:gamma=.9,gamma=.8"),
        "chain: 'gamma' must be set once, got 'gamma=.8'.",
    ),
    "the same method twice": (
        lambda: experiment(["beb", "beb"], "chain"),
        "experiment: 'methods' must be different from each other, got 'beb'.",
    ),
    # running
    "no steps": (
        lambda: b.run(T.agent, T.chain, steps=0),
        "run: 'steps' must be a whole number of at least 1, got 0.",
    ),
    "negative steps": (
        lambda: b.run(T.agent, T.chain, steps=-5),
        "run: 'steps' must be a whole number of at least 1, got -5.",
    ),
    "true steps": (
        lambda: b.run(T.agent, T.chain, steps=True),
        "run: 'steps' must be a whole number of at least 1, got True.",
    ),
    "half a seed": (
        lambda: b.run(T.agent, T.chain, steps=5, seed=1.5),
        "run: 'seed' must be a whole number of at least 0, got 1.5.",
    ),
    "no seed": (
        lambda: b.run(T.agent, T.chain, steps=5, seed=None),
        "run: 'seed' must be a whole number of at least 0, got None.",
    ),
    "a negative seed": (
        lambda: b.compare(T.agent, T.chain, steps=5, runs=2, seed=-1),
        "compare: 'seed' must be a whole number of at least 0, got -1.",
    ),
    "episodes of no length": (
        lambda: b.run(T.agent, T.chain, steps=5, horizon=0),
        "run: 'horizon' must be a whole number of at least 1, got 0.",
    ),
    "no world": (
        lambda: b.run(T.agent, None, steps=5),
        "run: 'world' must be a world (reset, step) or a family of worlds (draw), got None.",
    ),
    "a planner that is no agent": (
        lambda: b.run(T.planner, T.chain, steps=5),
        "run: 'agent' must be an agent (start, act, learn), got Exploit(ties='random'). "
        "A planner needs a belief: BayesAgent(prior, planner).",
    ),
    "a run in lockstep that cannot be": (
        lambda: b.run(T.agent, T.chain, steps=5, lockstep=2),
        "run: 'world' must be one that can run in lockstep (batch), got " + repr(T.chain) + ".",
    ),
    "a belief that is no planner": (
        lambda: b.BayesAgent(T.planner, T.flat),
        "BayesAgent: 'planner' must be a planner (needs, start, plan), "
        "got DirichletMDP(states=5, actions=2, groups=10, outcomes=5, seen=2, gamma=0.95).",
    ),
    "a planner and a belief that do not fit": (
        lambda: b.BayesAgent(T.beta, b.make("beb")),
        Incompatible,
        "BEB needs a belief with 'reward_range', 'inverse_reward_counts', 'counts', 'n_states', 'n_actions', 'gamma', "
        "'mean_mdp', which RewardBeta lacks.",
    ),
    "a bandit's method in an MDP": (
        lambda: agent_for("thompson", T.chain),
        Incompatible,
        "Thompson needs a belief with 'sample_means', which DirichletMDP lacks. "
        "Thompson is for bandits; 'psrl' is the same idea for MDPs.",
    ),
    "an agent in a world it does not believe in": (
        lambda: b.run(b.BayesAgent(T.tied, b.make("exploit", ties="first")), T.loop, steps=5),
        "DirichletMDP.update: 'next_state' must be a whole number from 0 to 4, got 5.",
    ),
    "no agents": (lambda: b.compare([], T.chain, 5, 2), "compare: 'agents' must be at least one agent, got []."),
    "no runs": (
        lambda: b.compare(T.agent, T.chain, 5, runs=0),
        "compare: 'runs' must be a whole number of at least 1, got 0.",
    ),
    "no workers": (
        lambda: b.compare(T.agent, T.chain, 5, 2, workers=0),
        "compare: 'workers' must be a whole number of at least 1, got 0.",
    ),
    "an unknown backend": (
        lambda: b.compare(T.agent, T.chain, 5, 2, backend="gpu"),
        "compare: 'backend' must be one of threads, processes, got 'gpu'.",
    ),
    "a mean of nothing": (
        lambda: mean_interval([]),
        "mean_interval: 'x' must be a non-empty array, got an array of shape (0,).",
    ),
    "regret in another world": (
        lambda: regret(T.record, T.gc),
        "regret: 'world' must be the one that the runs were made in, got "
        "DirichletFamily(name='gc', gamma=0.95, actions=()).",
    ),
    # infinitely many hidden states, and experts
    "an action of another problem, hidden": (
        lambda: T.states.update(see(-1, 2, 0.0, 0)),
        "InfinitePOMDP.update: 'action' must be a whole number of at least 0 and at most 1, got 2.",
    ),
    "an observation of nothing": (
        lambda: T.states.update(see(-1, 0, 0.0, -1)),
        "InfinitePOMDP.update: 'next_observation' must be a whole number of at least 0 and at most 2, got -1.",
    ),
    "a reward that is not listed": (
        lambda: T.paid.update(see(-1, 0, 0.5, 0)),
        ImpossibleEvidence,
        "InfinitePOMDP: reward 0.5 has probability zero under this belief: rewards are one of 0, 1.",
    ),
    "a reward of None": (
        lambda: T.paid.update(see(-1, 0, None, 0)),
        "InfinitePOMDP.update: 'reward' must be a finite number, got None.",
    ),
    "no sweeps": (
        lambda: T.states.refresh(T.rng, 0),
        "InfinitePOMDP.refresh: 'sweeps' must be a whole number of at least 1, got 0.",
    ),
    "a sweep without random numbers": (
        lambda: T.states.refresh(3),
        "InfinitePOMDP.refresh: 'rng' must be a numpy Generator, such as numpy.random.default_rng(0), got 3.",
    ),
    "a model without rewards": (
        lambda: T.states.sample_pomdp(T.rng),
        Incompatible,
        "InfinitePOMDP.sample_pomdp needs a belief with 'rewards', which InfinitePOMDP lacks. It has no rewards: list "
        "their values as 'rewards'.",
    ),
    "nothing to plan for": (
        lambda: b.BayesAgent(T.states, b.make("sampled-pomdps")),
        Incompatible,
        "SampledPOMDPs needs a belief with 'sample_pomdp', which InfinitePOMDP lacks. It has no rewards: list their "
        "values as 'rewards'.",
    ),
    "an expert's action of another problem": (
        lambda: T.expert.update(see(-1, 3, 0.0, 0), T.rng),
        "PolicyPrior.update: 'action' must be a whole number of at least 0 and at most 2, got 3.",
    ),
    "an expert who saw None": (
        lambda: T.expert.update(see(-1, 0, 0.0, None), T.rng),
        "PolicyPrior.update: 'next_observation' must be a whole number of at least 0 and at most 1, got None.",
    ),
    "no chains": (
        lambda: b.beliefs.PolicyPrior(2, 2, chains=0),
        "PolicyPrior: 'chains' must be a whole number of at least 1, got 0.",
    ),
    "a temperature of zero for pairs": (
        lambda: b.beliefs.joint_posterior([[0.0, 1.0]], [0.0], [0.0, 0.0], temperature=0.0),
        "joint_posterior: 'temperature' must be greater than 0, got 0.0.",
    ),
    "more models than values": (
        lambda: b.beliefs.joint_posterior([[0.0, 1.0]], [0.0, 0.0], [0.0, 0.0]),
        "joint_posterior: 'log_models' must be an array of shape (1,), got an array of shape (2,).",
    ),
    "an expert that is a number": (
        lambda: b.make("policy-prior-search", expert=3),
        "PolicyPriorSearch: 'expert' must be a PolicyPrior or None, got 3.",
    ),
    "an episode that is a number": (
        lambda: b.make("policy-prior-search", expert=T.expert).plan(T.tiger, -1, 3, T.rng),
        "PolicyPriorSearch: 'memory' must be the steps of this episode, as its decisions give them, got 3.",
    ),
    "an expert for a state that is seen": (
        lambda: b.BayesAgent(T.flat, b.make("policy-prior-search")),
        Incompatible,
        "PolicyPriorSearch needs a belief with 'sample_pomdp', which DirichletMDP lacks.",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    call, *kind, sentence = CALLS[name]
    with pytest.raises(BayesRLError) as error:
        call()
    assert str(error.value) == sentence
    assert type(error.value) is (kind[0] if kind else InvalidArgument)
    unchanged()


def test_the_table_is_long_enough():
    assert len(CALLS) + len(FILES) + len(LINES) >= 50
    assert len({entry[-1] for entry in (*CALLS.values(), *FILES.values())}) >= 50


# Files ---------------------------------------------------------------------------------------------------------------


def saved(tmp_path):
    b.save(T.record, tmp_path / "good.zip")
    return (tmp_path / "good.zip").read_bytes()


def rewritten(data, name, content):
    """The same archive with one member replaced, or left out where the content is None."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
        if content is not None:
            new.writestr(name, content)
    return buffer.getvalue()


def pickled():
    member = io.BytesIO()
    np.save(member, np.array([{}, {}, {}], dtype=object), allow_pickle=True)
    return member.getvalue()


def meta(data, **changed):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.dumps({**json.loads(archive.read("meta.json")), **changed})


FILES = {
    "empty": (lambda data: b"", "it is not a zip file"),
    "text": (lambda data: b"step,reward\n0,1\n", "it is not a zip file"),
    "cut short": (lambda data: data[: len(data) // 2], "it is damaged or cut short"),
    "one bit turned": (
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        "it is damaged or cut short",
    ),
    "another zip": (lambda data: rewritten(data, "meta.json", None), "it has no meta.json, so it is not one of ours"),
    "bad JSON": (lambda data: rewritten(data, "meta.json", '{"format": '), "its meta.json is not JSON"),
    "another format": (
        lambda data: rewritten(data, "meta.json", meta(data, format="other")),
        "it is not one of ours",
    ),
    "from the future": (
        lambda data: rewritten(data, "meta.json", meta(data, version=99)),
        "its format version is 99, and this library reads version 1",
    ),
    "no methods": (
        lambda data: rewritten(data, "meta.json", meta(data, methods=3)),
        "its meta.json does not describe a record",
    ),
    "a column is missing": (
        lambda data: rewritten(data, "0/reward.npy", None),
        "its member 0/reward.npy is missing",
    ),
    "a column is text": (
        lambda data: rewritten(data, "0/reward.npy", "1 2 3"),
        "its member 0/reward.npy is not a .npy array",
    ),
    "a pickle": (
        lambda data: rewritten(data, "0/reward.npy", pickled()),
        "its member 0/reward.npy holds something else than numbers or text",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_file(name, tmp_path):
    damage, why = FILES[name]
    data = damage(saved(tmp_path))
    path = tmp_path / "bad.zip"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile) as error:
        b.load(path)
    assert str(error.value) == f"Cannot read '{path}': {why}."
    assert path.read_bytes() == data
    unchanged()


def test_file_names(tmp_path):
    for path, why in [(tmp_path / "none", "there is no such file"), (tmp_path, "it is a directory")]:
        with pytest.raises(UnreadableFile) as error:
            b.load(path)
        assert str(error.value) == f"Cannot read '{path}': {why}."
    for call, sentence in [
        (lambda: b.load(None), "load: 'path' must be the name of a file, got None."),
        (lambda: b.save(T.record, 3), "save: 'path' must be the name of a file, got 3."),
        (
            lambda: b.save(3, tmp_path / "x"),
            "save: 'thing' must be a record, a comparison, or a belief, planner or agent of this library, got 3.",
        ),
        (
            lambda: b.save(T.record, "no/such/place"),
            "save: 'path' must be a file that can be written, got 'no/such/place'. No such file or directory: "
            "make the folder first.",
        ),
    ]:
        with pytest.raises(InvalidArgument) as error:
            call()
        assert str(error.value) == sentence
    assert list(tmp_path.iterdir()) == []
    unchanged()


# Command lines: one sentence on standard error, nothing on standard output, exit code 2 ------------------------------

LINES = {
    "run bebb chain": "There is no method called 'bebb'. Did you mean beb?",
    "run beb chian": "There is no world called 'chian'. Did you mean chain?",
    "run chain beb": "world_for: 'world' must be a world or a family of worlds, got 'beb'. It is a planner.",
    "run dirichlet-mdp chain": "agent_for: 'method' must be a planner or an agent, got 'dirichlet-mdp'. "
    "It is a belief, not something that acts.",
    "run bamdp-exact chain": "agent_for: 'method' must be a planner or an agent, got 'bamdp-exact'. "
    "It is a solver, not something that acts.",
    "run chain chain": "agent_for: 'method' must be a planner or an agent, got 'chain'. "
    "It is a world, not something that acts.",
    "run beb chain --set bta=3": "There is no parameter of beb called 'bta'. Did you mean beta?",
    "run beb chain --set beta": "--set: 'setting' must be KEY=VALUE, got 'beta'.",
    "run beb chain --set =3": "--set: 'setting' must be KEY=VALUE, got '=3'.",
    "run beb chain --set beta=": "--set: 'setting' must be KEY=VALUE, got 'beta='.",
    "run beb chain --set beta=1 --set beta=2": "--set: 'beta' must be set once, got 'beta=2'.",
    "run beb:beta=1 chain --set beta=2": "beb: 'beta' must be set once, got 2.",
    "run beb chain --set beta=-1": "BEB: 'beta' must be at least 0, got -1.",
    "run beb chain --set beta=nan": "BEB: 'beta' must be at least 0, got nan.",
    "run beb chain --set beta=1/0": "BEB: 'beta' must be a number or \"theory\", got '1/0'.",
    "run beb chain --set beta=true": "BEB: 'beta' must be at least 0, got True.",
    "run bayesian-dp chain --set every=1.5": "BayesianDP: 'every' must be a whole number of at least 1, got 1.5.",
    "run q-learning chain --set n_states=3": "q-learning: 'n_states' must be left to the world, got 3.",
    "run q-learning chain --prior flat:1": "q-learning: 'prior' must be left out, got 'flat:1'. "
    "It has no belief, so it takes no prior.",
    "run thompson chain": "Thompson needs a belief with 'sample_means', which DirichletMDP lacks. "
    "Thompson is for bandits; 'psrl' is the same idea for MDPs.",
    "run beb chain --prior flt": "There is no prior called 'flt'. Did you mean flat?",
    "run beb chain --prior flat:-1": "flat: 'concentration' must be greater than 0, got -1.",
    "run beb chain --prior flat:": "prior: 'spec' must be NAME, NAME:VALUE or NAME:KEY=VALUE,..., got 'flat:'.",
    "run beb gc --prior accurate:3": "prior: 'accurate' must be given without a value, got 3.",
    "run beb chain --steps 0": "compare: 'steps' must be a whole number of at least 1, got 0.",
    "run beb chain --steps -5": "compare: 'steps' must be a whole number of at least 1, got -5.",
    "run beb chain --runs 0": "compare: 'runs' must be a whole number of at least 1, got 0.",
    "run beb chain --seed -1": "compare: 'seed' must be a whole number of at least 0, got -1.",
    "run beb chain --workers 0": "compare: 'workers' must be a whole number of at least 1, got 0.",
    "run beb chain --horizon 0": "compare: 'horizon' must be a whole number of at least 1, got 0.",
    "run beb chain --backend gpu": "compare: 'backend' must be one of threads, processes, got 'gpu'.",
    "run beb chain:gamma=2": "TabularMDP: 'gamma' must be in [0, 1], got 2.",
    "run beb chain:gama=.9": "There is no parameter of chain called 'gama'. Did you mean gamma?",
    "run beb chain:": "chain: 'setting' must be KEY=VALUE, got ''.",
    "run beb chain --save no/such/place": "bayesrl: '--save' must be a file in a directory that can be written to, "
    "got 'no/such/place'.",
    "run beb chain --save .": "bayesrl: '--save' must be a file in a directory that can be written to, got '.'.",
    "compare beb beb --world chain": "experiment: 'methods' must be different from each other, got 'beb'.",
    "compare beb psrl --world chain --set bta=3": "There is no parameter of beb or psrl called 'bta'. "
    "Did you mean beta?",
    "compare beb --world chain --plot x.txt": "bayesrl: '--plot' must be a file that ends in .png, .pdf or .svg, "
    "got 'x.txt'.",
    "compare beb --world chain --plot no/such/place.png": "bayesrl: '--plot' must be a file in a directory that can be "
    "written to, got 'no/such/place.png'.",
    "solve gc": "solve: 'problem' must be a TabularMDP or a world that has one, got 'DirichletFamily'. "
    "That is a family of worlds, which has no table: draw(rng) a world first.",
    "run beb": "bayesrl run: 'WORLD' must be given once, as an argument or by --world, got None.",
    "solve": "bayesrl solve: 'WORLD' must be given once, as an argument or by --world, got None.",
    "solve chain --method vlaue": "solve: 'method' must be one of auto, value-iteration, policy-iteration, "
    "modified-policy-iteration, mdp-lp, got 'vlaue'.",
    "solve chain:gamma=1": "solve: 'problem' must be one in which every state can come to an end, as the discount is "
    "1, got 'one without an end'. See finite_horizon, average_reward.",
    "solve chain --set gamma=-1": "TabularMDP: 'gamma' must be in [0, 1], got -1.",
    "solve chain:gamma=.9 --set gamma=.9": "chain: 'gamma' must be set once, got 0.9.",
    "show chian": "There is no method or world called 'chian'. Did you mean chain?",
}


@pytest.mark.parametrize("line", LINES)
def test_command_line(line, capsys):
    for extra in ([], ["--json"]):
        code = main([*line.split(), *extra])
        out, err = capsys.readouterr()
        assert (code, out, err) == (2, "", LINES[line] + "\n")


@pytest.mark.parametrize(
    "line",
    [
        "run",
        "run beb chain --steps many",
        "run beb chain --steps 1.5",
        "run beb chain --runs",
        "run beb chain --stepz 3",
        "run beb chain more",
        "compare --world chain",
        "compare beb",
        "show",
        "methods beb",
        "frobnicate",
        "--frobnicate",
    ],
)
def test_usage(line, capsys):
    """Lines that are refused before a command is reached; the words are typer's own and change with its version."""
    code = main(line.split())
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert "Error: " in err
    assert "Traceback" not in err
