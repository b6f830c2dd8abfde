from __future__ import annotations

from pathlib import Path

from evalcase.editor.documents import role_of
from tests.for_each import for_each

LINE = "# yaml-language-server: $schema=../evalcase.schema.json\n"


@for_each(("name", "text", "role"), [
    ("a.eval.yaml", "", ("suite", "yaml")),
    ("a.eval.YML", "", ("suite", "yaml")),
    ("a.eval.json", "", ("suite", "json")),
    ("a.eval.jsonl", "", ("suite", "jsonl")),
    ("evalcase.toml", "", ("config", "toml")),
    ("pyproject.toml", "[tool.evalcase]", ("config", "toml")),
    ("pyproject.toml", "[tool.ruff]", None),
    ("cases.yaml", LINE, ("suite", "yaml")),
    ("cases.yaml", f"# a comment\n\n{LINE}", ("suite", "yaml")),
    ("docker-compose.yaml", "services: {}", None),
    ("evalcase.schema.json", "{}", None),
    ("a.py", LINE, None),
])  # fmt: skip
def test_what_a_file_is_to_evalcase(
    tmp_path: Path, name: str, text: str, role: tuple[str, str] | None
) -> None:
    assert role_of(str(tmp_path / name), text) == role


def test_the_file_beside_a_jsonl_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.suite.yaml")
    assert role_of(path, "") is None
    (tmp_path / "a.eval.jsonl").write_text("")
    assert role_of(path, "") == ("sidecar", "yaml")
