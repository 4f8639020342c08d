"""The online shop, the survey's running example (chapter 1 and §2.1), in its bandit forms.

The shop suggests products to one customer after another and earns 1 for each product bought.

    online-shop          one product is suggested to an unknown customer: a Bernoulli bandit
    online-shop-several  M products are suggested, and the customer may buy each of them: a combinatorial bandit
    contextual-shop      age and origin of the customer are observed first: a contextual bandit

The survey gives no numbers. Ours are fixed, so that results can be compared, and typical of purchase rates. There are
eight products. Customers have one of three ages and one of two origins; the six kinds are equally frequent. The
log-odds of a purchase are the sum of the product's base rate, an effect of age and an effect of origin. The bandit
forms average over the customers.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayesrl.checks import Floats, frozen

BASE = np.array([-2.2, -2.0, -2.6, -1.8, -2.4, -2.1, -2.9, -2.3])
"""Log-odds of a purchase by an average customer, one for each product."""
AGE = np.array([[1.0, 0.2, -1.2], [-0.9, 0.1, 0.8], [1.4, -0.3, -1.1], [-0.2, 0.3, -0.1],
                [-1.3, 0.2, 1.1], [0.4, 0.5, -0.9], [0.3, -0.1, -0.2], [-0.6, 1.2, -0.6]])  # fmt: skip
"""Effect of age (young, middle, old) on the log-odds."""
ABROAD = np.array([0.5, -0.4, 0.2, -0.1, 0.6, -0.5, 0.9, 0.0])
"""Effect of a customer from abroad on the log-odds; a local customer has the opposite effect."""
PRODUCTS, AGES, ORIGINS = 8, 3, 2


def customers() -> Floats:
    """Features of each kind of customer: a one, two contrasts of age and one of origin, shape (6, 4)."""
    young, middle, old = (1.0, 0.0), (0.0, 1.0), (-1.0, -1.0)
    return np.array([(1.0, *age, origin) for age in (young, middle, old) for origin in (-1.0, 1.0)])


def features() -> Floats:
    """Features (6, 8, 32): each product has its own four weights for the features of the customer."""
    x = customers()
    table = np.zeros((len(x), PRODUCTS, PRODUCTS, x.shape[1]))
    table[:, np.arange(PRODUCTS), np.arange(PRODUCTS)] = x[:, None, :]
    return frozen(table.reshape(len(x), PRODUCTS, -1))


def purchase_rates() -> Floats:
    """Probability that a customer of kind c buys product a when it is suggested, shape (6, 8)."""
    age, origin = np.divmod(np.arange(AGES * ORIGINS), ORIGINS)
    return np.asarray(special.expit(BASE + AGE.T[age] + (2 * origin[:, None] - 1) * ABROAD))
