"""The catalogue: one page of Markdown that lists everything registered.

    python -m bayesrl.lab.catalogue docs/catalogue.md

It is made from the registry alone, so it cannot drift from the code; a test compares the page with what this writes.
The long text on a method is the docstring of its file, which each entry links to and `bayesrl show NAME` prints.
"""

from __future__ import annotations

import sys

from bayesrl._files import write_text
from bayesrl.lab.build import parameters
from bayesrl.registry import PACKAGES, Entry, entries

HEAD = """\
# Catalogue

{methods} methods and {worlds} worlds. This page is made from the registry by
`python -m bayesrl.lab.catalogue docs/catalogue.md`; do not edit it. `bayesrl show NAME` prints the page of one entry.
§ is the section of the survey, paper a key of [references.bib](references.bib). A parameter is listed with its type,
its default, the values that are allowed and its meaning. Evidence names the tests that would fail if the entry were
wrong.
"""


def page() -> str:
    """The whole catalogue."""
    known = [e for e in entries().values() if e.package in PACKAGES]  # not what a user registered beside ours
    n_worlds = sum(e.kind in ("world", "family") for e in known)
    groups = {package: [e for e in known if e.package == package] for package in PACKAGES}
    parts = [HEAD.format(methods=len(known) - n_worlds, worlds=n_worlds), overview(known)]
    for package, members in groups.items():
        if members:
            parts += [f"## {package}\n", *map(section, members)]
    return "\n".join(parts)


def overview(known: list[Entry]) -> str:
    """A table of all entries, in the order of the survey."""
    rows = [
        f"| {e.survey} | [{e.name}](#{e.name}) | {e.kind} | {e.paper} | {e.summary} |"
        for e in sorted(known, key=lambda e: ([int(part) for part in e.survey.split(".")], e.name))
    ]
    return "\n".join(["| § | name | kind | paper | what it is |", "|---|---|---|---|---|", *rows, ""])


def section(entry: Entry) -> str:
    """The section of one entry: its parameters, and the tests that vouch for it."""
    source = "/".join(entry.factory.__module__.split(".")) + ".py"
    paper = f", after {entry.paper}" if entry.paper else ""
    lines = [
        f"### {entry.name}\n",
        f"{entry.summary} ({entry.kind}, survey §{entry.survey}{paper}; [source](../src/{source}))\n",
    ]
    if entry.reading:
        lines.append(f"Reading: {entry.reading}\n")
    for p in parameters(entry):
        default = "" if p.default is None else f" = {p.default}"
        allowed = f" ({p.allowed})" if p.allowed else ""
        doc = f": {' '.join(p.doc.split())}" if p.doc else ""
        lines.append(f"- `{p.name}: {p.type}{default}`{allowed}{doc}")
    lines.append("- evidence: " + (", ".join(f"`{test}`" for test in entry.evidence) or "none yet"))
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_text(sys.argv[1], page(), "catalogue")
