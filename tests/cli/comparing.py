"""`evalcase compare`, and what its JSON names."""

from __future__ import annotations

import json
from typing import Any

from tests.run.project import Project


def compared(project: Project, *arguments: str) -> dict[str, Any]:
    done = project.run("compare", "--json", *arguments)
    found: dict[str, Any] = json.loads(done.out)
    assert found["exit_code"] == done.code
    return found


def names(found: dict[str, Any], kind: str) -> list[str]:
    return [each["case"] for each in found["targets"][0]["cases"][kind]["named"]]
