"""Chapter 7.4: several tasks. What earlier tasks taught is the prior of the next. `Transition.task` names the task."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs._crp import LogUniform

if TYPE_CHECKING:
    from bayesrl.multitask._linear_reward_classes import LinearRewardClasses as LinearRewardClasses
    from bayesrl.multitask._policy_iteration import TaskPolicies as TaskPolicies
    from bayesrl.multitask._policy_iteration import policy_iteration as policy_iteration
    from bayesrl.multitask._value_tasks import ValueTask as ValueTask
    from bayesrl.multitask._value_tasks import task_matrices as task_matrices
    from bayesrl.multitask.hierarchical_mdp import HierarchicalMDP as HierarchicalMDP
    from bayesrl.multitask.multitask_gptd import MultitaskGPTD as MultitaskGPTD
    from bayesrl.multitask.multitask_gptd import MultitaskGPTDSolution as MultitaskGPTDSolution
    from bayesrl.multitask.multitask_gptd_dp import MultitaskGPTDDP as MultitaskGPTDDP
    from bayesrl.multitask.multitask_gptd_dp import MultitaskGPTDDPSolution as MultitaskGPTDDPSolution
    from bayesrl.multitask.variable_reward_transfer import VariableReward as VariableReward

__all__ = ["LogUniform"]

export(
    __name__,
    {
        "_linear_reward_classes": ("LinearRewardClasses",),
        "hierarchical_mdp": ("HierarchicalMDP",),
        "_policy_iteration": ("TaskPolicies", "policy_iteration"),
        "_value_tasks": ("ValueTask", "task_matrices"),
        "multitask_gptd": ("MultitaskGPTD", "MultitaskGPTDSolution"),
        "multitask_gptd_dp": ("MultitaskGPTDDP", "MultitaskGPTDDPSolution"),
        "variable_reward_transfer": ("VariableReward",),
    },
)
