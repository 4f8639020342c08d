"""Pendulum and cart-pole through GymWorld, with the functions of docs/gp_dynamics.py."""

import runpy
from pathlib import Path

import pytest

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "gp_dynamics.py"))


def test_cart_pole_from_few_transitions():
    found = PAGE["errors"]("CartPole-v1", 0, n=60)
    assert (found.relative < 0.01).all()
    assert (found.covered >= 0.93).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["Pendulum-v1", "CartPole-v1"])
def test_a_step_is_predicted_within_a_hundredth(name, seed):
    """From 300 random transitions, evidence-fitted: error in units of the change's standard deviation; intervals."""
    found = PAGE["errors"](name, seed)
    assert (found.relative < 0.01).all()
    assert (found.covered >= 0.93).all()
