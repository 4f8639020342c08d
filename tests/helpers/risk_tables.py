"""Tables of docs/risk.md that long tests measure: in full if BAYESRL_TABLES is set, else with fewer repetitions."""

import os


def repeats(whole, few):
    """The number of repetitions: that of the page, or a few."""
    return whole if os.environ.get("BAYESRL_TABLES") else few
