"""Chapter 6: risk. How badly may a policy do if the model is wrong, and which policy has a better guarantee.

Risk here is parametric: it comes from not knowing the model, and not from chance within one model. Every method takes a
belief. A policy is a table of probabilities (S, A). The return of a policy in a model is P0 . V, where P0 is the
distribution of the first state, or the expected total over `horizon` steps. Percentile 0 is the worst (ERRATA 12).
"""

from bayesrl._lazy import export

export(__name__)
