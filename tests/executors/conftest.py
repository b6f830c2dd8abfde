"""Agents that are a danger."""

import pytest

from tests.executors.dangerous import DEATHS
from tests.run.project import Project


@pytest.fixture
def dangerous(project: Project) -> Project:
    project.add_to_agent(DEATHS)
    return project
