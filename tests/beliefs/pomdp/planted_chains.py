"""Planted bugs of bayesrl.beliefs.pomdp.chains."""

MODULE = "bayesrl.beliefs.pomdp.chains"
PLANTED = {
    "weights kept by a sweep": (
        "log_weight=frozen(np.zeros(len(chains)))",
        "log_weight=data.log_weight",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_filter_and_weights_between_sweeps"],
    ),
    "a restart that forgets": (
        "length=frozen(np.append(data.length, 0))",
        "length=data.length",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_sequences"],
    ),
    "a restart in the old state": (
        "model, model.beta) for x, model, _ in data.chains",
        "model, now) for x, model, now in data.chains",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_filter_and_weights_between_sweeps"],
    ),
    "chains of equal weight": (
        "log_weight[i] += np.log(max(total, TINY))",
        "log_weight[i] += 0.0",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_filter_and_weights_between_sweeps"],
    ),
    "impossible draws": (
        "np.log(max(total, TINY))",
        "np.log(total)",
        ["tests/beliefs/pomdp/test_infinite_pomdp.py::test_draws_that_underflow"],
    ),
    "what is done says nothing of the node": (
        "(now * model.before[:, g, v]) @",
        "now @",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_filter_and_weights_between_sweeps"],
    ),
    "the first state for the last": (
        "now[y[-1]] = 1.0",
        "now[y[0]] = 1.0",
        ["tests/beliefs/pomdp/test_policy_prior.py::test_filter_and_weights_between_sweeps"],
    ),
    "a step moves on from the first state": (
        "first_best(model.moves[x[-1], m] * shown)",
        "first_best(model.moves[x[0], m] * shown)",
        ["tests/beliefs/pomdp/test_beam_steps.py::test_the_state_between_sweeps_follows_the_last_one"],
    ),
    "a new sequence begins where the last one ended": (
        "np.append(x, first_best(model.beta))",
        "np.append(x, x[-1])",
        ["tests/beliefs/pomdp/test_beam_steps.py::test_the_state_between_sweeps_follows_the_last_one"],
    ),
}
