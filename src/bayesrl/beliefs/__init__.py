"""What may be believed: one conjugate or approximate posterior per file."""

from bayesrl.beliefs.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.binarised_rewards import BinarisedRewards
from bayesrl.beliefs.dirichlet import DirichletMDP
from bayesrl.beliefs.exponential_arm import ExponentialArm
from bayesrl.beliefs.finite_mdps import FiniteMDPs
from bayesrl.beliefs.finite_models import FiniteModels
from bayesrl.beliefs.forgetting import Forgetting
from bayesrl.beliefs.full_bandit import FullBandit
from bayesrl.beliefs.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.logistic_arms import LogisticArms
from bayesrl.beliefs.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.normal_arm import NormalArm
from bayesrl.beliefs.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.poisson_arm import PoissonArm
from bayesrl.beliefs.reward_beta import RewardBeta
from bayesrl.beliefs.reward_dirichlet import RewardDirichlet
from bayesrl.beliefs.reward_normal import RewardNormal
from bayesrl.beliefs.semi_bandit import SemiBandit
from bayesrl.beliefs.sparse_dirichlet import SparseDirichletMDP
from bayesrl.beliefs.unknown_rewards import UnknownRewards

__all__ = [
    "BetaBernoulli", "BinarisedRewards", "DirichletMDP", "ExponentialArm", "FiniteMDPs", "FiniteModels", "Forgetting",
    "FullBandit", "LinearGaussianArms", "LogisticArms", "LogisticLaplaceArms", "NormalArm", "NormalGammaArm",
    "PoissonArm", "RewardBeta", "RewardDirichlet", "RewardNormal", "SemiBandit", "SparseDirichletMDP", "UnknownRewards",
]  # fmt: skip
