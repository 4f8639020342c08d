"""Chapter 4.9: planners and agents for POMDPs whose model is unknown, one method per file."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.bapomdp._answers import after_answer as after_answer
    from bayesrl.bapomdp._answers import after_confirmation as after_confirmation
    from bayesrl.bapomdp._answers import bayes_risk as bayes_risk
    from bayesrl.bapomdp._answers import risk_samples as risk_samples
    from bayesrl.bapomdp.pomcp import POMCP as POMCP

export(
    __name__,
    {
        "_answers": ("after_answer", "after_confirmation", "bayes_risk", "risk_samples"),
        "pomcp": ("POMCP",),
    },
)
