"""Planted bugs in PolicyWalk, the likelihood and relevances; see test_mutants.py."""

import pytest

BIRL, MODIFIED = (f"tests/inverse/test_{name}.py::" for name in ("birl", "modified_birl"))
INVERSE = "bayesrl.inverse."
SAME = BIRL + "test_transcription[1]"

MUTANTS = {
    # name: (module, old, new, tests)
    "proposals outside the box are redrawn": (
        INVERSE + "_policy_walk", "if j < 0 or j >= len(grid.log_prior):  # outside the box: rejected\n                continue",
        "if j < 0 or j >= len(grid.log_prior):\n                h, j = -h, 2 * at[i] - j", [SAME]),
    "the likelihood is not normalised": (
        INVERSE + "_policy_walk", "L += inner - taken * np.log(total)", "L += inner + taken * c * top", [SAME]),
    "the exact likelihood is not normalised": (
        INVERSE + "_likelihood", "    z -= z.max(axis=-1, keepdims=True)\n    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))",
        "    return z",
        [BIRL + "test_likelihood_is_invariant"]),
    "the reward of the state reached": (
        INVERSE + "_rewards", "        return self.features @ w\n",
        "        return (self.P @ (self.features @ w).mean(axis=1)).reshape(self.features.shape[:2])\n",
        [BIRL + "test_exact_values_of_the_facts"]),
    "the policy is kept where it is no longer optimal": (
        INVERSE + "_policy_walk", "optimal &= to[s, a] <= least", "optimal &= True", [SAME]),
    "the map of the old policy is kept": (
        INVERSE + "_policy_walk",
        "                    K, K_, pi, pi_ = K_, K, pi_, pi\n                    known[:] = 0.0\n",
        "                    K, K_, pi, pi_ = K_, K, pi_, pi\n", [SAME]),
    "the update of rank one forgets its divisor": (
        INVERSE + "_policy_walk", "share = K[x, s] / (1.0 + v[s])", "share = K[x, s]", [SAME]),
    "the prior is left out of the acceptance": (
        INVERSE + "_policy_walk", "go.share[t] * (grid.log_prior[j] - grid.log_prior[at[i]] + L_ - L)",
        "go.share[t] * (L_ - L)", [SAME]),
    "many states: the sparse walk redraws": (
        INVERSE + "_policy_walk", "            if j < 0 or j >= len(grid.log_prior):\n                continue\n            if i not in columns:",
        "            if j < 0 or j >= len(grid.log_prior):\n                sign, j = -sign, at[i] - sign\n            if i not in columns:",
        [SAME]),
    "an update keeps the draws of the old posterior": (
        INVERSE + "_over_rewards", "demonstrations=known, **self._no_draws(self.n_weights))", "demonstrations=known)",
        [BIRL + "test_the_chain_goes_on"]),
    "relevance is ignored": (
        INVERSE + "modified_birl", "self._walked(rng, sweeps, self.relevances(), self.cooling)",
        "self._walked(rng, sweeps, np.ones(self.n_weights), self.cooling)", [MODIFIED + "test_transcription"]),
    "draws of the cooling are kept": (
        INVERSE + "_on_lattice", "cold = 0 if len(self.draws) else cooling", "cold = 0", [MODIFIED + "test_transcription"]),
    "every refresh cools": (
        INVERSE + "_on_lattice", "cold = 0 if len(self.draws) else cooling", "cold = cooling",
        [MODIFIED + "test_transcription"]),
    "each demonstrated state counts once": (
        INVERSE + "modified_birl", "self._similar(self.demonstrations[:, 0])",
        "self._similar(np.unique(self.demonstrations[:, 0]))", [MODIFIED + "test_relevances_by_hand"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, assert_caught):
    assert_caught(name, *MUTANTS[name])
