"""Section 4.8: continuous states. Beliefs about dynamics and noise, and planners that steer while they learn."""

from bayesrl._lazy import export

export(__name__)
