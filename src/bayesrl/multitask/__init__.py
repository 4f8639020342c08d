"""Chapter 7.4: several tasks. What earlier tasks taught is the prior of the next. `Transition.task` names the task."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.multitask.hierarchical_mdp import HierarchicalMDP as HierarchicalMDP

export(
    __name__,
    {
        "hierarchical_mdp": ("HierarchicalMDP",),
    },
)
