"""The version says which code it is."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import bayesrl as b
from bayesrl._version import __version__, code_version
from bayesrl.record import versions

ROOT = Path(b.__file__).parent
SAY = "from bayesrl._version import code_version; print(code_version())"


def said(folder):
    done = subprocess.run([sys.executable, "-c", SAY], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_version_names_release_and_sources():
    assert re.fullmatch(re.escape(__version__) + r"\+[0-9a-f]{12}", code_version())
    assert versions()["bayesrl"] == code_version()


def test_a_copy_without_git_agrees_and_an_edit_does_not(tmp_path):
    copy = tmp_path / "bayesrl"
    for path in (*ROOT.rglob("*.py"), *ROOT.rglob("__init__.pyi")):
        there = copy / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, there)
    assert said(tmp_path) == code_version()
    (copy / "checks.py").write_bytes((ROOT / "checks.py").read_bytes().replace(b"\n", b"\r\n"))
    assert said(tmp_path) == code_version()  # the ends of lines are not code
    (copy / "checks.py").write_bytes((ROOT / "checks.py").read_bytes() + b"# edited\n")
    assert said(tmp_path) != code_version()
    shutil.copyfile(ROOT / "checks.py", copy / "checks.py")
    (copy / "checks.py").rename(copy / "checks_.py")
    assert said(tmp_path) != code_version()
