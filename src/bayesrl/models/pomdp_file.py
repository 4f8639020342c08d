"""Cassandra's `.pomdp` files, read and written.

A file consists of words, numbers and colons, separated by blanks or not at all around a colon. Line ends have no
meaning, except that a comment goes from `#` to the end of its line.

The preamble comes in any order, each part once:

    discount: 0.95                      in [0, 1]; if it is missing, the discount is 1
    values: reward                      or `rewards`, `cost`, `costs`; costs are rewards with the other sign
    states: left right                  the names, or their number
    actions: 3
    observations: hear-left hear-right

A name begins with a letter. A number in place of a name is a position, counted from 0, also where there are names.

The distribution of the first state is one of these; if it is missing, it is uniform:

    start: 0.5 0.5                      or `uniform`, or one state
    start include: left                 uniform over these states
    start exclude: 1                    uniform over the others

The rest are transitions T, observations O and rewards R. `*` in place of a name means all of them. A later statement
wins over an earlier one. What is never mentioned is zero.

    T: action : state : next state      then a probability
    T: action : state                   then a row over next states, `uniform`, or `reset` (the start distribution)
    T: action                           then a matrix, a row for each state, `uniform` or `identity`
    O: action : next state : observation    then a probability
    O: action : next state              then a row over observations, or `uniform`
    O: action                           then a matrix, a row for each next state, or `uniform`
    R: action : state : next state : observation    then a reward
    R: action : state : next state      then a row over observations
    R: action : state                   then a matrix, a row over observations for each next state

Printed rows are rounded. A row that sums to one within 1e-4 is divided by its sum; a row that sums to one within the
rounding error of a float is kept as it is. Any other row is refused, and so is all that is not written above.

The format has no states that end an episode: `read_pomdp` is told which they are, and `write_pomdp` writes them as
states that are never left and pay nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from math import isfinite, prod
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from bayesrl._explained import explain_failures
from bayesrl._files import file_name, read, write
from bayesrl.checks import ROW_SUM_TOLERANCE, Bools, Floats, Ints, sequence
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.kernels.arrays import F1
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import value

ROUNDED = 1e-4 + 1e-12
"""How far the sum of a printed row may be from one; the second term is for .3333 three times."""
ALL = -1
"""The place that `*` means."""
MOST = 2**28
"""The largest number of entries of a table. More would not fit into the memory of most machines."""
NAMES = 2**18
"""The most states that a short file may have. A longer one may have as many as words."""
PER_WORD = 64
"""Entries of a table for each word of the file, beyond `DENSE`: a short file does not fill the memory."""
DENSE = 2**24
"""Entries of T beyond which only those that are not zero are kept, if they are given one by one."""
TABLES = {
    "T": ("action", "state", "state"),
    "O": ("action", "state", "observation"),
    "R": ("action", "state", "state", "observation"),
}
"""The kinds of names in a statement."""
LISTS = {"states": "state", "actions": "action", "observations": "observation"}
KEYWORDS = ("discount", "values", *LISTS, "start", *TABLES)
CHOICES = ("include", "exclude")
ENDS = frozenset({*KEYWORDS, *CHOICES})
"""Words before a colon that begin a statement."""
RESERVED = ENDS | {"uniform"}
SIGNS = {"reward": 1.0, "rewards": 1.0, "cost": -1.0, "costs": -1.0}
NAME = re.compile(r"[^\W\d][^\s:#]*")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
NUMBERS = re.compile(r"[-+.0-9eE ]*")
"""A quick check of a whole matrix: `float` reads more than the numbers of the format, but not from these letters."""
BINARY = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@explain_failures
@value
class NamedPOMDP(TabularPOMDP):
    """A known POMDP with names. Where none are given, the names are the numbers 0, 1, and so on, as text."""

    state_names: tuple[str, ...] = ()
    """One for each state."""
    action_names: tuple[str, ...] = ()
    """One for each action."""
    observation_names: tuple[str, ...] = ()
    """One for each observation."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for kind, n in (("state", self.n_states), ("action", self.n_actions), ("observation", self.n_observations)):
            field = f"{kind}_names"
            numbers = tuple(map(str, range(n)))
            given = sequence("NamedPOMDP", field, getattr(self, field), f"{n} different names")
            if given not in ((), numbers) and (bad := [x for x in given if not _is_name(x)]):
                expected = "names that begin with a letter, without blanks or colons, and not words of the format"
                raise InvalidArgument("NamedPOMDP", field, expected, bad[0])
            if len(given) not in (0, n) or len(set(given)) < len(given):
                raise InvalidArgument("NamedPOMDP", field, f"{n} different names", given)
            object.__setattr__(self, field, given or numbers)

    def __repr__(self) -> str:
        return "Named" + super().__repr__().removeprefix("Tabular")


def read_pomdp(path_or_text: str | os.PathLike[str], terminal: Sequence[str | int] = ()) -> NamedPOMDP:
    """Read a `.pomdp` file. A string with a line end or the word `states:` is the contents, not the name, of a file.

    `terminal` are names or numbers of states that end an episode.

    >>> pomdp = read_pomdp("states: 2 actions: wait observations: dark light T: wait identity O: wait uniform")
    >>> pomdp, pomdp.observation_names
    (NamedPOMDP(states=2, actions=1, observations=2, gamma=1.0), ('dark', 'light'))
    """
    if not isinstance(path_or_text, (str, os.PathLike)):
        raise InvalidArgument("read_pomdp", "path_or_text", "the name of a file, or its contents", path_or_text)
    if isinstance(path_or_text, str) and (re.search(r"[\n\r]|states\s*:", path_or_text) or not path_or_text.strip()):
        shown, text = "the given text", path_or_text
    else:
        shown, text = str(path_or_text), read(path_or_text).decode("utf-8-sig", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return _Reading(text).pomdp(terminal)
    except _Wrong as wrong:
        raise UnreadableFile(shown, f"line {wrong.line(text)}: {wrong.why}") from None


def write_pomdp(pomdp: TabularPOMDP, path: str | os.PathLike[str]) -> None:
    """Write a `.pomdp` file. Reading it gives equal arrays, to the last digit."""
    if not isinstance(pomdp, TabularPOMDP):
        raise InvalidArgument("write_pomdp", "pomdp", "a TabularPOMDP", pomdp)
    to = file_name("write_pomdp", path)
    named = pomdp if isinstance(pomdp, NamedPOMDP) else _named(pomdp)
    names = {kind: getattr(named, f"{kind}_names") for kind in LISTS.values()}
    lines = [f"discount: {pomdp.gamma!r}", "values: reward"]
    for word, kind in LISTS.items():
        lines.append(f"{word}: {' '.join(names[kind]) if _is_name(names[kind][0]) else len(names[kind])}")
    lines.append(f"start: {' '.join(map(repr, pomdp.start.tolist()))}")
    paid = pomdp.rewards.copy()
    paid[pomdp.terminal] = 0.0
    for head, table in (("T", None), ("O", pomdp.seen), ("R", paid)):
        where, numbers = _moves(pomdp) if table is None else _entries(table)
        depth = 3 if table is None else table.ndim
        columns = [np.array(names[kind])[i].tolist() for kind, i in zip(TABLES[head], where, strict=False)]
        rest = " : *" * (len(TABLES[head]) - depth)
        entries = zip(zip(*columns, strict=True), numbers.tolist(), strict=True)
        lines += [f"{head}: {' : '.join(place)}{rest} {number!r}" for place, number in entries]
    write(to, "\n".join([*lines, ""]).encode(), "write_pomdp")


def _entries(table: Floats) -> tuple[tuple[Ints, ...], Floats]:
    """The places (a, s, ...) of the entries of a table (S, A, ...) that are not zero, and the entries."""
    by_action = table.swapaxes(0, 1)
    where = np.nonzero(by_action)
    return where, by_action[where]


def _moves(pomdp: TabularPOMDP) -> tuple[tuple[Ints, ...], Floats]:
    """The same of the transitions, without making their table."""
    S, A, K = pomdp.mdp.succ.shape
    s, a, _ = np.indices((S, A, K)).reshape(3, -1)
    p = pomdp.mdp.prob[pomdp.mdp.group].ravel()
    rows = sparse.coo_array((p, (a * S + s, pomdp.mdp.succ.ravel())), shape=(A * S, S)).tocsr()
    rows.sum_duplicates()
    there = rows.data > 0.0
    row = np.repeat(np.arange(A * S), np.diff(rows.indptr))[there]
    return (row // S, row % S, rows.indices[there]), rows.data[there]


def _named(pomdp: TabularPOMDP, *names: tuple[str, ...]) -> NamedPOMDP:
    return NamedPOMDP(pomdp.mdp, pomdp.observed, pomdp.observation_prob, pomdp.rewards, *names)


def _is_name(word: Any) -> bool:
    return isinstance(word, str) and NAME.fullmatch(word) is not None and word not in RESERVED


# Reading -------------------------------------------------------------------------------------------------------------


class _Wrong(Exception):
    """A mistake, and the word of the file at which it is (None: at its end). A colon is a word."""

    def __init__(self, why: str, at: int | None = None) -> None:
        super().__init__(why)
        self.why, self.at = why, at

    def line(self, text: str) -> int:
        """The number of the line."""
        text = _without_comments(text)
        found = islice(re.finditer(r":|[^\s:]+", text), self.at, None) if self.at is not None else iter(())
        word = next(found, None)
        return text.count("\n", 0, word.start() if word else len(text.rstrip())) + 1


def _without_comments(text: str) -> str:
    return re.sub("#.*", "", text) if "#" in text else text


def _words(text: str) -> list[str]:
    return _without_comments(text).replace(":", " : ").split()


class _Reading:
    """The words of a file, and its statements: keywords, where the words after `keyword:` begin and end, and colons.

    Large files consist of a few large matrices or of many statements with one number. Both are read in bulk.
    """

    def __init__(self, text: str) -> None:
        if (found := BINARY.search(text)) is not None:
            raise _Wrong("it is binary, not text", len(_words(text[: found.start()])))
        self.words = words = _words(text)
        if not words:
            raise _Wrong("it is empty", 0)
        colons = [i for i, word in enumerate(words) if word == ":"]
        heads = [j for j, i in enumerate(colons) if i and words[i - 1] in ENDS]
        keywords = [words[colons[j] - 1] for j in heads]
        begin = np.array([colons[j] + 1 for j in heads], np.int64)
        opening = begin - 2
        for j, keyword in enumerate(keywords):
            if keyword in CHOICES:
                opening[j] -= 1
                if words[opening[j]] != "start" or not begin[j] > 2:
                    raise _Wrong(f"'{keyword}:' must follow the word 'start'", int(begin[j]) - 2)
                keywords[j] = f"start {keyword}"
        if not keywords or opening[0] != 0:
            self.unknown(0)
        self.keywords, self.begin = np.array(keywords), begin
        self.end = np.array([*opening[1:].tolist(), len(words)])
        self.colons = np.diff([*heads, len(colons)])
        """The colons of each statement, with that of its keyword: the number of its names."""

    def unknown(self, at: int) -> NoReturn:
        """Refuse a word that stands where a statement begins."""
        raise _Wrong(f"'{_short(self.words[at])}' is none of the words {', '.join(KEYWORDS)}", at)

    def pomdp(self, terminal: Sequence[str | int]) -> NamedPOMDP:
        """The POMDP of the statements."""
        given: dict[str, tuple[str, int, int]] = {}
        for i in np.flatnonzero(~np.isin(self.keywords, list(TABLES))).tolist():
            keyword, begin, end = str(self.keywords[i]), int(self.begin[i]), int(self.end[i])
            word = keyword.partition(" ")[0]
            if word in given:
                raise _Wrong(f"'{word}:' is there twice", begin - 1)
            if self.colons[i] > 1:
                self.unknown(max(self.words.index(":", begin) - 1, begin))
            given[word] = keyword, begin, end
        gamma = self.discount(*given["discount"][1:]) if "discount" in given else 1.0
        sign = self.sign(*given["values"][1:]) if "values" in given else 1.0
        for word in LISTS:
            if word not in given:
                raise _Wrong(f"there is no '{word}:'")
        self.names = {kind: self.listed(*given[word]) for word, kind in LISTS.items()}
        self.size = {kind: len(names) for kind, names in self.names.items()}
        self.index = {
            kind: {"*": ALL} | {str(i): i for i in range(len(names))} | {x: i for i, x in enumerate(names)}
            for kind, names in self.names.items()
        }
        start = self.start(*given["start"]) if "start" in given else None
        self.reset = np.full(self.size["state"], 1.0 / self.size["state"]) if start is None else start
        moves = self.moves()
        P = self.rows("T", self.table("T")) if moves is None else moves
        seen, R = self.rows("O", self.table("O")), self.table("R")
        told = sequence("read_pomdp", "terminal", terminal, "a sequence of states")
        ends: list[Any] = [self.index["state"].get(x, x) if isinstance(x, str) else x for x in told]
        make: Callable[..., TabularPOMDP] = TabularPOMDP.from_dense if moves is None else TabularPOMDP.from_sparse
        plain = make(P, seen, R if sign > 0.0 else 0.0 - R, gamma, start, ends)
        return _named(plain, *(self.names[kind] for kind in LISTS.values()))

    # The preamble ----------------------------------------------------------------------------------------------------

    def discount(self, begin: int, end: int) -> float:
        """The discount."""
        gamma = float(self.numbers(range(begin, end), 1)[0])
        if not 0.0 <= gamma <= 1.0:
            raise _Wrong(f"the discount must be in [0, 1], not {self.words[begin]}", begin)
        return gamma

    def sign(self, begin: int, end: int) -> float:
        """1 for rewards, -1 for costs."""
        said = " ".join(self.words[begin:end])
        if said not in SIGNS:
            raise _Wrong(f"'values:' must be 'reward' or 'cost', not '{_short(said)}'", begin - 1)
        return SIGNS[said]

    def listed(self, keyword: str, begin: int, end: int) -> tuple[str, ...]:
        """The names of states, actions or observations."""
        words = self.words[begin:end]
        if not words or (len(words) == 1 and not _is_name(words[0])):
            said = "".join(words)
            if not (said.isdecimal() and said.isascii() and said.strip("0")):
                raise _Wrong(f"'{keyword}:' must be followed by names or their number, not '{said}'", begin - 1)
            digits = said.lstrip("0")
            if len(digits) > len(str(MOST)) or int(digits) > min(MOST, max(NAMES, len(self.words))):
                raise _Wrong(f"{_short(said)} {keyword} are too many", begin)
            return tuple(map(str, range(int(digits))))
        known: set[str] = set()
        for at, word in enumerate(words, begin):
            if not _is_name(word):
                raise _Wrong(f"'{_short(word)}' cannot be the name of one of the {keyword}", at)
            if word in known:
                raise _Wrong(f"'{_short(word)}' is there twice among the {keyword}", at)
            known.add(word)
        return tuple(words)

    def start(self, keyword: str, begin: int, end: int) -> F1:
        """The distribution of the first state."""
        S, said = self.size["state"], self.words[begin:end]
        if keyword == "start" and said == ["uniform"]:
            return np.full(S, 1.0 / S)
        one = len(said) == 1 and (NAME.match(said[0]) or (said[0].isdecimal() and (S > 1 or said == ["0"])))
        if keyword == "start" and not one:
            first = self.numbers(range(begin, end), S, 0.0)
            total = float(first.sum())
            if abs(total - 1.0) > ROUNDED:
                raise _Wrong(f"the start sums to {total:.9g}, not to 1", begin)
            return first if abs(total - 1.0) <= ROW_SUM_TOLERANCE else first / total
        chosen = np.zeros(S, np.bool_)
        for at in range(begin, end):
            chosen[_axis(self.position("state", at, end))] = True
        if keyword == "start exclude":
            chosen = ~chosen
        if begin == end or not chosen.any():
            raise _Wrong(f"'{keyword}:' leaves no state", begin - 1)
        return np.asarray(chosen / chosen.sum(), np.float64)

    # Tables ----------------------------------------------------------------------------------------------------------

    def table(self, head: str) -> Floats:
        """The table of T, O or R; its axes are state, action, and what follows, less those on which no R depends."""
        kinds, low = TABLES[head], -np.inf if head == "R" else 0.0
        whole, shape = len(kinds), [self.size[kind] for kind in kinds]
        begin, end, n = (x[self.keywords == head] for x in (self.begin, self.end, self.colons))
        entry = (n == whole) & (end - begin == 2 * whole)  # one number
        places = np.full((len(begin), whole), ALL)
        x = self.entries(head, begin[entry], places, entry, low)
        depth = whole
        while head == "R" and depth > 2 and entry.all() and (places[:, depth - 1] == ALL).all():
            depth -= 1
        most = min(MOST, max(DENSE, PER_WORD * len(self.words)))
        if prod(shape[:depth]) > most:
            raise _Wrong(f"the table {head} has {prod(shape[:depth])} entries, more than {most}")
        table = np.zeros((shape[1], shape[0], *shape[2:depth]))
        by_action = table.swapaxes(0, 1)
        pattern = np.where(entry, (places == ALL)[:, :depth] @ 2 ** np.arange(depth), -1 - np.arange(len(entry)))
        runs = [*np.flatnonzero(np.diff(pattern, prepend=-(2**62))).tolist(), len(entry)]
        for i, j in pairwise(runs):  # statements that put numbers on the same axes, or one with a row or matrix
            if not entry[i]:
                where, block = self.block(head, int(begin[i]), int(end[i]), int(n[i]), shape, low)
                by_action[where] = block
                continue
            free = [k for k in range(depth) if places[i, k] == ALL]
            named = [k for k in range(depth) if k not in free]
            if not named:
                i = j - 1
            by_entry = by_action.transpose(named + free)
            by_entry[tuple(places[i:j, k] for k in named)] = x[i:j].reshape((-1,) + (1,) * len(free))
        return table

    def moves(self) -> sparse.csr_array | None:
        """T of a large problem, (S*A, S), without its table; None if it is small or has rows, matrices or `s : *`."""
        S, A = self.size["state"], self.size["action"]
        begin, end, n = (x[self.keywords == "T"] for x in (self.begin, self.end, self.colons))
        if S * A * S <= DENSE or not ((n == 3) & (end - begin == 6)).all():
            return None
        places = np.full((len(begin), 3), ALL)
        x = self.entries("T", begin, places, np.ones(len(begin), np.bool_), 0.0)
        a, s, y = places.T
        if (y == ALL).any():
            return None
        each = np.where(a == ALL, A, 1) * np.where(s == ALL, S, 1)
        i = np.repeat(np.arange(len(x)), each)
        copy = np.arange(len(i)) - np.repeat(np.cumsum(each) - each, each)
        a, s = np.where(a[i] == ALL, copy % A, a[i]), np.where(s[i] == ALL, copy // np.where(a[i] == ALL, A, 1), s[i])
        cell = (s * A + a) * S + y[i]
        cell, last = np.unique(cell[::-1], return_index=True)  # a later statement wins
        p = x[i][::-1][last]
        total = np.asarray(np.bincount(cell // S, p, S * A), np.float64).reshape(S, A)
        self.rows("T", total[:, :, None].copy())  # which refuses bad rows
        rounded = np.abs(total - 1.0) > ROW_SUM_TOLERANCE
        p = p / np.where(rounded, total, 1.0).ravel()[cell // S]
        return sparse.csr_array((p[p > 0.0], (cell[p > 0.0] // S, cell[p > 0.0] % S)), shape=(S * A, S))

    def entries(self, head: str, begin: Ints, places: Ints, entry: Bools, low: float) -> F1:
        """Read the statements that have one number: put their places into the rows `entry`, and return the numbers."""
        kinds, words = TABLES[head], self.words
        for k, kind in enumerate(kinds):
            index, at = self.index[kind], (begin + 2 * k).tolist()
            try:
                places[entry, k] = [index[words[i]] for i in at]
            except KeyError:
                places[entry, k] = [self.position(kind, i, i + 1) for i in at]
        x = np.zeros(len(entry))
        x[entry] = self.numbers((begin + 2 * len(kinds) - 1).tolist(), len(begin), low)
        return x

    def block(
        self, head: str, begin: int, end: int, n: int, shape: Sequence[int], low: float
    ) -> tuple[tuple[int | slice, ...], Floats]:
        """The place and the contents of the row or matrix of a statement with n names."""
        kinds, where = TABLES[head], list[int | slice]()
        for k, at in enumerate(range(begin, begin + 2 * n, 2)):
            if k == len(kinds):
                self.unknown(at - 2)
            where.append(_axis(self.position(kinds[k], at, end)))
            if k < n - 1 and (colon := self.words.index(":", at)) != at + 1:
                self.unknown(colon - 1)
        if head == "R" and n == 1:
            raise _Wrong("'R:' must be followed by an action, a colon and a state", begin)
        begin += 2 * n - 1
        said = self.words[begin] if end - begin == 1 else ""
        if said == "uniform" and head != "R":
            return tuple(where), np.full(shape[-1], 1.0 / shape[-1])
        if said == "identity" and head == "T" and n == 1:
            return tuple(where), np.eye(shape[-1])
        if said == "reset" and head == "T" and n == 2:
            return tuple(where), self.reset
        return tuple(where), self.numbers(range(begin, end), prod(shape[n:]), low).reshape(shape[n:])

    def position(self, kind: str, at: int, end: int) -> int:
        """The place that a word means, in a statement that ends at `end`."""
        if at >= end or self.words[at] == ":":
            raise _Wrong(f"the name of {'a' if kind == 'state' else 'an'} {kind} is missing", at - 1)
        word, n = self.words[at], self.size[kind]
        if word in self.index[kind]:
            return self.index[kind][word]
        if word.isdecimal() and word.isascii():
            digits = word.lstrip("0") or "0"  # 007
            if len(digits) < 10 and int(digits) < n:
                return int(digits)
            raise _Wrong(f"there is no {kind} {_short(word)}: they are numbered from 0 to {n - 1}", at)
        raise _Wrong(f"there is no {kind} called '{_short(word)}'", at)

    def numbers(self, at: range | list[int], need: int, low: float = -np.inf) -> F1:
        """The words at these places as numbers."""
        words = self.words[at.start : at.stop] if isinstance(at, range) else [self.words[i] for i in at]
        try:
            if not NUMBERS.fullmatch(" ".join(words)):
                raise ValueError
            found = np.fromiter(map(float, words), np.float64, len(words))
        except ValueError:
            i, word = next((i, word) for i, word in zip(at, words, strict=True) if not NUMBER.fullmatch(word))
            raise _Wrong(f"'{_short(word)}' is not a number", i) from None
        if len(words) != need:
            first = at.start if isinstance(at, range) else at[0]
            place = first + (need if len(words) > need else len(words) - 1)
            raise _Wrong(f"{need} number{'s' * (need > 1)} must be here, not {len(words)}", place)
        bad = ~np.isfinite(found) | (found < low)
        if bad.any():
            j = int(bad.argmax())
            raise _Wrong(f"{_short(words[j])} is {'negative' if isfinite(found[j]) else 'not finite'}", at[j])
        return found

    def rows(self, head: str, table: Floats) -> Floats:
        """The table with rows that sum to one."""
        total = table.sum(axis=-1)
        bad = np.abs(total - 1.0) > ROUNDED
        if bad.any():
            s, a = (int(i) for i in np.argwhere(bad)[0])
            row = f"the row of {head} for action '{self.names['action'][a]}' and state '{self.names['state'][s]}'"
            at = self.row_at(head, s, a)
            raise _Wrong(f"{row} is missing" if at is None else f"{row} sums to {total[s, a]:.9g}, not to 1", at)
        rounded = np.abs(total - 1.0) > ROW_SUM_TOLERANCE
        table[rounded] /= total[rounded][:, None]
        return table

    def row_at(self, head: str, s: int, a: int) -> int | None:
        """The place of the first number of the last statement about a row; None if there is none."""
        for i in reversed(np.flatnonzero(self.keywords == head).tolist()):
            begin, end, n = int(self.begin[i]), int(self.end[i]), int(self.colons[i])
            if self.position("action", begin, end) not in (a, ALL):
                continue
            if n == 1:
                return begin + 1 + s * ((end - begin) // self.size["state"])  # uniform and identity are right
            if self.position("state", begin + 2, end) in (s, ALL):
                return begin + 2 * n - 1
        return None


def _axis(place: int) -> int | slice:
    return slice(None) if place == ALL else place


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:37] + "..."
