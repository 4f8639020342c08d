"""Planted bugs of bayesrl.beliefs.arms.money.log_normal_purchase."""

MODULE = "bayesrl.beliefs.arms.money.log_normal_purchase"
TESTS = "tests/beliefs/arms/money/test_log_normal_purchase.py"
EXACT, LOGS = [f"{TESTS}::test_matches_quadrature"], [f"{TESTS}::test_a_log_is_its_steps_and_lockstep_is_one_by_one"]
QUANTILES = [f"{TESTS}::test_quantiles_match_quadrature"]
PLANTED = {
    "the median of an amount": ("self.log_mean + 0.5 * self.spread**2, self", "self.log_mean, self", EXACT),
    "a mean without the doubt about mu": ("np.exp(centre + 0.5 * s * s))", "np.exp(centre))", EXACT),
    "a variance of the amounts alone": ("(square * np.exp(s * s) - 1.0)", "(np.exp(s * s) - 1.0)", EXACT),
    "evidence without the density of the logarithm": (
        "frozen(self.amounts + density - k * centre)",
        "frozen(self.amounts + density)",
        EXACT,
    ),
    "a zero counts as an amount": ("off = (x - m) * bought", "off = x - m", LOGS),
    "evidence of a step without its doubt": ("np.log1p(1.0 / kappa))", "0.0 * kappa)", LOGS),
    "a spread within arms that is forgotten": ("squares = (within + ", "squares = (0.0 * within + ", EXACT),
    "quantiles without the Beta": ("special.ndtr(z) + inside", "special.ndtr(z) + 0.0 * inside", QUANTILES),
    "panels of the Gaussian alone": (
        "np.concatenate([beta_edges, normal_edges, 0.0 * top], axis=-1)",
        "np.concatenate([normal_edges, normal_edges, 0.0 * top], axis=-1)",
        QUANTILES,
    ),
    "typical amounts that fade like counts": (
        "            log_mean=m,\n            strength=kappa,\n            earned",
        "            log_mean=self.log_mean,\n            strength=kappa,\n            earned",
        [f"{TESTS}::test_fades_towards_its_prior"],
    ),
}
