"""The survey's taxonomy, from the registry: chapters, sections and the methods of each.

    taxonomy()             every method, by chapter and section of the survey
    online_taxonomy()      the planners of chapter 4, by the depth and the posterior of the table of online methods

`plots/taxonomy.py` draws both.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayesrl.registry import PACKAGES, methods, online_methods

CHAPTERS = {
    "2": "Background",
    "3": "Bandits",
    "4": "Model-based",
    "5": "Model-free",
    "6": "Risk",
    "7": "Extensions",
}
"""The survey's chapters."""
SECTIONS = {
    "2.1": "bandits with outcomes",
    "2.2": "known MDPs",
    "2.3": "known POMDPs",
    "2.4": "reinforcement learning",
    "2.5": "Bayesian learning",
    "3": "bounds",
    "3.1": "classical results",
    "3.2": "Bayes-UCB",
    "3.3": "Thompson sampling",
    "4.1": "models and representations",
    "4.2": "exploration and exploitation",
    "4.3": "offline value approximation",
    "4.4": "online, near-myopic",
    "4.5": "online tree search",
    "4.6": "bonus, PAC guarantees",
    "4.7": "unknown rewards",
    "4.8": "continuous MDPs",
    "4.9": "POMDPs",
    "4.10": "other priors, structured MDPs",
    "5.1": "value functions",
    "5.2": "policy gradient",
    "5.3": "actor-critic",
    "6": "criteria",
    "7.1": "PAC-Bayes",
    "7.2": "inverse RL",
    "7.3": "several agents",
    "7.4": "several tasks",
}
"""The survey's sections that have methods. A chapter without sections has its own number."""
DEPTHS = {"N/A": "no tree", "fixed d": "a tree of fixed depth", "variable d": "a tree of variable depth"}
"""The depths of the table, in words."""

Taxonomy = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Names by branch and twig."""


def taxonomy() -> Taxonomy:
    """The names of all methods by chapter and section, in the order of the survey."""
    found: dict[str, dict[str, tuple[str, ...]]] = {f"{n} {title}": {} for n, title in CHAPTERS.items()}
    known = [e for e in methods() if e.package in PACKAGES]  # not what a user registered beside ours
    for number, title in SECTIONS.items():
        chapter = number.partition(".")[0]
        names = tuple(e.name for e in known if e.survey == number)
        found[f"{chapter} {CHAPTERS[chapter]}"][f"{number} {title}"] = names
    return found


def online_taxonomy() -> Taxonomy:
    """The planners of the table of online methods, by depth and then by what is drawn from the posterior.

    A name with a star has a cell in which the survey's words are not what happens here.
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {title: {} for title in DEPTHS.values()}
    for entry in online_methods():
        facets = entry.facets
        assert facets is not None
        branch = found[DEPTHS[facets.in_words_of_the_survey("depth")]]
        twig = facets.in_words_of_the_survey("posterior").partition(",")[0]
        twig = "nothing is drawn" if twig == "N/A" else twig.removeprefix("N/A: ")
        branch[twig] = (*branch.get(twig, ()), entry.name + ("*" if facets.why() else ""))
    return found
