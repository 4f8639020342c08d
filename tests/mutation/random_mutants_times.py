"""A pytest plugin that keeps how long each test took and that it passed, for random_mutants.py."""

import json
import os

TIMES = {}


def pytest_runtest_logreport(report):
    if report.when == "call" and report.passed:
        TIMES[report.nodeid] = report.duration


def pytest_sessionfinish(session):
    with open(os.environ["BAYESRL_TIMES"], "w") as file:
        json.dump(TIMES, file)
