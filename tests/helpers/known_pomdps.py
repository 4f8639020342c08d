"""POMDPs of the literature as arrays, written down independently of the library's worlds, and random ones."""

import numpy as np
from numpy.random import default_rng

from bayesrl.models import TabularPOMDP


def tiger(accuracy=0.85, wrong=-100.0, gamma=0.95, episodic=False):
    """Listen, open left, open right; in the episodic one a door leads to a third, terminal state."""
    S = 2 + episodic
    P, O, R = np.zeros((S, 3, S)), np.full((S, 3, 2), 0.5), np.zeros((S, 3))
    for s in range(2):
        P[s, 0, s] = 1.0
        if episodic:
            P[s, 1:, 2] = 1.0
        else:
            P[s, 1:] = 0.5
        O[s, 0, s], O[s, 0, 1 - s] = accuracy, 1.0 - accuracy
        R[s] = [-1.0, wrong if s == 0 else 10.0, wrong if s == 1 else 10.0]
    if episodic:
        P[2, :, 2] = 1.0
    return TabularPOMDP.from_dense(P, O, R, gamma, terminal=[2] if episodic else [])


def shuttle():
    """Chrisman's shuttle: turn around, forward, back."""
    P, O, R = np.zeros((8, 3, 8)), np.zeros((8, 3, 5)), np.zeros((8, 3, 8))
    P[np.arange(8), 0, [1, 4, 5, 6, 1, 2, 3, 1]] = 1.0
    P[np.arange(8), 1, [4, 1, 1, 2, 5, 6, 6, 4]] = 1.0
    back = {0: {7: 1.0}, 1: {1: 0.4, 2: 0.3, 4: 0.3}, 2: {2: 0.1, 3: 0.8, 6: 0.1}, 3: {0: 0.7, 3: 0.3},
            4: {4: 0.3, 7: 0.7}, 5: {1: 0.1, 4: 0.8, 5: 0.1}, 6: {3: 0.3, 5: 0.3, 6: 0.4}, 7: {7: 1.0}}  # fmt: skip
    for s, row in back.items():
        for y, p in row.items():
            P[s, 2, y] = p
    seen = [{4: 1.0}, {1: 1.0}, {1: 0.7, 3: 0.3}, {3: 1.0}, {3: 1.0}, {0: 0.7, 3: 0.3}, {0: 1.0}, {2: 1.0}]
    for s, row in enumerate(seen):
        for o, p in row.items():
            O[s, :, o] = p
    R[1, 1, 1] = R[6, 1, 6] = -3.0
    R[3, 2, 0] = 10.0
    return TabularPOMDP.from_dense(P, O, R, 0.95, start=7)


def hallway():
    """60 states: cell and heading; the rule of the public file."""
    place = {(x, 0): x for x in range(11)} | {(x, 1): 11 + i for i, x in enumerate((2, 4, 6, 8))}
    at = {c: xy for xy, c in place.items()}
    ahead = [(0, -1), (1, 0), (0, 1), (-1, 0)]  # N E S W

    def beside(cell, heading):
        (x, y), (dx, dy) = at[cell], ahead[heading % 4]
        return place.get((x + dx, y + dy))

    P, O, R = np.zeros((60, 5, 60)), np.zeros((60, 5, 21)), np.zeros((60, 5, 60))
    start = np.where(np.arange(60) // 4 == 14, 0.0, 1.0 / 56)
    turns = {2: (0.1, 0.7, 0.1, 0.1), 3: (0.1, 0.15, 0.6, 0.15), 4: (0.1, 0.1, 0.1, 0.7)}
    for s in range(60):
        cell, h = divmod(s, 4)
        if cell == 14:
            P[s] = start
            O[s, :, 20] = 1.0
            continue
        P[s, 0, s] = 1.0
        moves = [(0.8, 0, h), (0.05, 3, h + 3), (0.05, 1, h + 1), (0.025, 2, h + 2), (0.025, 2, h)]
        P[s, 1, s] += 0.05
        for p, side, facing in moves:
            there = beside(cell, h + side)
            P[s, 1, s if there is None else 4 * there + facing % 4] += p
        for a, row in turns.items():
            for quarter, p in enumerate(row):
                P[s, a, 4 * cell + (h + quarter) % 4] += p
        if s in (10, 18, 26, 34):
            O[s, :, 16 + (s - 10) // 8] = 1.0
            continue
        wall = [beside(cell, h + side) is None for side in range(4)]  # front, right, behind, left
        for z in range(16):
            p = 1.0
            for side in range(4):
                chance = 0.9 if wall[side] else 0.05
                p *= chance if z >> (3 - side) & 1 else 1.0 - chance
            O[s, :, z] = p
    R[:56, :, 56:] = 1.0
    return TabularPOMDP.from_dense(P, O, R, 0.95, start)


def random_pomdp(seed, S=3, A=2, Z=2, gamma=0.9, ends=0):
    """Random rows, some of them with zeros; rewards that depend on everything; the last `ends` states are terminal."""
    rng = default_rng(seed)
    P, O = rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))
    P[0, 0], O[S - 1, 0] = np.eye(S)[-1], np.eye(Z)[0]
    R = rng.normal(size=(S, A, S, Z)).round(2)
    start = rng.dirichlet(np.ones(S - ends))
    start = np.append(start, np.zeros(ends))
    return TabularPOMDP.from_dense(P, O, R, gamma, start, range(S - ends, S))


def expectimax(pomdp, b, horizon):
    """Q(b, a) of `horizon` decisions by the sum over all histories; the end of an episode is seen, as it is in runs."""
    P, O, r = pomdp.dense()
    going = ~pomdp.terminal
    q = b @ r
    if horizon > 1:
        for a, o in np.ndindex(*O.shape[1:]):
            w = (b * going) @ P[:, a] * O[:, a, o]
            if (alive := w * going).sum() > 0.0:
                q[a] += pomdp.gamma * alive.sum() * expectimax(pomdp, alive / alive.sum(), horizon - 1).max()
    return q


def line():
    """Four states, of which the last is the goal, seen when it is reached; from it at random to the others."""
    P, O, R = np.zeros((4, 2, 4)), np.zeros((4, 2, 2)), np.zeros((4, 2, 4))
    P[np.arange(3), 0, [0, 0, 3]] = P[np.arange(3), 1, [1, 3, 2]] = 1.0
    P[3, :, :3] = 1.0 / 3.0
    O[:3, :, 0] = O[3, :, 1] = 1.0
    R[:, :, 3] = 1.0
    return TabularPOMDP.from_dense(P, O, R, 0.75, start=np.full(4, 0.25))
