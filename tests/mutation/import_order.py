"""The order in which a zygote imports the modules of bayesrl: a module that bugs are planted in comes late.

The order is read from the sources: what a module imports at its top. If that misses an import, a module may be imported
before its bugs are planted. The zygote sees this, and another one, which has imported nothing of bayesrl, plants them.
"""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "bayesrl"


def imports(body):
    """Pairs (module, name), for each import that is run with this body."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def modules_needed():
    """The modules that each module imports itself, the packages that it is in among them."""
    trees = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    trees.pop("bayesrl.__main__")
    needed = {name: {name.rpartition(".")[0]} & set(trees) for name in sorted(trees)}
    homes = {}  # the modules of names that packages export lazily
    for path in SOURCE.rglob("__init__.pyi"):
        package = ".".join(path.relative_to(SOURCE.parent).parent.parts)
        for module, name in imports(ast.parse(path.read_text("utf-8")).body):
            homes[package, name] = f"{module}.{name}" if module == package else module
    for name, tree in trees.items():
        for module, attribute in imports(tree.body):
            needed[name] |= {module, f"{module}.{attribute}", homes.get((module, attribute))} & set(trees)
    return needed


def closure(name, needed):
    """All modules that are imported with a module."""
    found, new = set(), {name}
    while new:
        found |= new
        new = {m for n in new for m in needed[n]} - found
    return found


def import_order(changed):
    """All modules; and for each `changed` one the number of modules that can be imported without it.

    Whatever imports no further changed module comes next, otherwise the module that most others import.
    """
    needed = modules_needed()
    left = {name: closure(name, needed) & changed for name in needed}
    users = {name: sum(name in c for c in left.values()) for name in needed}
    order, before = [], {}
    while left:
        free = [m for m, c in left.items() if not c - before.keys()]
        for m in free or [max(left, key=users.get)]:
            for n in left.pop(m):
                before.setdefault(n, len(order))
            order.append(m)
    return order, before
