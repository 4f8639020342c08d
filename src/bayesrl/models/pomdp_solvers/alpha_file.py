"""Cassandra's `.alpha` files: a policy for a POMDP, as his programs write it.

Each vector is a line with an action, a line with a number for each state, and a blank line. An action is a number
counted from 0 or, where the POMDP has names, a name.
"""

from __future__ import annotations

import os

import numpy as np

from bayesrl._files import file_name, read, write
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.models.pomdp import POMDPProblem, pomdp_of
from bayesrl.models.pomdp_file import BINARY, NUMBER
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors


def write_alpha_vectors(solution: AlphaVectors, path: str | os.PathLike[str]) -> None:
    """Write an `.alpha` file. Reading it gives equal vectors, to the last digit."""
    if not isinstance(solution, AlphaVectors):
        raise InvalidArgument("write_alpha_vectors", "solution", "AlphaVectors", solution)
    pairs = zip(solution.actions.tolist(), solution.vectors.tolist(), strict=True)
    text = "".join(f"{action}\n{' '.join(map(repr, vector))}\n\n" for action, vector in pairs)
    write(file_name("write_alpha_vectors", path), text.encode(), "write_alpha_vectors")


def read_alpha_vectors(path_or_text: str | os.PathLike[str], problem: POMDPProblem) -> AlphaVectors:
    """Read an `.alpha` file for a POMDP. A string with a line end is the contents, not the name, of a file.

    Nothing is known about the error of such a solution, so its `error_bound` is infinite.

    >>> from bayesrl.models.pomdp import TabularPOMDP
    >>> guess = TabularPOMDP.from_dense([[[1, 0]] * 2, [[0, 1]] * 2], [[[1.0]] * 2] * 2, [[1, 0], [0, 1]], gamma=0.5)
    >>> solution = read_alpha_vectors("0\\n2.0 0.0\\n\\n1\\n0.0 2.0\\n", guess)
    >>> solution.value([0.8, 0.2]), solution.action([0.8, 0.2])
    (1.6, 0)
    """
    owner = "read_alpha_vectors"
    pomdp = pomdp_of(problem, owner)
    if not isinstance(path_or_text, (str, os.PathLike)):
        raise InvalidArgument(owner, "path_or_text", "the name of a file, or its contents", path_or_text)
    if isinstance(path_or_text, str) and ("\n" in path_or_text or not path_or_text.strip()):
        shown, text = "the given text", path_or_text
    else:
        shown, text = str(path_or_text), read(path_or_text).decode("utf-8-sig", "replace")

    def wrong(at: int, why: str) -> UnreadableFile:
        return UnreadableFile(shown, f"line {at}: {why}")

    lines = [(at, line.split()) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    if found := BINARY.search(text):
        raise wrong(text.count("\n", 0, found.start()) + 1, "it is binary, not text")
    if not lines:
        raise wrong(1, "it is empty")
    names = {name: i for i, name in enumerate(getattr(pomdp, "action_names", ()))}
    names |= {str(i): i for i in range(pomdp.n_actions)}
    actions, vectors = [], []
    for at, words in lines[::2]:
        if len(words) != 1 or words[0] not in names:
            said = " ".join(words)[:40]
            raise wrong(at, f"an action must be here, a number from 0 to {pomdp.n_actions - 1}, not '{said}'")
        actions.append(names[words[0]])
    if len(lines) % 2:
        raise wrong(lines[-1][0], "the vector of the last action is missing")
    for at, words in lines[1::2]:
        if bad := [word for word in words if not NUMBER.fullmatch(word)]:
            raise wrong(at, f"'{bad[0][:40]}' is not a number")
        vector = np.array([float(word) for word in words])
        if len(vector) != pomdp.n_states:
            raise wrong(at, f"{pomdp.n_states} numbers must be here, not {len(vector)}")
        if not np.isfinite(vector).all():
            raise wrong(at, f"{words[int(np.argmin(np.isfinite(vector)))][:40]} is not finite")
        if vector[pomdp.terminal].any():
            raise wrong(at, "a terminal state has a value that is not zero")
        vectors.append(vector)
    return AlphaVectors(pomdp, np.array(vectors), np.array(actions), proved=np.inf, method="file")
