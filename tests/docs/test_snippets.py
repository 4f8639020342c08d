"""Every snippet of the documentation runs: Python as one program per page, `bayesrl ...` as a command line."""

import doctest
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from bayesrl import registry

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Snippet(NamedTuple):
    language: str
    text: str
    line: int


def snippets(page, language):
    text = page.read_text(encoding="utf-8")
    found = [Snippet(m[1], m[2], text.count("\n", 0, m.start(2))) for m in FENCE.finditer(text)]
    return [snippet for snippet in found if snippet.language == language]


def name(page):
    return page.stem


@pytest.fixture
def registered(monkeypatch):
    """What a page registers is forgotten after it."""
    monkeypatch.setattr(registry, "_entries", dict(registry.entries()))


@pytest.fixture
def module(request, monkeypatch):
    """The page as a module of its own, so that its classes can be pickled."""
    page = ModuleType(f"page_{request.node.callspec.params['page'].stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, page.__name__, page)
    return page


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page, "python")], ids=name)
def test_python_snippets_run(page, registered, module, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for _, text, line in snippets(page, "python"):
        if text.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(text, module.__dict__, page.name, str(page), line)
            test.globs = module.__dict__  # the parser copies; a page is one program
            runner.run(test, clear_globs=False)
        else:
            exec(compile("\n" * line + text, page, "exec"), module.__dict__)
    assert runner.summarize(verbose=False).failed == 0


COMMANDS = [
    pytest.param(line, id=f"{page.stem}: {line}")
    for page in PAGES
    for snippet in snippets(page, "console")
    for line in snippet.text.splitlines()
    if line.startswith("bayesrl ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run(line, monkeypatch, tmp_path, capsys):
    from bayesrl.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line, comments=True)[1:]) == 0
    out, err = capsys.readouterr()
    assert out
    assert not err


def test_a_broken_snippet_is_seen(tmp_path):
    # The extraction itself: fences of both styles are found, with the line they stand on.
    page = tmp_path / "page.md"
    page.write_text("a\n\n```python\n1 / 0\n```\n\n```console\nbayesrl methods\n```\n")
    assert snippets(page, "python") == [("python", "1 / 0\n", 3)]
    assert snippets(page, "console") == [("console", "bayesrl methods\n", 7)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in anchors, f"{page.name} links to {target}"
