"""Known problems as arrays, their exact solvers, and policies."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.models.mdp import TabularMDP as TabularMDP
    from bayesrl.models.outcomes import Outcomes as Outcomes
    from bayesrl.models.policy import ControllerPolicy as ControllerPolicy
    from bayesrl.models.policy import GaussianPolicy as GaussianPolicy
    from bayesrl.models.policy import SoftmaxPolicy as SoftmaxPolicy
    from bayesrl.models.policy import TabularPolicy as TabularPolicy
    from bayesrl.models.pomdp import Signs as Signs
    from bayesrl.models.pomdp import TabularPOMDP as TabularPOMDP
    from bayesrl.models.pomdp_file import NamedPOMDP as NamedPOMDP
    from bayesrl.models.pomdp_file import read_pomdp as read_pomdp
    from bayesrl.models.pomdp_file import write_pomdp as write_pomdp
    from bayesrl.models.pomdp_solvers.alpha_file import read_alpha_vectors as read_alpha_vectors
    from bayesrl.models.pomdp_solvers.alpha_file import write_alpha_vectors as write_alpha_vectors
    from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors as AlphaVectors
    from bayesrl.models.pomdp_solvers.bounds import bracket as bracket
    from bayesrl.models.pomdp_solvers.bounds import fast_informed_bound as fast_informed_bound
    from bayesrl.models.pomdp_solvers.bounds import qmdp_bound as qmdp_bound
    from bayesrl.models.pomdp_solvers.pbvi import PBVI as PBVI
    from bayesrl.models.pomdp_solvers.perseus import Perseus as Perseus
    from bayesrl.models.pomdp_solvers.pomdp_value_iteration import POMDPValueIteration as POMDPValueIteration
    from bayesrl.models.solution import Solution as Solution
    from bayesrl.models.solve import evaluate_policy as evaluate_policy
    from bayesrl.models.solve import finite_horizon as finite_horizon
    from bayesrl.models.solve import solve_many as solve_many
    from bayesrl.models.solvers.mdp_lp import LinearProgram as LinearProgram
    from bayesrl.models.solvers.policy_iteration import PolicyIteration as PolicyIteration
    from bayesrl.models.solvers.value_iteration import ValueIteration as ValueIteration
    from bayesrl.models.stochastic_game import StochasticGame as StochasticGame

export(
    __name__,
    {
        "mdp": ("TabularMDP",),
        "outcomes": ("Outcomes",),
        "policy": ("ControllerPolicy", "GaussianPolicy", "SoftmaxPolicy", "TabularPolicy"),
        "pomdp": ("Signs", "TabularPOMDP"),
        "pomdp_file": ("NamedPOMDP", "read_pomdp", "write_pomdp"),
        "pomdp_solvers.alpha_file": ("read_alpha_vectors", "write_alpha_vectors"),
        "pomdp_solvers.alpha_vectors": ("AlphaVectors",),
        "pomdp_solvers.bounds": ("bracket", "fast_informed_bound", "qmdp_bound"),
        "pomdp_solvers.pbvi": ("PBVI",),
        "pomdp_solvers.perseus": ("Perseus",),
        "pomdp_solvers.pomdp_value_iteration": ("POMDPValueIteration",),
        "solution": ("Solution",),
        "solve": ("evaluate_policy", "finite_horizon", "solve_many"),
        "stochastic_game": ("StochasticGame",),
        "solvers.mdp_lp": ("LinearProgram",),
        "solvers.policy_iteration": ("PolicyIteration",),
        "solvers.value_iteration": ("ValueIteration",),
    },
)
