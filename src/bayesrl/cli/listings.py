"""Listings: `bayesrl methods`, `bayesrl worlds`, `bayesrl show NAME`."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bayesrl.cli.app import Json, app
from bayesrl.cli.output import put, put_json, put_table
from bayesrl.errors import InvalidArgument

if TYPE_CHECKING:
    from bayesrl.registry import Entry


World = Annotated[str | None, typer.Option(help="Only methods that act in this world.", metavar="WORLD")]
Table = Annotated[bool, typer.Option("--table", help="The survey's table of online methods.")]
Method = Annotated[str | None, typer.Option(help="Only worlds in which this method acts.", metavar="METHOD")]


@app.command()
def methods(world: World = None, table: Table = False, as_json: Json = False) -> None:
    """List every method: beliefs, planners, agents, solvers and tools. With --world, those that fit.

    With --table: what each planner of discrete problems considers, and how, in the words of the survey's table.
    """
    from bayesrl import registry

    if table:
        if world is not None:
            raise InvalidArgument("methods", "--table", "given without --world", world)
        return _put_online_methods(as_json)
    if world is None:
        found = registry.methods()
        if as_json:
            return put_json([entry.card() for entry in found])
        rows = [(e.name, e.kind, e.package, e.survey, e.summary) for e in found]
        return put_table(("method", "kind", "package", "§", "what it does"), rows)

    from bayesrl.lab.fits import fits

    fitting = [(registry.find(fit.method), fit) for fit in fits(world=world)]
    if as_json:
        return put_json([{**e.card(), "prior": fit.prior} for e, fit in fitting])
    rows = [(e.name, fit.prior or "-", e.kind, e.survey, e.summary) for e, fit in fitting]
    return put_table(("method", "prior", "kind", "§", "what it does"), rows)


def _put_online_methods(as_json: bool) -> None:
    """Print the table of online methods, and below it why cells differ from the survey's."""
    from bayesrl import registry
    from bayesrl.facets import COLUMNS

    rows = [(e.name, e.facets) for e in registry.online_methods() if e.facets is not None]
    if as_json:
        return put_json([{**f.row(name), "why": dict(f.why()), "in_survey": f.in_survey} for name, f in rows])
    marked = [[f.in_words_of_the_survey(c) + (" *" if c in f.why() else "") for c in COLUMNS] for _, f in rows]
    put_table(("method", *COLUMNS), [(name, *cells) for (name, _), cells in zip(rows, marked, strict=True)])
    put("\n* The survey's words, which are not what happens here:")
    for name, f in rows:
        for column, why in f.why().items():
            put(f"  {name}, {column}: {f.here(column)}. {why}")
    return None


@app.command()
def worlds(method: Method = None, as_json: Json = False) -> None:
    """List every world and family of worlds. With --method, those in which it acts."""
    from bayesrl import registry

    if method is None:
        found = registry.worlds()
        if as_json:
            return put_json([{"name": e.name, "kind": e.kind, "summary": e.summary} for e in found])
        made = [(e, registry.make_world(e.name)) for e in found]
        rows = [(e.name, e.kind, w.prior, str(w.steps), e.summary) for e, w in made]
        return put_table(("world", "kind", "prior", "steps", "what it is"), rows)

    from bayesrl.lab.fits import fits

    fitting = [(registry.find(fit.world), fit) for fit in fits(method)]
    if as_json:
        cards = [{"name": e.name, "kind": e.kind, "summary": e.summary, "prior": fit.prior} for e, fit in fitting]
        return put_json(cards)
    chosen = [(e.name, e.kind, fit.prior or "-", e.summary) for e, fit in fitting]
    return put_table(("world", "kind", "prior", "what it is"), chosen)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A method or a world.", metavar="NAME")], as_json: Json = False
) -> None:
    """Show a method or a world: its description, its parameters and its tests."""
    from bayesrl import registry
    from bayesrl.lab.build import parameters

    entry = registry.find(name)
    takes = parameters(entry)
    if as_json:
        return put_json({**entry.card(), "doc": doc_of(entry), "parameters": [p._asdict() for p in takes]})
    paper = f", paper {entry.paper}" if entry.paper else ""
    put(f"{entry.name}: {entry.summary}", style="bold")
    role = entry.kind if entry.kind in ("world", "family") else f"{entry.kind} of {entry.package}"
    put(f"{role}, survey §{entry.survey}{paper}\n")
    if entry.reading:
        put(f"Reading: {entry.reading}\n")
    for paragraph in doc_of(entry).split("\n\n"):
        lines = paragraph.splitlines()
        drawn = any(line.startswith((" ", "- ", ">>>", "---")) for line in lines)  # a formula, a list, an example
        for part in [paragraph] if drawn else re.split(r"\n(?=[A-Z][a-z ]+:)", paragraph):
            put(part if drawn else " ".join(part.split()))
        put("")
    if takes:
        without = "from the world" if entry.kind == "agent" else "to be given"
        rows = [(p.name, p.allowed or p.type, p.default or without, p.doc) for p in takes]
        columns = ("parameter", "allowed", "default", "meaning")
        said = 4 if any(p.doc for p in takes) else 3
        put_table(columns[:said], [row[:said] for row in rows])
        put("")
    if entry.kind in ("world", "family"):
        made = registry.make_world(name)
        counted = [what for what in ("states", "actions", "observations") if hasattr(made, f"n_{what}")]
        sizes = [f"{getattr(made, f'n_{what}')} {what}" for what in counted]
        put(", ".join([f"Default prior {made.prior}", f"{made.steps} steps", *sizes]) + ".\n")
        if getattr(made, "bracket", None) is not None:
            low, high = (f"{bound:.6g}" for bound in made.bracket)
            put(f"The optimal value of the start is {low if low == high else f'between {low} and {high}'}.\n")
    put("Evidence, tests that fail if it is wrong:" if entry.evidence else "It has no tests of its own yet.")
    for test in entry.evidence:
        print(f"  {test}")
    return None


def doc_of(entry: Entry) -> str:
    """The docstring of an entry's file, and that of its class or function without the summary line.

    The Parameters section is left out, since a table of parameters follows.
    """
    import inspect

    page = inspect.getdoc(sys.modules[entry.factory.__module__]) or ""
    own = (inspect.getdoc(entry.factory) or "").partition("\n\n")[2]
    own = re.sub(r"(?m)^Parameters\n-+\n(?:.+\n?)*", "", own)
    return "\n\n".join(part.strip() for part in (page, own) if part.strip())
