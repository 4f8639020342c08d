"""Logs in files: what happened, for `update_many` of a belief.

    load_log("days.csv")     text with a header and the columns state, action, reward, next_state (and terminated)
    load_log("run.zip")      a record or a comparison that `save` wrote; all its runs

States and actions are whole numbers. Columns may be called observation and next_observation instead.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesrl._files import file_name, read
from bayesrl.errors import UnreadableFile
from bayesrl.io.records import load
from bayesrl.lab.comparison import Comparison
from bayesrl.record import READINGS

NEEDED = ("state", "action", "reward", "next_state")
FLAGS = {"0": False, "1": True, "false": False, "true": True}
READ: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "state": (int, "a whole number"),
    "action": (int, "a whole number"),
    "reward": (float, "a number"),
    "next_state": (int, "a whole number"),
    "terminated": (lambda word: FLAGS[word.lower()], "true or false"),
}


def load_log(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The columns of a log in a file, or one sentence that says why it cannot be read."""
    if file_name("load_log", path).suffix == ".csv":
        return _csv(path)
    found = load(path)
    records = list(found.records.values()) if isinstance(found, Comparison) else [found]
    columns: dict[str, list[NDArray[Any]]] = {}
    for record in records:
        runs = record.columns["reward"].ndim == 2
        for name in READ:
            called = _called(record.columns, name)
            if called is None and name in NEEDED:
                raise UnreadableFile(path, f"it has no column {name}")
            if called is not None:
                column = record.columns[called]
                columns.setdefault(name, []).append(column.T.ravel() if runs and column.ndim == 2 else column)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def _csv(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    try:
        lines = read(path).decode("utf-8-sig").splitlines()
        rows = list(csv.reader(lines, skipinitialspace=True, strict=True))
    except UnicodeDecodeError:
        raise UnreadableFile(path, "it is not text") from None
    except csv.Error as error:
        raise UnreadableFile(path, f"it is not a table: {error}") from None
    header = [word.strip() for word in rows[0]] if rows else []
    for name in NEEDED:
        if _called(header, name) is None:
            raise UnreadableFile(path, f"it has no column {name}")
    columns: dict[str, list[Any]] = {name: [] for name in READ if _called(header, name) is not None}
    for number, row in enumerate(rows[1:], start=2):
        if not any(word.strip() for word in row):
            continue
        if len(row) != len(header):
            raise UnreadableFile(path, f"line {number} has {len(row)} entries, the header has {len(header)}")
        for name, column in columns.items():
            word = row[header.index(_called(header, name) or name)].strip()
            parse, expected = READ[name]
            try:
                column.append(parse(word))
            except (ValueError, KeyError):
                raise UnreadableFile(path, f"line {number}: {name} must be {expected}, got {word!r}") from None
    if not columns["reward"]:
        raise UnreadableFile(path, "it has no rows")
    return {name: np.array(column) for name, column in columns.items()}


def _called(names: Any, name: str) -> str | None:
    return next((found for found in (name, READINGS.get(name)) if found in names), None)
