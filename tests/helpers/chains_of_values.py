"""Synthetic chains with few samples per task: what a further task gains from twelve others, beside a flat prior.

A task is a random walk with drift on ten states in a row. Its mean rewards are a smooth function of the state. In a
class they are the same up to a tenth; unrelated tasks have classes of their own. Every task has fifteen steps.

For policy iteration an action moves left or right, and fails one time in ten. Every task has thirty random steps, and
the policies of twelve tasks are found together, or each with the flat prior.

`python tests/helpers/chains_of_values.py` prints the tables of docs/multitask.md.
"""

import warnings

import numpy as np
from scipy import stats

import bayesrl as b
from bayesrl.beliefs.features import RBF
from bayesrl.core import Transition
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.multitask import LogUniform, policy_iteration, task_matrices

S, GAMMA, TASKS, STEPS, NOISE = 10, 0.8, 12, 15, 1.0
FEATURES = RBF(np.linspace(0.0, 9.0, 5), scale=2.0)
BASE = {"noise": NOISE, "strength": 0.1, "degrees": 8.0, "scale": 2.0}
FLAT = 2.0 / (8.0 - 5.0 - 1.0) * (1.0 + 1.0 / 0.1)
"""The variance of a weight under the base."""
DRAWS = 160
"""Draws of tasks for the returns."""
SETTINGS = {"one class": 1, "three classes": 3, "unrelated": TASKS + 1}


def drawn(classes, rng):
    """The tasks, the further one last: matrices and true values of each."""
    right = rng.uniform(0.3, 0.7, classes)
    profile = FEATURES(np.arange(S)) @ rng.normal(0.0, 1.5, (5, classes))
    made = []
    for m in range(TASKS + 1):
        k = m % classes if classes <= TASKS else m
        P = np.zeros((S, S))
        for s in range(S):
            P[s, min(s + 1, S - 1)] += right[k]
            P[s, max(s - 1, 0)] += 1.0 - right[k]
        mean = profile[:, k] * (1.0 + 0.1 * rng.standard_normal())
        state, log = int(rng.integers(S)), []
        for _ in range(STEPS):
            after = int(rng.choice(S, p=P[state]))
            log.append(Transition(state, 0, mean[state] + 0.3 * rng.standard_normal(), after))
            state = after
        made.append((task_matrices(log, FEATURES, GAMMA), np.linalg.solve(np.eye(S) - GAMMA * P, mean)))
    return made


def flat_score(task):
    """Log density of the rewards, and the mean of the weights, with the flat prior N(0, FLAT I)."""
    H, r, _ = task
    covariance = FLAT * H @ H.T + NOISE**2 * np.eye(len(r))
    w = FLAT * H.T @ np.linalg.solve(covariance, r)
    return stats.multivariate_normal.logpdf(r, np.zeros(len(r)), covariance), w


def scores(seed, setting, sweeps=400):
    """Of the further task: log score and root mean squared error of the values, with each of the three priors."""
    rng = np.random.default_rng([seed, 15])
    *tasks, (new, V) = drawn(SETTINGS[setting], rng)
    tasks, found = [task for task, _ in tasks], {}
    found["flat"] = flat_score(new)
    solvers = {"EM": b.make("multitask-gptd", **BASE, tol=1e-4)}
    solvers["DP"] = b.make("multitask-gptd-dp", **BASE, concentration=1.0, sweeps=sweeps)
    for name, solver in solvers.items():
        solution = solver.solve(tasks, rng)
        found[name] = solution.log_predictive(new), solution.transfer(new)[0]
    phi = FEATURES(np.arange(S))
    return {name: (score, np.sqrt(np.mean((phi @ w - V) ** 2))) for name, (score, w) in found.items()}


def gains(seeds, setting, sweeps=400):
    """Gains over the flat prior in log score, and falls of the error of values: mean and standard error, by solver."""
    all_scores = [scores(seed, setting, sweeps) for seed in seeds]
    made = {}
    for name in ("EM", "DP"):
        gain = np.array([[x[name][0] - x["flat"][0], x["flat"][1] - x[name][1]] for x in all_scores])
        made[name] = gain.mean(axis=0), gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
    return made, np.mean([x["flat"] for x in all_scores], axis=0)


# Policy iteration ----------------------------------------------------------------------------------------------------


def moves():
    """P[s, a, s'] of two actions, left and right, that fail one time in ten; features of pairs (S, 2, 10)."""
    P, pairs, phi = np.zeros((S, 2, S)), np.zeros((S, 2, 10)), FEATURES(np.arange(S))
    pairs[:, 0, :5], pairs[:, 1, 5:] = phi, phi
    for s in range(S):
        for a, move in enumerate((-1, 1)):
            P[s, a, np.clip(s + move, 0, S - 1)] += 0.9
            P[s, a, np.clip(s - move, 0, S - 1)] += 0.1
    return P, pairs


def random_walk(P, mean, steps, rng):
    """Transitions of random actions."""
    state, log = int(rng.integers(S)), []
    for _ in range(steps):
        a = int(rng.integers(2))
        after = int(rng.choice(S, p=P[state, a]))
        log.append(Transition(state, a, mean[state] + 0.3 * rng.standard_normal(), after))
        state = after
    return log


def lost(seed, setting, sweeps=100, steps=30):
    """The share of the optimal return that greedy policies lose, on average over tasks, by solver.

    A share of the difference between the best and the worst policy, from a uniform start.
    """
    rng = np.random.default_rng([seed, 16])
    classes, (P, pairs) = SETTINGS[setting], moves()
    profile = FEATURES(np.arange(S)) @ rng.normal(0.0, 1.5, (5, classes))
    means, logs = [], []
    for m in range(TASKS):
        means.append(profile[:, m % classes] * (1.0 + 0.1 * rng.standard_normal()))
        logs.append(random_walk(P, means[-1], steps, rng))
    base = BASE | {"degrees": 13.0}
    flat = b.make("multitask-gptd", noise=NOISE, strength=1e9, degrees=1e9, scale=FLAT * 1e9, tol=1e-4)
    solvers = {"flat": flat, "EM": b.make("multitask-gptd", **base, tol=1e-4)}
    solvers["DP"] = b.make("multitask-gptd-dp", **base, sweeps=sweeps)
    found = {}
    for name, solver in solvers.items():
        policies = policy_iteration(solver, logs, pairs, GAMMA, rng, rounds=10)
        shares = []
        for m, mean in enumerate(means):
            best, worst = (solve(TabularMDP.from_dense(P, sign * mean[:, None] + np.zeros((S, 2)), GAMMA)).values.mean()
                           for sign in (1.0, -1.0))  # fmt: skip
            moved = np.einsum("sa,say->sy", policies.policy(m), P)
            got = np.linalg.solve(np.eye(S) - GAMMA * moved, mean).mean()
            shares.append((best - got) / (best + worst))
        found[name] = float(np.mean(shares))
    return found


# Return of a further task --------------------------------------------------------------------------------------------


def flat_transfer(task):
    """The posterior of weights of pairs with the flat prior N(0, FLAT I)."""
    H, r, _ = task
    C = np.linalg.inv(np.eye(10) / FLAT + H.T @ H / NOISE**2)
    return C @ H.T @ r / NOISE**2, C


def earned(transfer, start, mean, seed, steps=50, every=5):
    """Mean rewards of 50 steps that are greedy in drawn weights. A new draw is made after every five steps.

    `transfer` gives the posterior of weights of pairs; the policy that it evaluates is greedy in the last draw.
    """
    P, pairs = moves()
    luck, thought, log, total = np.random.default_rng([seed, 18]), np.random.default_rng([seed, 19]), [], 0.0
    state, (m, C), w = int(luck.integers(S)), start, np.zeros(10)
    for t in range(steps):
        if t % every == 0:
            if log:
                s, a, r, y = (np.array(x) for x in zip(*log, strict=True))
                m, C = transfer((pairs[s, a] - GAMMA * pairs[y, (pairs[y] @ w).argmax(axis=1)], r, None))
            w = thought.multivariate_normal(m, C)
        a = int((pairs[state] @ w).argmax())
        after = int(np.searchsorted(np.cumsum(P[state, a]), luck.random(), side="right"))
        log.append((state, a, mean[state] + 0.3 * luck.standard_normal(), after))
        state, total = after, total + mean[state]
    return total


def returns(seed, setting, sweeps=100, steps=30):
    """The return of a thirteenth task in 50 steps with each of the priors, after policy iteration on twelve others."""
    rng, classes = np.random.default_rng([seed, 17]), SETTINGS[setting]
    P, pairs = moves()
    profile = FEATURES(np.arange(S)) @ rng.normal(0.0, 1.5, (5, classes))
    means = [profile[:, m % classes] * (1.0 + 0.1 * rng.standard_normal()) for m in range(TASKS + 1)]
    logs = [random_walk(P, mean, steps, rng) for mean in means[:TASKS]]
    base, new = BASE | {"degrees": 13.0}, means[TASKS]
    found = {"flat": earned(flat_transfer, (np.zeros(10), FLAT * np.eye(10)), new, seed)}
    solvers = {"EM": b.make("multitask-gptd", **base, tol=1e-4)}
    solvers["DP"] = b.make("multitask-gptd-dp", **base, sweeps=sweeps)
    solvers["DP, c learnt"] = b.make("multitask-gptd-dp", **base, sweeps=sweeps, concentration=LogUniform())
    for name, solver in solvers.items():
        solution = policy_iteration(solver, logs, pairs, GAMMA, rng, rounds=5).solution
        start = solution.transfer((np.zeros((1, 10)), [0.0]))  # a row of zeros says nothing
        found[name] = earned(lambda task, x=solution: x.transfer(task[:2]), start, new, seed)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # some chains mix slowly
    for setting in SETTINGS:
        made, flat = gains(range(40), setting)
        print(f"{setting}: flat log score {flat[0]:.2f}, error of values {flat[1]:.2f}", flush=True)
        for name, (mean, error) in made.items():
            half = 2.02 * error
            print(f"  {name}: log score {mean[0]:+.2f} +- {half[0]:.2f}, error lower by {mean[1]:.3f} +- {half[1]:.3f}")
    for setting in SETTINGS:
        made = [returns(seed, setting) for seed in range(DRAWS)]
        gain = np.array([[one[name] - one["flat"] for name in ("EM", "DP", "DP, c learnt")] for one in made])
        error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        flat = np.mean([one["flat"] for one in made])
        print(
            f"{setting}: flat return {flat:.1f}; gains of EM, DP, DP with c learnt",
            gain.mean(axis=0).round(2),
            error.round(2),
        )
    for setting in ("one class",):
        shares = [lost(seed, setting) for seed in range(8)]
        for name in ("flat", "EM", "DP"):
            x = np.array([one[name] for one in shares])
            gain = np.array([one["flat"] for one in shares]) - x
            half, gain_half = (2.36 * y.std(ddof=1) / np.sqrt(len(y)) for y in (x, gain))
            print(f"{setting}, {name}: lost {x.mean():.3f} +- {half:.3f}, gain {gain.mean():.3f} +- {gain_half:.3f}")
