"""Known problems as arrays, their exact solvers, and policies."""

from bayesrl._lazy import export

export(__name__)
