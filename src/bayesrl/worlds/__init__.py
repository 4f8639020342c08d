"""Named domains of the literature, one per file, each with its optimum and its published set-up.

The package exports the class or function of every registered world (`bayesrl.worlds.chain(gamma=0.95)`). It can also be
called: `bayesrl.worlds()` lists every registered world and family of worlds.
"""

import sys
from typing import TYPE_CHECKING

from bayesrl._lazy import Package, export

if TYPE_CHECKING:
    from bayesrl.registry import Entry


class _Worlds(Package):
    def __call__(self) -> "list[Entry]":
        from bayesrl.registry import worlds

        return worlds()


export(__name__)
sys.modules[__name__].__class__ = _Worlds
