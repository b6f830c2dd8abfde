"""`evalcase.toml` in editors: Tombi by its language server, Even Better TOML by what it checks."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from evalcase.config.catalogue import config_schema
from evalcase.config.config import Config
from evalcase.types.read_options import fields_of
from tests.editors.conftest import LINE
from tests.editors.language_server import Document
from tests.editors.project import EditedProject
from tests.servers.server import INSTALLED

ROOT = Path(__file__).parent.parent.parent
SETTINGS = {name: each.about for name, each in fields_of(Config).items()}
GOOD = [ROOT / "tests/corpus/evalcase.toml", *sorted((ROOT / "examples").rglob("evalcase.toml"))]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("con|currency = 3", SETTINGS["concurrency"]),
        ("[tar|gets.a]\nkind = 'echo'", SETTINGS["targets"]),
        ("[targets.a]\nki|nd = 'echo'", "python: Calls a Python function."),
        ("[targets.a]\nkind = 'python'\nfunc|tion = 'a:b'", "The function, class or object"),
        ("[judge]\ntar|get = 'a'", "The target that acts as judge."),
    ],
)
def test_a_name_is_explained(toml: EditedProject, text: str, sentence: str) -> None:
    assert looked_at(toml, text).hover().startswith(sentence)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("|", {*SETTINGS}),
        ("[targets.a]\n|", {"kind", "function", "command", "url", "model", "path"}),
        ("[targets.a]\nkind = '|'", {'"python"', '"command"', '"http"', '"openai"', '"echo"'}),
        ("[judge]\n|", {"target", "votes", "unsure"}),
    ],
)
def test_names_are_offered(toml: EditedProject, text: str, known: set[str]) -> None:
    assert {*looked_at(toml, text).offered()} >= known


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("concurrency = 3\ntagret = 'echo'", 2, "one of these names: target, targets"),
        ("concurrency = 'many'", 1, "Integer"),
        ("[targets.a]\nkind = 'ech'", 2, '"python", "command"'),
        (
            "[targets.a]\nkind = 'echo'\ndelay = 'x'",
            3,
            "one of these names: kind, extends, concurrency",
        ),
        ("[judge]\ntarget = 'a'\nvote = 'x'", 3, "one of these names: target, votes, unsure"),
        ("[judge]\ntarget = 'a'\nunsure = 'x'", 3, '"error", "fail"'),
    ],
)
def test_one_message_at_the_line_says_what_fits(
    toml: EditedProject, text: str, line: int, message: str
) -> None:
    (found,) = toml.open(LINE + text).underlined()
    assert (found.line, found.text.count("\n")) == (line, 0)
    assert message in found.message


def test_nothing_in_good_files_is_underlined(toml: EditedProject) -> None:
    for path in GOOD:
        text = path.read_text(encoding="utf-8").replace("#:schema", "#")
        assert toml.open(LINE + text).underlined() == [], path


def looked_at(toml: EditedProject, text: str) -> Document:
    """Opened, and read by the server together with its schema."""
    document = toml.at(LINE + text)
    document.underlined()
    return document


def taplo(folder: Path) -> str:
    """What `taplo check` says of a configuration: Even Better TOML is made of it."""
    program = INSTALLED / "bin" / "taplo"
    assert program.exists(), "run `make .venv-servers/.servers` first"
    command = [str(program), "check", "--colors", "never", "evalcase.toml"]
    return subprocess.run(
        command, cwd=folder, stderr=subprocess.PIPE, encoding="utf-8", check=False
    ).stderr


def test_even_better_toml_underlines_the_value_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "evalcase.config.schema.json").write_text(json.dumps(config_schema()))
    (tmp_path / "evalcase.toml").write_text(
        LINE + "tagret = 'echo'\nconcurrency = 'many'\n"
        "[targets.a]\nkind = 'ech'\n[targets.b]\nkind = 'echo'\ndelay = 3\n"
    )
    said = taplo(tmp_path)
    places = re.findall(r"evalcase\.toml:(\d+):(\d+)", said)
    assert sorted(places) == [("2", "10"), ("3", "15"), ("5", "8"), ("8", "9")]
    assert "one of these names: target, targets, secrets" in said


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.parent.name)
def test_even_better_toml_has_nothing_against_good_files(tmp_path: Path, path: Path) -> None:
    (tmp_path / "evalcase.config.schema.json").write_text(json.dumps(config_schema()))
    text = path.read_text(encoding="utf-8").replace("#:schema", "#")
    (tmp_path / "evalcase.toml").write_text(LINE + text)
    assert "error" not in taplo(tmp_path)
