"""docs/architecture.md names every folder of the sources, and no file or folder that is not there."""

import re
from pathlib import Path

import bayesrl

ROOT = Path(bayesrl.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
FOLDERS = {path.parent.relative_to(ROOT).as_posix() + "/" for path in ROOT.rglob("__init__.py")} - {"./"}


def test_the_table_has_every_folder_once_in_order():
    assert re.findall(r"(?m)^\| `([^`]+)` \|", PAGE) == sorted(FOLDERS)


def test_every_path_is_there():
    paths = set(re.findall(r"`((?:[\w.]+/)*[\w.]+(?:/|\.py|\.toml))`", PAGE))
    assert {"core.py", "beliefs/games/", "pyproject.toml"} <= paths
    places = (ROOT, ROOT.parents[1])
    assert not [path for path in paths if not any((place / path).exists() for place in places)]


def test_every_link_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert links
    assert not [link for link in links if not (ROOT.parents[1] / "docs" / link).exists()]
