"""Every erratum that the sources cite is on the errata page."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CITED = re.compile(r"ERRATA (\d+b?(?:(?:, | and )\d+b?)*)")


def cited(text):
    return {number for found in CITED.findall(" ".join(text.split())) for number in re.findall(r"\d+b?", found)}


def test_cited_errata_exist():
    listed = set(re.findall(r"^### ERRATA (\d+b?)$", (ROOT / "docs" / "errata.md").read_text("utf-8"), re.MULTILINE))
    found = {path: cited(path.read_text("utf-8")) for path in sorted((ROOT / "src").rglob("*.py"))}
    assert sum(map(len, found.values())) > 20
    assert not {path.name: numbers - listed for path, numbers in found.items() if numbers - listed}


def test_citations_are_read():
    assert cited("(ERRATA 13, 14). ERRATA\n    5, ERRATA 30b") == {"13", "14", "5", "30b"}
