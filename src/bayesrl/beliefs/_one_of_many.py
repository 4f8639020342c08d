"""The common parts of beliefs over finitely many MDPs or POMDPs: checked models, and their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.checks import Floats, array, frozen, rows_sum_to_one, sequence
from bayesrl.errors import InvalidArgument


class OneOfMany:
    """One of N models is the true one. A belief inherits these methods and overrides none of them."""

    models: tuple[Any, ...]
    weights: ArrayLike | None
    log_joint: Floats

    def _begin(self, kind: type, form: Callable[[Any], tuple[object, ...]], equal: str) -> None:
        """Check that all models are of this kind and have the same form, and start from the weights."""
        owner, set_ = type(self).__name__, object.__setattr__
        models = sequence(owner, "models", self.models, f"a sequence of {kind.__name__}")
        if not models or not all(isinstance(m, kind) for m in models):
            raise InvalidArgument(owner, "models", f"a sequence of {kind.__name__}", self.models)
        for m in models[1:]:
            if form(m) != form(models[0]):
                raise InvalidArgument(owner, "models", f"equal in {equal}", m)
        N = len(models)
        w = array(owner, "weights", np.full(N, 1.0 / N) if self.weights is None else self.weights, (N,), low=0.0)
        w = rows_sum_to_one(owner, "weights", w, self.weights)
        set_(self, "models", models)
        set_(self, "weights", w)
        with np.errstate(divide="ignore"):
            set_(self, "log_joint", frozen(np.log(w)))

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.models[0].n_states)

    @property
    def n_actions(self) -> int:
        """A."""
        return int(self.models[0].n_actions)

    @property
    def gamma(self) -> float:
        """Discount."""
        return float(self.models[0].gamma)

    def posterior(self) -> Floats:
        """Posterior probability of each model, (N,)."""
        return np.asarray(special.softmax(self.log_joint))

    def log_evidence(self) -> float:
        """Log probability of the data under the prior, given the actions."""
        return float(special.logsumexp(self.log_joint))
