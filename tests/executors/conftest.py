"""The project and the gate of the tests of the command, and agents that are a danger."""

from __future__ import annotations

import pytest

from tests.cli.conftest import gate, project
from tests.executors.dangerous import DEATHS
from tests.run.project import Project

__all__ = ["dangerous", "gate", "project"]


@pytest.fixture
def dangerous(project: Project) -> Project:
    project.add_to_agent(DEATHS)
    return project
