"""Chapter 4, discrete: planners for the Bayes-adaptive MDP, one method per file."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.bamdp.baselines.bayesian_q_learning import BayesianQLearning as BayesianQLearning
    from bayesrl.bamdp.baselines.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
    from bayesrl.bamdp.baselines.exploit import Exploit as Exploit
    from bayesrl.bamdp.baselines.q_learning import QLearning as QLearning
    from bayesrl.bamdp.baselines.random import Random as Random
    from bayesrl.bamdp.baselines.softmax import Softmax as Softmax
    from bayesrl.bamdp.offline.bamdp_exact import BAMDPExact as BAMDPExact
    from bayesrl.bamdp.offline.bamdp_exact import exact_q as exact_q
    from bayesrl.bamdp.offline.beetle import BEETLE as BEETLE
    from bayesrl.bamdp.offline.finite_state_controller import FiniteStateController as FiniteStateController
    from bayesrl.bamdp.optimism.beb import BEB as BEB
    from bayesrl.bamdp.optimism.bolt import BOLT as BOLT
    from bayesrl.bamdp.optimism.mbie_eb import MBIEEB as MBIEEB
    from bayesrl.bamdp.optimism.pac_bounds import pac_bounds as pac_bounds
    from bayesrl.bamdp.optimism.pot import POT as POT
    from bayesrl.bamdp.optimism.rmax import RMax as RMax
    from bayesrl.bamdp.optimism.vbrb import VBRB as VBRB
    from bayesrl.bamdp.sampling.bayesian_dp import BayesianDP as BayesianDP
    from bayesrl.bamdp.sampling.boss import BOSS as BOSS
    from bayesrl.bamdp.sampling.psrl import PSRL as PSRL
    from bayesrl.bamdp.sampling.sboss import SBOSS as SBOSS
    from bayesrl.bamdp.sampling.smart_sampler import SmartSampler as SmartSampler
    from bayesrl.bamdp.sampling.tsmdp import TSMDP as TSMDP
    from bayesrl.bamdp.sampling.value_of_information import ValueOfInformation as ValueOfInformation
    from bayesrl.bamdp.search.bamcp import BAMCP as BAMCP
    from bayesrl.bamdp.search.bayesian_sparse_sampling import BayesianSparseSampling as BayesianSparseSampling
    from bayesrl.bamdp.search.bfs3 import BFS3 as BFS3
    from bayesrl.bamdp.search.bop import BOP as BOP
    from bayesrl.bamdp.search.branch_and_bound import BranchAndBound as BranchAndBound
    from bayesrl.bamdp.search.forward_search import ForwardSearch as ForwardSearch
    from bayesrl.bamdp.search.fsss import FSSS as FSSS
    from bayesrl.bamdp.search.hmdp import HMDP as HMDP
    from bayesrl.bamdp.search.sparse_sampling import SparseSampling as SparseSampling
    from bayesrl.bamdp.search.uct import UCT as UCT

export(
    __name__,
    {
        "baselines.exploit": ("Exploit",),
        "baselines.epsilon_greedy": ("EpsilonGreedy",),
        "baselines.softmax": ("Softmax",),
        "baselines.random": ("Random",),
        "baselines.q_learning": ("QLearning",),
        "baselines.bayesian_q_learning": ("BayesianQLearning",),
        "sampling.bayesian_dp": ("BayesianDP",),
        "sampling.psrl": ("PSRL",),
        "sampling.boss": ("BOSS",),
        "sampling.sboss": ("SBOSS",),
        "sampling.smart_sampler": ("SmartSampler",),
        "sampling.tsmdp": ("TSMDP",),
        "sampling.value_of_information": ("ValueOfInformation",),
        "optimism.beb": ("BEB",),
        "optimism.vbrb": ("VBRB",),
        "optimism.bolt": ("BOLT",),
        "optimism.pot": ("POT",),
        "optimism.mbie_eb": ("MBIEEB",),
        "optimism.rmax": ("RMax",),
        "optimism.pac_bounds": ("pac_bounds",),
        "search.forward_search": ("ForwardSearch",),
        "search.branch_and_bound": ("BranchAndBound",),
        "search.bop": ("BOP",),
        "search.hmdp": ("HMDP",),
        "search.bayesian_sparse_sampling": ("BayesianSparseSampling",),
        "search.sparse_sampling": ("SparseSampling",),
        "search.uct": ("UCT",),
        "search.fsss": ("FSSS",),
        "search.bfs3": ("BFS3",),
        "search.bamcp": ("BAMCP",),
        "offline.bamdp_exact": (
            "BAMDPExact",
            "exact_q",
        ),
        "offline.beetle": ("BEETLE",),
        "offline.finite_state_controller": ("FiniteStateController",),
    },
)
