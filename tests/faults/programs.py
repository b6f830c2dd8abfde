"""Programs as targets: written into a project, and configured there."""

import json
import sys

from tests.run.project import CONFIG, Project


def program(project: Project, code: str, *, name: str = "program", **options: object) -> str:
    """Configure a Python program as a target; the name of that."""
    (project.path / f"{name}.py").write_text(code, encoding="utf-8")
    path = project.path / "evalcase.toml"
    given = {"kind": "command", "command": [sys.executable, "-S", f"{name}.py"], **options}
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
    before = path.read_text(encoding="utf-8") if path.exists() else CONFIG
    path.write_text("\n".join([before, f"[targets.{name}]", *lines, ""]), encoding="utf-8")
    return name
