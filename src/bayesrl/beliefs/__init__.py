"""Beliefs: one conjugate or approximate posterior per file."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.beliefs import covariances as covariances
    from bayesrl.beliefs import features as features
    from bayesrl.beliefs.arms.bandit_models import BernoulliModels as BernoulliModels
    from bayesrl.beliefs.arms.bandit_models import BernoulliSums as BernoulliSums
    from bayesrl.beliefs.arms.bandit_models import GaussianModels as GaussianModels
    from bayesrl.beliefs.arms.bandit_models import OutcomeModels as OutcomeModels
    from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli as BetaBernoulli
    from bayesrl.beliefs.arms.binarised_rewards import BinarisedRewards as BinarisedRewards
    from bayesrl.beliefs.arms.exponential_arm import ExponentialArm as ExponentialArm
    from bayesrl.beliefs.arms.finite_models import FiniteModels as FiniteModels
    from bayesrl.beliefs.arms.forgetting import Forgetting as Forgetting
    from bayesrl.beliefs.arms.full_bandit import FullBandit as FullBandit
    from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms as LinearGaussianArms
    from bayesrl.beliefs.arms.logistic_arms import LogisticArms as LogisticArms
    from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms as LogisticLaplaceArms
    from bayesrl.beliefs.arms.normal_arm import NormalArm as NormalArm
    from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm as NormalGammaArm
    from bayesrl.beliefs.arms.poisson_arm import PoissonArm as PoissonArm
    from bayesrl.beliefs.arms.semi_bandit import SemiBandit as SemiBandit
    from bayesrl.beliefs.dynamics.crp_dynamics import CRPDynamics as CRPDynamics
    from bayesrl.beliefs.dynamics.factored_dbn import FactoredDBN as FactoredDBN
    from bayesrl.beliefs.dynamics.gp_dynamics import GPDynamics as GPDynamics
    from bayesrl.beliefs.dynamics.gp_pomdp import GPPOMDP as GPPOMDP
    from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics as LinearGaussianDynamics
    from bayesrl.beliefs.dynamics.normal_wishart import NormalWishart as NormalWishart
    from bayesrl.beliefs.dynamics.normal_wishart_dynamics import NormalWishartDynamics as NormalWishartDynamics
    from bayesrl.beliefs.games.dirichlet_game import DirichletGame as DirichletGame
    from bayesrl.beliefs.games.finite_games import FiniteGames as FiniteGames
    from bayesrl.beliefs.games.joint import JointTransition as JointTransition
    from bayesrl.beliefs.games.repeated_game import RepeatedGame as RepeatedGame
    from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP as DirichletMDP
    from bayesrl.beliefs.mdp.dirichlet_mixture import DirichletMixture as DirichletMixture
    from bayesrl.beliefs.mdp.finite_mdps import FiniteMDPs as FiniteMDPs
    from bayesrl.beliefs.mdp.row_column_beta import RowColumnBeta as RowColumnBeta
    from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP as SparseDirichletMDP
    from bayesrl.beliefs.mdp.tied_dirichlet import tied as tied
    from bayesrl.beliefs.mdp.unknown_rewards import UnknownRewards as UnknownRewards
    from bayesrl.beliefs.pomdp.bapomdp_bounded import BoundedBAPOMDP as BoundedBAPOMDP
    from bayesrl.beliefs.pomdp.bapomdp_exact import ExactBAPOMDP as ExactBAPOMDP
    from bayesrl.beliefs.pomdp.bapomdp_most_probable import MostProbableBAPOMDP as MostProbableBAPOMDP
    from bayesrl.beliefs.pomdp.bapomdp_particle import ParticleBAPOMDP as ParticleBAPOMDP
    from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP as DirichletPOMDP
    from bayesrl.beliefs.pomdp.finite_pomdps import FinitePOMDPs as FinitePOMDPs
    from bayesrl.beliefs.pomdp.infinite_pomdp import InfinitePOMDP as InfinitePOMDP
    from bayesrl.beliefs.pomdp.policy_prior import PolicyPrior as PolicyPrior
    from bayesrl.beliefs.pomdp.policy_prior import joint_posterior as joint_posterior
    from bayesrl.beliefs.pomdp.pomdp_filter import POMDPFilter as POMDPFilter
    from bayesrl.beliefs.pomdp.pomdp_particles import POMDPParticles as POMDPParticles
    from bayesrl.beliefs.rewards.birl import BIRL as BIRL
    from bayesrl.beliefs.rewards.bnirl import BNIRL as BNIRL
    from bayesrl.beliefs.rewards.dpm_birl import DPMBIRL as DPMBIRL
    from bayesrl.beliefs.rewards.gaussian_rewards import GaussianRewards as GaussianRewards
    from bayesrl.beliefs.rewards.modified_birl import ModifiedBIRL as ModifiedBIRL
    from bayesrl.beliefs.rewards.multitask_birl import MultitaskBIRL as MultitaskBIRL
    from bayesrl.beliefs.rewards.reward_beta import RewardBeta as RewardBeta
    from bayesrl.beliefs.rewards.reward_dirichlet import RewardDirichlet as RewardDirichlet
    from bayesrl.beliefs.rewards.reward_normal import RewardNormal as RewardNormal
    from bayesrl.beliefs.tasks.hierarchical_mdp import HierarchicalMDP as HierarchicalMDP
    from bayesrl.beliefs.tasks.linear_reward_classes import LinearRewardClasses as LinearRewardClasses
    from bayesrl.beliefs.tasks.variable_reward_transfer import VariableReward as VariableReward
    from bayesrl.beliefs.values.bayesian_linear_regression import BayesianLinearRegression as BayesianLinearRegression
    from bayesrl.beliefs.values.gp_regression import GPRegression as GPRegression
    from bayesrl.beliefs.values.gptd import GPTD as GPTD
    from bayesrl.beliefs.values.gptd_deterministic import WhiteGPTD as WhiteGPTD
    from bayesrl.beliefs.values.gptd_lambda import LambdaGPTD as LambdaGPTD
    from bayesrl.beliefs.values.gptd_parametric import ParametricGPTD as ParametricGPTD
    from bayesrl.beliefs.values.gptd_sparse import SparseGPTD as SparseGPTD
    from bayesrl.beliefs.values.kernel_selection import KernelSelection as KernelSelection
    from bayesrl.beliefs.values.lstd_lambda import LSTD as LSTD

export(
    __name__,
    {
        "arms.beta_bernoulli": ("BetaBernoulli",),
        "arms.binarised_rewards": ("BinarisedRewards",),
        "arms.exponential_arm": ("ExponentialArm",),
        "arms.bandit_models": ("BernoulliModels", "BernoulliSums", "GaussianModels", "OutcomeModels"),
        "arms.finite_models": ("FiniteModels",),
        "arms.forgetting": ("Forgetting",),
        "arms.full_bandit": ("FullBandit",),
        "arms.linear_gaussian_arms": ("LinearGaussianArms",),
        "arms.logistic_arms": ("LogisticArms",),
        "arms.logistic_laplace_arms": ("LogisticLaplaceArms",),
        "arms.normal_arm": ("NormalArm",),
        "arms.normal_gamma_arm": ("NormalGammaArm",),
        "arms.poisson_arm": ("PoissonArm",),
        "arms.semi_bandit": ("SemiBandit",),
        "dynamics.normal_wishart": ("NormalWishart",),
        "dynamics.gp_dynamics": ("GPDynamics",),
        "dynamics.linear_gaussian_dynamics": ("LinearGaussianDynamics",),
        "games.dirichlet_game": ("DirichletGame",),
        "games.finite_games": ("FiniteGames",),
        "games.joint": ("JointTransition",),
        "games.repeated_game": ("RepeatedGame",),
        "pomdp.dirichlet_pomdp": ("DirichletPOMDP",),
        "pomdp.finite_pomdps": ("FinitePOMDPs",),
        "pomdp.infinite_pomdp": ("InfinitePOMDP",),
        "pomdp.policy_prior": ("PolicyPrior", "joint_posterior"),
        "pomdp.pomdp_filter": ("POMDPFilter",),
        "pomdp.pomdp_particles": ("POMDPParticles",),
        "pomdp.bapomdp_bounded": ("BoundedBAPOMDP",),
        "pomdp.bapomdp_exact": ("ExactBAPOMDP",),
        "pomdp.bapomdp_most_probable": ("MostProbableBAPOMDP",),
        "pomdp.bapomdp_particle": ("ParticleBAPOMDP",),
        "dynamics.crp_dynamics": ("CRPDynamics",),
        "dynamics.factored_dbn": ("FactoredDBN",),
        "mdp.dirichlet_mdp": ("DirichletMDP",),
        "mdp.dirichlet_mixture": ("DirichletMixture",),
        "mdp.finite_mdps": ("FiniteMDPs",),
        "rewards.reward_beta": ("RewardBeta",),
        "rewards.reward_dirichlet": ("RewardDirichlet",),
        "rewards.reward_normal": ("RewardNormal",),
        "mdp.row_column_beta": ("RowColumnBeta",),
        "mdp.sparse_dirichlet": ("SparseDirichletMDP",),
        "mdp.tied_dirichlet": ("tied",),
        "rewards.gaussian_rewards": ("GaussianRewards",),
        "mdp.unknown_rewards": ("UnknownRewards",),
        "dynamics.gp_pomdp": ("GPPOMDP",),
        "dynamics.normal_wishart_dynamics": ("NormalWishartDynamics",),
        "rewards.birl": ("BIRL",),
        "rewards.bnirl": ("BNIRL",),
        "rewards.dpm_birl": ("DPMBIRL",),
        "rewards.modified_birl": ("ModifiedBIRL",),
        "rewards.multitask_birl": ("MultitaskBIRL",),
        "tasks.hierarchical_mdp": ("HierarchicalMDP",),
        "tasks.variable_reward_transfer": ("VariableReward",),
        "tasks.linear_reward_classes": ("LinearRewardClasses",),
        "values.bayesian_linear_regression": ("BayesianLinearRegression",),
        "values.gp_regression": ("GPRegression",),
        "values.gptd": ("GPTD",),
        "values.gptd_deterministic": ("WhiteGPTD",),
        "values.gptd_lambda": ("LambdaGPTD",),
        "values.gptd_parametric": ("ParametricGPTD",),
        "values.gptd_sparse": ("SparseGPTD",),
        "values.kernel_selection": ("KernelSelection",),
        "values.lstd_lambda": ("LSTD",),
    },
    modules=("covariances", "features"),
)
