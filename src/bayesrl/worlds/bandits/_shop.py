"""The online shop, the survey's running example (chapter 1 and §2.1), in its bandit forms.

Customers come one after another; the shop suggests products and earns 1 when one is bought.

    online-shop          nothing is known about a customer, one product is suggested: a Bernoulli bandit
    online-shop-several  M products are suggested, the customer buys or leaves each: a combinatorial bandit
    contextual-shop      age and origin of the customer are seen first: a contextual bandit

The survey gives no numbers; the ones here are ours, in the range of purchase rates, and fixed, so that results can be
compared. Eight products; customers have one of three ages and one of two origins, six kinds, equally frequent. A
product has a base rate, appeals to some age more than to others, and sells better at home or abroad: log-odds add up.
The bandit forms average over the customers.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayesrl.checks import Floats, frozen

BASE = np.array([-2.2, -2.0, -2.6, -1.8, -2.4, -2.1, -2.9, -2.3])
"""Log-odds of a purchase by an average customer, one for each product."""
AGE = np.array([[1.0, 0.2, -1.2], [-0.9, 0.1, 0.8], [1.4, -0.3, -1.1], [-0.2, 0.3, -0.1],
                [-1.3, 0.2, 1.1], [0.4, 0.5, -0.9], [0.3, -0.1, -0.2], [-0.6, 1.2, -0.6]])  # fmt: skip
"""What age (young, middle, old) adds."""
ABROAD = np.array([0.5, -0.4, 0.2, -0.1, 0.6, -0.5, 0.9, 0.0])
"""What coming from abroad adds; being from here subtracts it."""
PRODUCTS, AGES, ORIGINS = 8, 3, 2


def customers() -> Floats:
    """What is seen of each kind of customer: a one, two contrasts of age and one of origin, shape (6, 4)."""
    young, middle, old = (1.0, 0.0), (0.0, 1.0), (-1.0, -1.0)
    return np.array([(1.0, *age, origin) for age in (young, middle, old) for origin in (-1.0, 1.0)])


def features() -> Floats:
    """Features (6, 8, 32): each product has four weights of its own, on what is seen of the customer."""
    x = customers()
    table = np.zeros((len(x), PRODUCTS, PRODUCTS, x.shape[1]))
    table[:, np.arange(PRODUCTS), np.arange(PRODUCTS)] = x[:, None, :]
    return frozen(table.reshape(len(x), PRODUCTS, -1))


def purchase_rates() -> Floats:
    """Probability that a customer of kind c buys product a when it is suggested, shape (6, 8)."""
    age, origin = np.divmod(np.arange(AGES * ORIGINS), ORIGINS)
    return np.asarray(special.expit(BASE + AGE.T[age] + (2 * origin[:, None] - 1) * ABROAD))
