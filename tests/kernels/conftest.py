"""Kernels as the Python functions that they are written as, so that tests may call them with anything."""

import pytest


@pytest.fixture
def uncompiled(monkeypatch):
    """Replace the compiled functions in these modules by their Python functions, for one test."""

    def strip(*modules):
        for module in modules:
            for name, kernel in list(vars(module).items()):
                if hasattr(kernel, "py_func"):
                    monkeypatch.setattr(module, name, kernel.py_func)

    return strip
