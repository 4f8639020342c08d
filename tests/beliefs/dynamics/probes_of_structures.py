"""Probes of structured priors (`beliefs/dynamics`)."""

from __future__ import annotations

from probes_of_models import DirichletProbe

from bayesrl.beliefs.dynamics.crp_dynamics import CRPDynamics
from bayesrl.beliefs.dynamics.factored_dbn import FactoredDBN
from bayesrl.testing import probe_for

probe_for.register(CRPDynamics, lambda belief: DirichletProbe())
probe_for.register(FactoredDBN, lambda belief: DirichletProbe())
