"""Chapter 5.1: beliefs about values, and control from them. The beliefs live in `beliefs/values`."""

from bayesrl._lazy import export

export(__name__)
