"""Numbers whose squares overflow are refused where they enter, in everything of chapter 5 that squares them."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import GPTD, BayesianLinearRegression, GPRegression
from bayesrl.beliefs.covariances import Discrete, Fisher, Gaussian, StateAction
from bayesrl.beliefs.features import Polynomial
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.gradient import (
    GaussianMeasure,
    GaussianPolicy,
    SoftmaxPolicy,
    bayesian_quadrature,
    bpg,
    bpg_hessian,
    reinforce_gradient,
)
from bayesrl.registry import make_world
from bayesrl.value import GPRL, GPSARSA

K, PHI, ONE = Gaussian(), Polynomial(degree=1), np.eye(1)
PAIRS = GPSARSA(2, StateAction(K, Discrete(), dims=1))
CALLS = {
    "target": lambda x: GPRL([0.0, 1.0], [0.0], x),
    "width": lambda x: GPRL([0.0, 1.0], [0.0], 0.5, width=x),
    "reward": lambda x: PAIRS.learn(PAIRS.start(), Transition(0.0, 0, x, 1.0), default_rng(0)),
    "actions": lambda x: GPSARSA([0.0, x], K),
    "scale": lambda x: Gaussian(scale=x),
    "X": lambda x: K([x], [0.0]),
    "Y": lambda x: K([0.0], [x]),
    "mean": lambda x: K.expectation([x], ONE, [0.0]),
    "covariance": lambda x: K.expectation([0.0], x * ONE, [0.0]),
    "information": lambda x: Fisher(x * ONE),
    "x": lambda x: BayesianLinearRegression(PHI).update((x, 0.0)),
    "y": lambda x: BayesianLinearRegression(PHI).update((0.0, x)),
    "y of many": lambda x: BayesianLinearRegression(PHI).update_many(([0.0], [x])),
    "y of a process": lambda x: GPRegression(K).update((0.0, x)),
    "y of many of a process": lambda x: GPRegression(K).update_many(([0.0], [x])),
    "H": lambda x: GPRegression(K).update_linear([0.0], [[x]], [0.0]),
    "y of mixtures": lambda x: GPRegression(K).update_linear([0.0], [[1.0]], [x]),
    "noise_covariance": lambda x: GPRegression(K).update_linear([0.0], [[1.0]], [0.0], [[x]]),
    "noise": lambda x: GPTD(K, noise=x),
    "noise of states": lambda x: GPTD(K, noise=lambda s: x).update(Transition(0.0, 0, 0.0, 1.0)),
    "observation": lambda x: GPTD(K).update(Transition(x, 0, 0.0, 1.0)),
    "reward of values": lambda x: GPTD(K).update(Transition(0.0, 0, x, 1.0)),
    "rewards": lambda x: GPTD(K).update_many(([0.0, 1.0], [x])),
    "scores": lambda x: bpg([[x]], [0.0], ONE),
    "returns": lambda x: bpg([[1.0]], [x], ONE),
    "noise of bpg": lambda x: bpg([[1.0]], [0.0], ONE, noise=x),
    "offset": lambda x: bpg([[1.0]], [0.0], ONE, offset=x),
    "hessians": lambda x: bpg_hessian([[1.0]], [[[x]]], [0.0], ONE),
    "values": lambda x: bayesian_quadrature([0.0], [x], K, GaussianMeasure(0.0, 1.0)),
    "noise of quadrature": lambda x: bayesian_quadrature([0.0], [0.0], K, GaussianMeasure(0.0, 1.0), noise=x),
    "prior_mean": lambda x: bayesian_quadrature([0.0], [0.0], K, GaussianMeasure(0.0, 1.0), prior_mean=x),
    "reward of a path": lambda x: reinforce_gradient(
        [Transition(0, 0, x, 0, terminated=True)], SoftmaxPolicy.tabular(1, 2)
    ),
    "state": lambda x: make_world("car-on-the-hill").step(np.array([0.0, x]), [0.0], default_rng(0)),
    "observation of a policy": lambda x: GaussianPolicy(None, [1.0]).score([x], 0.0),
    "action": lambda x: GaussianPolicy(None, [1.0]).score([1.0], x),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_immoderate_numbers_are_refused(name):
    CALLS[name](1.0)
    with pytest.raises(InvalidArgument, match=f"'{name.split()[0]}' must be"):
        CALLS[name](1.01e100)
