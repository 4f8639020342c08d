"""The laws of beliefs with the probes of our own beliefs, which stand beside their tests (`probes_of_*.py`).

`from own_probes import check_belief` has loaded all probes.
"""

from importlib import import_module
from pathlib import Path

from bayesrl.testing import check_belief, probe_for

__all__ = ["check_belief", "probe_for"]

PROBES = sorted(path.stem for path in (Path(__file__).parents[1] / "beliefs").glob("*/probes_of_*.py"))
for name in PROBES:
    import_module(name)
