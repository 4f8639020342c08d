"""Named domains of the literature, one per file, each with its optimum and its published set-up.

The package can be called: `bayesrl.worlds()` lists every registered world and family of worlds.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesrl.registry import Entry


class _Worlds(ModuleType):
    def __call__(self) -> "list[Entry]":
        from bayesrl.registry import worlds

        return worlds()


sys.modules[__name__].__class__ = _Worlds
