"""Numbers may come as NumPy's scalars of any precision, and arrays as lists: beliefs learn the same from them."""

import numpy as np
import pytest
from numpy.random import default_rng
from own_probes import probe_for

from bayesrl.core import Transition
from bayesrl.registry import methods

EXAMPLES = {e.name: e.example() for e in methods() if e.kind == "belief"}
BELIEFS = {name: belief for name, belief in EXAMPLES.items() if not hasattr(probe_for(belief), "learn")}
"""Those whose data are single, and not whole episodes."""


def single(x):
    """The same numbers as short NumPy scalars."""
    if isinstance(x, bool | np.ndarray | str) or x is None:
        return x
    if isinstance(x, Transition):
        return Transition(*(single(part) for part in x))
    if isinstance(x, tuple):
        return type(x)(*(single(part) for part in x)) if hasattr(x, "_fields") else tuple(single(part) for part in x)
    if isinstance(x, int | np.integer):
        return np.int16(x)
    if isinstance(x, float | np.floating):
        return np.float32(x) if float(np.float32(x)) == x else np.float64(x)
    return x


def rounded(x):
    """Floats that single precision can hold."""
    if isinstance(x, Transition):
        return Transition(*(rounded(part) for part in x))
    if isinstance(x, tuple):
        return type(x)(*(rounded(part) for part in x)) if hasattr(x, "_fields") else tuple(rounded(part) for part in x)
    return float(np.float32(x)) if isinstance(x, float | np.floating) else x


@pytest.mark.parametrize("name", BELIEFS)
def test_short_numbers_are_numbers(name):
    belief, rng = BELIEFS[name], default_rng(3)
    probe = probe_for(belief)
    one = two = belief
    theta = probe.draw(belief, rng)
    for i in range(6):
        datum = probe.datum(belief, theta, rng)
        datum = datum if hasattr(belief, "outcomes") else rounded(datum)  # listed rewards are what they are
        one, two = one.update(datum, default_rng(i)), two.update(single(datum), default_rng(i))
    found = probe.expect(two)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, probe.expect(one), rtol=1e-12)
    if hasattr(belief, "log_evidence") and "log_evidence" not in getattr(belief, "unsupported", ()):
        assert two.log_evidence() == pytest.approx(one.log_evidence(), rel=1e-12)
