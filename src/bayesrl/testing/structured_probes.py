"""Probes of structured priors (`beliefs/dynamics`)."""

from __future__ import annotations

from bayesrl.beliefs.dynamics.crp_dynamics import CRPDynamics
from bayesrl.beliefs.dynamics.factored_dbn import FactoredDBN
from bayesrl.testing.probes import DirichletProbe, probe_for

probe_for.register(CRPDynamics, lambda belief: DirichletProbe())
probe_for.register(FactoredDBN, lambda belief: DirichletProbe())
