"""Planted bugs of bayesrl.beliefs.mdp.ledger."""

MODULE = "bayesrl.beliefs.mdp.ledger"
PLANTED = {
    "update in place": (
        ("        new = object.__new__(Ledger)\n        new._book, new._n, new._cells = book, n + 1,"),
        ("        new = self\n        new._book, new._n, new._cells = book, n + 1,"),
        ["tests/beliefs/test_laws.py::test_belief_laws[dirichlet-mdp]"],
    ),
    "a taken place is written over": (
        "if book.fill == n < len(book.entries)",
        "if n < len(book.entries)",
        ["tests/beliefs/mdp/test_dirichlet.py"],
    ),
}
