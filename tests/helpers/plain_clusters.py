"""Slow, obviously right posteriors of clusterings, and how draws are compared with them."""

from math import log

import numpy as np

from bayesrl.beliefs.dynamics.partitions import all_partitions


def enumerated(evidence, n, c):
    """(labels, probability) of every clustering of n things; `evidence(members)` is the log evidence of a cluster."""
    labels, _ = all_partitions(n)
    joint = np.zeros(len(labels))
    for i, z in enumerate(labels.tolist()):
        for m in range(n):
            joint[i] += log((sum(z[k] == z[m] for k in range(m)) or c) / (m + c))
        joint[i] += sum(evidence([m for m in range(n) if z[m] == j]) for j in range(max(z) + 1))
    p = np.exp(joint - joint.max())
    return labels, p / p.sum()


def together(labels, p):
    """Probability that two things are in one cluster."""
    return np.tensordot(p, labels[:, :, None] == labels[:, None, :], axes=1)


def assert_near(x, exact, batches=40):
    """The mean of draws x (n, k) is within 5 batch-means standard errors; false alarm below 2e-5 for each quantity.

    The error is Student's t with 39 degrees of freedom. Rare events get the binomial error at least.
    """
    x, exact = np.asarray(x, float), np.asarray(exact, float)
    n = len(x) - len(x) % batches
    means = x[:n].reshape(batches, n // batches, -1).mean(axis=1)
    se = means.std(axis=0, ddof=1) / np.sqrt(batches)
    se = np.maximum(se, np.sqrt(np.clip(exact * (1.0 - exact), 0.0, None) / n)) + 1e-9
    wrong = np.abs(x.mean(axis=0) - exact) > 5.0 * se
    assert not wrong.any(), (x.mean(axis=0)[wrong], exact[wrong], se[wrong])


def adjusted_rand(found, true):
    """The adjusted Rand index of two clusterings: 1 if they are equal, 0 on average if one is shuffled."""
    table = np.zeros((max(found) + 1, max(true) + 1))
    np.add.at(table, (np.asarray(found), np.asarray(true)), 1.0)
    pairs, rows, columns = ((x * (x - 1.0) / 2.0).sum() for x in (table, table.sum(axis=1), table.sum(axis=0)))
    n = table.sum()
    chance, most = rows * columns / (n * (n - 1.0) / 2.0), (rows + columns) / 2.0
    return 1.0 if most == chance else float((pairs - chance) / (most - chance))
