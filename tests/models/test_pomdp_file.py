"""Cassandra's files: what they say, what is refused and at which line, and how long a large one takes."""

import itertools
import re

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.models import NamedPOMDP, TabularPOMDP, read_pomdp, write_pomdp
from bayesrl.registry import make_world

TIGER = """
# The tiger problem
discount: 0.95
values: reward
states: tiger-left tiger-right
actions: listen open-left open-right
observations: tiger-left tiger-right

start: 0.5 0.5

T:listen
identity

T:open-left
uniform

T:open-right
uniform

O:listen
0.85 0.15
0.15 0.85

O:open-left
uniform

O:open-right
uniform

R:listen : * : * : * -1

R:open-left : tiger-left : * : * -100

R:open-left : tiger-right : * : * 10

R:open-right : tiger-left : * : * 10

R:open-right : tiger-right : * : * -100
"""
TIGER_75 = """discount:.75 values:reward
states: 2
actions: 3
observations: 2
T: 0 identity T: 1 uniform T: 2 uniform
O: 0
.85 .15
.15 .85
O: 1 uniform
O: 2 uniform
R: * : * : * : * -1   # listening; the doors are below
R: 1 : 0
-100 -100 # s' = 0
-100 -100 # s' = 1
R: 1 : 1 : * 10 10
R: 2 : 0 : * : * 10
R: 2 : 1 : 0 : * -100
R: 2 : 1 : 1 : 0 -100
R: 2 : 1 : 1 : 1 -100
"""


def read_text(body="", head="states: 2 actions: 2 observations: 2\n", rest="T: * identity\nO: * uniform\n"):
    return read_pomdp(head + rest + body)


# What a file says ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "gamma"), [(TIGER, 0.95), (TIGER_75, 0.75)])
def test_the_tiger(text, gamma):
    pomdp = read_pomdp(text)
    P, seen, r = pomdp.dense()
    half = np.full((2, 2), 0.5)
    np.testing.assert_array_equal(P.swapaxes(0, 1), [np.eye(2), half, half])
    np.testing.assert_array_equal(seen.swapaxes(0, 1), [[[0.85, 0.15], [0.15, 0.85]], half, half])
    np.testing.assert_array_equal(r, [[-1, -100, 10], [-1, 10, -100]])
    np.testing.assert_array_equal(pomdp.start, [0.5, 0.5])
    assert pomdp.rewards.shape == (2, 3)
    assert pomdp.gamma == gamma


def test_names():
    pomdp = read_pomdp(TIGER)
    assert pomdp.state_names == pomdp.observation_names == ("tiger-left", "tiger-right")
    assert pomdp.action_names == ("listen", "open-left", "open-right")
    assert read_pomdp(TIGER_75).action_names == ("0", "1", "2")
    assert repr(pomdp) == "NamedPOMDP(states=2, actions=3, observations=2, gamma=0.95)"


KEYWORDS = ("discount", "values", "states", "actions", "observations", "start", "T", "O", "R")


def naive(text):
    """Read a right file: one word after the other, one cell after the other. Gives P, O, R[s, a, s', o] and start."""
    words = []
    for line in text.split("\n"):
        words += line.split("#")[0].replace(":", " : ").split()
    statements = []  # [keyword, names, values], in which every colon but the first is followed by a name
    i = 0
    while i < len(words):
        keyword, i = words[i], i + 1
        if words[i] in ("include", "exclude"):
            keyword, i = keyword + " " + words[i], i + 1
        assert words[i] == ":"
        i += 1
        names, values = [], []
        if keyword in ("T", "O", "R"):
            names, i = [words[i]], i + 1
            while i < len(words) and words[i] == ":":
                names, i = [*names, words[i + 1]], i + 2
        while i < len(words) and words[i] not in KEYWORDS:
            values, i = [*values, words[i]], i + 1
        statements.append((keyword, names, values))
    known = {}
    for keyword, _, values in statements:
        if keyword in ("states", "actions", "observations"):
            known[keyword] = [str(n) for n in range(int(values[0]))] if values[0].isdigit() else values
    states, actions, sights = known["states"], known["actions"], known["observations"]
    S, A, Z = len(states), len(actions), len(sights)

    def those(word, among):
        if word == "*":
            return range(len(among))
        return [int(word) if word.isdigit() else among.index(word)]

    start, sign = np.ones(S) / S, 1
    for keyword, _, values in statements:
        if keyword == "values" and values[0].startswith("cost"):
            sign = -1
        if keyword in ("start include", "start exclude"):
            listed = [those(word, states)[0] for word in values]
            start = np.array([float((s in listed) == (keyword == "start include")) for s in range(S)])
            start /= start.sum()
        if keyword == "start" and values != ["uniform"]:
            start = np.zeros(S)
            if len(values) == 1:
                start[those(values[0], states)[0]] = 1
            else:
                for s in range(S):
                    start[s] = float(values[s])
    P, seen, R = np.zeros((S, A, S)), np.zeros((S, A, Z)), np.zeros((S, A, S, Z))
    for keyword, names, values in statements:
        if keyword not in ("T", "O", "R"):
            continue
        second = {"T": S, "O": Z}.get(keyword)
        for a in those(names[0], actions):
            for s in those(names[1], states) if len(names) > 1 else range(S):
                if keyword == "R":
                    for y in those(names[2], states) if len(names) > 2 else range(S):
                        for o in those(names[3], sights) if len(names) > 3 else range(Z):
                            place = {2: y * Z + o, 3: o, 4: 0}[len(names)]
                            R[s, a, y, o] = sign * float(values[place])
                    continue
                table, among = (P, states) if keyword == "T" else (seen, sights)
                for y in those(names[2], among) if len(names) > 2 else range(second):
                    if values == ["uniform"]:
                        table[s, a, y] = 1 / second
                    elif values == ["identity"]:
                        table[s, a, y] = float(s == y)
                    elif values == ["reset"]:
                        table[s, a, y] = start[y]
                    else:
                        place = {1: s * second + y, 2: y, 3: 0}[len(names)]
                        table[s, a, y] = float(values[place])
    for table in (P, seen):
        for s in range(S):
            for a in range(A):
                table[s, a] /= table[s, a].sum()
    return P, seen, R, start


class Author:
    """Writes random files that use every construct."""

    def __init__(self, seed):
        self.rng = rng = default_rng(seed)
        self.sizes = dict(zip("say", rng.integers(1, 4, 3).tolist(), strict=True))
        self.sizes["s"] += 1
        self.named = {kind: rng.random() < 0.5 for kind in "say"}
        self.out = []

    def flip(self, p=0.5):
        return self.rng.random() < p

    def word(self, kind, i=None, stars=0.3):
        if i is None and self.flip(stars):
            return "*"
        i = int(self.rng.integers(self.sizes[kind])) if i is None else i
        return f"{'name-' * (kind == 's')}{kind}{i}" if self.named[kind] and self.flip(0.7) else str(i)

    def row(self, n):
        """A distribution, with six digits or all of them."""
        row = self.rng.dirichlet(np.ones(n))
        return [f"{x:.6f}" for x in row] if self.flip() else [repr(x) for x in row.tolist()]

    def put(self, head, *parts):
        """A statement with random blanks, line ends and comments."""
        *names, values = parts
        colon = [":", " : ", ": ", "\n:\n", " :# a : comment\n"][self.rng.integers(5)]
        between = [" ", "\n", "\t"][self.rng.integers(3)]
        self.out.append(f"{head}{colon}{colon.join(names)}{' ' if names else ''}{between.join(values)}")

    def rows_of(self, head, kind):
        n, S = self.sizes[kind], self.sizes["s"]
        for _ in range(self.rng.integers(4)):  # of no consequence
            self.put(head, self.word("a"), self.word("s"), self.word(kind), [repr(self.rng.random())])
        for a in self.rng.permutation(self.sizes["a"]).tolist():
            match self.rng.integers(4):
                case 0:
                    self.put(head, self.word("a", a), [x for _ in range(S) for x in self.row(n)])
                case 1:
                    self.put(head, self.word("a", a), ["identity" if head == "T" and self.flip() else "uniform"])
                case 2:
                    for s in range(S):
                        self.put(head, self.word("a", a), self.word("s", s), self.row(n))
                case _:
                    self.put(head, self.word("a", a), "*", "*", ["0"])
                    for s, (y, p) in itertools.product(range(S), enumerate(self.row(n))):
                        self.put(head, self.word("a", a), self.word("s", s), self.word(kind, y), [p])
        for _ in range(self.rng.integers(4)):
            special = ["uniform"] if head == "O" or self.flip() else ["reset"]
            self.put(head, self.word("a"), self.word("s"), self.row(n) if self.flip() else special)

    def rewards(self):
        def number():
            return [f"{self.rng.normal():.2f}", str(self.rng.integers(-9, 9)), f"{self.rng.normal():e}"][
                self.rng.integers(3)
            ]

        S, Z = self.sizes["s"], self.sizes["y"]
        least, stars = int(self.rng.integers(2, 5)), self.rng.random()
        for _ in range(self.rng.integers(20)):
            n = int(self.rng.integers(least, 5))
            names = [self.word(kind, stars=stars) for kind in "assy"[:n]]
            self.put("R", *names, [number() for _ in range([S * Z, Z, 1][n - 2])])

    def file(self):
        words = {"s": "states", "a": "actions", "y": "observations"}
        S = self.sizes["s"]
        preamble = [("discount", ["0.9"]), ("values", [["reward", "rewards", "cost", "costs"][self.rng.integers(4)]])]
        for kind, word in words.items():
            n = self.sizes[kind]
            names = [f"{'name-' * (kind == 's')}{kind}{i}" for i in range(n)]
            preamble.append((word, names if self.named[kind] else [str(n)]))
        for i in self.rng.permutation(5):
            self.put(preamble[i][0], preamble[i][1])
        match self.rng.integers(6):
            case 0:
                self.put("start", self.row(S))
            case 1:
                self.put("start", ["uniform"])
            case 2:
                self.put("start", [self.word("s", 1)])
            case 3:
                self.put("start include", [self.word("s", i) for i in range(S) if i == 0 or self.flip()])
            case 4:
                self.put("start exclude", [self.word("s", i) for i in range(1, S) if i == 1 or self.flip()])
        parts = [lambda: self.rows_of("T", "s"), lambda: self.rows_of("O", "y"), self.rewards]
        for i in self.rng.permutation(3):
            parts[i]()
        return "\n".join(self.out) + "\n" * int(self.rng.integers(2))


@pytest.mark.parametrize("seed", range(150))
def test_random_files_say_what_a_naive_reader_finds(seed):
    text = Author(seed).file()
    P, seen, R, start = naive(text)
    pomdp = read_pomdp(text)
    np.testing.assert_allclose(pomdp.dense()[0], P, rtol=0, atol=1e-12)
    np.testing.assert_allclose(pomdp.dense()[1], seen, rtol=0, atol=1e-12)
    mine = pomdp.rewards.reshape(pomdp.rewards.shape + (1,) * (4 - pomdp.rewards.ndim))
    np.testing.assert_array_equal(np.broadcast_to(mine, R.shape), R)
    np.testing.assert_allclose(pomdp.start, start, rtol=0, atol=1e-6)
    np.testing.assert_allclose(pomdp.start.sum(), 1.0, atol=1e-9)


def test_a_later_line_wins():
    """Also within many lines of one form, and where a name comes before a star and after it."""
    body = "".join(f"R: 0 : 1 : 0 : 1 {n}\n" for n in range(1000))
    assert read_text(body).reward(1, 0, 0, 1) == 999
    body = "".join(f"R: 1 : * : {n % 2} : * {n}\nR: 1 : * : {n % 2} : * {-n}\n" for n in range(1000))
    np.testing.assert_array_equal(read_text(body).rewards, [[[0, 0], [-998, -999]]] * 2)
    body = "R: 0 : 0 : * : * 5\nR: * : * : * : * 1\nR: 1 : 0 : * : * 2\nR: * : 0 : 1 : * 3\n"
    pomdp = read_text(body)
    np.testing.assert_array_equal(pomdp.rewards, [[[1, 3], [2, 3]], [[1, 1], [1, 1]]])


def test_rounded_rows_are_divided():
    head = "states: 3 actions: 1 observations: 56\n"
    seen = " ".join([".017865", *[".017857"] * 55])
    pomdp = read_pomdp(head + f"T: 0 : * .333333 .333333 .333333 O: 0 : * {seen}")
    P, O, _ = pomdp.dense()
    np.testing.assert_allclose(P, 1 / 3, rtol=1e-15)
    np.testing.assert_allclose(O.sum(axis=-1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(O[0, 0, 0] / O[0, 0, 1], 0.017865 / 0.017857, rtol=1e-14)
    read_text("T: 0 : 0 .5 .4999")
    read_text("T: 0 : 0 .5 .5001")


def test_what_is_missing_is_not_guessed():
    pomdp = read_text()
    assert pomdp.gamma == 1.0
    np.testing.assert_array_equal(pomdp.start, [0.5, 0.5])
    np.testing.assert_array_equal(pomdp.rewards, 0.0)
    assert not pomdp.terminal.any()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("start: 1", [0, 1, 0]),
        ("start: b", [0, 1, 0]),
        ("start: 002", [0, 0, 1]),
        ("start: uniform", [1 / 3, 1 / 3, 1 / 3]),
        ("start:.5 0 .5", [0.5, 0, 0.5]),
        ("start: .333333 .333333 .333333", [1 / 3, 1 / 3, 1 / 3]),
        ("start include: a 2", [0.5, 0, 0.5]),
        ("start   include:1", [0, 1, 0]),
        ("start exclude: a", [0, 0.5, 0.5]),
        ("start\nexclude : 0 b", [0, 0, 1]),
        ("start include: *", [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_starts(line, expected):
    pomdp = read_text("T: 0 : c reset", head=f"states: a b c\nactions: 1\nobservations: 1\n{line}\n")
    np.testing.assert_allclose(pomdp.start, expected, rtol=1e-15)
    np.testing.assert_array_equal(pomdp.dense()[0][2, 0], pomdp.start)


@pytest.mark.parametrize("line", ["start: 0", "start: 1", "start: 1.0", "start: only", "start: uniform", ""])
def test_one_state(line):
    assert read_text(head=f"states: only actions: 1 observations: 1 {line} ").start.tolist() == [1.0]


def test_ends():
    """States that end an episode, which the format does not know."""
    body = "R: * : * : * : * 5"
    pomdp = read_pomdp(f"states: a b c actions: 1 observations: 1 T: 0 uniform O: 0 uniform {body}", terminal=["b", 2])
    np.testing.assert_array_equal(pomdp.terminal, [False, True, True])
    np.testing.assert_array_equal(pomdp.start, [1, 0, 0])
    with pytest.raises(InvalidArgument, match="terminal"):
        read_pomdp(TIGER, terminal=["nobody"])
    with pytest.raises(InvalidArgument, match="terminal"):
        read_pomdp(TIGER, terminal=3)


# Writing -------------------------------------------------------------------------------------------------------------


def random_pomdp(seed, depends, terminal=()):
    rng = default_rng(seed)
    S, A, Z = rng.integers(1, 5, 3)
    P, seen = rng.dirichlet(np.full(S, 0.5), (S, A)), rng.dirichlet(np.ones(Z), (S, A))
    P[0, 0] = np.eye(S)[-1]
    R = rng.normal(size=(S, A, S, Z)[:depends]) * 10.0 ** rng.integers(-20, 20, (S, A, S, Z)[:depends])
    R[rng.random(R.shape) < 0.2] = 0.0
    return TabularPOMDP.from_dense(P, seen, R, rng.random(), rng.dirichlet(np.ones(S)), terminal)


@pytest.mark.parametrize("depends", [2, 3, 4])
def test_what_was_written_is_read(depends, tmp_path):
    """Equal arrays, to the last digit."""
    for seed in range(30):
        pomdp = random_pomdp(seed, depends)
        write_pomdp(pomdp, tmp_path / "some.pomdp")
        back = read_pomdp(tmp_path / "some.pomdp")
        for one, two in zip((*pomdp.dense(), pomdp.start), (*back.dense(), back.start), strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(back.rewards, pomdp.rewards)
        assert back.rewards.shape == pomdp.rewards.shape
        assert back.gamma == pomdp.gamma
        assert back == NamedPOMDP(pomdp.mdp, pomdp.observed, pomdp.observation_prob, pomdp.rewards)


def test_names_are_written(tmp_path):
    path = tmp_path / "tiger.pomdp"
    tiger = read_pomdp(TIGER)
    write_pomdp(tiger, str(path))
    assert read_pomdp(str(path)) == tiger
    assert "R: open-left : tiger-left : * : * -100.0\n" in path.read_text()
    assert naive(path.read_text())[2][1, 2, 0, 1] == -100


def test_ends_are_written_as_states_that_pay_nothing(tmp_path):
    P, seen = np.full((3, 1, 3), 1 / 3), np.ones((3, 1, 1))
    pomdp = TabularPOMDP.from_dense(P, seen, np.full((3, 1), 7.0), gamma=1.0, terminal=[2])
    write_pomdp(pomdp, tmp_path / "some.pomdp")
    plain, back = read_pomdp(tmp_path / "some.pomdp"), read_pomdp(tmp_path / "some.pomdp", terminal=[2])
    np.testing.assert_array_equal(plain.rewards, [[7], [7], [0]])
    np.testing.assert_array_equal(plain.dense()[0][2, 0], [0, 0, 1])
    np.testing.assert_array_equal(plain.start, pomdp.start)
    np.testing.assert_array_equal(back.terminal, pomdp.terminal)


# What is refused -----------------------------------------------------------------------------------------------------

HEAD = "states: a b\nactions: go stay\nobservations: x y\n"
REST = "T: * identity\nO: * uniform\n"
BAD = {
    # name: (text, line, words of the sentence)
    "empty": ("", 1, "it is empty"),
    "only comments": ("# nothing\n# here\n", 1, "it is empty"),
    "binary": ("states: 2\n\x00\x01\x02", 2, "binary"),
    "prose": ("Dear reader,\nthis is a letter\n", 1, "'Dear' is none of the words"),
    "unknown word": (HEAD + REST + "horizon: 3\n", 6, "'horizon' is none of the words"),
    "unknown word first": ("horizon: 3\n" + HEAD + REST, 1, "'horizon' is none of the words"),
    "unknown word in the preamble": ("states: a b\nhorizon: 3\n", 2, "'horizon' is none of the words"),
    "include alone": (HEAD + "include: a\n" + REST, 4, "'include:' must follow"),
    "two preambles": (HEAD + REST + HEAD + REST, 6, "'states:' is there twice"),
    "two starts": (HEAD + "start: a\nstart include: b\n" + REST, 5, "'start:' is there twice"),
    "no states": ("actions: 2\nobservations: 2\n" + REST, 4, "there is no 'states:'"),
    "no actions": ("states: 2\nobservations: 2\n" + REST, 4, "there is no 'actions:'"),
    "no observations": ("states: 2\nactions: 2\n" + REST, 4, "there is no 'observations:'"),
    "nothing after states": ("states:\nactions: 2\nobservations: 2\n", 1, "names or their number"),
    "zero states": ("actions: 2\nstates: 0\nobservations: 2\n", 2, "names or their number, not '0'"),
    "negative states": ("states: -2\nactions: 2\nobservations: 2\n", 1, "names or their number, not '-2'"),
    "half a state": ("states: 2.5\nactions: 2\nobservations: 2\n", 1, "names or their number, not '2.5'"),
    "too many states": ("states: 99999999999\nactions: 2\nobservations: 2\n", 1, "too many"),
    "a table too large": ("states: 99999\nactions: 2\nobservations: 2\n" + REST, 5, "more than"),
    "a name with a digit": ("states: a\n2b\nactions: 2\nobservations: 2\n", 2, "'2b' cannot be the name"),
    "names and numbers": ("states: a 3\nactions: 2\nobservations: 2\n", 1, "'3' cannot be the name"),
    "a name twice": ("states: a\nb\na\nactions: 2\nobservations: 2\n", 3, "'a' is there twice"),
    "a reserved name": ("states: a uniform\nactions: 2\nobservations: 2\n", 1, "'uniform' cannot be the name"),
    "discount above one": ("discount: 1.5\n" + HEAD + REST, 1, "the discount must be in [0, 1], not 1.5"),
    "discount NaN": ("discount: nan\n" + HEAD + REST, 1, "'nan' is not a number"),
    "no discount": ("discount:\n" + HEAD + REST, 1, "1 number must be here, not 0"),
    "neither reward nor cost": ("values: money\n" + HEAD + REST, 1, "'reward' or 'cost', not 'money'"),
    "unknown state": (HEAD + REST + "T: go : c : a 1\n", 6, "there is no state called 'c'"),
    "unknown action": (HEAD + REST + "T: fly identity\n", 6, "there is no action called 'fly'"),
    "unknown observation": (HEAD + REST + "O: go : a : z 1\n", 6, "there is no observation called 'z'"),
    "a name of the wrong kind": (HEAD + REST + "O: go : x : a 1\n", 6, "there is no state called 'x'"),
    "state out of range": (HEAD + REST + "T: 0 : 2 : 0 1\n", 6, "there is no state 2: they are numbered from 0 to 1"),
    "negative place": (HEAD + REST + "T: -1 identity\n", 6, "there is no action called '-1'"),
    "name missing": (HEAD + REST + "T: go : : a 1\n", 6, "the name of a state is missing"),
    "name missing at the end": (HEAD + REST + "T:", 6, "the name of an action is missing"),
    "colon missing": (HEAD + REST + "T: go a : b 1\n", 6, "'a' is none of the words"),
    "too many colons": (HEAD + REST + "T: go : a : b : 1\n", 6, "'b' is none of the words"),
    "R without state": (HEAD + REST + "R: go 1 2 3 4\n", 6, "'R:' must be followed by an action, a colon and a state"),
    "not a number": (HEAD + REST + "R: go : a : a : x\nmuch\n", 7, "'much' is not a number"),
    "NaN": (HEAD + REST + "T: go\n1 0\nnan 1\n", 8, "'nan' is not a number"),
    "NaN reward": (HEAD + REST + "R: * : * : * : * NaN\n", 6, "'NaN' is not a number"),
    "infinite": (HEAD + REST + "R: * : * : * : * inf\n", 6, "'inf' is not a number"),
    "too large": (HEAD + REST + "R: * : * : * : * 1e999\n", 6, "1e999 is not finite"),
    "Python's numbers": (HEAD + REST + "R: * : * : * : * 1_000\n", 6, "'1_000' is not a number"),
    "other digits": (HEAD + REST + "R: * : * : * : * \u0663\n", 6, "is not a number"),
    "negative": (HEAD + REST + "T: go : a\n1.5\n-0.5\n", 8, "-0.5 is negative"),
    "negative entry": (HEAD + REST + "O: go : a : x -1\n", 6, "-1 is negative"),
    "truncated matrix": (HEAD + REST + "T: go\n1 0\n0", 8, "4 numbers must be here, not 3"),
    "truncated inside the file": (HEAD + "T: go\n1 0\n1\nO: * uniform", 6, "4 numbers must be here, not 3"),
    "truncated row": (HEAD + REST + "O: go : a\n", 6, "2 numbers must be here, not 0"),
    "truncated reward matrix": (HEAD + REST + "R: go : a\n1 2\n3", 8, "4 numbers must be here, not 3"),
    "truncated entry": (HEAD + REST + "R: go : a : a : x", 6, "1 number must be here, not 0"),
    "long row": (HEAD + REST + "O: go : a\n1 0\n0\n", 8, "2 numbers must be here, not 3"),
    "two numbers": (HEAD + REST + "O: go : a : x 1\n0\n", 7, "1 number must be here, not 2"),
    "identity of observations": (HEAD + REST + "O: go identity\n", 6, "'identity' is not a number"),
    "uniform rewards": (HEAD + REST + "R: go : a uniform\n", 6, "'uniform' is not a number"),
    "a row beyond the rounding": (HEAD + REST + "T: go\n1 0\n.4998 .5\n", 8, "'go' and state 'b' sums to 0.9998"),
    "an entry too much": (
        HEAD + REST + "O: stay : b : x .7\n",
        6,
        "the row of O for action 'stay' and state 'b' sums to",
    ),
    "a row missing": (HEAD + "T: go identity\nO: * uniform\n", 5, "the row of T for action 'stay' and state 'a' is"),
    "a start beyond the rounding": (HEAD + "start: .5\n.4\n" + REST, 4, "the start sums to 0.9, not to 1"),
    "a short start": (HEAD + "start: .5\n" + REST, 4, "2 numbers must be here, not 1"),
    "a start of nobody": (HEAD + "start: c\n" + REST, 4, "there is no state called 'c'"),
    "a start out of range": (HEAD + "start: 2\n" + REST, 4, "there is no state 2"),
    "a start anywhere": (HEAD + "start: *\n" + REST, 4, "'*' is not a number"),
    "a negative start": (HEAD + "start: 1.5 -.5\n" + REST, 4, "-.5 is negative"),
    "everything excluded": (HEAD + "start exclude: a b\n" + REST, 4, "'start exclude:' leaves no state"),
    "nothing included": (HEAD + "start include:\n" + REST, 4, "'start include:' leaves no state"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case, tmp_path):
    """One sentence with the name and the line; also behind comments and with other line ends."""
    text, line, words = BAD[case]
    path = tmp_path / "bad.pomdp"
    for ends in ("\n", "\r\n", "\r"):
        path.write_bytes(text.replace("\n", ends).encode())
        with pytest.raises(UnreadableFile) as error:
            read_pomdp(path)
        said = str(error.value)
        assert said.startswith(f"Cannot read '{path}': line {line}: ")
        assert words in said
        assert said.endswith(".")
        assert "\n" not in said
    if text.strip():
        path.write_text("# A comment : 3\n\n" + text)
        with pytest.raises(UnreadableFile, match=f"line {line + 2 if case != 'only comments' else line}: "):
            read_pomdp(path)


PLACES = {
    # name: (text with ^ before the word at which it is wrong, words of the sentence)
    "binary": ("states: 2 actions: 3 ^\x01 observations: 2", "it is binary"),
    "include first": ("^include: a start", "'include:' must follow the word 'start'"),
    "exclude alone": (HEAD + "discount: 1 ^exclude: a", "'exclude:' must follow the word 'start'"),
    "a second start": (HEAD + "start: a start exclude^: b " + REST, "'start:' is there twice"),
    "a word before a colon": (
        "discount: .9 values: reward states: a b ^horizon: 3 4",
        "'horizon' is none of the words",
    ),
    "two colons": ("values: reward discount: ^: 3", "':' is none of the words"),
    "discount below zero": (HEAD + "discount: ^-0.5 " + REST, "the discount must be in [0, 1], not -0.5"),
    "discount above one": (HEAD + "discount: ^1.001 " + REST, "the discount must be in [0, 1], not 1.001"),
    "two discounts": (HEAD + "discount: .5 ^.6 " + REST, "1 number must be here, not 2"),
    "no discount": (HEAD + "discount^: " + REST, "1 number must be here, not 0"),
    "values": (HEAD + "values^: much money " + REST, "must be 'reward' or 'cost', not 'much money'"),
    "nobody": ("discount: 1 states^: actions: 2 observations: 2", "names or their number, not ''"),
    "too many": ("actions: 2 states: ^99999999999 observations: 2", "99999999999 states are too many"),
    "no name": ("actions: 2 states: a b ^2b observations: 2", "'2b' cannot be the name of one of the states"),
    "a name twice": ("actions: go stay ^go states: a observations: 1", "'go' is there twice among the actions"),
    "start": (HEAD + "start: ^.5 .4 " + REST, "the start sums to 0.9, not to 1"),
    "start of nobody": (HEAD + "start include: a ^c " + REST, "there is no state called 'c'"),
    "start nowhere": (HEAD + "start exclude^: a b " + REST, "'start exclude:' leaves no state"),
    "short start": (HEAD + "start: ^.5 " + REST, "2 numbers must be here, not 1"),
    "long start": (HEAD + "start: .5 .2 ^.2 .1 " + REST, "2 numbers must be here, not 4"),
    "negative start": (HEAD + "start: 1.5 ^-.5 " + REST, "-.5 is negative"),
    "name missing": (HEAD + "T: go ^: : a 1", "the name of a state is missing"),
    "name missing in a block": (HEAD + "T: go ^: : a 1 0", "the name of a state is missing"),
    "nothing after a colon": (HEAD + REST + "O: go ^:", "the name of a state is missing"),
    "a large place": (HEAD + "T: 1 : 0 : ^0012 1", "there is no state 0012: they are numbered from 0 to 1"),
    "nobody in a block": (HEAD + REST + "R: go : a : ^c 1 2", "there is no state called 'c'"),
    "too many colons": (HEAD + REST + "T: go : a : ^b : 1", "'b' is none of the words"),
    "too many names": (HEAD + REST + "R: go : a : b : ^x : y 1 2", "'x' is none of the words"),
    "colon missing": (HEAD + REST + "R: go : a ^b : x 1", "'b' is none of the words"),
    "colon after numbers": (HEAD + REST + "O: go : a 1 ^0 : x", "'0' is none of the words"),
    "R without state": (HEAD + REST + "R: ^go 1 2 3 4", "'R:' must be followed by an action, a colon and a state"),
    "reset of all": (HEAD + REST + "T: go ^reset", "'reset' is not a number"),
    "reset of one": (HEAD + REST + "T: go : a : b ^reset", "'reset' is not a number"),
    "reset of observations": (HEAD + REST + "O: go : a ^reset", "'reset' is not a number"),
    "identity of a row": (HEAD + REST + "T: go : a ^identity", "'identity' is not a number"),
    "identity of rewards": (HEAD + REST + "R: go : a ^identity", "'identity' is not a number"),
    "uniform entry": (HEAD + REST + "T: go : a : b ^uniform", "'uniform' is not a number"),
    "uniform rewards": (HEAD + REST + "R: go : a : b ^uniform", "'uniform' is not a number"),
    "uniform and more": (HEAD + REST + "T: go : a ^uniform 1", "'uniform' is not a number"),
    "a long row": (HEAD + REST + "R: go : a : b 1 2 ^3 4 5", "2 numbers must be here, not 5"),
    "a short row": (HEAD + REST + "R: go : a : b ^1 O: go uniform", "2 numbers must be here, not 1"),
    "a short matrix": (HEAD + REST + "R: go : a 1 2 ^3", "4 numbers must be here, not 3"),
    "no matrix": (HEAD + REST + "T: ^go", "4 numbers must be here, not 0"),
    "an infinite number": (HEAD + REST + "R: go : a 1 2 ^1e400 -3", "1e400 is not finite"),
    "a negative number": (HEAD + REST + "T: go : a : a 1 T: go : b : a ^-.1 T: go : b : b 1.1", "-.1 is negative"),
    "no number": (HEAD + REST + "R: * : * : * : x 1 R: go : a : a : y ^--2", "'--2' is not a number"),
    "a matrix with a wrong row": (
        HEAD + REST + "T: stay .5 .5 ^.25 .5",
        "for action 'stay' and state 'b' sums to 0.75",
    ),
    "a narrow matrix": (
        "states: a b actions: go observations: x T: * identity O: * 1 ^.5",
        "the row of O for action 'go' and state 'b' sums to 0.5",
    ),
    "a wide matrix": (
        "states: a b actions: go observations: x y z T: * identity O: go .1 .2 .7 ^.1 .2 .6",
        "the row of O for action 'go' and state 'b' sums to 0.9",
    ),
    "a wrong row": (HEAD + REST + "T: * : b ^.5 .25 T: go : a .5 .5 T: stay identity", "state 'b' sums to 0.75"),
    "a wrong entry": (HEAD + REST + "T: go : * : b ^.5 T: stay : a : b 0", "'go' and state 'a' sums to 1.5"),
}


@pytest.mark.parametrize("case", PLACES)
def test_the_word_at_which_a_file_is_wrong(case):
    """Every word stands on a line of its own, so that the line in the sentence is the number of the word."""
    text, why = PLACES[case]
    before, after = (part.replace(":", " : ").split(" ") for part in text.replace("\n", " ").split("^"))
    before, after = [word for word in before if word], [word for word in after if word]
    with pytest.raises(UnreadableFile, match=re.escape(why)) as error:
        read_pomdp("\n".join([*before, *after, ""]))
    assert f"line {len(before) + 1}: " in str(error.value)


def test_long_words_are_cut_in_sentences():
    for length, shown in ((40, "x" * 40), (41, "x" * 37 + "...")):
        with pytest.raises(UnreadableFile, match=re.escape(f"there is no action called '{shown}'")):
            read_text(f"T: {'x' * length} identity")


def test_what_is_at_a_limit_is_read():
    """Discounts of 0 and 1, a start in the first words, two states, rows that are kept, zeros before a number."""
    assert read_text("discount: 0").gamma == 0.0
    assert read_text("discount: 1").gamma == 1.0
    first = read_pomdp("start include: 1 states: 2 actions: 1 observations: 1 T: 0 : * reset O: 0 uniform")
    assert first.start.tolist() == [0.0, 1.0]
    assert first.dense()[0].tolist() == [[[0.0, 1.0]], [[0.0, 1.0]]]
    assert read_text("start: 1").start.tolist() == [0.0, 1.0]
    ten = read_pomdp(f"states: 0000000010 actions: 1 observations: 1 start: {'.1 ' * 10} T: 0 : * reset O: 0 uniform")
    assert (ten.start == 0.1).all()  # their sum differs from 1 by a rounding error
    assert (ten.dense()[0] == 0.1).all()
    no_start = read_pomdp("states: 4 actions: 1 observations: 1 T: 0 : * reset O: 0 uniform")
    assert (no_start.dense()[0] == 0.25).all()
    tiger = read_pomdp(TIGER)
    parts = (tiger.mdp, tiger.observed, tiger.observation_prob, tiger.rewards)
    assert NamedPOMDP(*parts, ("0", "1")).state_names == ("0", "1") == NamedPOMDP(*parts).state_names
    for names in (("1", "0"), ("a", "b", "c")):
        with pytest.raises(InvalidArgument, match="'state_names' must be"):
            NamedPOMDP(*parts, names)


def test_the_largest_tables(monkeypatch):
    """The number of names, and the entries of T (18), O (12) and R (18, or 36 if an observation is named)."""

    def tried(most, body="", n=3):
        monkeypatch.setattr("bayesrl.models.pomdp_file.MOST", most)
        read_text(body, head=f"states: {n} actions: 2 observations: 2\n")

    tried(18)
    tried(18, "R: * : * : 1 : * 1")
    tried(36, "R: * : * : * : 1 1")
    for most, body, n, why in (
        (17, "", 3, "the table T has 18 entries, more than 17"),
        (35, "R: * : * : * : 1 1", 3, "the table R has 36 entries, more than 35"),
        (35, "R: 1 : 1 : * 1 2", 3, "the table R has 36 entries, more than 35"),
        (12, "", 12, "the table T has 288 entries, more than 12"),
        (12, "", 13, "13 states are too many"),
    ):
        with pytest.raises(UnreadableFile, match=re.escape(why)):
            tried(most, body, n)


@pytest.mark.parametrize("stars", list(itertools.product([False, True], repeat=4)))
def test_rewards_with_stars_in_any_place(stars):
    """One statement, and three: each sets its cells; the table has the axes up to the last name of any of them."""
    head = "states: 3 actions: 2 observations: 2\n"
    names = [["1", "0", "1"], ["2", "1", "2"], ["1", "2", "2"], ["0", "1", "0"]]
    lines = [" : ".join("*" if star else n[i] for n, star in zip(names, stars, strict=True)) for i in range(3)]
    one = f"R: {lines[0]} -7\n"
    several = one + f"R: {lines[1]} 4\nR: * : 0 : * : * 3\nR: {lines[2]} 2.5\n"
    depth = max((k + 1 for k in range(2, 4) if not stars[k]), default=2)
    for body in (one, several):
        text = head + "T: * identity\nO: * uniform\n" + body
        rewards = read_pomdp(text).rewards
        assert rewards.shape == (3, 2, 3, 2)[:depth]
        R = naive(text)[2]
        np.testing.assert_array_equal(np.broadcast_to(rewards.reshape(rewards.shape + (1,) * (4 - depth)), R.shape), R)


def read_or_refuse(text):
    """What a text says; None if it is refused, which must name a line."""
    try:
        return read_pomdp(text)
    except UnreadableFile as error:
        said = str(error)
    assert re.search(r"line \d+: ", said)
    return None


def test_the_tiger_cut_anywhere():
    """A file that was cut is refused, or is a shorter file; no other error is raised."""
    whole = read_pomdp(TIGER)
    for n in range(len(TIGER)):
        if (pomdp := read_or_refuse(TIGER[:n] + "\n")) is not None:
            assert n > TIGER.index("O:open-right")
            np.testing.assert_array_equal(pomdp.dense()[0], whole.dense()[0])


def test_noise_is_refused(tmp_path):
    rng = default_rng(0)
    words = [*TIGER.split(), ":", "*", "0", "1", "nan", "-3", "include", "reset", "#", "\n", "99", "é"]
    for _ in range(300):
        with pytest.raises(UnreadableFile, match=r"line \d+: "):
            read_pomdp("\n" + " ".join(rng.choice(words, 40)))
        tokens = TIGER.split(" ")
        tokens[rng.integers(len(tokens))] = rng.choice(words)
        read_or_refuse(" ".join(tokens))
        (tmp_path / "noise").write_bytes(rng.bytes(200))
        with pytest.raises(UnreadableFile, match=r"line \d+: "):
            read_pomdp(tmp_path / "noise")


def test_letters_beyond_ascii(tmp_path):
    (tmp_path / "latin").write_bytes(b"# Andr\xe9\n" + TIGER.encode())
    assert read_pomdp(tmp_path / "latin") == read_pomdp(TIGER)
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + TIGER.replace("listen", "écouter").encode())
    assert read_pomdp(tmp_path / "marked").action_names[0] == "écouter"


def test_bad_arguments(tmp_path):
    for bad in (None, 3, b"states: 2"):
        with pytest.raises(InvalidArgument, match="path_or_text"):
            read_pomdp(bad)
    with pytest.raises(UnreadableFile, match="there is no such file"):
        read_pomdp(str(tmp_path / "none.pomdp"))
    with pytest.raises(UnreadableFile, match="it is a directory"):
        read_pomdp(tmp_path)
    tiger = read_pomdp(TIGER)
    with pytest.raises(InvalidArgument, match="write_pomdp: 'pomdp'"):
        write_pomdp(tiger.mdp, tmp_path / "some")
    for bad in (None, tmp_path, tmp_path / "none" / "some"):
        with pytest.raises(InvalidArgument, match="write_pomdp: 'path'"):
            write_pomdp(tiger, bad)
    parts = (tiger.mdp, tiger.observed, tiger.observation_prob, tiger.rewards)
    for names in (("a",), ("a", "a"), ("a", "T"), ("a", "b c"), ("a", "1"), ("a", 3), ("a", []), 5):
        with pytest.raises(InvalidArgument, match="NamedPOMDP: 'state_names'"):
            NamedPOMDP(*parts, names)


# Size ----------------------------------------------------------------------------------------------------------------


def test_long_matrices_and_many_statements():
    """Half of it matrices, half of it statements with one number."""
    S, A = 60, 5
    head = f"states: {S} actions: {A} observations: 20 O: * uniform\n"
    rows = f"{1 / S!r} " * S + "\n"
    matrices = "".join(f"T: {a}\n" + rows * S for a in range(3))
    entries = "".join(f"T: {a} : {s} : {y} {1 / S}\n" for a in range(3, A) for s in range(S) for y in range(S))
    np.testing.assert_array_equal(read_pomdp(head + matrices + entries).dense()[0], 1 / S)


# Large problems ------------------------------------------------------------------------------------------------------

LARGE = """
discount: .9 values: cost states: a b c actions: go stay observations: 2 start: b
T: * : * : a 1.0
T: go : a : a 0.0
T: go : a : b 0.3333
T: go : a : c 0.6666
T: stay : * : a 0
T: stay : a : a 1
T: stay : b : b 0.25
T: stay : b : c .75
T: stay : c : c 1
T: go : c : a .5
T: go : c : b .5
O: * uniform
R: go : * : * : * 2
"""


def test_large_tables_are_kept_as_lists(monkeypatch):
    """Statements with one number, `*` and later ones that win: the same model as by the table."""
    dense = read_pomdp(LARGE, terminal=["c"])
    made = []
    whole = TabularPOMDP.from_sparse
    monkeypatch.setattr(TabularPOMDP, "from_sparse", lambda *given: made.append(1) or whole(*given))
    for entries, lists in ((18, 0), (17, 1)):  # of T
        monkeypatch.setattr("bayesrl.models.pomdp_file.DENSE", entries)
        assert read_pomdp(LARGE, terminal=["c"]) == dense
        assert len(made) == lists
    P = dense.dense()[0]
    np.testing.assert_allclose(P[0, 0], [0.0, 0.3333 / 0.9999, 0.6666 / 0.9999])
    np.testing.assert_allclose(P[1], [[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])
    with_row = LARGE.replace("T: stay : b : b 0.25\n", "T: stay : b 0 .25 .75\n")
    assert read_pomdp(with_row, terminal=["c"]) == dense  # by the table, since it has a row
    assert read_pomdp(LARGE.replace("* : a 1.0", "* : * 0\nT: * : * : a 1.0"), terminal=["c"]) == dense
    assert made == [1]


def test_random_lists_with_stars(monkeypatch):
    """Rows of one pair, of all states, of all actions and of all pairs, entry by entry; later ones win."""
    monkeypatch.setattr("bayesrl.models.pomdp_file.DENSE", 1)
    rng = default_rng(0)
    for _ in range(10):
        text = "states: 4 actions: 3 observations: 1 O: * uniform\n"
        for a, s in [("*", "*"), *zip(rng.choice([*"012**"], 9), rng.choice([*"0123**"], 9), strict=True)]:
            row = enumerate(rng.dirichlet(np.ones(4)).tolist())
            text += "".join(f"T: {a} : {s} : {y} {p!r}\n" for y, p in row)
        np.testing.assert_allclose(read_pomdp(text).dense()[0], naive(text)[0], rtol=0, atol=1e-12)
    tenths = "".join(f"T: 0 : * : {y} .1 " for y in range(10))
    kept = read_pomdp(f"states: 10 actions: 1 observations: 1 O: 0 uniform {tenths}").dense()[0]
    assert (kept == 0.1).all()  # their sum differs from 1 by a rounding error


@pytest.mark.parametrize(
    "old, new, line, why",
    [
        ("b 0.25", "b 0.26", 10, "for action 'stay' and state 'b' sums to 1.01, not to 1"),
        ("T: stay : c : c 1\n", "", 7, "for action 'stay' and state 'c' sums to 0, not to 1"),
        ("b 0.3333", "b -1", 5, "-1 is negative"),
        ("b : b 0.25", "b : d 0.25", 9, "there is no state called 'd'"),
    ],
)
def test_large_tables_are_refused_as_small_ones(old, new, line, why, monkeypatch):
    for entries in (2**24, 1):
        monkeypatch.setattr("bayesrl.models.pomdp_file.DENSE", entries)
        with pytest.raises(UnreadableFile, match=re.escape(why)) as error:
            read_pomdp(LARGE.replace(old, new))
        assert f"line {line}:" in str(error.value)


def test_a_large_problem_is_written_and_read(tmp_path, monkeypatch):
    """RockSample(4, 4) has 594441 triples (s, a, s'), of which 2313 are possible."""
    monkeypatch.setattr("bayesrl.models.pomdp_file.DENSE", 500_000)
    pomdp = make_world("rock-sample").pomdp
    write_pomdp(pomdp, tmp_path / "rocks.pomdp")
    assert (tmp_path / "rocks.pomdp").read_text().count("\nT: ") == 2313
    found = read_pomdp(tmp_path / "rocks.pomdp", terminal=[pomdp.n_states - 1])
    np.testing.assert_array_equal(found.mdp.succ, pomdp.mdp.succ)
    np.testing.assert_array_equal(found.seen, pomdp.seen)
    np.testing.assert_array_equal(found.mean_reward, pomdp.mean_reward)
    np.testing.assert_array_equal(found.start, pomdp.start)


def test_tied_outcomes_are_written_once(tmp_path):
    pomdp = make_world("follow").pomdp  # several moves lead to "lost"
    write_pomdp(pomdp, tmp_path / "follow.pomdp")
    for mine, theirs in zip(read_pomdp(tmp_path / "follow.pomdp", terminal=[50]).dense(), pomdp.dense(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-15)
