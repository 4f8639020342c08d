"""Parameters that several agents of this chapter declare, each said once."""

from typing import Annotated, Any, Literal

from bayesrl.parameters import DISCOUNT, Above, AtLeast, Within

Paths = Annotated[int, AtLeast(1), "Episodes of an update, M."]
Gamma = Annotated[float, DISCOUNT, "Discount of returns."]
Noise = Annotated[float, AtLeast(0), "Standard deviation of the data, sigma."]
Rate = Annotated[float, Above(0), "Size of steps."]
HalfLife = Annotated[float | None, Above(0), "c: in update j the rate is multiplied by c / (c + j). None: by 1."]
Direction = Annotated[Literal["plain", "natural", "conjugate"], "Direction of steps."]
Length = Annotated[Literal["fixed", "fisher", "covariance"], "How long a step is; see gradient/_improve.py."]
PlainLength = Annotated[Literal["fixed", "fisher"], "How long a step is; see gradient/_improve.py."]
PathUnit = Annotated[Literal["paths", "steps", "model"], "What the Fisher information is estimated from."]
PairUnit = Annotated[Literal["pairs", "model"], "What the Fisher information is estimated from."]
Decay = Annotated[
    float, Within(0, 1, open_high=True), "Share of their weight that older estimates of the information keep."
]
Threshold = Annotated[float, AtLeast(0), "Prior variance above which a path joins the dictionary; 0: every path."]
Updates = Annotated[int | None, AtLeast(0), "Updates after which the policy stays; None: no limit."]
Tolerance = Annotated[float, AtLeast(0), "Norm of the gradient below which the policy stays."]
Policy = Annotated[Any, "The policy to improve; None: the world's."]
