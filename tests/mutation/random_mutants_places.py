"""Where a source file can be changed by one small step, and in which block of which function each place stands.

A block is a run of statements without a branch between them, numbered within the outermost function that holds it. A
test that runs one statement of a block nearly always runs all of them.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bayesrl"
LEFT_OUT = ("lab/plots", "lab/sketches", "lab/literature/page", "lab/catalogue.py", "cli/", "testing/", "errors.py", "_lazy",
            "__main__", "_version")  # fmt: skip
"""Parts whose output is pictures, pages, error sentences or tests, and the command line."""
UNSEEN = ("__repr__", "__str__", "_example")
"""Functions whose output is prose."""

SWAPS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.MatMult: (),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.And: (ast.Or,), ast.Or: (ast.And,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any",
         "minimum": "maximum", "maximum": "minimum", "zeros": "ones", "ones": "zeros", "cumsum": "sort",
         "floor": "ceil", "ceil": "floor", "log": "exp", "exp": "log", "sqrt": "abs"}  # fmt: skip
SYMMETRIC = ("min", "max", "minimum", "maximum", "allclose", "isclose", "logaddexp", "array_equal")
"""Functions whose two arguments may change places."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module's source."""

    module: str
    file: str
    line: int
    outer: str
    """The outermost function that holds the place; a class or nothing if the place is read at import."""
    block: int
    """The block of that function; -1 if the place is read at import."""
    old: str
    new: str
    start: int
    """Where the old text begins in the source, in characters."""
    text: str
    """The line of the place."""
    nth: int = 1
    """Which of the places of this module that read the same."""

    @property
    def name(self) -> str:
        """What identifies the mutant when lines move."""
        nth = "" if self.nth == 1 else f" ({self.nth})"
        return f"{self.file} {self.outer}: `{self.text}`: `{_short(self.old)}` -> `{_short(self.new)}`{nth}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "..."


# Blocks --------------------------------------------------------------------------------------------------------------

COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Blocks(ast.NodeVisitor):
    """Give every statement inside a function its block: `node.block`, and `node.outer`, the outermost function."""

    def __init__(self, tree: ast.Module, instrument: int | None = None) -> None:
        self.path: list[str] = []
        self.outer, self.next = "", 0
        self.instrument = instrument
        self.keys: list[str] = []
        """With `instrument`, the n-th block found reports the number instrument + n when it is run."""
        self.hashes: dict[str, str] = {}
        self.names: dict[str, set[str]] = {}
        """Names that each outermost function reads."""
        self.visit(tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.path.append(node.name)
        self.generic_visit(node)
        self.path.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.outer
        self.path.append(node.name)
        if not before:
            self.outer, self.next = ".".join(self.path), 0
            self.hashes[self.outer] = digest(node) + self.hashes.get(self.outer, "")
            named = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node)
                     if isinstance(n, (ast.Name, ast.Attribute))}  # fmt: skip
            self.names[self.outer] = named | self.names.get(self.outer, set())
        self.generic_visit(node)
        self.path.pop()
        self.outer = before

    def generic_visit(self, node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt) and self.outer:
                setattr(node, field, self.run(value))
            else:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self.visit(child)

    def run(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Number a list of statements; with `instrument`, put a report before each block."""
        new, fresh = [], True
        for i, statement in enumerate(statements):
            if i == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                new.append(statement)
                continue
            if fresh:
                block, fresh = self.next, False
                self.next += 1
                if self.instrument is not None:
                    call = ast.parse(f"__hit__({self.instrument + len(self.keys)})").body[0]
                    self.keys.append(f"{self.outer}#{block}")
                    new.append(ast.copy_location(call, statement))
            statement.block, statement.outer = block, self.outer  # type: ignore[attr-defined]
            self.visit(statement)
            new.append(statement)
            fresh = isinstance(statement, COMPOUND)
        return new


def digest(node: ast.AST) -> str:
    """A short hash of what a function does; comments and places do not matter."""
    return hashlib.sha1(ast.dump(node).encode()).hexdigest()[:10]


# Places --------------------------------------------------------------------------------------------------------------


class Places(ast.NodeVisitor):
    """All mutants of one module."""

    def __init__(self, file: Path) -> None:
        self.text = file.read_text()
        self.file = str(file.relative_to(SOURCE))
        self.module = "bayesrl." + self.file[:-3].replace("/", ".").removesuffix(".__init__")
        self.lines = self.text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.path: list[str] = []
        self.here: tuple[str, int] = ("", -1)
        self.found: list[Mutant] = []
        self.named: Counter[str] = Counter()
        tree = ast.parse(self.text)
        blocks = Blocks(tree)
        self.hashes, self.names = blocks.hashes, blocks.names
        for node in tree.body:
            if isinstance(node, (*Function, ast.ClassDef)) or _is_constant(node):
                self.statement(node)

    def offset(self, line: int, column: int) -> int:
        """Characters before a place, whose column counts bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def put(self, node: ast.AST, new: str) -> None:
        """The mutant in which this node reads otherwise."""
        start = self.offset(node.lineno, node.col_offset)
        old = self.text[start : self.offset(node.end_lineno, node.end_col_offset)]
        outer, block = self.here
        text = self.lines[node.lineno - 1].strip()
        if old != new:
            outer = outer or ".".join(self.path)
            found = Mutant(self.module, self.file, node.lineno, outer, block, old, new, start, text)
            self.named[found.name] += 1
            self.found.append(replace(found, nth=self.named[found.name]))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in UNSEEN or any("overload" in ast.unparse(d) for d in node.decorator_list):
            return
        self.path.append(node.name)
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.visit(default)
        for statement in node.body:
            self.statement(statement)
        self.path.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.path.append(node.name)
        for statement in node.body:
            self.statement(statement)
        self.path.pop()

    def statement(self, node: ast.stmt) -> None:
        """A statement and what is in it."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)):
            return
        before = self.here
        self.here = (getattr(node, "outer", ""), getattr(node, "block", -1))
        if isinstance(node, ast.AugAssign) and self.here[1] >= 0:
            self.put(node, "pass")
        if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise):
            self.visit(node.test)
            for statement in node.orelse:
                self.statement(statement)
        else:
            self.visit(node)
        self.here = before

    def generic_visit(self, node: ast.AST) -> None:
        for _, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.stmt):
                    self.statement(child)
                elif isinstance(child, ast.AST):
                    self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of zip: a check of lengths that are equal
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not any(isinstance(side, (ast.JoinedStr, ast.Constant)) and isinstance(getattr(side, "value", ""), str)
                   for side in (node.left, node.right)):  # fmt: skip
            for other in SWAPS.get(type(node.op), ()):
                self.put(node, f"({ast.unparse(ast.BinOp(node.left, other(), node.right))})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for other in SWAPS[type(node.op)]:
            self.put(node, f"({ast.unparse(ast.BoolOp(other(), node.values))})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for other in SWAPS.get(type(node.ops[0]), ()):
            self.put(node, f"({ast.unparse(ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            self.put(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.put(node, f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        x = node.value
        if isinstance(x, bool):
            self.put(node, str(not x))
        elif isinstance(x, int):
            self.put(node, str(x + 1))
        elif isinstance(x, float):
            self.put(node, repr(2.0 * x if x else 1.0))

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if name in ("InvalidArgument", "Annotated", "field", "register", "isinstance", "cast", "TypeVar"):
            return
        if name in NAMES:
            other = ast.Name(NAMES[name]) if isinstance(called, ast.Name) else ast.Attribute(called.value, NAMES[name])
            self.put(called, ast.unparse(other))
        whole = len(node.args) == 2 and not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        if whole and name not in SYMMETRIC:
            self.put(node, ast.unparse(ast.Call(node.func, node.args[::-1], [])))
        self.generic_visit(node)


def _is_constant(node: ast.stmt) -> bool:
    """NAME = an expression of numbers."""
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    return isinstance(node, ast.Assign) and all(
        isinstance(n, plain) and not isinstance(getattr(n, "value", 0), str) for n in ast.walk(node.value)
    )


def modules() -> list[Places]:
    """All modules that are changed, with their places."""
    files = sorted(p for p in SOURCE.rglob("*.py") if not any(part in str(p.relative_to(SOURCE)) for part in LEFT_OUT))
    return [Places(file) for file in files]
