"""Chapter 7.1: PAC-Bayes. Bounds that hold whatever the prior, and a choice between prior and data.

A distribution q over policies or value functions may depend on the data; the prior p may not. With probability 1 -
delta, every bound here holds for all q at once. The price is KL(q || p).
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.pacbayes.divergence import kl as kl
    from bayesrl.pacbayes.divergence import kl_dirichlet as kl_dirichlet
    from bayesrl.pacbayes.divergence import kl_inverse as kl_inverse
    from bayesrl.pacbayes.divergence import mcallester as mcallester
    from bayesrl.pacbayes.lemma import lemma as lemma
    from bayesrl.pacbayes.pac_bayes_bandit import bandit_bound as bandit_bound
    from bayesrl.pacbayes.pac_bayes_function_approximation import TDDecomposition as TDDecomposition
    from bayesrl.pacbayes.pac_bayes_function_approximation import (
        function_approximation_bound as function_approximation_bound,
    )
    from bayesrl.pacbayes.pac_bayes_function_approximation import stationary_distribution as stationary_distribution
    from bayesrl.pacbayes.pac_bayes_function_approximation import td_decomposition as td_decomposition
    from bayesrl.pacbayes.pac_bayes_model import model_bound as model_bound
    from bayesrl.pacbayes.pac_bayes_value import ValueBound as ValueBound
    from bayesrl.pacbayes.pac_bayes_value import value_bound as value_bound
    from bayesrl.pacbayes.prior_check import PriorCheck as PriorCheck
    from bayesrl.pacbayes.prior_check import prior_check as prior_check
    from bayesrl.pacbayes.select import Selection as Selection
    from bayesrl.pacbayes.select import select as select

export(
    __name__,
    {
        "divergence": ("kl", "kl_dirichlet", "kl_inverse", "mcallester"),
        "lemma": ("lemma",),
        "prior_check": ("PriorCheck", "prior_check"),
        "select": ("Selection", "select"),
        "pac_bayes_bandit": ("bandit_bound",),
        "pac_bayes_function_approximation": (
            "TDDecomposition",
            "function_approximation_bound",
            "stationary_distribution",
            "td_decomposition",
        ),
        "pac_bayes_model": ("model_bound",),
        "pac_bayes_value": ("ValueBound", "value_bound"),
    },
)
