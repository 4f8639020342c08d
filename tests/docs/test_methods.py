"""The list of names is what the registry says today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_methods_page_is_up_to_date():
    page = runpy.run_path(str(DOCS / "methods.py"))["page"]
    assert (DOCS / "methods.md").read_text(encoding="utf-8") == page(), "run: python docs/methods.py"
