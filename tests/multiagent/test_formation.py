"""Best reply with experimentation: replies against enumeration, rest points, and what experiments are for."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.errors import InvalidArgument
from bayesrl.multiagent import CoalitionFormation, CoalitionProblem, TypeBelief, formation
from bayesrl.multiagent.formation import best_reply

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


def plain_formation(worth, rounds, rng, epsilon):
    """The process of the docstring with sets, every step written out: (partition, moves, whether it is stable)."""
    n, moves = len(worth), 0
    alone = [[option for option in w if option[0] == (i,)] for i, w in enumerate(worth)]
    parts = {frozenset({i}): max(options, key=worth[i].get)[1] for i, options in enumerate(alone)}

    def now(i):
        part = next(part for part in parts if i in part)
        return worth[i][tuple(sorted(part)), parts[part]]

    def proposals(i):
        allowed = [part | {i} for part in parts] + [frozenset({i})]
        return [option for option in worth[i] if frozenset(option[0]) in allowed]

    def accepted(option, i):
        return all(worth[j][option] >= now(j) for j in option[0] if j != i)

    def reply(i):
        better = [option for option in proposals(i) if worth[i][option] > now(i) and accepted(option, i)]
        return max(better, key=worth[i].get, default=None)

    for _ in range(rounds):
        i = int(rng.integers(n))
        if rng.random() < epsilon:
            every = proposals(i)
            option = every[int(rng.integers(len(every)))]
            option = option if accepted(option, i) else None
        else:
            option = reply(i)
        if option is not None and parts.get(frozenset(option[0])) != option[1]:
            left = {part - set(option[0]): action for part, action in parts.items() if part - set(option[0])}
            parts, moves = left | {frozenset(option[0]): option[1]}, moves + 1
    options = tuple(sorted((tuple(sorted(part)), action) for part, action in parts.items()))
    return options, [now(i) for i in range(n)], moves, all(reply(i) is None for i in range(n))


@pytest.mark.parametrize("choose", ["myopic", "lookahead", "vpi"])
def test_formation_against_a_transcription(choose):
    """Four agents with beliefs of their own, payoffs of both signs, under the same random numbers."""

    def law(action, types):
        p = (1.3 + sum((1.0 + 0.3 * i) * t for i, t in enumerate(types))) / (4.0 + 2.5 * len(types) + action)
        return [1.0 - p, p]

    rng, found, stable = default_rng(3), [], []
    for seed in range(4):
        rewards = np.array([[-1.0, 5.0], [-2.0, 9.0]]) * rng.uniform(0.5, 1.5, (2, 2))
        players = agents(rng.uniform(0.1, 0.9, 4), choose, rewards, law)
        told = [a.prior.update(((0, 1, 2, 3), seed % 2, i % 2)) for i, a in enumerate(players)]
        scores = [a.values(mind) for a, mind in zip(players, told, strict=True)]
        worth = [
            dict(zip(a.prior.problem.options, (q + vpi if choose == "vpi" else q).tolist(), strict=True))
            for a, (q, vpi) in zip(players, scores, strict=True)
        ]
        for rounds, epsilon in ((0, 0.5), (3, 0.0), (12, 0.4), (40, 1.0)):
            got = formation(players, rounds, default_rng(seed), told, epsilon)
            expected = plain_formation(worth, rounds, default_rng(seed), epsilon)
            assert (got.options, got.values.tolist(), got.moves, got.stable) == expected
            found.append(got.moves)
            stable.append(got.stable)
            for i in range(4):
                assert i in got.option_of(i)[0]
    assert max(found) > 3
    assert len(set(stable)) == 2


def test_one_agent_has_no_partner():
    """It takes its best action alone, and stays."""
    found = formation(agents((0.7,)), 20, default_rng(0), experiment=0.0)
    q = agents((0.7,))[0].values(agents((0.7,))[0].prior)[0]
    assert (found.options, found.values.tolist(), found.moves) == ((((0,), int(np.argmax(q))),), [q.max()], 0)
    assert found.stable


def test_agents_must_have_one_problem():
    """Equal types and rewards, and as many agents as the problem has."""
    three, other = agents((0.5, 0.5, 0.5)), agents((0.5, 0.5, 0.5), rewards=((0.0, 3.0), (0.0, 7.0)))
    more = [
        CoalitionFormation(TypeBelief.uniform(CoalitionProblem((2, 3, 2), outcome, [[0.0, 3.0], [0.0, 6.0]], me=1)))
    ]
    for wrong in ([three[0], other[1], three[2]], [three[0], *more, three[2]], [three[0], three[0], three[2]]):
        with pytest.raises(
            InvalidArgument, match="'agents' must be coalition-formation agents, agent i with a problem"
        ):
            formation(wrong, 1, default_rng(0))
    with pytest.raises(InvalidArgument, match="'agents' must be as many as the problem has, 3"):
        formation(three[:2], 1, default_rng(0))
    for wrong in (three[:2], [*three[:2], 3]):
        with pytest.raises(InvalidArgument, match="'beliefs' must be a TypeBelief of each agent"):
            formation(three, 1, default_rng(0), [getattr(a, "prior", a) for a in wrong])
    for epsilon in (-0.01, 1.01):
        with pytest.raises(InvalidArgument, match="'experiment' must be"):
            formation(three, 1, default_rng(0), experiment=epsilon)
    with pytest.raises(InvalidArgument, match="'agent' must be a whole number of at least 0 and at most 2"):
        formation(three, 0, default_rng(0)).option_of(-1)


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
