"""Numbers that are used if nothing is said. A default is part of what a public function does, so it is said twice.

Defaults of registered classes are in the catalogue, whose page is tested.
"""

import dataclasses
import importlib
import inspect
import pkgutil
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

import bayesrl
from bayesrl import parameters
from bayesrl.registry import entries

TIGER = {"accuracy": 0.85, "correct": 5, "incorrect": 3, "wrong": -100.0, "gamma": 0.95}
DEFAULTS = {
    "bamdp.offline._prior_models.PriorModels": {"longest": 0.0},
    "models.solvers.proper.refuse_endless": {
        "expected": "one whose episodes end under every policy, as the discount is 1",
        "hint": "",
    },
    "risk._moments.UncertainModel": {"longest": 0.0},
    "risk.local_ascent.DrawnModels": {"longest": 0.0},
    "lab.tour.tour": {"seed": 0, "share": 1.0},
    "lab.tour.bandit": {"customers": 1000},
    "lab.tour.several": {"customers": 1000},
    "lab.tour.contextual": {"customers": 1000},
    "lab.tour.learning": {"steps": 1000},
    "lab.tour.hidden": {"steps": 1000},
    "lab.tour.gradients": {"steps": 3300},
    "lab.tour.draw": {"folder": "."},
    "facets.Facets": {"in_survey": False},
    "worlds.mdps.online_shop_mdp.ShopWorld": {"actions": ()},
    "worlds.shop.Shop": {"same_brand": 1.0, "items": 2},
    "worlds.shop.Shop.state": {"cart": ()},
    "worlds.shop.Shop.mdp": {"gamma": 1.0},
    "_shown.ShownList": {"iterable": ()},
    "_shown.ShownTuple": {"iterable": ()},
    "beliefs.arms.beta_bernoulli.prior_for": {"count": 1.0},
    "beliefs.arms.finite_models.prior_for": {"models": 20},
    "beliefs.arms.forgetting.prior_for": {"decay": 0.99},
    "beliefs.arms.linear_gaussian_arms.prior_for": {"scale": 1.0, "noise": 1.0},
    "beliefs.arms.logistic_arms.prior_for": {"regularisation": 1.0},
    "beliefs.arms.logistic_laplace_arms.prior_for": {"regularisation": 1.0},
    "beliefs.arms.money.dirichlet_arm.prior_for": {"count": 1.0},
    "beliefs.arms.money.log_normal_purchase.prior_for": {"spread": 1.0},
    "beliefs.arms.money.priced.prior_for": {"belief": ""},
    "beliefs.dynamics.crp_dynamics.prior_for": {"concentration": 0.5, "crp": 1.0},
    "beliefs.dynamics.factored_dbn.prior_for": {"concentration": 1.0, "values": 2},
    "beliefs.mdp.dirichlet_mdp.flat": {"concentration": 1.0},
    "beliefs.mdp.dirichlet_mdp.structured": {"concentration": 1.0},
    "beliefs.mdp.dirichlet_mixture.prior_for": {"low": 0.1, "high": 10.0},
    "beliefs.mdp.finite_mdps.prior_for": {"models": 20},
    "beliefs.mdp.sparse_dirichlet.sparse": {"concentration": 0.2, "size_exponent": 2.0},
    "beliefs.mdp.tied_dirichlet.prior_for": {"concentration": 1.0},
    "beliefs.pomdp.bapomdp_most_probable.most_probable": {"particles": 1000},
    "beliefs.pomdp.bapomdp_particle.particle": {"particles": 1000},
    "beliefs.pomdp.finite_pomdps.prior_for": {"models": 20},
    "beliefs.pomdp.infinite_pomdp.prior_for": {"chains": 20},
    "beliefs.pomdp.policy_prior.prior_for": {"chains": 20},
    "beliefs.pomdp.pomdp_particles.prior_for": {"particles": 1000},
    "beliefs.tasks.hierarchical_mdp.prior_for": {"concentration": 1.0, "alpha": 1.0},
    "capabilities.any_belief.Refreshes.refresh": {"sweeps": 1},
    "continuous.continuous_forward_search.DrawsObservations.draw": {"n": 1},
    "traits.Traits": {
        "depends_on_data": (),
        "elsewhere": "",
        "yields": "",
        "grows": (),
        "not_saved": (),
        "batched": False,
    },
    "adapters.gymnasium.GymWorld": {"gamma": 1.0},
    "adapters.jax.gptd_batch": {"noise": 0.3, "gamma": 0.9, "residuals": "coloured"},
    "bamdp.optimism.pac_bounds.beb_beta": {"reward_range": 1.0},
    "bamdp.optimism.pac_bounds.beb_bound": {"epsilon": 0.1, "delta": 0.1},
    "bamdp.optimism.pac_bounds.bfs3_bound": {"delta": 0.1},
    "bamdp.optimism.pac_bounds.bolt_bound": {"epsilon": 0.1},
    "bamdp.optimism.pac_bounds.boss_bound": {"samples": 5, "epsilon": 0.1, "delta": 0.1},
    "bamdp.optimism.pac_bounds.boss_knownness": {"epsilon": 0.1, "delta": 0.1},
    "bamdp.optimism.pac_bounds.effective_horizon": {"accuracy": 0.01},
    "bamdp.optimism.pac_bounds.mbie_eb_beta": {"epsilon": 0.1, "delta": 0.1, "reward_range": 1.0},
    "bamdp.optimism.pac_bounds.mbie_eb_bound": {"epsilon": 0.1, "delta": 0.1},
    "bamdp.optimism.pac_bounds.mbie_eb_visits": {"epsilon": 0.1, "delta": 0.1},
    "bamdp.optimism.pac_bounds.pac_bounds": {"gamma": 0.95, "epsilon": 0.1, "delta": 0.1},
    "bamdp.optimism.pac_bounds.rmax_knownness": {"epsilon": 0.1, "delta": 0.1, "reward_range": 1.0},
    "bamdp.optimism.pac_bounds.vbrb_betas": {"delta": 0.1, "reward_range": 1.0},
    "bamdp.optimism.pac_bounds.vbrb_bound": {"epsilon": 0.1, "delta": 0.1},
    "bandits.bounds_of_world.bounds_of": {"vacuous": False},
    "bandits._gopalan.gopalan": {"epsilon": 0.1},
    "bandits.bandit_bounds.Bound.__new__": {"most": np.inf},
    "bandits.bandit_bounds.bandit_bounds": {"epsilon": 0.1},
    "bandits.bandit_bounds.checked_steps": {"low": 1.0},
    "bandits.bandit_bounds.kaufmann_bayes_ucb": {"epsilon": 0.1},
    "bandits.bandit_bounds.kaufmann_thompson": {"epsilon": 0.1},
    "bandits.bandit_bounds.russo_van_roy": {"deviation": 0.5},
    "bandits.bayes_optimal_bandit.bayes_optimal_q": {"criterion": "reward"},
    "bandits.bayes_optimal_bandit.bayes_optimal_value": {"criterion": "reward"},
    "bandits.bayes_optimal_bandit.policy_value": {"criterion": "reward"},
    "bandits.finite_horizon_index.finite_horizon_index": {"gamma": 1.0},
    "bandits.information_directed.information_ratio": {"samples": 10000},
    "bandits.simulate_bandit.simulate": {"seed": 0, "replicate": 0},
    "bapomdp.answers.after_answer": {"error": 0.0},
    "bapomdp.answers.after_confirmation": {"error": 0.0},
    "bapomdp._asking.Asking.__new__": {"past": (), "chosen": -1, "refused": ()},
    "bapomdp._asking.Drawn.__new__": {"age": 0},
    "bapomdp._asking.after_reply": {"refused": ()},
    "bapomdp.medusa.Learning.__new__": {"answers": 0},
    "bapomdp.sampled_pomdps.Sampled.__new__": {"models": (), "episode": (), "age": 0},
    "beliefs.choices.best_action": {"scale": 0.0},
    "beliefs.crp.LogUniform": {"high": 10_000.0, "low": 0.01},
    "beliefs.rewards.reward_priors.UniformPrior": {"high": 1.0, "low": -1.0},
    "beliefs.rewards.reward_priors.GaussianPrior": {"high": np.inf, "low": -np.inf, "mean": 0.0, "scale": 1.0},
    "beliefs.rewards.reward_priors.LaplacePrior": {"high": 1.0, "low": -1.0, "scale": 0.5},
    "worlds.tasks._featured.FeaturedWorld": {"actions": ()},
    "worlds.tasks.highway.highway": {"gamma": 0.9, "style": "fast"},
    "worlds.tasks.gridworld_blocks.gridworld_blocks": {"block": 2, "gamma": 0.9, "noise": 0.4, "size": 8},
    "beliefs.arms.bandit_models.GaussianModels": {"noise": 1.0},
    "beliefs.arms._contexts.PaysClicks.best_arm": {"samples": 10000},
    "beliefs.arms.beta_bernoulli.BetaBernoulli.best_arm": {"samples": 10000},
    "beliefs.arms.beta_bernoulli.BetaBernoulli.uniform": {"gamma": 1.0},
    "beliefs.arms.binarised_rewards.BinarisedRewards.best_arm": {"samples": 10000},
    "beliefs.arms.exponential_arm.ExponentialArm.best_arm": {"samples": 10000},
    "beliefs.arms.exponential_arm.ExponentialArm.weak": {"gamma": 1.0},
    "beliefs.arms.finite_models.FiniteModels.best_arm": {"samples": 10000},
    "beliefs.arms.finite_models.FiniteModels.two": {"gamma": 1.0},
    "beliefs.arms.full_bandit.FullBandit.best_arm": {"samples": 10000},
    "beliefs.arms.full_bandit.FullBandit.at_prices": {"gamma": 1.0},
    "beliefs.arms.full_bandit.FullBandit.uniform": {"gamma": 1.0},
    "beliefs.arms.linear_gaussian_arms.LinearGaussianArms.agrawal_goyal": {"gamma": 1.0},
    "beliefs.arms.linear_gaussian_arms.LinearGaussianArms.best_arm": {"samples": 10000},
    "beliefs.arms.linear_gaussian_arms.LinearGaussianArms.isotropic": {"scale": 1.0, "noise": 1.0, "gamma": 1.0},
    "beliefs.arms.logistic_arms.LogisticArms.best_arm": {"samples": 10000},
    "beliefs.arms.logistic_arms.LogisticArms.isotropic": {"regularisation": 1.0, "gamma": 1.0},
    "beliefs.arms.logistic_laplace_arms.LogisticLaplaceArms.best_arm": {"samples": 10000},
    "beliefs.arms.logistic_laplace_arms.LogisticLaplaceArms.isotropic": {"regularisation": 1.0, "gamma": 1.0},
    "beliefs.arms.money.dirichlet_arm.DirichletArm.best_arm": {"samples": 10000},
    "beliefs.arms.money.log_normal_purchase.LogNormalPurchase.best_arm": {"samples": 10000},
    "beliefs.arms.money.log_normal_purchase.LogNormalPurchase.weak": {"spread": 1.0, "gamma": 1.0},
    "beliefs.arms.money.priced.Priced.as_purchase": {"owner": "Priced.update"},
    "beliefs.arms.money.priced.Priced.best_arm": {"samples": 10000},
    "beliefs.arms.normal_arm.NormalArm.best_arm": {"samples": 10000},
    "beliefs.arms.normal_arm.NormalArm.standard": {"gamma": 1.0},
    "beliefs.arms.normal_gamma_arm.NormalGammaArm.best_arm": {"samples": 10000},
    "beliefs.arms.normal_gamma_arm.NormalGammaArm.weak": {"gamma": 1.0},
    "beliefs.arms.poisson_arm.PoissonArm.best_arm": {"samples": 10000},
    "beliefs.arms.poisson_arm.PoissonArm.exponential": {"gamma": 1.0},
    "beliefs.dynamics.normal_wishart.NormalWishart.draw": {"n": 1},
    "beliefs.dynamics.linear_gaussian_dynamics.LinearGaussianDynamics.draw": {"n": 1},
    "beliefs.covariances.Direction": {"b": 0.1},
    "beliefs.covariances.Discrete": {"variance": 1.0},
    "beliefs.covariances.Fisher": {"degree": 1},
    "beliefs.covariances.Gaussian": {"scale": 1.0, "variance": 1.0},
    "beliefs.covariances.Linear": {"variance": 1.0},
    "beliefs.covariances.Matern": {"smoothness": 1.5, "scale": 1.0, "variance": 1.0},
    "beliefs.covariances.Polynomial": {"degree": 2, "offset": 1.0, "variance": 1.0},
    "beliefs.features.Fourier": {"order": 3},
    "beliefs.features.Polynomial": {"degree": 2, "dims": 1},
    "beliefs.features.RBF": {"scale": 1.0},
    "beliefs.features.Tiles": {"tiles": 8, "tilings": 8},
    "beliefs.dynamics.gp_dynamics.GPDynamics.draw": {"n": 1},
    "beliefs.dynamics.gp_dynamics.GPDynamics.fit": {"starts": 5},
    "beliefs.dynamics.gp_dynamics.GPDynamics.predict_path": {"paths": 200},
    "beliefs.dynamics.gp_dynamics.GPDynamics.predictive": {"latent": False},
    "beliefs.dynamics.gp_dynamics.GPDynamics.sample_paths": {"paths": 200},
    "beliefs.games.dirichlet_game.DirichletGame": {"known": False, "last": -1},
    "beliefs.games.dirichlet_game.DirichletGame.flat": {"concentration": 1.0, "history": 0, "known": False},
    "beliefs.games.dirichlet_game.DirichletGame.lookahead_q": {"leaf": "zero"},
    "beliefs.games.finite_games.FiniteGames.lookahead_q": {"leaf": "zero"},
    "beliefs.games.joint.JointTransition.__new__": {"terminated": False, "truncated": False},
    "beliefs.games.repeated_game.RepeatedGame.lookahead_q": {"leaf": "zero"},
    "beliefs.pomdp.dirichlet_pomdp.DirichletPOMDP.from_dense": {"terminal": ()},
    "beliefs.pomdp.dirichlet_pomdp.DirichletPOMDP.learned": {"weight": 1.0},
    "beliefs.pomdp.infinite_pomdp.InfinitePOMDP.refresh": {"sweeps": 1},
    "beliefs.pomdp.policy_prior.PolicyPrior.refresh": {"sweeps": 1},
    "beliefs.pomdp.policy_prior.joint_posterior": {"temperature": float("inf")},
    "beliefs.rewards.gaussian_rewards.GaussianRewards": {"noise": 1.0},
    "models.outcomes.outcome_of": {"rewarded": True},
    "beliefs.mdp.dirichlet_mdp.DirichletMDP.flat": {"concentration": 1.0},
    "beliefs.mdp.dirichlet_mdp.DirichletMDP.outcome": {"rewarded": True},
    "beliefs.mdp.dirichlet_mdp.DirichletMDP.structured": {"concentration": 1.0},
    "beliefs.rewards.reward_normal.RewardNormal.strens": {"mu0": 0.0, "sigma0": 1.0},
    "beliefs.mdp.row_column_beta.RowColumnBeta.mean_rows_columns": {"sweeps": 1000},
    "beliefs.mdp.sparse_dirichlet.SparseDirichletMDP.flat": {"concentration": 0.2, "size_exponent": 2.0},
    "beliefs.mdp.sparse_dirichlet.SparseDirichletMDP.outcome": {"rewarded": True},
    "beliefs.mdp.tied_dirichlet.tied": {"concentration": 1.0},
    "beliefs.values.gaussian.GaussianFunction.sample": {"draws": 1},
    "beliefs.values.observations.Observations.add": {"tie": 0.0},
    "beliefs.values.recursion.Weights.after": {"prior_variance": 1.0},
    "beliefs.values.recursion.Weights.isotropic": {"variance": 1.0},
    "beliefs.values.bayesian_linear_regression.BayesianLinearRegression.fit": {"starts": 5},
    "beliefs.values.bayesian_linear_regression.BayesianLinearRegression.sample": {"draws": 1},
    "beliefs.values.gp_regression.GPRegression.fit": {"starts": 5},
    "beliefs.values.gp_regression.GPRegression.sample": {"draws": 1},
    "beliefs.values.gptd.GPTD.sample": {"draws": 1},
    "beliefs.values.gptd_deterministic.WhiteGPTD.sample": {"draws": 1},
    "beliefs.values.gptd_lambda.LambdaGPTD.sample": {"draws": 1},
    "beliefs.values.gptd_parametric.ParametricGPTD.sample": {"draws": 1},
    "beliefs.values.gptd_sparse.SparseGPTD.sample": {"draws": 1},
    "beliefs.values.kernel_selection.KernelSelection.sample": {"draws": 1},
    "beliefs.dynamics.crp_dynamics.CRPDynamics.refresh": {"sweeps": 1},
    "beliefs.dynamics.factored_dbn.FactoredDBN.refresh": {"sweeps": 1},
    "checks.array": {"low": -np.inf, "above": False, "moderate": False},
    "checks.integer": {"low": 0, "any_length": False},
    "checks.number": {"low": -np.inf, "high": np.inf, "above": False, "below": False, "moderate": False},
    "beliefs.dynamics._particles.rows_of": {"finite": True},
    "beliefs.dynamics._particles.solved": {"pair": False},
    "beliefs.dynamics._slices.rebuilt": {"drawn": True},
    "beliefs.dynamics._trajectories.Walk.begin": {"drawn": True},
    "beliefs.dynamics._trajectories.Walk.step": {"drawn": True},
    "beliefs.dynamics.gp_pomdp.GPPOMDP.draw": {"n": 1},
    "beliefs.dynamics.gp_pomdp.GPPOMDP.map_states": {"starts": 8},
    "beliefs.dynamics.gp_pomdp.GPPOMDP.refresh": {"sweeps": 1},
    "beliefs.dynamics.normal_wishart_dynamics.NormalWishartDynamics.draw": {"n": 1},
    "core.Streams.of": {"replicate": 0, "lockstep": False},
    "core.Transition.__new__": {"terminated": False, "truncated": False, "task": 0},
    "core.WorldStep.__new__": {"terminated": False},
    "core.run": {"seed": 0, "replicate": 0, "keep": ()},
    "gradient.bayesian_gradient.bpg": {"model": 1, "noise": 0.1, "offset": 0.0, "threshold": 0.0},
    "gradient.fisher.RunningInformation.__new__": {"total": 0.0, "weight": 0.0},
    "gradient.fisher.fisher_information": {"gamma": 1.0, "unit": "pairs"},
    "gradient._improve.LineSearch.__new__": {"probes": 0, "settled": False},
    "gradient._learner.Learning.__new__": {"updates": 0, "stopped": False, "paths": (), "episode": ()},
    "gradient.bac.bac": {"noise": 1.0, "gamma": 0.99},
    "gradient.bayesian_quadrature.bayesian_quadrature": {"noise": 0.0, "prior_mean": 0.0},
    "gradient.bpg_hessian.bpg_hessian": {"noise": 0.1, "offset": 0.0},
    "gradient.gpomdp.gpomdp_gradient": {"gamma": 1.0, "trace": 1.0},
    "gradient.reinforce.reinforce_gradient": {"gamma": 1.0, "baseline": False},
    "kernels.jit.overloads": {"inline": False},
    "kernels.logistic.mode_after_many": {"sweeps": 100},
    "kernels.ties.any_best": {"scale": 0.0},
    "kernels.ties.best": {"scale": 0.0},
    "kernels.ties.better": {"scale": 0.0},
    "kernels.ties.equal": {"scale": 0.0},
    "kernels.ties.first_best": {"scale": 0.0},
    "kernels.ties.greedy": {"scale": 0.0},
    "kernels.ties.margin": {"scale": 0.0},
    "kernels.ties.pick": {"scale": 0.0},
    "kernels.ties.threshold": {"scale": 0.0},
    "kernels.ties.tied": {"scale": 0.0},
    "kernels.search.search_bounds.highest": {"scale": 0.0},
    "kernels.search.search_bounds.select": {"e": 0.0, "apart": 0.0},
    "kernels.search.search_bounds.widest_child": {"scale": 0.0},
    "lab.compare.compare": {"runs": 100, "seed": 0, "workers": 1, "backend": "threads", "keep": ()},
    "lab.comparison.Comparison.difference": {"confidence": 0.95, "of": "total"},
    "lab.comparison.Comparison.summary": {"confidence": 0.95},
    "lab.experiment.Experiment.table": {"regrets": True},
    "lab.experiment.experiment": {"runs": 20, "seed": 0},
    "lab.explain.explain": {"steps": 0, "seed": 0},
    "lab.literature.figures.Difference.detectable": {"power": 0.9},
    "lab.literature.scores.measure": {"seed": 0},
    "lab.literature.scores.reproduce": {"seed": 0, "reuse": False, "known": ()},
    "lab.literature.setups.Row": {"since": 0, "seconds": 0.5, "discounted": False},
    "lab.literature.setups.chosen": {"worlds": (), "quick": False},
    "lab.measures.episodes.episodes": {"confidence": 0.95},
    "lab.inverse.infer": {"sweeps": 2000},
    "lab.risk.assess": {"confidence": 0.99, "epsilon": 0.05, "samples": 20000},
    "live.LiveAgent": {"seed": 0},
    "live.LiveAgent.explain": {"confidence": 0.95, "draws": 1000},
    "live.LiveAgent.probability": {"draws": 1000},
    "live.LiveAgent.warm_start": {"action": "action", "reward": "reward"},
    "models.riccati.semidefinite": {"definite": False},
    "models.reads_as_array.ReadsAsArray.round": {"decimals": 0},
    "models.mdp.TabularMDP.from_dense": {"start": 0, "terminal": ()},
    "models.mdp.TabularMDP.from_sparse": {"start": 0, "terminal": ()},
    "models.mdp.TabularMDP.observe": {"terminated": False},
    "models.policies.gaussian_policy.GaussianPolicy": {"sigma": 1.0, "learn_sigma": False},
    "models.policies.softmax_policy.SoftmaxPolicy": {"temperature": 1.0},
    "models.policies.softmax_policy.SoftmaxPolicy.tabular": {"temperature": 1.0},
    "models.policies.tabular_policy.TabularPolicy.round": {"decimals": 0},
    "models.pomdp.TabularPOMDP.from_dense": {"terminal": ()},
    "models.pomdp.TabularPOMDP.from_sparse": {"terminal": ()},
    "models.pomdp_file.NamedPOMDP": {"state_names": (), "action_names": (), "observation_names": ()},
    "models.pomdp_file.read_pomdp": {"terminal": ()},
    "models.pomdp_solvers.alpha_vectors.AlphaVectors": {"iterations": 0, "method": ""},
    "models.pomdp_solvers.bounds.bracket": {"size": 300, "tol": 1e-3},
    "models.pomdp_solvers.bounds.fast_informed_bound": {"tol": 1e-6},
    "models.solve.solve": {"method": "auto"},
    "models.solve.solve_by": {"tol": 1e-9},
    "models.solvers.many.solve_many": {"tol": 1e-09},
    "models.solvers.policy_iteration.policy_iteration": {"policies": 1000},
    "models.solvers.value_iteration.value_iteration": {"sweeps": 100000},
    "multitask.policy_iteration.policy_iteration": {"rounds": 20},
    "risk.measure.Measure": {"weights": (1.0,)},
    "lab.plots.tasks.plot_task_curves": {"what": "return"},
    "beliefs.tasks.linear_reward_classes.LinearRewardClasses.new_task": {"log": ()},
    "beliefs.tasks.linear_reward_classes.LinearRewardClasses.refresh": {"sweeps": 1},
    "beliefs.rewards.bnirl.BNIRL.refresh": {"sweeps": 1},
    "beliefs.rewards.multitask_birl.MultitaskBIRL.refresh": {"sweeps": 1},
    "inverse._ascent.ascend": {"rounds": 5},
    "inverse.em_irl.EMIRL": {"clusters": 3, "inner": 10, "iterations": 50, "restarts": 10, "tol": 1e-4},
    "inverse.map_birl.MAPBIRL": {"restarts": 10, "steps": 500},
    "beliefs.rewards.birl.BIRL.refresh": {"sweeps": 1},
    "beliefs.rewards.modified_birl.ModifiedBIRL.refresh": {"sweeps": 1},
    "beliefs.rewards.dpm_birl.DPMBIRL.refresh": {"sweeps": 1},
    "beliefs.tasks.hierarchical_mdp.HierarchicalMDP.refresh": {"sweeps": 1},
    "pacbayes.prior_check.prior_check": {"policies": 200, "delta": 0.05},
    "pacbayes.pac_bayes_bandit.bandit_bound": {"form": "hoeffding"},
    "pacbayes.pac_bayes_function_approximation.function_approximation_bound": {"mixing": 1.0},
    "pacbayes.pac_bayes_model.model_bound": {"r_max": 1.0, "form": "hoeffding", "known_rewards": True},
    "pacbayes.pac_bayes_value.value_bound": {"r_max": 1.0, "known_rewards": True},
    "parameters.Within": {"low": -np.inf, "high": np.inf, "open_low": False, "open_high": False},
    "record.provenance": {"hidden": False},
    "record.Record": {"seconds": 0.0},
    "statistics.independent_difference": {"confidence": 0.95},
    "statistics.mean_band": {"confidence": 0.95},
    "statistics.mean_interval": {"confidence": 0.95},
    "statistics.paired_difference": {"confidence": 0.95},
    "risk.value_moments.Moments.interval": {"level": 0.95},
    "worlds.continuous.continuous_bandit.ContinuousBandit": {"noise": 0.1, "gamma": 1.0},
    "worlds.continuous.continuous_bandit.ContinuousBanditFamily": {"scale": 0.2, "noise": 0.1, "dims": 1, "gamma": 1.0},
    "worlds.continuous.lq.Moderate": {"growth": 1.1, "effect": 0.15},
    "worlds.settings.Setting": {"steps": 1000, "figures": (), "prior": "flat:1"},
    "worlds.bandits._contextual.ContextualBandit": {"gamma": 1.0},
    "worlds.bandits.bernoulli.BernoulliBandit": {"gamma": 1.0},
    "worlds.bandits.bernoulli.BernoulliFamily": {"arms": 10, "gamma": 1.0},
    "worlds.bandits.bernoulli.bernoulli": {"arms": 10, "gamma": 1.0},
    "worlds.bandits.chapelle_li_bandit.chapelle_li": {"arms": 100, "epsilon": 0.1, "gamma": 1.0},
    "worlds.bandits.priced.PricedBandit": {"gamma": 1.0},
    "worlds.bandits.priced.PricedContextual": {"gamma": 1.0},
    "worlds.bandits.priced.PricedFamily": {"gamma": 1.0},
    "worlds.bandits.priced.PricedSeveral": {"suggestions": 3, "gamma": 1.0, "feedback": "semi"},
    "worlds.bandits.combinatorial.CombinatorialBandit": {"suggestions": 3, "gamma": 1.0, "feedback": "semi"},
    "worlds.bandits.combinatorial.CombinatorialFamily": {
        "arms": 10,
        "suggestions": 3,
        "gamma": 1.0,
        "feedback": "semi",
    },
    "worlds.bandits.combinatorial.combinatorial": {"arms": 10, "suggestions": 3, "gamma": 1.0},
    "worlds.bandits.contextual_shop.contextual_shop": {"gamma": 1.0, "shop": None},
    "worlds.bandits.gaussian.GaussianBandit": {"gamma": 1.0},
    "worlds.bandits.gaussian.GaussianFamily": {"arms": 10, "gamma": 1.0},
    "worlds.bandits.gaussian.gaussian": {"arms": 10, "gamma": 1.0},
    "worlds.bandits.linear.LinearFamily": {
        "arms": 30,
        "d": 5,
        "contexts": 1,
        "scale": 3.1622776601683795,
        "noise": 1.0,
        "gamma": 1.0,
    },
    "worlds.bandits.linear.linear": {"arms": 30, "d": 5, "contexts": 1, "gamma": 1.0},
    "worlds.bandits.logistic.LogisticFamily": {"arms": 10, "d": 5, "contexts": 20, "scale": 3.0, "gamma": 1.0},
    "worlds.bandits.logistic.logistic": {"arms": 10, "d": 5, "contexts": 20, "gamma": 1.0},
    "worlds.bandits.online_shop.online_shop": {"gamma": 1.0, "shop": None},
    "worlds.bandits.online_shop_several.online_shop_several": {
        "suggestions": 2,
        "feedback": "semi",
        "gamma": 1.0,
        "shop": None,
    },
    "worlds.mdps._dirichlet_family.DirichletFamily": {"gamma": 0.95, "actions": ()},
    "worlds.factored.network.NetworkWorld": {"pairs": (), "gamma": 0.95},
    "worlds.mdps.li_example.locked_out": {"beta": 1.0, "tries": 1000},
    "worlds.mdps.chain.chain": {"gamma": 0.95},
    "worlds.mdps.chain_semi.chain_semi": {"gamma": 0.95},
    "worlds.mdps.chain_tied.chain_tied": {"gamma": 0.95},
    "worlds.mdps.dearden_maze.dearden_maze": {"gamma": 0.95},
    "worlds.mdps.double_loop.double_loop": {"gamma": 0.95},
    "worlds.mdps.gc.gc": {"gamma": 0.95},
    "worlds.mdps.gdl.gdl": {"gamma": 0.95},
    "worlds.mdps.grid10.grid10": {"gamma": 0.95},
    "worlds.mdps.grid5.grid5": {"gamma": 0.95},
    "worlds.mdps.grid_bbrl.grid_bbrl": {"gamma": 0.95},
    "worlds.mdps.infinite_grid.InfiniteGrid": {"rows": (2.0, 1.0), "columns": (1.0, 2.0), "gamma": 0.97},
    "worlds.mdps.infinite_grid.InfiniteGridFamily": {
        "rows": (2.0, 1.0),
        "columns": (1.0, 2.0),
        "gamma": 0.97,
        "actions": ("up", "right", "down", "left"),
    },
    "worlds.mdps.infinite_grid.infinite_grid": {"gamma": 0.97},
    "models.stochastic_game.StochasticGame": {"start": 0},
    "models.stochastic_game.StochasticGame.rewards": {"player": 0},
    "multiagent.run_game.play": {"seed": 0, "replicate": 0},
    "multiagent.run_game.run_game": {"seed": 0, "replicate": 0},
    "worlds.games._game_world.GameWorld": {"concentration": 0.1},
    "worlds.games.climbing_game.climbing_game": {"gamma": 0.95},
    "worlds.games.penalty_game.penalty_game": {"k": -100.0, "gamma": 0.95},
    "worlds.risk.inventory.inventory": {"capacity": 29, "gamma": 0.9},
    "beliefs.games.coalitions.CoalitionProblem": {"me": 0, "gamma": 1.0},
    "multiagent.formation.formation": {"experiment": 0.05},
    "worlds.games.coalitions.CoalitionFamily": {"ability": 1},
    "worlds.games.coalitions.coalitions": {"agents": 5, "ability": 1, "gamma": 1.0},
    "worlds.games.coalitions.problem_of": {"gamma": 1.0, "me": 0},
    "worlds.hidden.POMDPWorld": {"states": (), "actions": (), "observations": ()},
    "worlds.hidden.POMDPWorld.from_file": {"terminal": ()},
    "worlds.pomdps._tables.listed_pomdp": {"terminal": ()},
    "worlds.pomdps.follow.follow": {"gamma": 0.9},
    "worlds.pomdps.hallway.hallway": {"gamma": 0.95},
    "worlds.pomdps.load_unload.load_unload": {"positions": 8, "gamma": 0.95},
    "worlds.pomdps.online_shop_hidden.online_shop_hidden": {"shop": None, "gamma": 1.0},
    "worlds.pomdps.rock_sample.rock_sample": {"size": 4, "rocks": 4, "gamma": 0.95},
    "worlds.pomdps.shuttle.shuttle": {"gamma": 0.95},
    "worlds.pomdps.sysadmin.sysadmin": {"computers": 3, "topology": "line", "gamma": 0.95},
    "worlds.pomdps.tiger.tiger": TIGER,
    "worlds.pomdps.tiger_episodic.tiger_episodic": TIGER,
    "worlds.pomdps.tiger_tied.tiger_tied": TIGER,
    "worlds.tabular.MDPWorld": {"actions": ()},
    "worlds.tasks._task_sequence.TaskSequence": {"length": 50, "actions": ()},
    "worlds.tasks.coloured_maze.ColouredMazes": {
        "size": 5,
        "colours": 4,
        "classes": 3,
        "tasks": 12,
        "length": 100,
        "deviation": 0.5,
        "class_deviation": 0.1,
        "prize": 10.0,
        "slip": 0.1,
        "gamma": 0.95,
        "actions": ("up", "right", "down", "left"),
    },
    "worlds.tasks.coloured_maze.ColouredMazes.task": {"name": "coloured-maze"},
    "worlds.tasks.random_mdp.RandomMDPs": {
        "states": 6,
        "n_actions": 3,
        "classes": 3,
        "tasks": 12,
        "length": 50,
        "concentration": 0.3,
        "gamma": 0.95,
    },
}


def found(path):
    """A function, method or class of the library by its path."""
    parts = path.split(".")
    for i in range(len(parts) - 1, 0, -1):
        try:
            thing = importlib.import_module("bayesrl." + ".".join(parts[:i]))
        except ModuleNotFoundError:
            continue
        for name in parts[i:]:
            thing = inspect.getattr_static(thing, name) if inspect.isclass(thing) else getattr(thing, name)
        return getattr(thing, "__func__", thing)
    raise LookupError(path)


@pytest.mark.parametrize("path", DEFAULTS)
def test_defaults(path):
    thing = found(path)
    thing = getattr(thing, "py_func", thing)
    if dataclasses.is_dataclass(thing):
        stated = {f.name: f.default for f in dataclasses.fields(thing) if f.init}
    else:
        stated = {p.name: p.default for p in inspect.signature(thing).parameters.values()}
    for name, default in DEFAULTS[path].items():
        assert stated[name] == default
        assert type(stated[name]) is type(default)


TEXTS = ("hint", "name", "note", "owner", "remark")
"""Arguments that are only part of a sentence."""
LEFT_OUT = tuple(f"bayesrl.{name}" for name in (
    "cli", "testing", "errors", "registry", "_lazy", "__main__", "lab.plots", "lab.catalogue", "lab.literature.page",
))  # fmt: skip
"""Help states the defaults of the command line. The others only write texts, draw pictures or test."""


def test_every_default_is_stated():
    """Functions and methods without an underscore, and classes that are not registered."""
    registered = {entry.factory for entry in entries().values()}
    for module in pkgutil.walk_packages(bayesrl.__path__, "bayesrl."):
        if module.name.startswith(LEFT_OUT):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # an extra that is not installed
            continue
        for name, thing in names.items():
            if getattr(thing, "__module__", "") != module.name or not callable(thing) or name.startswith("_"):
                continue
            members = {} if thing in registered else {name: thing}
            if inspect.isclass(thing):
                own = {n: getattr(f, "__func__", f) for n, f in vars(thing).items() if not n.startswith("_")}
                members |= {f"{name}.{n}": f for n, f in own.items() if callable(f)}
            for path, called in members.items():
                whole = f"{module.name}.{path}".removeprefix("bayesrl.")
                stated = DEFAULTS.get(whole) or DEFAULTS.get(whole + ".__new__", {})
                missing = numbers_and_words(called) - set(stated)
                assert not missing, f"{whole}: {missing} have defaults that DEFAULTS does not state"


def numbers_and_words(called):
    """The names of arguments whose defaults are numbers, words or tuples of them."""
    try:
        stated = inspect.signature(getattr(called, "py_func", called)).parameters.values()
    except (TypeError, ValueError):  # a constant or a type alias
        return set()
    named = {p.name: p.default for p in stated if p.name not in TEXTS}
    plain = (bool, int, float, str)
    return {n for n, x in named.items() if all(isinstance(y, plain) for y in (x if type(x) is tuple else (x,)))}


def test_a_field_is_an_array_also_where_its_type_is_a_lazy_alias():
    """NumPy 2.5 made NDArray one. Here it is made by hand."""
    item = TypeVar("item", bound=np.generic)
    lazy = TypeAliasType("lazy", np.ndarray[Any, np.dtype[item]], type_params=(item,))
    other = TypeAliasType("other", list[item], type_params=(item,))
    assert parameters._kind(lazy[np.float64]) is parameters._kind(NDArray[np.float64]) is np.ndarray
    assert parameters._kind(other[np.float64]) is parameters._kind(list[int]) is None
