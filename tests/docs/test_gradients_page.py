"""The tables of docs/gradients.md are those of docs/gradients.json, and its exact gradients are exact."""

import runpy
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "gradients.py"))


def test_tables_are_up_to_date(made):
    text = (DOCS / "gradients.md").read_text(encoding="utf-8")
    assert made["page"](text, made["tables"](made["read"]())) == text, "run: python docs/gradients.py draw"


def test_exact_gradients_by_differences(made):
    """The gradient of the expected return, by moving each parameter a little."""
    policy = made["line_policy"]()
    found = made["exact_walk"](policy)
    for i, step in enumerate(1e-5 * np.eye(2)):
        up, down = (made["exact_walk"](policy.with_parameters(policy.parameters + s)).mean for s in (step, -step))
        assert found.gradient[i] == pytest.approx((up - down) / 2e-5, abs=1e-5)


def test_exact_numbers_of_the_walk(made):
    """As in the reference: value, gradient norm, trace and rank of G."""
    found = made["exact_walk"](made["table_policy"]())
    assert found.mean == pytest.approx(-12.7222, abs=5e-5)
    assert np.linalg.norm(found.gradient) == pytest.approx(2.3501, abs=5e-5)
    assert np.trace(found.pairs) == pytest.approx(3.7556, abs=5e-5)
    assert np.linalg.matrix_rank(found.steps) == 9


def test_moments_of_the_chain_by_drawing(made):
    """Mean, variance and information of 100,000 paths: tolerances are five standard errors, false alarm below 1e-5."""
    P, R = made["chain_tables"](False)
    policy = made["SoftmaxPolicy"].tabular(5, 2)
    found = made["exact"](P, R, policy, made["CHAIN_GAMMA"], made["STEPS"])
    u, rho = made["chain_paths"](P, R, policy, 100_000, np.random.default_rng(0))
    assert rho.mean() == pytest.approx(found.mean, abs=5 * rho.std() / 316)
    assert rho.var() == pytest.approx(found.variance, abs=5 * ((rho - rho.mean()) ** 2).std() / 316)
    assert np.trace(u.T @ u) / 1e5 == pytest.approx(np.trace(found.steps), abs=5 * (u * u).sum(axis=1).std() / 316)
    gap = rho @ u / 1e5 - found.gradient
    assert (np.abs(gap) < 5 * (rho[:, None] * u).std(axis=0) / 316 + 1e-12).all()
