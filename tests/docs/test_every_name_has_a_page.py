"""Every registered name stands, as code, on a page of prose."""

import re
from pathlib import Path

from bayesrl.registry import PACKAGES, entries

ROOT = Path(__file__).parents[2]
LISTS = {"catalogue.md", "methods.md", "scores.md", "notation.md"}
"""Pages that list names, which is no place to learn what a name is for."""
PAGES = [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").glob("*.md")) if p.name not in LISTS)]


def code_in(text):
    """What a page prints as code: fenced blocks and spans."""
    blocks = re.findall(r"(?ms)^```.*?^```", text)
    rest = re.sub(r"(?ms)^```.*?^```", "", text)
    return "\n".join([*blocks, *re.findall(r"`[^`\n]+`", rest)])


def names_missing(names, texts):
    code = "\n".join(map(code_in, texts))
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", code)]


def test_every_registered_name_is_on_a_page_of_prose():
    known = [e.name for e in entries().values() if e.package in PACKAGES]
    assert names_missing(known, [page.read_text(encoding="utf-8") for page in PAGES]) == []


def test_words_are_no_names():
    texts = ["A regret, and `beb:beta=3`.\n```console\nbayesrl run psrl chain\n```\n"]
    assert names_missing(["regret", "beb", "psrl", "chain", "bop"], texts) == ["regret", "bop"]
