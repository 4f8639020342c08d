"""Planted bugs of bayesrl.pacbayes.lemma."""

MODULE = "bayesrl.pacbayes.lemma"
PLANTED = {
    "KL forgotten in the lemma": (
        "sqrt((kl + log1p(C * c)",
        "sqrt((log1p(C * c)",
        ["tests/pacbayes/test_coverage.py::test_the_lemma_fails_rarely_where_its_tails_are_exact"],
    ),
}
