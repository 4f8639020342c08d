"""Chapter 5.1: beliefs about values, and control from them. The beliefs live in `beliefs/values`."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs import (
    GPTD,
    LSTD,
    KernelSelection,
    LambdaGPTD,
    ParametricGPTD,
    SparseGPTD,
    WhiteGPTD,
)

if TYPE_CHECKING:
    from bayesrl.value.gprl import GPRL as GPRL
    from bayesrl.value.gpsarsa import GPSARSA as GPSARSA

__all__ = ["GPTD", "LSTD", "KernelSelection", "LambdaGPTD", "ParametricGPTD", "SparseGPTD", "WhiteGPTD"]

export(__name__, {"gprl": ("GPRL",), "gpsarsa": ("GPSARSA",)})
