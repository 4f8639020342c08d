"""Planted bugs of bayesrl.beliefs.pomdp.bapomdp_particle."""

MODULE = "bayesrl.beliefs.pomdp.bapomdp_particle"
PLANTED = {
    "a restart of particles keeps the state": (
        "state=np.full(len(self.hyper.state), FRESH)",
        "state=self.hyper.state.copy()",
        ["tests/beliefs/pomdp/test_bapomdp_particle.py::test_before_the_first_update_it_is_the_prior"],
    ),
}
