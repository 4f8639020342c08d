"""Planted bugs in Gaussian rewards, percentile-rewards and machine-costs; see test_mutants.py."""

import pytest

BELIEF, SOLVER, WORLD = (
    f"tests/risk/test_{name}.py::" for name in ("gaussian_rewards", "percentile_rewards", "machine_costs")
)
POSTERIOR, FACTS = BELIEF + "test_posterior_is_the_conditioned_joint_gaussian", SOLVER + "test_facts"
REWARDS, CONE = "bayesrl.beliefs.tabular._gaussian_rewards", "bayesrl.risk.percentile_rewards"
COSTS = "bayesrl.worlds.risk.machine_costs"

MUTANTS = {
    # name: (module, old, new, tests)
    "the deviation of a reward for its variance": (
        REWARDS, "c = float(C[i, i]) + self.noise**2", "c = float(C[i, i]) + self.noise", [POSTERIOR]),
    "other pairs keep their variance": (
        REWARDS, "shrunk = C - np.outer(gain, gain)", "shrunk = C.copy()", [POSTERIOR]),
    "other pairs keep their mean": (
        REWARDS, "self.mean_ + (row * (error / c))", "self.mean_ + ((row * (np.arange(len(row)) == i)) * (error / c))",
        [POSTERIOR]),
    "the evidence forgets the next states": (
        REWARDS, "self.evidence + math.log(p) - 0.5", "self.evidence - 0.5", [POSTERIOR]),
    "variances are drawn for deviations": (
        REWARDS, "= np.sqrt(np.diagonal(C)[some])", "= np.diagonal(C)[some]",
        [WORLD + "test_worlds_have_their_law"]),
    "an impossible transition is learnt": (
        REWARDS, "        if p == 0.0:\n", "        if False:\n", [BELIEF + "test_impossible_transitions"]),
    "the percentile from the wrong end": (
        CONE, "-float(ndtri(self.epsilon))", "float(ndtri(self.epsilon))", [FACTS]),
    "half of the deviations": (
        CONE, "(z / scale) * p.root.T", "(0.5 * z / scale) * p.root.T", [FACTS]),
    "the flow is not discounted": (
        CONE, "flow = own - gamma * after", "flow = own - after", [FACTS]),
    "the certificate has the wrong sign": (
        CONE, "reward = (p.m - z * (p.root @ u))", "reward = (p.m + z * (p.root @ u))",
        [SOLVER + "test_a_certificate_is_true_for_any_policy_and_direction"]),
    "the certificate is the gap to the nominal value": (
        CONE, "upper_bound(p, z, risk / deviation if deviation > 0.0 else risk)", "upper_bound(p, z, 0.0 * risk)",
        [SOLVER + "test_a_certificate_is_true_for_any_policy_and_direction"]),
    "the certificate knows no kink": (
        CONE, "bound = min(upper, upper_bound(", "bound = min(np.inf, upper_bound(", [SOLVER + "test_a_certain_action_is_a_kink"]),
    "an unreached state keeps the solver's noise": (
        CONE, "UNREACHED, UNUSED = 1e-8, 1e-6", "UNREACHED, UNUSED = 0.0, 0.0",
        [SOLVER + "test_an_unreached_state_takes_the_mean_models_action"]),
    "a rare action is always dropped": (
        CONE, "for cut in (UNUSED, 0.0):", "for cut in (UNUSED,):", [SOLVER + "test_a_rare_action_may_matter"]),
    "terminal states are visited": (
        CONE, "    visits[p.model.outcomes.terminal] = 0.0\n", "",
        [SOLVER + "test_visits_in_terminal_states_are_zero"]),
    "a failed program is passed off as an answer": (
        CONE, "if best.error_bound <= self.tol * largest_return(p, z):", "if True:",
        [SOLVER + "test_a_failed_program_says_what_it_has"]),
    "deviations are read as variances": (
        COSTS, "variance = second if self.second == \"variance\" else second**2", "variance = second",
        [WORLD + "test_transitions_and_costs_by_hand"]),
    "a repair goes on to the next state": (
        COSTS, "P[s, 0, (s + 1) % S] = P[s, 1, 0] = 1.0", "P[s, 0, (s + 1) % S] = P[s, 1, (s + 1) % S] = 1.0",
        [WORLD + "test_transitions_and_costs_by_hand"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
