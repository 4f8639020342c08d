"""Chapter 7.2: inverse reinforcement learning. What does an expert want, given what it did?

The dynamics are known. A belief is about the weights w of the rewards R(s, a) = w . phi(s, a), which are paid in the
current state. Data are demonstrations: pairs of a state and the expert's action in it.
"""

from bayesrl._lazy import export

export(__name__)
