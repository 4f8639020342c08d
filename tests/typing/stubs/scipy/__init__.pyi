"""The parts of scipy that the library uses, as far as it uses them: scipy has no types of its own."""

from typing import Any

from . import sparse as sparse
from . import special as special

optimize: Any
stats: Any
