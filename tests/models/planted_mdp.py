"""Planted bugs of bayesrl.models.mdp."""

MODULE = "bayesrl.models.mdp"
PLANTED = {
    "reward of the wrong outcome in a model": (
        'np.einsum("sak,sak->sa", self.prob[self.group], self.reward)',
        'np.einsum("sak,sak->sa", self.prob[self.group], self.reward[:, :, ::-1])',
        ["tests/models"],
    ),
}
