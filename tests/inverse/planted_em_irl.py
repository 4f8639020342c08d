"""Planted bugs of bayesrl.inverse.em_irl."""

MODULE = "bayesrl.inverse.em_irl"
PLANTED = {
    "responsibilities are not normalised": (
        "return np.asarray(special.softmax(joint, axis=1))",
        "return np.exp(joint)",
        ["tests/inverse/test_em_irl.py::test_shares_and_responsibilities"],
    ),
    "the E step forgets the shares": (
        "joint = np.log(rho) + np.array(",
        "joint = 0.0 * rho + np.array(",
        ["tests/inverse/test_em_irl.py::test_shares_and_responsibilities"],
    ),
    "every kind is fitted to all trajectories": (
        "n = Counts(self.states, np.tensordot(z, self.taken, 1))",
        "n = Counts(self.states, self.taken.sum(axis=0))",
        ["tests/inverse/test_em_irl.py::test_a_fixed_point_is_a_maximum"],
    ),
    "the worst entry of a finite prior": (
        "first_best(log_l @ z)",
        "first_best(-(log_l @ z))",
        ["tests/inverse/test_em_irl.py::test_finite_prior_by_enumeration"],
    ),
}
