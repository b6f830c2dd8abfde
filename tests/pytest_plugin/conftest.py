"""A project with a suite that has every verdict, for pytest to run in the process of the tests."""

import importlib
import os
import pkgutil
import sys

import pytest

import evalcase
from tests.pytest_plugin.project import write

for module in pkgutil.walk_packages(evalcase.__path__, "evalcase."):
    # pytester takes out again what is imported while it runs pytest: there would be two of a class.
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

AGENT = """
async def answer(question):
    if question == "crash":
        raise ValueError("boom")
    return {"2+2": "4", "sleepy": "no"}.get(question, question)
"""
SUITE = """
tags: [sums]
cases:
  - id: good
    input: 2+2
    expected_output: "4"
    tags: [smoke, needs gpu, xfail]
  - id: bad
    input: |
      What is 3+3?
    expected_output: |
      It is
      six
  - {id: broken, input: crash, expected_output: "4"}
  - {id: later, input: x, expected_output: x, skip: the model is not there yet}
  - {id: unjudged, input: x}
"""


@pytest.fixture
def evals(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("COLUMNS", "80")
    # A second to import, wherever it starts.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest -p no:anyio")
    # That of another test may have been imported.
    monkeypatch.delitem(sys.modules, "agent", raising=False)
    # It would matter if the machine failed, and takes longer than much else.
    monkeypatch.setattr(os, "fsync", int)
    write(pytester, "agent.py", AGENT)
    write(pytester, "evalcase.toml", 'target = "python:agent:answer"\n')
    write(pytester, "evals/all.eval.yaml", SUITE)
    write(pytester, "test_own.py", "def test_own():\n    pass\n")
    return pytester
