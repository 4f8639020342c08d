"""Write docs/methods.md: every system of the survey by its name in the library, there already or still to come.

    python docs/methods.py

The rows of systems that are there come from the registry. `TO_COME` lists the others; a name that has been registered
since is left out by itself.
"""

from __future__ import annotations

from pathlib import Path

from bayesrl._files import write_text
from bayesrl.registry import PACKAGES, entries

PAGE = Path(__file__).with_suffix(".md")
HEAD = """\
# Methods by name

Every system of the survey has one name. It keeps this name in the registry, on the command line and in files. There are
{there} methods and {worlds} worlds so far; {missing} names are still to come. The [catalogue](catalogue.md) describes
what is there in full. § is the section of the survey. A paper is a key of [references.bib](references.bib) or, for a
system to come, of the survey. [Values with error bars](values.md) and [Gradients with error bars](gradients.md) show
how the methods of chapter 5 are used. `python docs/methods.py` writes this page; do not edit it.

"""

TO_COME = """\
pomdp-filter | belief | 2.3 | kaelbling98 | belief over the hidden states of a known POMDP
pomdp-value-iteration | solver | 2.3 | smallwood73 | exact alpha-vectors
pbvi, perseus | solver | 4.3 | Pineau03PBVI, Spaan05Perseus | point-based alpha-vectors
gp-sparse-sampling | planner | 4.8 | Wang05 | bandit with continuous actions and Gaussian-process rewards
normal-wishart-dynamics | belief | 4.8 | ross08icra | continuous and partially observed: particles over states and Normal-Wishart parameters
gp-dynamics | belief | 4.8 | dallaire09 | Gaussian-process transitions and rewards
gp-pomdp | belief | 4.9 | dallaire09 | the same with a Gaussian-process observation function and hidden states
linear-gaussian-dynamics | belief | 4.8 | Abbasi15 | smoothly parametrised dynamics
lazy-psrl | planner | 4.8 | Abbasi15 | resampling when a measure of uncertainty has fallen; average cost
continuous-forward-search | planner | 4.8 | Ross08icra, Dallaire09 | sampled lookahead on a continuous belief
bapomdp-exact, bapomdp-bounded, bapomdp-particle | belief | 4.9 | Ross08BAPOMDP, ross11 | joint belief over state, transition and observation counts: enumerated, with bounded counts, by particles
bapomdp-forward-search | planner | 4.9 | Ross11 | lookahead on the Bayes-adaptive POMDP
bapomdp-branch-and-bound | planner | 4.9 | Png11 | pruned lookahead
pomcp, ba-pomcp | planner | 4.9 | Silver10, Katt17 | beyond the survey: Monte-Carlo tree search on a known and on a Bayes-adaptive POMDP
medusa | agent | 4.9 | Jaulmes05 | state oracle, sampled POMDPs
action-oracle | agent | 4.9 | Atrash09 | asks for the optimal action
bayes-risk | agent | 4.9 | Doshi08 | queries chosen by Bayes risk
infinite-pomdp | belief | 4.10 | Doshi09 | hierarchical Dirichlet process over hidden states
policy-prior | belief | 4.10 | doshi10 | expert trajectories as a prior over policies, with the planner that uses it
value-moments | tool | 6 | Mannor07 | second-order posterior mean and covariance of a policy's value
percentile | solver | 6 | Delage10 | percentile criterion, second-order approximation
percentile-rewards | solver | 6 | Delage10 | Gaussian rewards, second-order cone program
scenario-max-min | solver | 6 | Bertuccelli12RA | robust policy over sampled scenarios: rectangular dynamic programming, and the static form
sigma-point-robust | planner | 6 | Bertuccelli12RA | sigma points of the Dirichlet, planned again as data come
k-of-n | solver | 6 | Chen2012TO | counterfactual regret minimisation
percentile-measure | solver | 6 | Chen2012TO | any non-increasing density over percentiles: CVaR, mean
pac-bayes-model, pac-bayes-value | tool | 7.1 | fard10 | bounds on finite spaces, model-based and model-free; choice between prior and data
pac-bayes-function-approximation, pac-bayes-bandit | tool | 7.1 | fard11, seldin11, seldin11b | continuous states; bandits
birl | belief | 7.2 | Ramachandran07 | PolicyWalk
modified-birl | belief | 7.2 | Michini12IE | inference on states like the expert's
map-birl | solver | 7.2 | Choi11 | maximum a posteriori reward by gradients
bnirl | belief | 7.2 | Michini12BN | sub-goals by a Chinese restaurant process
multitask-birl | belief | 7.2 | Dimitrakakis11 | shared prior, one reward for each expert
em-irl | solver | 7.2 | Babes11 | clusters of experts, of a known number
dpm-birl | belief | 7.2 | Choi12 | Dirichlet-process mixture of rewards
bayesian-marl | agent | 7.3 | Chalkiadakis03 | belief over the model and others' strategies, value of information and lookahead
coalition-formation | agent | 7.3 | Chalkiadakis10 | belief over partners' types
hierarchical-mdp | belief | 7.4 | Wilson07 | infinite mixture over classes of MDPs
multitask-gptd, multitask-gptd-dp | solver | 7.4 | Lazaric10BM | shared value prior by EM; Dirichlet-process mixture; joint learning and transfer
variable-reward-transfer | belief | 7.4 | Mehta08 | the same dynamics, new weights of the reward
"""  # noqa: E501


def page() -> str:
    """The whole page."""
    known = [e for e in entries().values() if e.package in PACKAGES]  # not what a user registered beside ours
    rows = [(e.survey, e.name, f"[{e.name}](catalogue.md#{e.name})", e.kind, e.paper, e.summary) for e in known]
    taken = {e.name for e in known}
    missing = 0
    for line in TO_COME.splitlines():
        names, kind, survey, paper, text = (part.strip() for part in line.split("|"))
        for name in names.split(", "):
            if name not in taken:
                missing += 1
                rows.append((survey, name, f"{name} *(to come)*", kind, paper, text))
    rows.sort(key=lambda row: ([int(part) for part in row[0].split(".")], row[1]))
    worlds = sum(e.kind in ("world", "family") for e in known)
    table = [f"| {survey} | {' | '.join(rest)} |" for survey, _, *rest in rows]
    head = HEAD.format(there=len(known) - worlds, worlds=worlds, missing=missing)
    return head + "\n".join(["| § | name | kind | paper | what it is |", "|---|---|---|---|---|", *table, ""])


if __name__ == "__main__":
    write_text(PAGE, page())
