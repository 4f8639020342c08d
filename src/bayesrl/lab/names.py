"""The grammar of the command line: names with parameters, and values written as words.

    NAME                      beb                  with default parameters
    NAME:KEY=VALUE,...        beb:beta=3           with other parameters
                              chain:gamma=9/10

    FILE.pomdp                tiger.pomdp          the POMDP in a file, as a world
    FILE.pomdp:KEY=VALUE,...  4x3.pomdp:gamma=.9   with another discount, or with a `terminal` state (name or number)

A value is a whole number, a decimal, a fraction, true, false, none, or otherwise a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from bayesrl.errors import InvalidArgument

FILE = ".pomdp"
"""The end of the name of a file that is a world."""


def named(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of NAME or NAME:KEY=VALUE,KEY=VALUE.

    >>> named("q-learning:rate=1/5,temperature=none")
    ('q-learning', {'rate': 0.2, 'temperature': None})
    """
    path, file, rest = text.partition(FILE)
    name, colon, rest = (path + file, *rest.partition(":")[1:]) if file else text.partition(":")
    return name, settings(name, rest.split(",")) if colon else {}


def settings(owner: str, pairs: Iterable[str]) -> dict[str, Any]:
    """The parameters of KEY=VALUE pairs."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (equals and key.strip().isidentifier() and text.strip()):
            raise InvalidArgument(owner, "setting", "KEY=VALUE", pair)
        if key.strip() in found:
            raise InvalidArgument(owner, key.strip(), "set once", pair)
        found[key.strip()] = scalar(text.strip())
    return found


def merged(owner: str, own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both sets of parameters; refuse a parameter that is in both."""
    for key in own.keys() & more.keys():
        raise InvalidArgument(owner, key, "set once", more[key])
    return {**own, **more}


def scalar(text: str) -> Any:
    """The value of a word.

    >>> [scalar(word) for word in ("3", ".5", "1/9", "true", "none", "first")]
    [3, 0.5, 0.1111111111111111, True, None, 'first']
    """
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    for read in (int, float, lambda word: float(Fraction(word))):
        try:
            return read(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
    return text
