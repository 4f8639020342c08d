"""The errors of the library. Each is one sentence that names the argument, the expected value and the given value.

Errors are raised where a value enters the library. They leave the caller's objects unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any


class BayesRLError(Exception):
    """The base class of all errors of this library."""


class InvalidArgument(BayesRLError, ValueError):
    """An argument has a value that is not allowed.

    >>> raise InvalidArgument("DirichletMDP", "gamma", "in [0, 1]", 1.2)
    Traceback (most recent call last):
    ...
    bayesrl.errors.InvalidArgument: DirichletMDP: 'gamma' must be in [0, 1], got 1.2.
    """

    def __init__(self, owner: str, name: str, expected: str, got: Any, hint: str = "") -> None:
        self.owner, self.name, self.expected, self.got, self.hint = owner, name, expected, got, hint
        super().__init__(f"{owner}: '{name}' must be {expected}, got {show(got)}." + (f" {hint}" if hint else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.name, self.expected, self.got, self.hint)


class ImpossibleEvidence(BayesRLError, ValueError):
    """The datum has probability zero under the belief."""

    def __init__(self, owner: str, datum: Any, why: str) -> None:
        self.owner, self.datum, self.why = owner, datum, why
        what = datum if isinstance(datum, str) else show(datum)
        super().__init__(f"{owner}: {what} has probability zero under this belief: {why}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.datum, self.why)


class Incompatible(BayesRLError, TypeError):
    """A planner needs a capability that the belief lacks, or a gradient one that the policy lacks (`kind`)."""

    def __init__(self, planner: str, belief: str, missing: Iterable[str], hint: str = "", kind: str = "belief") -> None:
        self.planner, self.belief, self.missing, self.hint, self.kind = planner, belief, tuple(missing), hint, kind
        needed = ", ".join(f"'{name}'" for name in self.missing)
        super().__init__(
            f"{planner} needs a {kind} with {needed}, which {belief} lacks." + (f" {hint}" if hint else "")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.planner, self.belief, self.missing, self.hint, self.kind)


class BrokenContract(BayesRLError, TypeError):
    """A user's class or function does not do what is required of it. `raised` says what it raised, if it did.

    >>> raise BrokenContract("MyPlanner.plan", "return a Decision", None)
    Traceback (most recent call last):
    ...
    bayesrl.errors.BrokenContract: MyPlanner.plan does not return a Decision: it gave None.
    """

    def __init__(self, who: str, duty: str, got: Any, raised: str = "") -> None:
        self.who, self.duty, self.got, self.raised = who, duty, got, raised
        super().__init__(f"{who} does not {duty}: it " + (f"raised {raised}." if raised else f"gave {show(got)}."))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.who, self.duty, self.got, self.raised)


class UnknownName(BayesRLError, LookupError):
    """There is no such name. The error suggests similar names, whatever their case.

    >>> raise UnknownName("method", "PSRL", ["psrl", "boss"])
    Traceback (most recent call last):
    ...
    bayesrl.errors.UnknownName: There is no method called 'PSRL'. Did you mean psrl?
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        self.kind, self.name, self.known, self.hint = kind, name, tuple(known), hint
        folded = {one.lower(): one for one in self.known}
        alike = get_close_matches(str(name).lower(), folded, n=3, cutoff=0.7)
        near = [folded[one] for one in ([str(name).lower()] if str(name).lower() in folded else alike)]
        listed = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(sorted(self.known))}."
        super().__init__(f"There is no {kind} called {name!r}. {hint or listed}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.name, self.known, self.hint)


class MissingExtra(BayesRLError, ImportError):
    """A function needs a package that is installed only with an extra.

    >>> raise MissingExtra("Record.to_frame", "pandas", "lab")
    Traceback (most recent call last):
    ...
    bayesrl.errors.MissingExtra: Record.to_frame needs pandas, which is not installed: pip install bayesrl[lab].
    """

    def __init__(self, owner: str, package: str, extra: str) -> None:
        self.owner, self.package, self.extra = owner, package, extra
        super().__init__(f"{owner} needs {package}, which is not installed: pip install bayesrl[{extra}].")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.package, self.extra)


@contextmanager
def from_extra(owner: str, extra: str = "lab") -> Iterator[None]:
    """Raise `MissingExtra` if an import in the body fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(owner, (error.name or "a package").partition(".")[0], extra) from None


class MissingMainGuard(BayesRLError, RuntimeError):
    """A script starts processes at its top level, so that each process would run the script again."""

    def __init__(self, owner: str, script: str, line: int) -> None:
        self.owner, self.script, self.line = owner, script, line
        super().__init__(
            f"{owner}: every worker process runs '{script}' again, so put what line {line} does under "
            f'`if __name__ == "__main__":`, or use backend="threads".'
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.script, self.line)


class LostWorkers(BayesRLError, RuntimeError):
    """Worker processes were killed again and again. `kept` has the finished records of each method, by its label."""

    def __init__(self, owner: str, what: str, tries: int, kept: Mapping[str, Sequence[Any]]) -> None:
        self.owner, self.what, self.tries, self.kept = owner, what, tries, kept
        each = ", ".join(f"{label} {len(records)}" for label, records in kept.items())
        super().__init__(
            f"{owner}: a worker process was killed {tries} times while it did {what}. The error's `kept` has the "
            f"finished records ({each}). If the memory ran out, use fewer workers."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.what, self.tries, self.kept)


class NotConverged(BayesRLError, RuntimeError):
    """A computation exhausted its budget. `best` is its best iterate."""

    def __init__(self, owner: str, best: Any, residual: float, budget: str) -> None:
        self.owner, self.best, self.residual, self.budget = owner, best, residual, budget
        super().__init__(f"{owner}: not converged after {budget}; the error is still at most {residual:.3g}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.best, self.residual, self.budget)


class OutOfMemory(BayesRLError, MemoryError):
    """A computation needs more memory than there is.

    >>> raise OutOfMemory("PSRL")
    Traceback (most recent call last):
    ...
    bayesrl.errors.OutOfMemory: PSRL needs more memory than there is. Use a sparser prior, or fewer states or samples.
    """

    def __init__(
        self, owner: str, what: str = "", remedy: str = "Use a sparser prior, or fewer states or samples."
    ) -> None:
        self.owner, self.what, self.remedy = owner, " ".join(what.split()), remedy
        said = f" ({self.what})" if self.what else ""
        super().__init__(f"{owner} needs more memory than there is{said}. {remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.what, self.remedy)


class UnreadableFile(BayesRLError, OSError):
    """A file is missing, truncated or not one of ours."""

    def __init__(self, path: Any, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"Cannot read '{path}': {why}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.why)


def show(value: Any) -> str:
    """A short representation of a value for an error sentence."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:  # a belief may have a field of that name
        return f"an array of shape {tuple(int(n) for n in shape)}"
    if isinstance(shape, tuple) and hasattr(value, "item"):
        value = value.item()
    text = repr(value)
    text = " ".join(text.split()) if "\n" in text else text  # arrays are written over several lines
    return text if len(text) <= 80 else text[:77] + "..."
