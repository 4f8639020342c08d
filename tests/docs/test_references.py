"""The bibliography parses, is complete, and holds every paper that an entry of the registry names."""

import re
from pathlib import Path

import pytest

from bayesrl import registry

BIB = Path(__file__).parents[2] / "docs" / "references.bib"


def parse(text):
    """(type, key, fields) of each entry, for a bibliography that writes one field a line, `name = {value},`."""
    lines = iter([line for line in text.splitlines() if line.strip() and not line.startswith("%")])
    for line in lines:
        head = re.fullmatch(r"@(\w+)\{([\w-]+),", line)
        assert head, f"not the head of an entry: {line}"
        fields = {}
        for line in lines:
            if line == "}":
                break
            field = re.fullmatch(r"  (\w+) = \{(.+)\},", line)
            assert field, f"{head[2]}: not a field: {line}"
            assert field[2].count("{") == field[2].count("}"), f"{head[2]}: unbalanced braces: {line}"
            assert field[1] not in fields, f"{head[2]}: {field[1]} twice"
            fields[field[1]] = field[2]
        else:
            raise AssertionError(f"{head[2]}: does not end")
        yield head[1], head[2], fields


ENTRIES = list(parse(BIB.read_text(encoding="utf-8")))
KEYS = [key for _, key, _ in ENTRIES]


def test_keys_are_unique():
    # Also where only the case differs: BibTeX does not tell such keys apart.
    folded = [key.lower() for key in KEYS]
    assert sorted(set(folded)) == sorted(folded)


def test_entries_are_complete():
    for _, key, fields in ENTRIES:
        missing = [name for name in ("author", "title", "year") if name not in fields]
        assert not missing, f"{key} lacks {missing}"
        assert re.fullmatch(r"(18|19|20)\d\d", fields["year"]), f"{key}: year {fields['year']}"


def test_every_registered_paper_is_in_the_bibliography():
    unknown = {e.name: e.paper for e in registry.entries().values() if e.paper and e.paper not in KEYS}
    assert not unknown, f"use the keys of docs/references.bib: {unknown}"


def test_parser_refuses_what_is_broken():
    good = "@book{key,\n  title = {A {B}},\n}\n"
    assert list(parse(good)) == [("book", "key", {"title": "A {B}"})]
    for bad in (good.replace("}\n", "", 1), good.replace("{key,", "{key"), good.replace("{B}", "{B"), good[:-2]):
        with pytest.raises(AssertionError):
            list(parse(bad))
