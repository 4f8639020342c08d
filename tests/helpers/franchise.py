"""The posterior of hidden sequences of a hierarchical Dirichlet process, by enumeration.

Beta and all rows are integrated out. What is left is the Chinese restaurant franchise: each pair (state, input) is a
restaurant, its next states are dishes, and each table's dish is drawn from the dishes of all tables. x_0 is a table of
its own. Signs have Dirichlet-multinomial probabilities. All seatings are enumerated, so this is for a few steps only.
"""

import numpy as np


def joint(sequences, sizes, row, stick, concentration):
    """The probability of what was seen with each sequence of states, numbered as they appear: a dict.

    A sequence is a list of steps (m, g, v, h, z); see _beam.py.
    """
    found = {}

    def dishes(m):
        """Each dish of a new table, with its probability; the last is new."""
        return [(k, w / (sum(m) + stick)) for k, w in enumerate([*m, stick])]

    def grown(m, k):
        return [*m, 1] if k == len(m) else [w + (j == k) for j, w in enumerate(m)]

    def shown(signs, cell, n):
        """The probability of a sign (which, state, row, sign), of which there are n, and all signs then."""
        seen = [c for c in signs if c[:3] == cell[:3]]
        p = (seen.count(cell) + concentration) / (len(seen) + n * concentration)
        return p, [*signs, cell]

    def visit(q, t, x, m, tables, signs, p):
        if q == len(sequences):
            found[tuple(x)] = found.get(tuple(x), 0.0) + p
            return
        if t == 0:  # begin the sequence
            options = [(k, w, grown(m, k), tables) for k, w in dishes(m)]
        else:
            move, _, _, h, z = sequences[q][t - 1]
            here = (x[-1], move)
            seated = tables.get(here, ())
            n = sum(c for _, c in seated)
            options = []
            for i, (k, c) in enumerate(seated):
                new = tuple((d, e + (i == j)) for j, (d, e) in enumerate(seated))
                options.append((k, c / (n + row), m, {**tables, here: new}))
            for k, w in dishes(m):
                options.append((k, w * row / (n + row), grown(m, k), {**tables, here: (*seated, (k, 1))}))
        for k, w, m_new, seats in options:
            after, now = p * w, signs
            if t > 0:
                likely, now = shown(now, ("after", k, h, z), sizes.Z)
                after *= likely
            if t < len(sequences[q]):
                _, g, v, _, _ = sequences[q][t]
                likely, now = shown(now, ("before", k, g, v), sizes.V)
                after *= likely
                visit(q, t + 1, [*x, k], m_new, seats, now, after)
            else:
                visit(q + 1, 0, [*x, k], m_new, seats, now, after)

    visit(0, 0, [], [], {}, [], 1.0)
    return found


def equal_states(found):
    """P(x_i = x_j | what was seen), (N, N), and the mean number of states."""
    x, w = np.array(list(found)), np.array(list(found.values()))
    w = w / w.sum()
    return np.einsum("n,nij->ij", w, x[:, :, None] == x[:, None, :]), float(w @ (x.max(axis=1) + 1))


def draw_prior(lengths, moves, row, stick, rng, states=25):
    """States of sequences with these moves, and beta (cut off after many states), drawn from the prior."""
    v = rng.beta(1.0, stick, states)
    beta = v * np.concatenate([[1.0], np.cumprod(1.0 - v)[:-1]])
    rows, x, moves = {}, [], iter(moves)

    def drawn(p):
        return int(np.searchsorted(np.cumsum(p), rng.random() * p.sum()))

    for n in lengths:
        x.append(drawn(beta))
        for m in [next(moves) for _ in range(n)]:
            if (x[-1], m) not in rows:
                rows[x[-1], m] = rng.standard_gamma(row * beta)
            x.append(drawn(rows[x[-1], m]))
    return np.array(x), np.append(beta, max(1.0 - beta.sum(), 0.0))
