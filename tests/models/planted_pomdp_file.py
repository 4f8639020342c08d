"""Planted bugs of bayesrl.models.pomdp_file."""

MODULE = "bayesrl.models.pomdp_file"
PLANTED = {
    "the first statement about a large row wins": (
        ("np.unique(cell[::-1], return_index=True)  # a later statement wins\n        p = x[i][::-1][last]"),
        ("np.unique(cell, return_index=True)\n        p = x[i][last]"),
        ["tests/models/test_pomdp_file.py::test_large_tables_are_kept_as_lists"],
    ),
    "rounded rows of a large file are not divided": (
        "p = p / np.where(rounded, total, 1.0).ravel()[cell // S]",
        "pass",
        ["tests/models/test_pomdp_file.py::test_large_tables_are_kept_as_lists"],
    ),
    "tied outcomes of a written row are not added up": (
        "    rows.sum_duplicates()\n",
        "    rows.data = np.minimum(rows.data, 0.4)\n",
        ["tests/models/test_pomdp_file.py::test_tied_outcomes_are_written_once"],
    ),
    "a star in a file is not overridden": (
        "in pairwise(runs):",
        "in sorted(pairwise(runs), key=lambda run: int(pattern[run[0]])):",
        ["tests/models/test_pomdp_file.py::test_the_tiger"],
    ),
    "six-digit rows are refused": (
        "ROUNDED = 1e-4 + 1e-12",
        "ROUNDED = 1e-9",
        ["tests/models/test_pomdp_file.py::test_rounded_rows_are_divided"],
    ),
    "rounded rows are not divided": (
        "table[rounded] /= total[rounded][:, None]",
        "pass",
        ["tests/models/test_pomdp_file.py::test_rounded_rows_are_divided"],
    ),
    "costs keep their sign": (
        "R if sign > 0.0 else 0.0 - R",
        "R",
        ["tests/models/test_pomdp_file.py::test_random_files_say_what_a_naive_reader_finds"],
    ),
    "a later statement of another form loses": (
        "in pairwise(runs):",
        "in reversed(list(pairwise(runs))):",
        ["tests/models/test_pomdp_file.py::test_random_files_say_what_a_naive_reader_finds"],
    ),
    "a later statement of the same form loses": (
        "(places[i:j, k] for k in named)] = x[i:j].",
        "(places[i:j, k][::-1].copy() for k in named)] = x[i:j][::-1].copy().",
        ["tests/models/test_pomdp_file.py::test_a_later_line_wins"],
    ),
    "a reward matrix is transposed": (
        "low).reshape(shape[n:])",
        "low).reshape(shape[n:][::-1]).T",
        ["tests/models/test_pomdp_file.py::test_random_files_say_what_a_naive_reader_finds"],
    ),
    "rewards forget what is seen": (
        "and entry.all() and",
        "and",
        ["tests/models/test_pomdp_file.py::test_random_files_say_what_a_naive_reader_finds"],
    ),
    "a missing discount is guessed": (
        'if "discount" in given else 1.0',
        'if "discount" in given else 0.95',
        ["tests/models/test_pomdp_file.py::test_what_is_missing_is_not_guessed"],
    ),
    "an exclusion includes": (
        "chosen = ~chosen",
        "pass",
        ["tests/models/test_pomdp_file.py::test_starts"],
    ),
    "ends pay in a file": (
        "paid[pomdp.terminal] = 0.0",
        "pass",
        ["tests/models/test_pomdp_file.py::test_ends_are_written_as_states_that_pay_nothing"],
    ),
    "digits are lost in a file": (
        "{number!r}",
        "{number:.15g}",
        ["tests/models/test_pomdp_file.py::test_what_was_written_is_read"],
    ),
}
