from __future__ import annotations

from pathlib import Path

import pytest

from evalcase.config.config import read_config
from evalcase.editor.lookup import locate_definition
from tests.editor.at_cursor import cursor_in

CODE = """\
raise SystemExit("nobody runs this")

def answer(text):
    return text

class Judge:
    async def grade(self): ...

polite = answer
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "a.md").write_text("")
    (tmp_path / "schema.json").write_text("{}")
    (tmp_path / "agent.py").write_text(CODE)
    (tmp_path / "evalcase.toml").write_text(
        '[targets.bot]\nkind = "echo"\n\n'
        '[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
    )
    return tmp_path


def found_at(
    project: Path, text: str, name: str = "evals/a.eval.yaml"
) -> tuple[str, int, int] | None:
    config = read_config(str(project))
    found = locate_definition(cursor_in(text), str(project / name), config)
    return found and (str(Path(found.path).relative_to(project)), found.line, found.column)


@pytest.mark.parametrize(("text", "found"), [
    ("- input: [{role: user, content: [{type: file, path: a|.md}]}]", ("evals/a.md", 0, 0)),
    ("- input:\n    - role: user\n      content:\n        - type: file\n          path: a.|md",
     ("evals/a.md", 0, 0)),
    ("- graders: [{type: json_schema, file: sche|ma.json}]", ("schema.json", 0, 0)),
    ("- target: python:agent:an|swer", ("agent.py", 2, 0)),
    ("- target: agent|", ("agent.py", 2, 0)),
    ("- target: b|ot", ("evalcase.toml", 0, 9)),
    ("- targets: [echo, bo|t]", ("evalcase.toml", 0, 9)),
    ("- graders:\n    - python: agent:pol|ite", ("agent.py", 8, 0)),
    ("- graders:\n    - python:agent:Judge.gr|ade:\n        weight: 2", ("agent.py", 6, 4)),
    ("- graders: ['python:./agent.py:Jud|ge']", ("agent.py", 5, 0)),
    ("- target: python:agent:noth|ing", None),
    ("- input: ../../etc/pass|wd", None),
    ("- input: Hel|lo", None),
    ("- input: >\n    a.m|d", None),
])  # fmt: skip
def test_where_a_name_leads(project: Path, text: str, found: tuple[str, int, int] | None) -> None:
    assert found_at(project, text) == found
