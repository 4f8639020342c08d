"""Write docs/methods.md: every system of the survey by its name in the library, from the registry.

python docs/methods.py
"""

from __future__ import annotations

from pathlib import Path

from bayesrl._files import write_text
from bayesrl.registry import PACKAGES, entries

PAGE = Path(__file__).with_suffix(".md")
HEAD = """\
# Methods by name

Every system of the survey has one name. It keeps this name in the registry, on the command line and in files. There are
{there} methods and {worlds} worlds. The [catalogue](catalogue.md) describes them in full. § is the section of the
survey. A paper is a key of [references.bib](references.bib). [Values with error bars](values.md) and
[Gradients with error bars](gradients.md) show how the methods of chapter 5 are used. `python docs/methods.py` writes
this page; do not edit it.

"""


def page() -> str:
    """The whole page."""
    known = [e for e in entries().values() if e.package in PACKAGES]  # not what a user registered beside ours
    rows = [(e.survey, e.name, f"[{e.name}](catalogue.md#{e.name})", e.kind, e.paper, e.summary) for e in known]
    rows.sort(key=lambda row: ([int(part) for part in row[0].split(".")], row[1]))
    worlds = sum(e.kind in ("world", "family") for e in known)
    table = [f"| {survey} | {' | '.join(rest)} |" for survey, _, *rest in rows]
    head = HEAD.format(there=len(known) - worlds, worlds=worlds)
    return head + "\n".join(["| § | name | kind | paper | what it is |", "|---|---|---|---|---|", *table, ""])


if __name__ == "__main__":
    write_text(PAGE, page())
