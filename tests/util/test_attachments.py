import os
from pathlib import Path

import pytest

from evalcase.types.message import Message
from evalcase.types.problem import Finding
from evalcase.util.project import MAX_ATTACHED_BYTES, attachments_in, find_attachments, project_root
from tests.for_each import for_each


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a suite's folder two levels down, and a secret outside."""
    root = tmp_path / "project"
    (root / "evals" / "math").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    (tmp_path / "secret.txt").write_text("secret")
    return root


def find(project: Path, name: str) -> str:
    """The path that is found, relative to the project; a code where there is none."""
    found = attachments_in(str(project / "evals" / "math")).find(name)
    return found.code if isinstance(found, Finding) else os.path.relpath(found, project)


def test_the_nearest_file_is_found_from_the_suite_upwards(project: Path) -> None:
    (project / "a.txt").touch()
    assert find(project, "a.txt") == "a.txt"
    (project / "evals" / "a.txt").touch()
    assert find(project, "a.txt") == "evals/a.txt"
    (project / "evals" / "math" / "a.txt").touch()
    assert find(project, "a.txt") == "evals/math/a.txt"
    assert find(project, "./a.txt") == "evals/math/a.txt"
    assert find(project, "../a.txt") == "evals/a.txt"
    assert find(project, "evals/a.txt") == "evals/a.txt"


@pytest.mark.parametrize(
    "name",
    ["../../../secret.txt", "/etc/passwd", "../" * 50 + "etc/passwd", "x/../../../../secret.txt"],
)
def test_paths_that_lead_outside(project: Path, name: str) -> None:
    (project / "evals" / "math" / "x").mkdir()
    assert find(project, name) == "file-outside-project"


def test_links(project: Path) -> None:
    folder = project / "evals" / "math"
    (project / "a.txt").touch()
    (folder / "in").symlink_to("../../a.txt")
    (folder / "out").symlink_to("../../../secret.txt")
    (folder / "away").symlink_to(project.parent)
    (folder / "nowhere").symlink_to("missing")
    (folder / "loop").symlink_to("loop")
    assert find(project, "in") == "a.txt"
    assert find(project, "out") == "file-outside-project"
    assert find(project, "away/secret.txt") == "file-outside-project"
    assert find(project, "away/project/a.txt") == "a.txt"
    assert find(project, "nowhere") == "missing-file"
    assert find(project, "loop") == "missing-file"


def test_a_near_link_that_leads_outside_is_not_replaced_by_a_far_file(project: Path) -> None:
    (project / "a.txt").touch()
    (project / "evals" / "math" / "a.txt").symlink_to("../../../secret.txt")
    assert find(project, "a.txt") == "file-outside-project"


def test_a_folder_whose_name_starts_like_the_projects_is_outside(project: Path) -> None:
    twin = project.parent / "project-secret"
    twin.mkdir()
    (twin / "a.txt").touch()
    assert find(project, "../../../project-secret/a.txt") == "file-outside-project"


def test_what_is_no_regular_file(project: Path) -> None:
    folder = project / "evals" / "math"
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    assert find(project, "pipe") == "bad-file"
    assert find(project, "folder") == "bad-file"
    assert find(project, ".") == "bad-file"
    assert find(project, "..") == "bad-file"
    assert find(project, "../..") == "bad-file"


def test_the_size_of_a_file(project: Path) -> None:
    for name, size in (("fits", MAX_ATTACHED_BYTES), ("too-large", MAX_ATTACHED_BYTES + 1)):
        with (project / name).open("wb") as file:
            file.truncate(size)
    assert find(project, "fits") == "fits"
    assert find(project, "too-large") == "bad-file"


@for_each("mark", ["evalcase.toml", "pyproject.toml", ".git"])
def test_the_project_root_has_a_mark(tmp_path: Path, mark: str) -> None:
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    (tmp_path / "a" / mark).touch()
    assert project_root(str(folder)) == str(tmp_path / "a")
    (tmp_path / "a" / "b" / "evalcase.toml").touch()
    assert project_root(str(folder)) == str(tmp_path / "a" / "b")


# The files of messages.


def with_parts(*parts: dict[str, object]) -> tuple[Message, ...]:
    return (Message({"role": "user", "content": list(parts)}),)


def test_the_files_of_messages_are_found_from_the_suite_upwards(project: Path) -> None:
    evals = project / "evals"
    for path in (project / "a.txt", evals / "a.txt", project / "b.png", project / "c.txt"):
        path.write_text("x")
    (evals / "link.txt").symlink_to("../c.txt")
    messages = (
        *with_parts(
            {"type": "file", "path": "a.txt"}, {"type": "image", "path": "b.png"},
            {"type": "text", "text": "a.txt"}, {"type": "file", "value": "link.txt"},
        ),
        Message({"role": "user", "content": {"type": "file", "path": "c.txt"}}),
        Message({"role": "user", "content": "a.txt"}),
    )  # fmt: skip
    assert find_attachments(str(evals / "math" / "s.yaml"), messages) == {
        "a.txt": str(evals / "a.txt"),
        "b.png": str(project / "b.png"),
        "link.txt": str(project / "c.txt"),
        "c.txt": str(project / "c.txt"),
    }


@pytest.mark.parametrize("key", ["path", "value"])
@pytest.mark.parametrize("kind", ["file", "image"])
def test_the_first_that_is_unfit_is_told(project: Path, kind: str, key: str) -> None:
    (project / "a.txt").touch()
    os.mkfifo(project / "pipe")
    messages = with_parts({"type": kind, key: "a.txt"}, {"type": kind, key: "pipe"})
    found = find_attachments(str(project / "s.yaml"), messages)
    assert found == Finding((), "`pipe` is not a regular file", code="bad-file")


def test_a_name_that_is_a_whole_picture_is_cut_in_what_is_said(project: Path) -> None:
    found = attachments_in(str(project)).find("data:image/png;base64," + "A" * 100_000)
    assert isinstance(found, Finding)
    assert len(found.message) < 300
    assert "`url`" in (found.hint or "")
