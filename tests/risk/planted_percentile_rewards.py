"""Planted bugs of bayesrl.risk.percentile_rewards."""

MODULE = "bayesrl.risk.percentile_rewards"
PLANTED = {
    "the percentile from the wrong end": (
        "-float(ndtri(self.epsilon))",
        "float(ndtri(self.epsilon))",
        ["tests/risk/test_percentile_rewards.py::test_facts"],
    ),
    "half of the deviations": (
        "(z / scale) * p.root.T",
        "(0.5 * z / scale) * p.root.T",
        ["tests/risk/test_percentile_rewards.py::test_facts"],
    ),
    "the flow is not discounted": (
        "flow = own - gamma * after",
        "flow = own - after",
        ["tests/risk/test_percentile_rewards.py::test_facts"],
    ),
    "the certificate has the wrong sign": (
        "reward = (p.m - z * (p.root @ u))",
        "reward = (p.m + z * (p.root @ u))",
        ["tests/risk/test_percentile_rewards.py::test_a_certificate_is_true_for_any_policy_and_direction"],
    ),
    "the certificate is the gap to the nominal value": (
        "upper_bound(p, z, risk / deviation if deviation > 0.0 else risk)",
        "upper_bound(p, z, 0.0 * risk)",
        ["tests/risk/test_percentile_rewards.py::test_a_certificate_is_true_for_any_policy_and_direction"],
    ),
    "the certificate knows no kink": (
        "bound = min(upper, upper_bound(",
        "bound = min(np.inf, upper_bound(",
        ["tests/risk/test_percentile_rewards.py::test_a_certain_action_is_a_kink"],
    ),
    "an unreached state keeps the solver's noise": (
        "UNREACHED, UNUSED = 1e-8, 1e-6",
        "UNREACHED, UNUSED = 0.0, 0.0",
        ["tests/risk/test_percentile_rewards.py::test_an_unreached_state_takes_the_mean_models_action"],
    ),
    "a rare action is always dropped": (
        "for cut in (UNUSED, 0.0):",
        "for cut in (UNUSED,):",
        ["tests/risk/test_percentile_rewards.py::test_a_rare_action_may_matter"],
    ),
    "terminal states are visited": (
        "    visits[p.model.outcomes.terminal] = 0.0\n",
        "",
        ["tests/risk/test_percentile_rewards.py::test_visits_in_terminal_states_are_zero"],
    ),
    "a failed program is passed off as an answer": (
        "if best.error_bound <= self.tol * largest_return(p, z):",
        "if True:",
        ["tests/risk/test_percentile_rewards.py::test_a_failed_program_says_what_it_has"],
    ),
}
