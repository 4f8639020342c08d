"""Chapter 7.1: PAC-Bayes. Bounds that hold whatever the prior, and a choice between prior and data.

A distribution q over policies or value functions may depend on the data; the prior p may not. With probability 1 -
delta, every bound here holds for all q at once. The price is KL(q || p).
"""

from bayesrl._lazy import export

export(__name__)
