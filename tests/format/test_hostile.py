"""Input that was made to break a reader, or that a careless editor made.

The answer is an error with its place, or exactly the data. What could crash a process, or fill the
memory, is read by the command in one of its own; so is one file of every other kind.
"""

from pathlib import Path
from typing import Any

import pytest

from evalcase.format import document, source
from tests.cli.command import check, check_limited, shell
from tests.cli.command import evalcase as run
from tests.format.hostile import CASE, TOO_DEEP, _only_error, data_of, fault, look, write


def faults_apart(folder: Path, texts: dict[str, str]) -> dict[str, tuple[str, int, int]]:
    """The same of several files, found by the command in a process of its own that gets no more
    than 2 GiB of memory."""
    for name, text in texts.items():
        write(folder, name, text)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in texts}
    for problem in check_limited([folder / name for name in texts], 2 << 20):
        found[Path(problem["path"]).name].append(problem)
    return {name: _only_error(found[name], name, text) for name, text in texts.items()}


def test_yaml_nested_too_deep_in_every_syntax(tmp_path: Path) -> None:
    found = faults_apart(tmp_path, {f"{name}.yaml": TOO_DEEP[name][0] for name in TOO_DEEP})
    for name, (_, line, column) in TOO_DEEP.items():
        assert found[f"{name}.yaml"] == ("too-deep", line, column), name


def test_a_hundred_levels_are_fine_and_one_more_is_not(tmp_path: Path) -> None:
    # The value of `v` is inside four levels already.
    lists: Any = "x"
    for _ in range(96):
        lists = [lists]
    assert data_of(tmp_path, "flow.yaml", CASE + "[" * 96 + "x" + "]" * 96) == lists
    assert data_of(tmp_path, "block.yaml", CASE + "\n    " + "- " * 96 + "x") == lists
    empty = CASE + "[" * 96 + "]" * 96
    assert look(write(tmp_path, "empty.yaml", empty)) == []

    place = ("too-deep", 5, 8 + 96)
    assert fault(tmp_path, "flow.yaml", CASE + "[" * 97 + "x" + "]" * 97) == place
    assert fault(tmp_path, "flow.yaml", CASE + "[" * 97 + "]" * 97) == place
    block = CASE + "\n    " + "- " * 97 + "x"
    assert fault(tmp_path, "block.yaml", block) == ("too-deep", 6, 5 + 2 * 96)


def test_the_deepest_value_can_be_pointed_at(tmp_path: Path) -> None:
    # The second reading is made for the sake of a warning far down, at level 100.
    deep = "[" * 96 + "x" + "]" * 96
    text = CASE.replace("hi", '""') + deep + "\n"
    problems = look(write(tmp_path, "x.yaml", text))
    assert [(p["code"], p["line"], p["column"]) for p in problems] == [("empty-input", 2, 10)]


def laughs(levels: int) -> str:
    lines = ["x-0: &a0 [" + ", ".join(["lol"] * 10) + "]"]
    for level in range(1, levels):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"x-{level}: &a{level} [{aliases}]")
    return "\n".join(lines) + "\n"


WIDE = 100_000


LONG = "x" * 1_000_000


BOMBS = {
    "a billion laughs": laughs(10),
    "laughs in mappings": "x-0: &a0 {a: 1, b: 1}\n"
    + "".join(f"x-{n}: &a{n} {{a: *a{n - 1}, b: *a{n - 1}}}\n" for n in range(1, 90)),
    "a wide list": f"x-a: &a [{'1, ' * WIDE}]\nx-b: [{'*a, ' * WIDE}]\n",
    "a long text": f'x-a: &a "{LONG}"\nx-b: [{"*a, " * 5_000}]\n',
    "a long text in a list": f'x-a: &a ["{LONG}"]\nx-b: [{"*a, " * 5_000}]\n',
    "a long key": f'x-a: &a {{? "{LONG}"\n  : 1}}\nx-b: [{"*a, " * 5_000}]\n',
    "merges": "x-a: &a {" + ", ".join(f"k{n}: 1" for n in range(1_000)) + "}\n"
    "x-b: {<<: [" + "*a, " * WIDE + "]}\n",
}


def test_alias_bombs_are_stopped_at_an_alias(tmp_path: Path) -> None:
    ending = "cases: [{input: hi, expected_output: x}]\n"
    texts = {f"{name}.yaml": text + ending for name, text in BOMBS.items()}
    for name, (code, line, column) in faults_apart(tmp_path, texts).items():
        assert code == "alias-bomb", name
        assert texts[name].split("\n")[line - 1][column - 1] == "*", name


def test_a_tag_on_a_key_and_an_unknown_handle(tmp_path: Path) -> None:
    assert fault(tmp_path, "x.yaml", CASE + "{!custom a: 1}") == ("bad-tag", 5, 9)
    assert fault(tmp_path, "x.yaml", CASE + "!e!x 1") == ("syntax", 5, 8)


def test_an_error_in_a_line_of_10_megabytes_is_found_and_shown_small(tmp_path: Path) -> None:
    text = f'- {{description: "{"x" * 10_000_000}", input: 5}}\n'
    path = write(tmp_path, "x.yaml", text)
    result = run("check", path)
    assert result.code == 2
    assert f"x.yaml:1:{text.index('5}') + 1}: error[wrong-type]" in result.out
    assert len(result.out) < 2_000


def test_a_file_over_the_limit_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with path.open("wb") as file:
        file.truncate((1 << 30) + 1)
    ((code, line),) = [(problem["code"], problem["line"]) for problem in check(path)]
    assert (code, line) == ("too-large", None)


def test_a_line_over_the_limit_ends_the_reading_of_a_jsonl_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert source.MAX_LINE_BYTES == 256 << 20
    for module in (source, document):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 1 << 20)
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.write(b'{"input": "hi", "expected_output": "x"}\n')
        file.truncate((1 << 20) + 1_000)
    assert [(p["code"], p["line"]) for p in check(path)] == [("too-large", 2)]


SMALL = """
from evalcase.cli.main import main
from evalcase.format import source

source.MAX_SOURCE_BYTES = 1 << 27
main()
"""


def test_standard_input_without_end_is_refused(tmp_path: Path) -> None:
    """In four times as much memory as may be read, with an eighth of both."""
    assert source.MAX_SOURCE_BYTES == 1 << 30
    (tmp_path / "small.py").write_text(SMALL)
    result = shell(f"ulimit -v {1 << 19}; $PYTHON small.py check - < /dev/zero", cwd=tmp_path)
    assert result.code == 2
    assert "error[too-large]" in result.out


@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
def test_standard_input_over_the_limit_is_refused_in_every_format(
    monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setattr(source, "MAX_SOURCE_BYTES", 1 << 20)
    lines = b'{"input": "hi", "expected_output": "x"}\n' * 30_000
    result = run("check", "-", "--stdin-format", format, stdin=lines)
    assert result.code == 2
    assert "error[too-large]" in result.out
