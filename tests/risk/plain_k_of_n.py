"""k-of-n in plain Python, as the paper states it: the oracle of test_k_of_n.py and the baseline of benchmarks/risk.py.

Models are nested lists P[s][a][y] and R[s][a]. An information set is a history, a tuple (s0, a0, s1, ...).
"""


def k_of_n(models, draws, k, horizon, gamma, start, plus=True):
    """The sum of weighted realisation plans, {history: [x of each action]}; one iteration for each row of `draws`.

    Also the strategy of the next iteration, as a function of the history.
    """
    A = len(models[0][1][0])
    regret, total = {}, {}

    def strategy(h):
        positive = [max(r, 0.0) for r in regret.get(h, [0.0] * A)]
        whole = sum(positive)
        return [r / whole if whole > 0.0 else 1.0 / A for r in positive]

    def value(model, h, t):
        """The expected total of the current strategy in one model, from a history on."""
        P, R = model
        s, sigma, v = h[-1], strategy(h), 0.0
        for a in range(A):
            later = 0.0
            if t + 1 < horizon:
                later = sum(p * value(model, (*h, a, y), t + 1) for y, p in enumerate(P[s][a]) if p > 0.0)
            v += sigma[a] * (R[s][a] + gamma * later)
        return v

    def walk(chosen, reach, h, t, own, weight):
        """Counterfactual value of a history: what follows, times the probability of its states, on average over models.

        Regrets change after the whole iteration, so they are collected.
        """
        s, sigma = h[-1], strategy(h)
        q = []
        for a in range(A):
            earned = sum(c * R[s][a] for c, (_, R) in zip(reach, chosen, strict=True)) * gamma**t / len(chosen)
            if t + 1 < horizon:
                for y in range(len(models[0][0])):
                    after = [c * P[s][a][y] for c, (P, _) in zip(reach, chosen, strict=True)]
                    if any(P[s][a][y] > 0.0 for P, _ in models):
                        earned += walk(chosen, after, (*h, a, y), t + 1, own * sigma[a], weight)
            q.append(earned)
        v = sum(p * x for p, x in zip(sigma, q, strict=True))
        gains[h] = [x - v for x in q]
        old = total.get(h, [0.0] * A)
        total[h] = [x + weight * own * p for x, p in zip(old, sigma, strict=True)]
        return v

    for i, drawn in enumerate(draws):
        gains = {}
        sample = [models[j] for j in drawn]
        returns = [sum(p * value(m, (s,), 0) for s, p in enumerate(start) if p > 0.0) for m in sample]
        worst = sorted(range(len(sample)), key=lambda j: returns[j])[:k]
        for s, p in enumerate(start):
            if p > 0.0:
                walk([sample[j] for j in worst], [p] * k, (s,), 0, 1.0, i + 1.0 if plus else 1.0)
        for h, gain in gains.items():
            new = [r + g for r, g in zip(regret.get(h, [0.0] * A), gain, strict=True)]
            regret[h] = [max(r, 0.0) for r in new] if plus else new
    return total, strategy
