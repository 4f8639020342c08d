"""Exact solvers beside QuantEcon, mdpsolver and pymdptoolbox, at the same true error.

Every instance is first solved by plain policy iteration with direct linear solves (`reference`). A peer's tolerance is
divided by ten until its values are within DEMAND of the reference; then it is timed. Each peer may use each of its
methods, and dense or sparse storage if it offers both; its best combination counts and is named. Ours is `solve(mdp,
tol=DEMAND)`, which also proves its error.

Problem objects are built before the clock starts. Ours already holds expected rewards, since the peers get them as
input. Returning the values is timed. mdpsolver and pymdptoolbox continue from their last solution when called again, so
they get a new object each time. Compilation is excluded and BLAS has one thread. A time is the smallest processor time
of several runs, the same number for each library. A method is dropped if a run takes ten times as long as the best so
far and more than 20 ms, or five seconds. Policy iteration has no tolerance and may evaluate 250 policies, QuantEcon's
limit (on the grids it cycles among tied policies until this limit). Peers get sparse instances of more than 100 states
in sparse form.
"""

from __future__ import annotations

import contextlib
import io
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve, solve_many

DEMAND = 1e-6
HOPELESS = 10.0
ALWAYS = 0.02
PATIENCE = 5.0


class Instance(NamedTuple):
    """A discounted problem: P of shape (S*A, S), dense or sparse, and R (S, A)."""

    name: str
    P: Any
    R: Any
    gamma: float

    @property
    def dense(self) -> Any:
        S, A = self.R.shape
        return (self.P.toarray() if sparse.issparse(self.P) else self.P).reshape(S, A, S)


# Instances -----------------------------------------------------------------------------------------------------------


def random_dense(S: int, A: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(S)
    P = rng.exponential(size=(S * A, S))
    return P / P.sum(axis=1, keepdims=True), rng.random((S, A))


def random_sparse(S: int, A: int, K: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(S)
    column = np.concatenate([rng.choice(S, K, replace=False) for _ in range(S * A)])
    P = sparse.csr_array((rng.dirichlet(np.ones(K), S * A).ravel(), column, np.arange(S * A + 1) * K), shape=(S * A, S))
    return P, rng.random((S, A))


def grid(n: int) -> tuple[Any, Any]:
    """Four moves with a sideways slip of .2; the far corner pays 1 and leads to the start."""
    S, moves = n * n, ((-1, 0), (0, 1), (1, 0), (0, -1))
    P, R = sparse.lil_array((4 * S, S)), np.zeros((S, 4))
    for s, a in np.ndindex(S, 4):
        x, y = divmod(s, n)
        for turn, p in ((0, 0.8), (1, 0.1), (3, 0.1)):
            dx, dy = moves[(a + turn) % 4]
            P[4 * s + a, min(max(x + dx, 0), n - 1) * n + min(max(y + dy, 0), n - 1)] += p
    P[4 * (S - 1) :] = 0.0
    P[4 * (S - 1) :, [0]] = np.ones((4, 1))
    R[S - 1] = 1.0
    return P.tocsr(), R


def ring(S: int) -> tuple[Any, Any]:
    """Left or right with slips; two places pay, 1 and .5."""
    P, R = sparse.lil_array((2 * S, S)), np.zeros((S, 2))
    for s, a in np.ndindex(S, 2):
        for step, p in ((2 * a - 1, 0.8), (1 - 2 * a, 0.1), (0, 0.1)):
            P[2 * s + a, (s + step) % S] += p
    R[0], R[S // 3] = 1.0, 0.5
    return P.tocsr(), R


def smeared(S: int) -> tuple[Any, Any]:
    """The ring as a dense matrix: every transition has at least a tiny probability."""
    P, R = ring(S)
    return 0.999 * P.toarray() + 0.001 / S, R


def instances() -> Iterator[Instance]:
    for name, (P, R) in {
        "dense 100": random_dense(100, 4),
        "grid 10 x 10": grid(10),
        "ring 100": ring(100),
        "dense ring 100": smeared(100),
        "dense 1000": random_dense(1000, 4),
        "ring 1000": ring(1000),
        "dense ring 1000": smeared(1000),
        "sparse 2500": random_sparse(2500, 4, 10),
        "grid 50 x 50": grid(50),
        "ring 2500": ring(2500),
        "ring 10000": ring(10_000),
    }.items():
        for gamma in (0.8, 0.9, 0.95, 0.99):
            yield Instance(name, P, R, gamma)


def reference(instance: Instance) -> Any:
    """V* to about 1e-12 by textbook policy iteration (Howard)."""
    P, R, gamma = instance[1:]
    S, A = R.shape
    at, policy = np.arange(S), R.argmax(axis=1)
    while True:
        rows, r = P[at * A + policy], R[at, policy]
        if sparse.issparse(P):
            V = spsolve(sparse.csc_array(sparse.eye_array(S) - gamma * rows), r)
        else:
            V = np.linalg.solve(np.eye(S) - gamma * rows, r)
        Q = R + gamma * (P @ V).reshape(S, A)
        better = Q.max(axis=1) > Q[at, policy] + 1e-13 * np.abs(Q).max()
        if not better.any():
            return V
        policy = np.where(better, Q.argmax(axis=1), policy)


# Peers: a label, how to make the problem object, how to solve it to a tolerance --------------------------------------

Method = tuple[str, Callable[[], Any], Callable[[Any, float], Any]]


def quantecon(instance: Instance) -> Iterator[Method]:
    from quantecon.markov import DiscreteDP

    S, A = instance.R.shape
    forms = {}
    if S <= 100 or not sparse.issparse(instance.P):
        forms["dense"] = DiscreteDP(instance.R, instance.dense, instance.gamma)
    if sparse.issparse(instance.P):
        pairs = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
        forms["sparse"] = DiscreteDP(instance.R.ravel(), sparse.csr_matrix(instance.P), instance.gamma, *pairs)
    for form, ddp in forms.items():
        for method in ("modified_policy_iteration", "value_iteration", "linear_programming", "policy_iteration"):

            def run(ddp: Any, tol: float, method: str = method) -> Any:
                more = (
                    {} if method in ("policy_iteration", "linear_programming") else {"epsilon": tol, "max_iter": 5000}
                )
                return ddp.solve(method, **more).v

            yield f"{method.replace('_', ' ')}, {form}", lambda ddp=ddp: ddp, run


def mdpsolver(instance: Instance) -> Iterator[Method]:
    import mdpsolver as package

    S, A = instance.R.shape
    rewards = instance.R.tolist()
    if sparse.issparse(instance.P):
        P = instance.P
        cut = [slice(*P.indptr[i : i + 2]) for i in range(S * A)]
        table = {
            "tranMatProbs": [[P.data[cut[s * A + a]].tolist() for a in range(A)] for s in range(S)],
            "tranMatColumns": [[P.indices[cut[s * A + a]].tolist() for a in range(A)] for s in range(S)],
        }
    else:
        table = {"tranMatWithZeros": instance.dense.tolist()}

    def make() -> Any:
        model = package.model()
        model.mdp(discount=instance.gamma, rewards=rewards, **table)
        return model

    for algorithm in ("mpi", "vi", "pi"):
        for update in ("standard", "gs", "sor"):

            def run(model: Any, tol: float, algorithm: str = algorithm, update: str = update) -> Any:
                model.solve(algorithm=algorithm, update=update, tolerance=tol, parallel=False)
                return model.getValueVector()

            yield f"{algorithm}, {update}", make, run


def pymdptoolbox(instance: Instance) -> Iterator[Method]:
    from mdptoolbox import mdp

    S, A = instance.R.shape
    forms = {}
    if S <= 100 or not sparse.issparse(instance.P):
        forms["dense"] = np.ascontiguousarray(instance.dense.transpose(1, 0, 2))
    if sparse.issparse(instance.P):
        forms["sparse"] = [sparse.csr_matrix(instance.P[np.arange(S) * A + a]) for a in range(A)]
    for form, P in forms.items():
        names = ["PolicyIterationModified", "ValueIteration", "PolicyIteration"]
        for name in names if S > 100 or form == "sparse" else [*names, "ValueIterationGS"]:  # that one is plain Python

            def make(name: str = name, P: Any = P) -> Any:
                def build(tol: float) -> Any:
                    more = {"max_iter": 250} if name == "PolicyIteration" else {"epsilon": tol, "max_iter": 5000}
                    return getattr(mdp, name)(P, instance.R, instance.gamma, **more)

                return build

            def run(problem: Any, tol: float) -> Any:
                problem.run()
                return problem.V

            yield f"{name}, {form}", make, run


PEERS = {"QuantEcon": quantecon, "mdpsolver": mdpsolver, "pymdptoolbox": pymdptoolbox}


# Timing --------------------------------------------------------------------------------------------------------------


class Timed(NamedTuple):
    seconds: float
    how: str
    error: float


def once(make: Callable[[], Any], run: Callable[[Any, float], Any], tol: float) -> tuple[float, Any]:
    """Seconds and values of one run on a new object (pymdptoolbox needs the tolerance in its constructor)."""
    problem = make()
    problem = problem(tol) if type(problem).__name__ == "function" else problem
    began = time.process_time()
    values = run(problem, tol)
    return time.process_time() - began, values


@contextlib.contextmanager
def cut_off(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after this number of seconds (at the next Python instruction)."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def best_method(methods: Iterator[Method], exact: Any, limit: float, repeats: int) -> Timed | None:
    """The fastest of a library's methods at a true error of at most DEMAND."""
    best: Timed | None = None
    for label, make, run in methods:
        tol, error = DEMAND * 1e3, np.inf
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while tol > 0.9e-3 * DEMAND:  # mdpsolver does not stop at tolerances below rounding
                try:
                    with cut_off(PATIENCE):
                        seconds, values = once(make, run, tol)
                except (NotImplementedError, TypeError, TimeoutError, SystemError):  # unfit, or cut off
                    break
                error = float(np.abs(np.asarray(values, dtype=float) - exact).max())
                if error <= DEMAND or seconds > max(HOPELESS * min(limit, best.seconds if best else np.inf), ALWAYS):
                    break
                tol /= 10.0
            if error > DEMAND:
                continue
            seconds = min(once(make, run, tol)[0] for _ in range(repeats))
        if best is None or seconds < best.seconds:
            best = Timed(seconds, label, error)
    return best


def ours(instance: Instance, exact: Any, repeats: int) -> Timed:
    P, R, gamma = instance[1:]
    make = TabularMDP.from_sparse if sparse.issparse(P) else TabularMDP.from_dense
    mdp = make(P if sparse.issparse(P) else instance.dense, R, gamma)
    solution = solve(mdp, DEMAND)
    error = float(np.abs(solution.values - exact).max())
    assert error <= solution.error_bound + 1e-11
    assert solution.error_bound <= DEMAND
    seconds = np.inf
    for _ in range(repeats):
        began = time.process_time()
        solve(mdp, DEMAND)
        seconds = min(seconds, time.process_time() - began)
    return Timed(seconds, "solve", error)


def sampled(n: int = 1000, S: int = 20, A: int = 4) -> Iterator[tuple[str, dict[str, Timed | None], Timed]]:
    """1000 sampled MDPs: `solve_many`, and each peer's best method on one after the other."""
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(S), (n, S, A)), rng.random((S, A))
    outcomes = TabularMDP.from_dense(P[0], R, 0.9).outcomes
    prob = P.reshape(n, S * A, S)
    for gamma in (0.95, 0.99):
        problems = [Instance("", p, R, gamma) for p in prob]
        exact = [reference(p) for p in problems]
        values, _ = solve_many(outcomes, prob, gamma, tol=DEMAND)
        error = float(np.abs(values - exact).max())
        seconds = np.inf
        for _ in range(30):
            began = time.process_time()
            solve_many(outcomes, prob, gamma, tol=DEMAND)
            seconds = min(seconds, time.process_time() - began)
        peers: dict[str, Timed | None] = {}
        for name, methods in PEERS.items():
            with contextlib.suppress(ImportError):
                chosen = best_method(methods(problems[0]), exact[0], np.inf, 10)
                peers[name] = chosen and one_by_one(methods, problems, exact, chosen)
        yield f"gamma {gamma}", peers, Timed(seconds, "solve_many", error)


def one_by_one(methods: Any, problems: list[Instance], exact: list[Any], chosen: Timed) -> Timed:
    """Time all problems with the chosen method at a tolerance that is good enough for all; building is not timed."""
    built = [next(m for m in methods(p) if m[0] == chosen.how) for p in problems]
    tol = DEMAND * 10.0
    with contextlib.redirect_stdout(io.StringIO()):
        while True:
            runs = [once(make, run, tol) for _, make, run in built]
            error = max(float(np.abs(np.asarray(v) - V).max()) for (_, v), V in zip(runs, exact, strict=True))
            if error <= DEMAND:
                break
            tol /= 10.0
        seconds = min(sum(once(make, run, tol)[0] for _, make, run in built) for _ in range(3))
    return Timed(seconds, chosen.how, error)


# The table -----------------------------------------------------------------------------------------------------------


def main() -> None:
    from rich.console import Console
    from rich.table import Table
    from threadpoolctl import threadpool_limits

    console = Console(width=200)
    available = {}
    for name, methods in PEERS.items():
        try:
            next(methods(Instance("", *ring(5), 0.9)))
            available[name] = methods
        except Exception as why:  # a peer that does not install or import is left out
            console.print(f"{name} is left out: {why}")
    table = Table(
        "instance",
        "gamma",
        *available,
        "bayesrl",
        "fastest peer / bayesrl",
        title=f"Milliseconds at a true error of {DEMAND:g}",
    )
    with threadpool_limits(1):
        for instance in instances():
            exact = reference(instance)
            repeats = 3 if len(instance.R) >= 1000 else 20
            mine = ours(instance, exact, repeats)
            peers: dict[str, Timed | None] = {}
            for name, methods in available.items():
                limit = min([t.seconds for t in peers.values() if t] + [np.inf])
                peers[name] = best_method(methods(instance), exact, limit, repeats)
            table.add_row(instance.name, str(instance.gamma), *row(peers, mine))
            console.print(instance.name, instance.gamma, *row(peers, mine), sep=" | ")
        for name, peers, mine in sampled():
            table.add_row("1000 sampled, 20 states", name.split()[1], *row(peers, mine))
    console.print(table)


def row(peers: dict[str, Timed | None], mine: Timed) -> list[str]:
    shown = [f"{1e3 * t.seconds:.3g} ({t.how})" if t else "not fast enough" for t in peers.values()]
    times = [t.seconds for t in peers.values() if t]
    ratio = min(times) / mine.seconds if times else np.nan
    return [*shown, f"{1e3 * mine.seconds:.3g}", f"{ratio:.2f}" + ("" if ratio >= 1.0 else " lost")]


if __name__ == "__main__":
    main()
