"""Best reply with experimentation: replies against enumeration, rest points, and what experiments are for."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.errors import InvalidArgument
from bayesrl.multiagent import CoalitionFormation, CoalitionProblem, TypeBelief, formation
from bayesrl.multiagent._formation import best_reply

N = 3


def outcome(action, types):
    """Type 1 is able. Action 1 needs two able members."""
    p = min(1.0, 0.2 + 0.4 * sum(types) if action == 0 else 0.2 * sum(types) ** 2)
    return [1.0 - p, p]


def agents(marginals, choose="myopic", rewards=((0.0, 3.0), (0.0, 6.0)), law=outcome):
    problems = [CoalitionProblem((2,) * len(marginals), law, rewards, me=i) for i in range(len(marginals))]
    beliefs = [TypeBelief.independent(p, [[1.0 - x, x] for x in marginals]) for p in problems]
    return [CoalitionFormation(belief, choose=choose) for belief in beliefs]


def worths(players):
    return [dict(zip(a.prior.problem.options, a.values(a.prior)[0].tolist(), strict=True)) for a in players]


def share(option, abilities):
    """An agent's expected share, by the sum over the members' types."""
    members, action = option
    total = 0.0
    for types in product((0, 1), repeat=len(members)):
        weight = np.prod([abilities[i] if t else 1.0 - abilities[i] for i, t in zip(members, types, strict=True)])
        total += weight * outcome(action, types)[1] * (3.0, 6.0)[action] / len(members)
    return total


@pytest.mark.parametrize("abilities", [(0.9, 0.8, 0.1), (0.2, 0.5, 0.6), (1.0, 1.0, 1.0)])
def test_a_rest_point_has_no_better_reply(abilities):
    """Every proposal of every agent is enumerated, with values written out by hand."""
    found = formation(agents(abilities), 200, default_rng(1), experiment=0.0)
    assert sorted(i for members, _ in found.options for i in members) == list(range(N))
    now = {i: share(found.option_of(i), abilities) for i in range(N)}
    np.testing.assert_allclose(found.values, list(now.values()))
    for i in range(N):
        joined = [tuple(sorted({*members, i})) for members, _ in found.options] + [(i,)]
        for option in product(joined, (0, 1)):
            better = share(option, abilities) > now[i] + 1e-9
            accepted = all(share(option, abilities) >= now[j] - 1e-9 for j in option[0] if j != i)
            assert not (better and accepted)
    assert found.stable


def test_able_agents_find_each_other():
    found = formation(agents((1.0, 1.0, 0.0)), 100, default_rng(0), experiment=0.0)
    assert found.options == (((0, 1), 1), ((2,), 0))
    np.testing.assert_allclose(found.values, [2.4, 2.4, 0.6])
    assert found.moves == 1


def test_replies_are_the_best_accepted_ones():
    """Alone, agent 2 wants to join an able one; it is refused, so it has no reply."""
    worth = worths(agents((1.0, 1.0, 0.0)))
    alone = {(0,): 0, (1,): 0, (2,): 0}
    assert best_reply(alone, worth, 0) == ((0, 1), 1)
    assert best_reply(alone, worth, 2) is None
    assert worth[2][(0, 2), 0] > worth[2][(2,), 0]


def test_experiments_leave_a_rest_point():
    """Three together earn 9 and fewer earn nothing, so that no single move from alone gains.

    An experiment that joins two costs nobody anything, and then the third joins. Later experiments break the coalition
    now and then: a member leaves with probability .025 in a round, and is back with 1/3. About nine of ten runs should
    end together; fewer than 12 of 20 has probability below 1e-3.
    """

    def together(action, types):
        return [0.0, 1.0] if len(types) == 3 else [1.0, 0.0]

    players = agents((0.5,) * 3, rewards=((0.0, 9.0),), law=together)
    assert formation(players, 200, default_rng(0), experiment=0.0).moves == 0
    ends = [formation(players, 400, default_rng(seed), experiment=0.05) for seed in range(20)]
    assert sum(end.options == (((0, 1, 2), 0),) and end.stable for end in ends) >= 12


def test_agents_judge_by_their_own_beliefs_and_ways():
    players, rng = agents((0.5, 0.5, 0.5)), default_rng(0)
    told = [a.prior.update(((0, 1, 2), 1, 1)) for a in players]
    with_data = formation(players, 50, rng, beliefs=told, experiment=0.0)
    assert with_data.values.sum() > formation(players, 50, default_rng(0), experiment=0.0).values.sum()
    curious = formation(agents((0.5, 0.5, 0.5), "vpi"), 50, default_rng(0), experiment=0.0)
    i = curious.options[0][0][0]
    agent = agents((0.5, 0.5, 0.5), "vpi")[i]
    q, vpi = agent.values(agent.prior)
    assert curious.values[i] == (q + vpi)[agent.prior.problem.options.index(curious.option_of(i))]


PLAYERS = agents((0.5, 0.5, 0.5))
BAD = {
    "nobody": lambda: formation([], 5, default_rng(0)),
    "no agents": lambda: formation(None, 5, default_rng(0)),
    "other things": lambda: formation([1, 2, 3], 5, default_rng(0)),
    "two of three": lambda: formation(PLAYERS[:2], 5, default_rng(0)),
    "another order": lambda: formation(PLAYERS[::-1], 5, default_rng(0)),
    "beliefs of two": lambda: formation(PLAYERS, 5, default_rng(0), beliefs=[PLAYERS[0].prior]),
    "beliefs of another kind": lambda: formation(PLAYERS, 5, default_rng(0), beliefs=[1, 2, 3]),
    "rounds": lambda: formation(PLAYERS, -1, default_rng(0)),
    "rounds of text": lambda: formation(PLAYERS, "x", default_rng(0)),
    "experiments": lambda: formation(PLAYERS, 5, default_rng(0), experiment=1.5),
    "no generator": lambda: formation(PLAYERS, 5, 0),
    "nobody's option": lambda: formation(PLAYERS, 0, default_rng(0)).option_of(3),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_in_one_sentence(name):
    with pytest.raises(InvalidArgument, match="must be") as error:
        BAD[name]()
    assert "\n" not in str(error.value)
