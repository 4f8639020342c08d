"""The README: its snippet prints what it says, its names exist, and it is short."""

import contextlib
import io
import re
from pathlib import Path

from bayesrl.registry import entries

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_snippet_prints_its_result():
    code, result = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    assert out.getvalue() == result


def test_installation_comes_first():
    assert README.index("pip install") < README.index("import bayesrl")


def test_names_are_few_and_registered():
    table = README[README.index("## Which method, when") :].split("\n\n")[1]
    names = [name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[2])]
    assert set(names) <= set(entries())
    assert len(names) < 20
