"""What may be believed: one conjugate or approximate posterior per file."""

from bayesrl.beliefs.dirichlet import DirichletMDP
from bayesrl.beliefs.reward_beta import RewardBeta
from bayesrl.beliefs.reward_dirichlet import RewardDirichlet
from bayesrl.beliefs.reward_normal import RewardNormal
from bayesrl.beliefs.sparse_dirichlet import SparseDirichletMDP
from bayesrl.beliefs.unknown_rewards import UnknownRewards

__all__ = ["DirichletMDP", "RewardBeta", "RewardDirichlet", "RewardNormal", "SparseDirichletMDP", "UnknownRewards"]
