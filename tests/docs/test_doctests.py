"""The examples in docstrings run and print what they say.

A test of its own, instead of --doctest-modules: pytest would then import every module of tests/ as well, and for the
plugin of the mutation suite that is not harmless.
"""

import doctest
import pkgutil
from importlib import import_module

import pytest

import bayesrl

MODULES = [module.name for module in pkgutil.walk_packages(bayesrl.__path__, "bayesrl.")]
FINDER = doctest.DocTestFinder()
TESTS = [test for name in MODULES for test in FINDER.find(import_module(name), name) if test.examples]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_docstring(test):
    failed, attempted = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert attempted
    assert not failed
