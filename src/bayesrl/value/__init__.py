"""Chapter 5.1: beliefs about values, and control from them. The beliefs live in `beliefs/values`."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.values.gptd import GPTD
from bayesrl.beliefs.values.gptd_deterministic import WhiteGPTD
from bayesrl.beliefs.values.gptd_lambda import LambdaGPTD
from bayesrl.beliefs.values.gptd_parametric import ParametricGPTD
from bayesrl.beliefs.values.gptd_sparse import SparseGPTD
from bayesrl.beliefs.values.kernel_selection import KernelSelection
from bayesrl.beliefs.values.lstd_lambda import LSTD

if TYPE_CHECKING:
    from bayesrl.value.gprl import GPRL as GPRL
    from bayesrl.value.gpsarsa import GPSARSA as GPSARSA

__all__ = ["GPTD", "LSTD", "KernelSelection", "LambdaGPTD", "ParametricGPTD", "SparseGPTD", "WhiteGPTD"]

export(__name__, {"gprl": ("GPRL",), "gpsarsa": ("GPSARSA",)})
