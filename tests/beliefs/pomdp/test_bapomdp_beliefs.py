"""Exact, bounded and pruned beliefs over hyper-states: equal to sums over hidden paths with closed-form weights."""

import numpy as np
import pytest
from hidden_paths import of_belief, posterior, random_prior, tied_prior
from hidden_paths import tiger_prior as tiger
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import BoundedBAPOMDP, DirichletPOMDP, ExactBAPOMDP, MostProbableBAPOMDP, ParticleBAPOMDP
from bayesrl.beliefs.pomdp.hyper_states import Branches, same_counts
from bayesrl.beliefs.pomdp.over_hyper_states import example_prior
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.io.store import load, save
from bayesrl.parameters import unchecked

PRIORS = {
    "all unknown": random_prior(default_rng(0)),
    "known rows": random_prior(default_rng(1), S=3, known=True),
    "terminal": random_prior(default_rng(2), S=3, terminal=(2,)),
    "tied": tied_prior(),
    "example": example_prior(),
}
DATA = {
    "all unknown": [[(0, 1, False), (1, 0, False), (0, 0, False)], [(1, 1, False), (1, 1, False)]],
    "known rows": [[(0, 1, False), (1, 0, False)], [(1, 1, False), (0, 1, False)]],
    "terminal": [[(0, 1, False), (1, 0, False), (0, 0, True)], [(1, 1, False), (1, 1, True)]],
    "tied": [[(0, 1, False), (1, 0, False), (0, 0, True)], [(1, 1, False), (0, 0, True)], [(0, 1, False)]],
    "example": [[(0, 1, False), (0, 1, False), (1, 0, True)], [(0, 1, False), (1, 0, False), (0, 1, False)]],
}
"""Episodes of (action, observation, terminated)."""


def learn(belief, data, rng=None):
    for t, episode in enumerate(data):
        belief = belief.restart() if t else belief
        for a, o, ended in episode:
            belief = belief.update(b.Transition(-1, a, 0.0, o, ended), rng)
    return belief


@pytest.mark.parametrize("name", PRIORS)
def test_equals_the_sum_over_hidden_paths(name):
    prior, data = PRIORS[name], DATA[name]
    for n in range(1, len(data) + 1):
        for cut in range(1, len(data[n - 1]) + 1):
            seen = [*data[: n - 1], data[n - 1][:cut]]
            belief = learn(ExactBAPOMDP(prior), seen)
            evidence, weights = posterior(prior, seen)
            ours = of_belief(belief)
            assert ours.keys() == weights.keys()
            assert max(abs(ours[key] - weights[key]) for key in weights) < 1e-12
            assert belief.log_evidence() == pytest.approx(evidence, abs=1e-9)
            states = np.zeros(prior.n_states)
            for (s, _), w in weights.items():
                states[s] += w
            np.testing.assert_allclose(belief.states(), states, atol=1e-12)


@pytest.mark.parametrize("name", PRIORS)
def test_predictives_are_ratios_of_evidence(name):
    """P(o | history) sums the probability of o with and without the end of the episode."""
    prior, data = PRIORS[name], DATA[name]
    belief = learn(ExactBAPOMDP(prior), data)
    if data[-1][-1][2]:
        belief, data = belief.restart(), [*data, []]
    for a in range(prior.n_actions):
        p = np.zeros(prior.n_observations)
        for o in range(prior.n_observations):
            for ended in (False, True):
                evidence, _ = posterior(prior, [*data[:-1], [*data[-1], (a, o, ended)]])
                p[o] += np.exp(evidence - belief.log_evidence())
        np.testing.assert_allclose(belief.predictive(a), p, atol=1e-12)
        assert p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", PRIORS)
def test_mean_model_and_dense_counts_are_those_of_the_mixture(name):
    prior = PRIORS[name]
    belief = learn(ExactBAPOMDP(prior), DATA[name])
    mixture = belief.hyper_states()
    assert len(mixture) == belief.n_hyper_states
    assert sum(w for w, *_ in mixture) == pytest.approx(1.0)
    P, O, _ = belief.mean_pomdp().dense()
    np.testing.assert_allclose(P, sum(w * phi / phi.sum(-1, keepdims=True) for w, _, phi, _ in mixture), atol=1e-12)
    np.testing.assert_allclose(O, sum(w * psi / psi.sum(-1, keepdims=True) for w, _, _, psi in mixture), atol=1e-12)
    np.testing.assert_allclose(belief.mean_pomdp().start, belief.states())
    fresh = belief.restart()
    np.testing.assert_allclose(fresh.mean_pomdp().dense()[1], O, atol=1e-12)
    np.testing.assert_array_equal(fresh.states(), prior.start)
    assert fresh.log_evidence() == belief.log_evidence()
    states = np.zeros(prior.n_states)
    for w, s, *_ in fresh.hyper_states():
        states[s] += w
    np.testing.assert_allclose(states, prior.start, atol=1e-12)
    assert len(fresh.hyper_states()) == fresh.n_hyper_states


def test_a_model_is_drawn_with_its_state():
    """Hearing left twice, the drawn accuracy of the drawn state is higher than that of the other one.

    The mean given the state is the mean of its hyper-state. False-alarm rate 1e-6.
    """
    from bayesrl.testing.statistics import assert_mean_equal

    belief = learn(ExactBAPOMDP(tiger()), [[(0, 0, False), (0, 0, False)]])
    rng, left = default_rng(0), []
    for _ in range(3000):
        model = belief.sample_pomdp(rng)
        assert sorted(model.start) == [0.0, 1.0]
        if model.start[0] == 1.0:
            left.append(model.seen[:, 0, 0])
    assert_mean_equal(np.array(left), [7 / 10, 3 / 8], false_alarm=1e-6)
    assert_mean_equal(
        np.array([[1.0]] * len(left) + [[0.0]] * (3000 - len(left))), belief.states()[:1], false_alarm=1e-6
    )


def test_rows_are_counted_up_to_the_bound():
    """The rule of the bound, by hand: with total 8 and bound 9, one count is added and no more."""
    seen = [[(0, 0, False)] * 3]
    bounded = learn(BoundedBAPOMDP(tiger(), bound=9), seen)
    psi = sorted((s, psi[s, 0].tolist()) for _, s, _, psi in bounded.hyper_states())
    assert psi == [(0, [6.0, 3.0]), (1, [4.0, 5.0])]
    left, right = 5 / 8 * (6 / 9) ** 2, 3 / 8 * (4 / 9) ** 2
    assert bounded.states()[0] == pytest.approx(left / (left + right), abs=1e-12)
    assert bounded.log_evidence() == pytest.approx(np.log((left + right) / 2), abs=1e-12)
    low, high = learn(BoundedBAPOMDP(tiger(), bound=8), seen), learn(BoundedBAPOMDP(tiger(), bound=11), seen)
    assert low.counts_of(0) == (low.prior.phi, low.prior.psi) or (low.counts_of(0)[1] == low.prior.psi).all()
    assert of_belief(high) == of_belief(learn(ExactBAPOMDP(tiger()), seen))


@pytest.mark.parametrize("name", PRIORS)
def test_bounded_and_pruned_beliefs_are_exact_while_nothing_is_left_out(name):
    exact = learn(ExactBAPOMDP(PRIORS[name]), DATA[name])
    for other in (BoundedBAPOMDP(PRIORS[name], bound=50), MostProbableBAPOMDP(PRIORS[name], particles=10_000)):
        same = learn(other, DATA[name])
        assert of_belief(same) == of_belief(exact)
        assert same.log_evidence() == exact.log_evidence()


def test_the_heaviest_are_kept():
    prior, data = PRIORS["all unknown"], DATA["all unknown"][:1]
    exact = of_belief(learn(ExactBAPOMDP(prior), [data[0][:1]]))
    kept = of_belief(learn(MostProbableBAPOMDP(prior, particles=2), [data[0][:1]]))
    heaviest = sorted(exact.items(), key=lambda x: -x[1])[:2]
    total = sum(w for _, w in heaviest)
    assert kept == {key: pytest.approx(w / total) for key, w in heaviest}
    assert learn(MostProbableBAPOMDP(prior, particles=2), data).n_hyper_states == 2


def test_equal_counts_merge_and_different_ones_do_not():
    """After two sounds in either order the counts are the same; after restarts they are found again."""
    belief = ExactBAPOMDP(tiger())
    seen = learn(belief, [[(0, 0, False), (0, 1, False)]])
    assert seen.n_hyper_states == 2
    twice = learn(belief, [[(0, 0, False)], [(0, 1, False)]])
    assert twice.n_hyper_states == 4  # both sounds in one state, or one in each
    assert len(seen.restart().hyper.weight) == 2
    many = belief
    for _ in range(40):
        many = learn(many, [[(0, 0, False), (1, 0, False)]])
    assert many.n_hyper_states <= 2 * 41


def test_lists_are_compared_count_by_count():
    """Two branches of different roots, whose keys are made equal: their counts decide."""
    h = learn(ExactBAPOMDP(tiger()), [[(0, 0, False)], [(0, 0, False)]]).hyper
    root, n = np.arange(len(h.key)), len(h.key)
    same = Branches(h.weight.copy(), np.zeros(n, np.int64), root, np.full((n, 2), 99), np.zeros(n, np.int64))
    for i in range(n):
        for j in range(n):
            lists = [
                (h.cell[h.first[k] : h.first[k + 1]].tolist(), h.times[h.first[k] : h.first[k + 1]].tolist())
                for k in (i, j)
            ]
            assert same_counts(h, same, i, j, 99) == (lists[0] == lists[1])
    # one count of cell c at the root is the same as a root without it whose path has it
    one, two = (int(np.flatnonzero(np.diff(h.first) == k)[0]) for k in (1, 2))
    path = np.full((n, 2), 99)
    missing = [c for c in h.cell[h.first[two] : h.first[two + 1]] if c not in h.cell[h.first[one] : h.first[one + 1]]]
    assert len(missing) == 1
    assert h.times[h.first[one]] == 2
    path[one, 0] = missing[0]
    assert not same_counts(h, same._replace(path=path), one, two, 99)


def test_nothing_is_learnt_after_the_end():
    """A terminal state stays, and its row is not counted."""
    ended = learn(ExactBAPOMDP(tied_prior()), [[(0, 0, True)]])
    before = {up for _, up in of_belief(ended)}
    after = learn(ended, [[(0, 0, True)]])
    assert after.states().tolist() == [0.0, 0.0, 1.0]
    moves = [{c for c in up if c[0][0] == "phi"} for up in before]
    assert all({c for c in up if c[0][0] == "phi"} in moves for _, up in of_belief(after))


def test_long_histories_stay_normalised():
    belief = ExactBAPOMDP(example_prior())
    rng = default_rng(5)
    for _ in range(600):
        a = int(rng.integers(2))
        belief = belief.update(b.Transition(-1, a, 0.0, int(rng.integers(2)), False))
    assert belief.hyper.weight.sum() == pytest.approx(1.0)
    assert np.isfinite(belief.log_evidence())
    assert belief.n_hyper_states <= 2 * 601


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["exact", "bounded", "particle", "most probable"])
def test_kept_in_files(kind, tmp_path):
    belief = learn(ALL[kind](tied_prior()), [[(0, 1, False), (1, 0, False)]], default_rng(0))
    save(belief, tmp_path / "belief.zip")
    again = load(tmp_path / "belief.zip")
    assert again == belief
    step = b.Transition(-1, 1, 0.0, 1)
    assert again.update(step, default_rng(1)) == belief.update(step, default_rng(1))


@pytest.mark.parametrize(
    "changed",
    [
        {"state": [7, 7]}, {"cell": [0, 99]}, {"cell": [1, 1]}, {"times": [0, 1]}, {"first": [0, 5, 2]},
        {"key": [1, 2]}, {"weight": [0.5, 0.9]}, {"weight": [0.5]},
    ],
)  # fmt: skip
def test_hyper_states_that_do_not_fit_are_refused(changed):
    belief = learn(ExactBAPOMDP(tiger()), [[(0, 0, False)]])
    belief.check_grown()
    arrays = {name: np.array(x, getattr(belief.hyper, name).dtype) for name, x in changed.items()}
    with pytest.raises(InvalidArgument, match="hyper-states of its prior"):
        unchecked(belief, hyper=belief.hyper._replace(**arrays)).check_grown()


# Bad input -----------------------------------------------------------------------------------------------------------

ALL = {
    "exact": lambda prior: ExactBAPOMDP(prior),
    "bounded": lambda prior: BoundedBAPOMDP(prior, bound=9),
    "particle": lambda prior: ParticleBAPOMDP(prior, particles=20),
    "most probable": lambda prior: MostProbableBAPOMDP(prior, particles=20),
}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("bad", [(-1, 0), (3, 0), (0.5, 0), (None, 0), (0, -1), (0, 2), (0, 0.5), (0, None), ("0", 0)])
def test_bad_actions_and_observations(kind, bad):
    belief = ALL[kind](tiger())
    with pytest.raises(InvalidArgument, match=r"update: '(action|next_observation)' must be a whole number"):
        belief.update(b.Transition(-1, bad[0], 0.0, bad[1]), default_rng(0))
    assert belief == ALL[kind](tiger())


@pytest.mark.parametrize("kind", ALL)
def test_impossible_observations(kind):
    prior = DirichletPOMDP.from_dense([[[1.0]]], [[[1.0, 0.0]]], [[0.0]], 0.9)
    with pytest.raises(ImpossibleEvidence, match="observation 1 after action 0"):
        ALL[kind](prior).update(b.Transition(-1, 0, 0.0, 1), default_rng(0))
    with pytest.raises(ImpossibleEvidence, match="with the end of the episode"):
        ALL[kind](prior).update(b.Transition(-1, 0, 0.0, 0, True), default_rng(0))
    with pytest.raises(InvalidArgument, match="'terminated' must be"):
        ALL[kind](prior).update(b.Transition(-1, 0, 0.0, 0, 2), default_rng(0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExactBAPOMDP(None),
        lambda: ExactBAPOMDP(tiger().mean_pomdp()),
        lambda: ExactBAPOMDP(tiger(), limit=0),
        lambda: BoundedBAPOMDP(tiger(), bound=0),
        lambda: BoundedBAPOMDP(tiger(), bound=np.nan),
        lambda: ParticleBAPOMDP(tiger(), particles=0),
        lambda: ParticleBAPOMDP(tiger(), particles=2.5),
        lambda: MostProbableBAPOMDP(tiger(), particles=0),
        lambda: ExactBAPOMDP(tiger()).predictive(3),
        lambda: ExactBAPOMDP(tiger()).sample_pomdp(None),
        lambda: ParticleBAPOMDP(tiger()).update(b.Transition(-1, 0, 0.0, 0)),
    ],
)
def test_bad_arguments(make):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert len(str(error.value).splitlines()) == 1


def test_too_many_hyper_states_name_the_other_beliefs():
    belief = learn(ExactBAPOMDP(PRIORS["all unknown"], limit=8), [[(0, 1, False), (1, 0, False)]])
    with pytest.raises(InvalidArgument, match="bapomdp-bounded and bapomdp-particle"):
        learn(belief, [[(0, 1, False), (0, 1, False), (0, 1, False)]])
