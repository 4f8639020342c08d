"""Products of rows and values: four rows at a time equal one at a time."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.kernels.dynamic_programming.bellman import (
    BLOCK,
    dot,
    row_sums,
    short_dot,
    short_products,
    short_products_of,
)


@pytest.mark.parametrize("S", [1, 3, 4, 5, 8, 11])
def test_short_products(S):
    rng, A = default_rng(S), 3
    P, v, pi = rng.normal(size=(S * A, S)), rng.normal(size=S), rng.integers(A, size=S)
    out = np.empty(S * A)
    short_products(P, v, out)
    np.testing.assert_allclose(out, P @ v, rtol=1e-12, atol=1e-12)
    chosen = np.empty(S)
    short_products_of(pi, P, v, chosen)
    np.testing.assert_allclose(chosen, P[np.arange(S) * A + pi] @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_sums_of_rows(n):
    p, v = default_rng(0).normal(size=(2, n))
    assert short_dot(p, v) == pytest.approx(p @ v)
    assert dot(p, v) == pytest.approx(p @ v)
    assert row_sums(p, v) == pytest.approx((p.sum(), np.abs(p).sum(), p @ v))
