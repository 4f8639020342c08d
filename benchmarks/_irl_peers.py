"""Peers of map-birl, run by their own Python: `python _irl_peers.py irl-maxent|imitation PROBLEM.npz OUT.npz`.

The problem has P (S, A, S), features (S, d), states (trajectories, length), actions of the same shape, and the step
size of the peer's optimiser, `rate`. The result has the processor time of every step since the start, and the weights
after it. It imports nothing of ours.
"""

import sys
import time
from contextlib import suppress

import numpy as np


def irl_maxent(P, features, states, actions, gamma, seconds, rate):
    """Maximum entropy by gradient ascent, from zero, as rewards may be negative.

    It needs episodes that end, and knows no discount of visits. So each step ends the episode with probability
    1 - gamma, in a state of its own, and trajectories are cut into pieces of geometric lengths that end there.
    Its form with causal entropy did not finish this problem in nine minutes, so that this is the other form.
    """
    from irl_maxent import maxent, optimizer, trajectory

    class Noted(optimizer.Sga):
        def step(self, grad, *args, **kwargs):
            super().step(grad, *args, **kwargs)
            note(self.parameters)
            if time.process_time() - began > seconds:
                raise TimeoutError

    S, A, _ = P.shape
    T = np.zeros((S + 1, S + 1, A))  # from, to, action
    T[:S, :S], T[:S, S], T[S, S] = gamma * P.transpose(0, 2, 1), 1.0 - gamma, 1.0
    phi, rng, logs = np.vstack([features, np.zeros(features.shape[1])]), np.random.default_rng(0), []
    for s, a in zip(states.tolist(), actions.tolist(), strict=True):
        t = 0
        while t < len(s):
            end = min(t + int(rng.geometric(1.0 - gamma)), len(s))
            logs.append(trajectory.Trajectory(list(zip(s[t:end], a[t:end], [*s[t + 1 : end], S], strict=True))))
            t = end
    note, times, weights = noter()
    began = time.process_time()
    try:
        optim = Noted(lr=optimizer.linear_decay(lr0=rate))
        maxent.irl(T, phi, [S], logs, optim, optimizer.Constant(0.0), eps=1e-4)
    except TimeoutError:
        pass
    return times, weights


def imitation(P, features, states, actions, gamma, seconds, rate):
    """Tabular maximum causal entropy of imitation, with Adam.

    Visits are not discounted, which is its default: with `discount=gamma` later steps hardly count, and it loses more.
    """
    import torch as th
    from imitation.algorithms import mce_irl
    from imitation.rewards import reward_nets
    from seals import base_envs

    th.set_num_threads(1)
    S, d = features.shape
    horizon = states.shape[1] - 1
    env = base_envs.TabularModelPOMDP(
        transition_matrix=P, observation_matrix=features, reward_matrix=np.zeros(S), horizon=horizon,
        initial_state_dist=np.bincount(states[:, 0], minlength=S) / len(states),
    )  # fmt: skip

    class Linear(reward_nets.RewardNet):
        def __init__(self):
            super().__init__(env.observation_space, env.action_space, normalize_images=False)
            self.w = th.nn.Parameter(th.zeros(d, dtype=th.float32))

        def forward(self, state, action, next_state, done):
            return state @ self.w

    net = Linear()

    class Noted(th.optim.Adam):
        def step(self, *args, **kwargs):
            result = super().step(*args, **kwargs)
            note(net.w.detach().numpy())
            if time.process_time() - began > seconds:
                raise TimeoutError
            return result

    om = np.zeros(S)
    for s in states:
        np.add.at(om, s, 1.0)
    note, times, weights = noter()
    began = time.process_time()
    algorithm = mce_irl.MCEIRL(
        om / len(states), env, net, np.random.default_rng(0), optimizer_cls=Noted, optimizer_kwargs={"lr": rate},
        log_interval=None,
    )  # fmt: skip
    with suppress(TimeoutError):
        algorithm.train(max_iter=10_000)
    return times, weights


def noter():
    """A function that notes weights with the time, and its lists."""
    times, weights = [], []
    began = time.process_time()

    def note(w):
        times.append(time.process_time() - began)
        weights.append(np.array(w, float))

    return note, times, weights


if __name__ == "__main__":
    given = np.load(sys.argv[2])
    call = {"irl-maxent": irl_maxent, "imitation": imitation}[sys.argv[1]]
    problem = [given[name] for name in ("P", "features", "states", "actions")]
    times, weights = call(*problem, *(float(given[name]) for name in ("gamma", "seconds", "rate")))
    np.savez(sys.argv[3], times=times, weights=weights)
