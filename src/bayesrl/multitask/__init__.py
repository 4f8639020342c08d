"""Chapter 7.4: several tasks. What earlier tasks taught is the prior of the next. `Transition.task` names the task."""

from bayesrl._lazy import export

export(__name__)
