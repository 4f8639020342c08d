"""Games in plain Python and exact arithmetic: slow, and written from the definitions."""

from fractions import Fraction


def repeated(alpha, beta, strategy, depth, act=None):
    """Bayes-optimal totals of each action over `depth` rounds; with `act`, totals if later actions are act(...)."""
    A, B = len(alpha), len(strategy)

    def q(alpha, beta, strategy, depth):
        values = []
        for a in range(A):
            total = 0
            for o in range(B):
                seen = [n + (i == o) for i, n in enumerate(strategy)]
                p = alpha[a][o] / (alpha[a][o] + beta[a][o])
                for won, chance in ((1, p), (0, 1 - p)):
                    up = [[x + (won and (i, j) == (a, o)) for j, x in enumerate(row)] for i, row in enumerate(alpha)]
                    down = [
                        [x + (not won and (i, j) == (a, o)) for j, x in enumerate(row)] for i, row in enumerate(beta)
                    ]
                    total += strategy[o] / sum(strategy) * chance * (won + value(up, down, seen, depth - 1))
            values.append(total)
        return values

    def value(alpha, beta, strategy, depth):
        if depth == 0:
            return 0
        values = q(alpha, beta, strategy, depth)
        return max(values) if act is None else values[act(alpha, beta, strategy)]

    return q(alpha, beta, strategy, depth)


def fractions(table):
    return [fractions(x) if hasattr(x, "__len__") else Fraction(x) for x in table]


def myopic(alpha, beta, strategy):
    """The action with the largest expected payoff of one round; ties go to the first."""
    q = [
        sum(n * x / (x + y) for n, x, y in zip(strategy, up, down, strict=True))
        for up, down in zip(alpha, beta, strict=True)
    ]
    return q.index(max(q))


def dirichlet(belief, state, depth, leaf):
    """Values of a DirichletGame by its own `update` and means: the recursion of the definition, no merging."""
    from bayesrl.multiagent import JointTransition

    values = []
    S, A, B = belief.n_states, belief.n_actions, belief.n_others
    for a in range(A):
        total = 0.0
        for o in range(B):
            rows = belief.strategy[state, belief.last + 1] if belief.history else belief.strategy[state]
            for y in range(S):
                moves = belief.transitions[state, a, o]
                for r, share in rewards_of(belief, state, a, o, y):
                    p = rows[o] / rows.sum() * moves[y] / moves.sum() * share
                    if p > 0.0:
                        after = belief.update(JointTransition(state, a, o, r, y))
                        later = dirichlet(after, y, depth - 1, leaf).max() if depth > 1 else leaf(after, y)
                        total += p * (r + belief.gamma * later)
        values.append(total)
    import numpy as np

    return np.array(values)


def rewards_of(belief, s, a, o, y):
    if belief.values is None:
        r = belief.rewards[s, a, o]
        return [(float(r if r.ndim == 0 else r[y]), 1.0)]
    n = belief.rewards[s, a, o]
    return [(float(v), float(x / n.sum())) for v, x in zip(belief.values, n, strict=True)]
