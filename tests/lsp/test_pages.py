from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalcase.lsp.pages import folder_told_by, page_of
from tests.for_each import for_each

COMMIT = {"vcs": "git", "commit_id": "abc123"}


@pytest.mark.parametrize(
    "name", ["https://github.com/some/evalcase.git", "https://gitlab.com/a/b/"]
)
def test_a_repository_has_the_pages_of_the_commit_that_is_installed(name: str) -> None:
    bare = name.removesuffix("/").removesuffix(".git")
    told = json.dumps({"url": name, "vcs_info": COMMIT})
    assert folder_told_by(told) == f"{bare}/blob/abc123/docs/diagnostics"


def test_a_clone_has_the_pages_as_long_as_it_is_there(tmp_path: Path) -> None:
    clone = tmp_path / "my clone"
    told = json.dumps({"url": clone.as_uri(), "dir_info": {}})
    assert folder_told_by(told) is None
    (clone / "docs" / "diagnostics").mkdir(parents=True)
    assert folder_told_by(told) == (clone / "docs" / "diagnostics").resolve().as_uri()


@for_each(
    "told",
    [
        None, "", "no JSON", "[]", '{"url": 5}', '{"url": "https://github.com/some/evalcase"}',
        json.dumps({"url": "https://example.org/evalcase.git", "vcs_info": COMMIT}),
        json.dumps({"url": "ssh://git@github.com/some/evalcase.git", "vcs_info": COMMIT}),
    ],
)  # fmt: skip
def test_nothing_is_made_up(told: str | None) -> None:
    assert folder_told_by(told) is None


def test_the_page_of_a_code_is_there() -> None:
    found = page_of("unknown-field")
    assert found is not None
    assert Path(found.removeprefix("file://")).is_file()
