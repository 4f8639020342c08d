"""`make`, `make_world` and `agent` with the types of each name, which stand in `_by_name.pyi`."""

from typing import Any

from bayesrl._lazy import imported


def __getattr__(name: str) -> Any:
    return getattr(imported("bayesrl.lab.build" if name == "agent" else "bayesrl.registry"), name)
