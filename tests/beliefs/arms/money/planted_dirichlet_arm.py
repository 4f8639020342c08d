"""Planted bugs of bayesrl.beliefs.arms.money.dirichlet_arm."""

MODULE = "bayesrl.beliefs.arms.money.dirichlet_arm"
TESTS = "tests/beliefs/arms/money/test_dirichlet_arm.py"
MOMENTS = [f"{TESTS}::test_evidence_and_moments_are_bayes_rule"]
PLANTED = {
    "a variance over n": (
        "/ (self.alpha.sum(axis=-1) + 1.0)",
        "/ self.alpha.sum(axis=-1)",
        MOMENTS,
    ),
    "evidence with the wrong sign of the prior": (
        "each -= special.gammaln(self.prior_alpha)",
        "each += special.gammaln(self.prior_alpha)",
        MOMENTS,
    ),
    "the counts of another arm's outcome": ("np.asarray(where) * n + k", "np.asarray(where) + k", MOMENTS),
    "the outcome that is farthest": ("k = near.argmin(axis=-1)", "k = near.argmax(axis=-1)", MOMENTS),
    "quantiles of the worse outcome": (
        "special.betaincinv(best, worst, p)",
        "special.betaincinv(worst, best, p)",
        [f"{TESTS}::test_two_outcomes_are_bernoulli_arms"],
    ),
    "indices without what is sure": (
        "np.stack([best, worst], axis=-1), low, high - low)",
        "np.stack([best, worst], axis=-1), 0.0, high)",
        [f"{TESTS}::test_the_better_outcome_may_come_first_and_the_worse_one_may_pay"],
    ),
    "half of the fall": (
        "fall += 0.5 * a * np.log1p(ct * ct)",
        "fall += 0.25 * a * np.log1p(ct * ct)",
        [f"{TESTS}::test_the_inversion_is_the_beta_for_two_outcomes_and_for_ties_in_disguise"],
    ),
    "a step that ignores the sine": (
        "step = min(STEP, 2.0 / (10.0 + float((rate * matters).max())))",
        "step = STEP",
        [f"{TESTS}::test_the_inversion_is_the_beta_for_two_outcomes_and_for_ties_in_disguise"],
    ),
    "draws without the power of small counts": (
        "- rng.standard_exponential(self.alpha.shape) / self.alpha",
        "- 0.0 * rng.standard_exponential(self.alpha.shape)",
        [f"{TESTS}::test_quantiles_match_draws"],
    ),
    "information of the mean": (
        "special.rel_entr(joint, outer).sum(axis=(-3, -1))",
        "special.rel_entr(outer, joint).sum(axis=(-3, -1))",
        [f"{TESTS}::test_information_by_hand"],
    ),
    "the same count only": (
        "alpha = self.alpha[..., None, :, :] + seen",
        "alpha = self.alpha[..., None, :, :] + 0 * seen",
        [f"{TESTS}::test_exact_play_equals_enumerated_histories"],
    ),
}
