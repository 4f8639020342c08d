"""Chapter 7.4: several tasks. What earlier tasks taught is the prior of the next. `Transition.task` names the task."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.crp import LogUniform

if TYPE_CHECKING:
    from bayesrl.beliefs.tasks.hierarchical_mdp import HierarchicalMDP as HierarchicalMDP
    from bayesrl.beliefs.tasks.linear_reward_classes import LinearRewardClasses as LinearRewardClasses
    from bayesrl.beliefs.tasks.variable_reward_transfer import VariableReward as VariableReward
    from bayesrl.multitask.multitask_gptd import MultitaskGPTD as MultitaskGPTD
    from bayesrl.multitask.multitask_gptd import MultitaskGPTDSolution as MultitaskGPTDSolution
    from bayesrl.multitask.multitask_gptd_dp import MultitaskGPTDDP as MultitaskGPTDDP
    from bayesrl.multitask.multitask_gptd_dp import MultitaskGPTDDPSolution as MultitaskGPTDDPSolution
    from bayesrl.multitask.policy_iteration import TaskPolicies as TaskPolicies
    from bayesrl.multitask.policy_iteration import policy_iteration as policy_iteration
    from bayesrl.multitask.value_tasks import ValueTask as ValueTask
    from bayesrl.multitask.value_tasks import task_matrices as task_matrices

__all__ = ["LogUniform"]

export(
    __name__,
    {
        "policy_iteration": ("TaskPolicies", "policy_iteration"),
        "value_tasks": ("ValueTask", "task_matrices"),
        "multitask_gptd": ("MultitaskGPTD", "MultitaskGPTDSolution"),
        "multitask_gptd_dp": ("MultitaskGPTDDP", "MultitaskGPTDDPSolution"),
    },
    elsewhere={
        "bayesrl.beliefs.tasks.linear_reward_classes": ("LinearRewardClasses",),
        "bayesrl.beliefs.tasks.hierarchical_mdp": ("HierarchicalMDP",),
        "bayesrl.beliefs.tasks.variable_reward_transfer": ("VariableReward",),
    },
)
