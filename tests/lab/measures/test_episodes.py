"""Episodes of recorded runs, against a loop that counts them: their ends, the first ones and the last ones."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.lab.measures.episodes import LAST, episode_returns, episodes
from bayesrl.record import Record


def recorded(rng, steps, runs, ending):
    """A record whose steps end an episode with this probability, in either way."""
    shape = (steps, runs) if runs else (steps,)
    ends = rng.random(shape) < ending
    columns = {"reward": rng.normal(size=shape), "terminated": ends & (rng.random(shape) < 0.5)}
    return Record(columns | {"truncated": ends & ~columns["terminated"]}, 0.9, {})


def counted(record):
    """The returns of the finished episodes of each run."""
    reward, *ends = (record.columns[name].reshape(len(record), -1) for name in ("reward", "terminated", "truncated"))
    found = []
    for i in range(reward.shape[1]):
        found.append([])
        total = 0.0
        for t in range(len(reward)):
            total += reward[t, i]
            if ends[0][t, i] or ends[1][t, i]:
                found[-1].append(total)
                total = 0.0
    return found


@pytest.mark.parametrize("runs", [0, 1, 4])
@pytest.mark.parametrize("ending", [0.02, 0.5, 1.0])
def test_episodes_are_those_of_a_loop(runs, ending):
    record = recorded(default_rng(5), 3 * LAST, runs, ending)
    plain = counted(record)
    for mine, theirs in zip(episode_returns(record), plain, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    found = episodes(record)
    last = [np.mean(paid[-LAST:]) for paid in plain if paid]
    if not last:
        assert found is None
    else:
        np.testing.assert_allclose(
            [found.finished.mean, found.final_return.mean], [np.mean(list(map(len, plain))), np.mean(last)]
        )
        assert (found.finished.n, found.final_return.n) == (len(plain), len(last))


@pytest.mark.parametrize("n", [LAST - 1, LAST, LAST + 1])
def test_the_last_episodes_are_those_before_the_end(n):
    """Episodes of one step that pay their number, and a step of another one that is not finished."""
    over = np.append(np.ones(n, bool), False)
    record = Record({"reward": np.arange(n + 1.0), "terminated": over, "truncated": ~over & over}, 1.0, {})
    assert episodes(record).final_return.mean == np.mean(range(max(0, n - LAST), n))


def test_no_episode():
    assert (
        episodes(
            Record(dict.fromkeys(("terminated", "truncated"), np.zeros(3, bool)) | {"reward": np.ones(3)}, 1.0, {})
        )
        is None
    )
