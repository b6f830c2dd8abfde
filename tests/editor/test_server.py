"""The language server as editors have it: a real process, driven over its pipes."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from evalcase.api import check_text
from tests.cli.command import EVALCASE, LIMIT_S, environment, evalcase
from tests.editor.client import Editor, apply, split_at_cursor

WRONG = """\
cases:
  - id: 😀漢
    input: {role: usr, "😀😀": 漢字, content: x}
    expected_output: [{role: user, content: "😀"}, {rle: assistant, content: x}]
  - {id: "😀😀", inptu: 漢}
"""


def at(found: types.Range) -> tuple[int, int, int, int]:
    return found.start.line, found.start.character, found.end.line, found.end.character


def test_what_it_can_do_is_told_at_the_start(editor: Editor) -> None:
    can = editor.began.capabilities
    assert can.position_encoding == types.PositionEncodingKind.Utf16
    assert can.text_document_sync is not None
    for ability in (
        can.completion_provider, can.hover_provider, can.definition_provider,
        can.code_action_provider, can.document_symbol_provider, can.inlay_hint_provider,
    ):  # fmt: skip
        assert ability


def units(text: str, line: int, column: int) -> int:
    return len(text.split("\n")[line - 1][: column - 1].encode("utf-16-le")) // 2


def test_problems_stand_at_exact_columns_in_utf_16(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    found = editor.problems(editor.open(path, WRONG))
    expected = check_text(WRONG, path, tmp_path)
    assert len(found) == len(expected) > 2
    for diagnostic, problem in zip(found, expected, strict=True):
        assert problem.span is not None
        line, column, end_line, end_column = problem.span
        assert at(diagnostic.range) == (
            line - 1, units(WRONG, line, column), end_line - 1, units(WRONG, end_line, end_column)
        )  # fmt: skip
        assert (diagnostic.code, diagnostic.source) == (problem.code, "evalcase")
        assert diagnostic.message.startswith(problem.message)
        assert diagnostic.code_description is not None
        page = Path(unquote(urlsplit(diagnostic.code_description.href).path))
        assert page.read_text().startswith(f"# {problem.code}\n")
    # One that is plain to see: behind two emoji, each of two units.
    inptu = next(each for each in found if "`inptu`" in each.message)
    assert at(inptu.range) == (4, 17, 4, 22)


def test_the_encoding_that_the_editor_wants_is_used(tmp_path: Path) -> None:
    editor = Editor(tmp_path, ["utf-8", "utf-16"])
    assert editor.began.capabilities.position_encoding == types.PositionEncodingKind.Utf8
    uri = editor.open(tmp_path / "a.eval.yaml", WRONG)
    found = next(each for each in editor.problems(uri) if "`inptu`" in each.message)
    assert at(found.range) == (4, 21, 4, 26)
    # Positions that are asked about are counted the same.
    before, _, _ = WRONG.split("\n")[2].partition("ontent")
    assert editor.hover(uri, (2, len(before.encode()))) == (
        "Text, a list of parts, or any other value."
    )
    assert editor.stop() == 0


def test_only_the_last_of_several_changes_is_told_of(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.eval.yaml", "- input: x\n  expected_output: x\n")
    assert editor.problems(uri) == []
    seen: list[int | None] = []
    for count in range(1, 20):
        editor.change(uri, f"- {'i' * count}: x\n")
    editor.change(uri, "- inptu: x\n")
    (found,) = editor.problems(uri)
    assert "`inptu`" in found.message
    seen.append(editor.published[uri].version)
    assert seen == [21]


def test_files_that_are_not_ours_are_left_alone(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "docker-compose.yaml", "cases: [5]\n")
    assert editor.problems(uri) == []
    assert editor.complete(uri, (0, 0)) == {}
    assert editor.hover(uri, (0, 1)) is None
    assert editor.symbols(uri) == []
    assert editor.hints(uri) == []
    assert editor.define(uri, (0, 1)) is None


def test_a_configuration_and_the_suites_that_name_it(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text("")
    suite = editor.open(tmp_path / "a.eval.yaml", "- {input: x, target: bot, expected_output: x}\n")
    (found,) = editor.problems(suite)
    assert found.code == "unknown-target"
    config = editor.open(tmp_path / "evalcase.toml", '[targets.bot]\nkind = "eco"\n')
    (found,) = editor.problems(config)
    assert (found.code, at(found.range)) == ("unknown-target", (1, 7, 1, 12))
    editor.close(config)
    editor.close(suite)


def test_completion_while_the_text_can_not_be_read(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.eval.yaml", "cases:\n  - id: a\n")
    text, place = split_at_cursor("cases:\n  - id: 😀\n    input: {role: us|\n")
    editor.change(uri, text)
    offered = editor.complete(uri, place)
    assert [*offered] == ["system", "developer", "user", "assistant", "tool"]
    edit = offered["user"].text_edit
    assert isinstance(edit, types.TextEdit)
    assert apply(text, [edit]) == text.replace("us\n", "user\n")


def test_a_case_is_shown_in_its_canonical_form(editor: Editor, tmp_path: Path) -> None:
    text = (
        "input: [{role: system, content: Be brief.}]\ncases:\n- id: a\n  input: Hi\n- input: Yo\n"
    )
    uri = editor.open(tmp_path / "a.eval.yaml", text)
    shown = editor.hover(uri, (2, 6))
    assert shown is not None
    about, _, case = shown.partition("\n\n")
    assert about == "A name that is unique in the suite; by default, one is made from the input."
    assert "Be brief." in case
    assert "```yaml\nid: a\n" in case
    assert "id: yo-" in (editor.hover(uri, (4, 4)) or "")
    assert "id: a" not in (editor.hover(uri, (3, 4)) or "")


def test_a_quick_fix_that_is_applied_leaves_a_clean_check(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    text = "tests:\n  - {id: 😀, inptu: 漢😀, expected_output: x}\n"
    uri = editor.open(path, text)
    titles = []
    while found := editor.problems(uri):
        action = editor.actions(uri, found[0].range)[0]
        titles.append(action.title)
        assert action.kind == types.CodeActionKind.QuickFix
        assert action.edit is not None
        assert action.edit.document_changes is not None
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == editor.versions[uri]
        text = apply(text, [each for each in change.edits if isinstance(each, types.TextEdit)])
        editor.change(uri, text)
    assert titles == ["Rename `tests` to `cases`", "Write `input` for `inptu`"]
    path.write_text(text)
    assert evalcase("check", path).out == "no problems found: 1 case in 1 file\n"


def test_where_a_function_is_defined_is_found_without_running_it(
    editor: Editor, tmp_path: Path
) -> None:
    (tmp_path / "evalcase.toml").write_text("")
    (tmp_path / "agent.py").write_text(
        "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n\ndef answer(): ...\n"
    )
    text = "- {input: x, target: 'python:agent:answer', expected_output: x}\n"
    uri = editor.open(tmp_path / "a.eval.yaml", text)
    assert editor.problems(uri) == []
    location = editor.define(uri, (0, 30))
    assert location is not None
    assert (location.uri, location.range.start.line) == ((tmp_path / "agent.py").as_uri(), 3)
    assert not (tmp_path / "ran").exists()


def test_cases_are_listed_by_their_ids(editor: Editor, tmp_path: Path) -> None:
    text = "cases:\n  - id: 😀\n    input: Hi\n  - {input: Yo, id: two}\n"
    uri = editor.open(tmp_path / "a.eval.yaml", text)
    found = editor.symbols(uri)
    assert [(each.name, each.detail) for each in found] == [("😀", "Hi"), ("two", "Yo")]
    assert [at(each.selection_range) for each in found] == [(1, 8, 1, 10), (3, 20, 3, 23)]


def test_the_latest_verdict_stands_beside_a_case(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text('target = "echo"\n')
    path = tmp_path / "a.eval.yaml"
    text = "- {id: good, input: x, expected_output: x}\n- {id: 😀, input: x, expected_output: y}\n"
    path.write_text(text)
    uri = editor.open(path, text)
    assert editor.hints(uri) == []
    assert evalcase("run", "--quiet", cwd=tmp_path).code == 1
    hints = editor.hints(uri)
    assert [(each.label, each.position.character) for each in hints] == [
        ("✓ passed", 11), ("✗ failed", 9),
    ]  # fmt: skip
    tooltip = hints[1].tooltip
    assert isinstance(tooltip, types.MarkupContent)
    assert "echo: ✗ failed" in tooltip.value
    editor.change(uri, text.replace("output: y", "output: x"))
    assert [each.label for each in editor.hints(uri)] == ["✓ passed", "✗ failed, changed since"]


def test_changes_on_disk_are_asked_for_and_attended_to(editor: Editor, tmp_path: Path) -> None:
    editor.wait(editor.has_registered.wait())
    assert [each.method for each in editor.registered] == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
    (tmp_path / "evalcase.toml").write_text("")
    uri = editor.open(tmp_path / "a.eval.yaml", "- {input: x, target: bot, expected_output: x}\n")
    assert [each.code for each in editor.problems(uri)] == ["unknown-target"]
    config = tmp_path / "evalcase.toml"
    config.write_text('[targets.bot]\nkind = "echo"\n')
    run = types.FileEvent(f"{tmp_path.as_uri()}/.evalcase/runs/1/run.json", types.FileChangeType(1))
    changed = types.FileEvent(config.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(
        types.DidChangeWatchedFilesParams([changed, run])
    )
    editor.await_codes(uri)
    editor.wait(editor.refreshed.wait())


def test_nothing_is_written(editor: Editor, tmp_path: Path) -> None:
    text = "- {id: a, inptu: x}\n"
    (tmp_path / "a.eval.yaml").write_text(text)
    before = sorted(os.walk(tmp_path))
    uri = editor.open(tmp_path / "a.eval.yaml", text)
    whole = types.Range(types.Position(0, 0), types.Position(1, 0))
    assert editor.actions(uri, whole)
    editor.hints(uri)
    editor.symbols(uri)
    editor.complete(uri, (0, 3))
    assert sorted(os.walk(tmp_path)) == before
    assert (tmp_path / "a.eval.yaml").read_text() == text


# How it ends


def start_process(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*EVALCASE, "lsp"], cwd=folder, env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_without_a_shutdown_the_end_is_no_success(tmp_path: Path) -> None:
    process = start_process(tmp_path)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1


_CLIENT = """
import os, subprocess, sys
server = subprocess.Popen([*sys.argv[1:], "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": %d, '
body = body % os.getpid() + b'"rootUri": null, "capabilities": {}}}'
server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
server.wait()
"""


def test_the_server_ends_when_its_editor_is_killed(tmp_path: Path) -> None:
    read, write = os.pipe()
    client = subprocess.Popen(
        [sys.executable, "-c", _CLIENT, *EVALCASE], cwd=tmp_path, env=environment(),
        stdout=subprocess.PIPE, stderr=write,
    )  # fmt: skip
    os.close(write)
    assert client.stdout is not None
    assert int(client.stdout.readline()) > 0
    client.send_signal(signal.SIGKILL)
    client.wait(LIMIT_S)
    client.stdout.close()
    # Both have the pipe of standard error: it is at its end once neither is there any more.
    with os.fdopen(read, "rb") as stream:
        stream.read()


def test_without_its_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('no', name='pygls')\n")
    done = subprocess.run(
        [*EVALCASE, "lsp"], env=environment(PYTHONPATH=f"{tmp_path}:{environment()['PYTHONPATH']}"),
        capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b'pip install "pygls>=2.0"' in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
