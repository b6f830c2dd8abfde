import os
import re
import subprocess
from pathlib import Path

import pytest

import evalcase as package
from tests.cli.command import LIMIT_S, Result, evalcase, shell, unprivileged
from tests.for_each import for_each

OLD = b"- input_messages: hi\n  expected_messages: x\n"
NEW = b"- input: hi\n  expected_output: x\n"


def migrate(folder: Path, name: str, data: bytes, *options: str) -> tuple[Result, bytes]:
    """The result of the command, and what the file holds afterwards."""
    path = folder / name
    path.write_bytes(data)
    result = evalcase("migrate", name, *options, cwd=folder)
    return result, path.read_bytes()


# Every name, and every other byte


RENAMES = [
    (b"- input_messages: hi\n  criteria: x\n", b"- input: hi\n  criteria: x\n"),
    (b"- input: a\n  expected_messages: b\n", b"- input: a\n  expected_output: b\n"),
    (b"- input: a\n  expected_outcome: b\n", b"- input: a\n  criteria: b\n"),
    (b"- input: a\n  outcome: b\n", b"- input: a\n  criteria: b\n"),
    (b"- input: a\n  evaluators: [expected]\n", b"- input: a\n  graders: [expected]\n"),
    (b"- input: a\n  assertions: [expected]\n", b"- input: a\n  graders: [expected]\n"),
    (b"- input: a\n  assert: [expected]\n", b"- input: a\n  graders: [expected]\n"),
    (b"evalcases: [{input: a, criteria: b}]", b"cases: [{input: a, criteria: b}]"),
    (b"eval_cases: [{input: a, criteria: b}]", b"cases: [{input: a, criteria: b}]"),
    (b"tests: [{input: a, criteria: b}]", b"cases: [{input: a, criteria: b}]"),
    (b"dataset: d\ncases: [{input: a, criteria: b}]", b"name: d\ncases: [{input: a, criteria: b}]"),
    (
        b"evaluators: [expected]\ninput_messages: s\ncases: [{input: a}]",
        b"graders: [expected]\ninput: s\ncases: [{input: a}]",
    ),
    (b"input_messages: a\noutcome: b", b"input: a\ncriteria: b"),
]


def test_every_deprecated_name(tmp_path: Path) -> None:
    for number, (before, _) in enumerate(RENAMES):
        (tmp_path / f"{number}.eval.yaml").write_bytes(before)
    result = evalcase("migrate", ".", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    for number, (before, after) in enumerate(RENAMES):
        assert (tmp_path / f"{number}.eval.yaml").read_bytes() == after, before
    checked = evalcase("check", cwd=tmp_path)
    assert checked.code == 0
    assert "deprecated-name" not in checked.out


BYTES: dict[str, tuple[bytes, bytes]] = {
    "comments": (
        (b"# input_messages\n-   input_messages :   hi   # input_messages: x\n\n\n"
        b"    expected_messages: x\n# end"),
        (b"# input_messages\n-   input :   hi   # input_messages: x\n\n\n"
        b"    expected_output: x\n# end"),
    ),
    "quotes": (
        b"- 'input_messages': \"hi\"\n  \"expected_messages\": 'x'\n",
        b"- 'input': \"hi\"\n  \"expected_output\": 'x'\n",
    ),
    "values that look like names": (
        (b"- input_messages: input_messages\n  expected_messages: {input_messages: [tests]}\n"
        b"  metadata: {evaluators: 1, tests: 2}\n"),
        (b"- input: input_messages\n  expected_output: {input_messages: [tests]}\n"
        b"  metadata: {evaluators: 1, tests: 2}\n"),
    ),
    "anchors": (
        (b"x-a: &a {input_messages: hi, outcome: x}\ncases:\n- *a\n- {<<: *a, id: b}\n"
        b"- &c\n  &k input_messages: z\n  &l outcome: x\n"),
        (b"x-a: &a {input: hi, criteria: x}\ncases:\n- *a\n- {<<: *a, id: b}\n"
        b"- &c\n  &k input: z\n  &l criteria: x\n"),
    ),
    "unused private names": (
        b"x-a: {input_messages: 1}\ncases: [{input_messages: hi, outcome: x}]\n",
        b"x-a: {input_messages: 1}\ncases: [{input: hi, criteria: x}]\n",
    ),
    "question marks": (
        b"- ? input_messages\n  : hi\n  ? outcome\n  : x\n",
        b"- ? input\n  : hi\n  ? criteria\n  : x\n",
    ),
    "tags": (
        b"- !!str input_messages: hi\n  !!str 'outcome': x\n",
        b"- !!str input: hi\n  !!str 'criteria': x\n",
    ),
    "mixed indentation": (
        (b"tests:\n      -   input_messages:\n              - role: user\n"
        b"                content: hi\n          outcome: x\n"
        b"      -      {input_messages: a,outcome: b}\n"),
        (b"cases:\n      -   input:\n              - role: user\n                content: hi\n"
        b"          criteria: x\n      -      {input: a,criteria: b}\n"),
    ),
    "CRLF": (OLD.replace(b"\n", b"\r\n"), NEW.replace(b"\n", b"\r\n")),
    "CR": (OLD.replace(b"\n", b"\r"), NEW.replace(b"\n", b"\r")),
    "mixed line ends": (
        b"- input_messages: hi\r\n  outcome: x\r- input_messages: ho\n  outcome: y",
        b"- input: hi\r\n  criteria: x\r- input: ho\n  criteria: y",
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + OLD, b"\xef\xbb\xbf" + NEW),
    "no newline at the end": (OLD[:-1], NEW[:-1]),
    "blanks at the end": (OLD + b"  \n\n   ", NEW + b"  \n\n   "),
    "a marker and an end": (b"---\n" + OLD + b"...\n# x\n", b"---\n" + NEW + b"...\n# x\n"),
    "wide characters": (
        "- {id: 日本😀, input_messages: é, outcome: '\u2028x'}\n".encode(),
        "- {id: 日本😀, input: é, criteria: '\u2028x'}\n".encode(),
    ),
    "block text": (
        b"- input_messages: |\n    input_messages: x\n\n  outcome: >-\n    outcome:\n    y\n",
        b"- input: |\n    input_messages: x\n\n  criteria: >-\n    outcome:\n    y\n",
    ),
}  # fmt: skip


def test_every_other_byte_stays(tmp_path: Path) -> None:
    for name, (before, _) in BYTES.items():
        (tmp_path / f"{name}.eval.yaml").write_bytes(before)
    result = evalcase("migrate", tmp_path)
    assert (result.code, result.err) == (0, "")
    for name, (_, after) in BYTES.items():
        assert (tmp_path / f"{name}.eval.yaml").read_bytes() == after, name
    again = evalcase("migrate", tmp_path)
    assert (again.code, again.out.count(": nothing to rename\n")) == (0, len(BYTES))
    for name, (_, after) in BYTES.items():
        assert (tmp_path / f"{name}.eval.yaml").read_bytes() == after, name


GRADERS: dict[str, tuple[bytes, bytes]] = {
    "a name": (b"- llm-rubric", b"- judge"),
    "a name that says more": (b"- 'is-json' # x", b"- {type: json, strict: true} # x"),
    "an argument": (b"- starts-with: x", b"- starts_with: x"),
    "a type in braces": (
        b"- {type: icontains,value: x}", b"- {type: contains, ignore_case: true,value: x}"
    ),
    "a type on a line": (
        b"- value: [x]\n  'type': \"not-contains-any\" # y\n  weight: 2",
        b"- any: [x]\n  'type': \"contains\"\n  not: true # y\n  weight: 2",
    ),
    "a type of another's options": (
        b"- {type: code_judge, name: n, script: [a, b]}",
        b"- {type: script, name: n, value: [a, b]}",
    ),
    "graders in graders": (
        b"- {type: assert-set, assert: [is-json, {ends-with: x}]}",
        b"- {type: all, value: [{type: json, strict: true}, {ends_with: x}]}",
    ),
    "an anchor": (
        b"- &a {type: icontains, value: x}\n- *a",
        b"- &a {type: contains, ignore_case: true, value: x}\n- *a",
    ),
    "values that look like names": (
        b"- {type: icontains, value: icontains}\n- {equals: {type: icontains}}",
        b"- {type: contains, ignore_case: true, value: icontains}\n- {equals: {type: icontains}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_graders_under_the_names_of_other_tools(tmp_path: Path, line_end: bytes) -> None:
    def suite(graders: bytes) -> bytes:
        text = (
            b"input: hi\ncriteria: Is polite.\ngraders:\n  "
            + graders.replace(b"\n", b"\n  ")
            + b"\n"
        )
        return text.replace(b"\n", line_end)

    for name, (before, _) in GRADERS.items():
        (tmp_path / f"{name}.eval.yaml").write_bytes(suite(before))
    assert package.check(tmp_path)
    meant = {name: package.load(tmp_path / f"{name}.eval.yaml").to_dict() for name in GRADERS}
    result = evalcase("migrate", tmp_path)
    assert (result.code, result.err, "deprecated-name" in result.out) == (0, "", False)
    for name, (_, after) in GRADERS.items():
        path = tmp_path / f"{name}.eval.yaml"
        assert path.read_bytes() == suite(after), name
        assert package.load(path).to_dict() == meant[name], name
    assert [each for each in package.check(tmp_path) if each.code == "deprecated-name"] == []


def test_graders_in_json(tmp_path: Path) -> None:
    before = (
        b'{"input": "hi", "assert": ["not-is-json", {"ends-with":"x"},\n'
        b' {"type":"contains-any", "value" : ["x"]}]}'
    )
    after = (
        b'{"input": "hi", "graders": [{"type": "json", "strict": true, "not": true}, '
        b'{"ends_with":"x"},\n'
        b' {"type":"contains", "any" : ["x"]}]}'
    )
    result, data = migrate(tmp_path, "a.eval.json", before)
    assert (result.code, data) == (0, after)
    line = before.replace(b"\n", b"") + b"\n"
    result, data = migrate(tmp_path, "a.eval.jsonl", line * 2)
    assert (result.code, data) == (0, (after.replace(b"\n", b"") + b"\n") * 2)


@for_each(
    "graders",
    [
        "- is-json:",
        "- icontains: x",
        "- contains-any: [x]",
        "- icontains: {value: x}",
        '- "ends\\x2dwith": x',
    ],
)
def test_graders_that_have_to_be_renamed_by_hand_stay_and_are_said(
    tmp_path: Path, graders: str
) -> None:
    text = f"input: hi\ngraders:\n  {graders}\n".encode()
    result, data = migrate(tmp_path, "a.eval.yaml", text)
    assert data == text
    assert "warning[deprecated-name]" in result.out


def test_jsonl(tmp_path: Path) -> None:
    before = (
        b'\xef\xbb\xbf{"input_messages": "a", "outcome": "x"}\r\n\n  \n'
        b'{"input":   "b", "criteria": "input_messages"}\n'
        b' {"outcome": "x", "input_messages":["tests"] , "input_messages_":1}\n'
        b'{"input_messages": {"k": 1}, "evaluators": ["x"]}'
    )
    after = (
        b'\xef\xbb\xbf{"input": "a", "criteria": "x"}\r\n\n  \n'
        b'{"input":   "b", "criteria": "input_messages"}\n'
        b' {"criteria": "x", "input":["tests"] , "input_messages_":1}\n'
        b'{"input": {"k": 1}, "graders": ["x"]}'
    )
    result, found = migrate(tmp_path, "x.jsonl", before)
    assert (result.code, found) == (0, after)
    assert "x.jsonl:1:2: input_messages → input" in result.out
    assert "x.jsonl:6:2: input_messages → input" in result.out


def test_the_suite_fields_beside_a_jsonl_file(tmp_path: Path) -> None:
    sidecar = tmp_path / "x.suite.yaml"
    sidecar.write_bytes(b"dataset: d # why\r\nevaluators: [a]\r\n")
    result, found = migrate(tmp_path, "x.eval.jsonl", b'{"input_messages": "a"}\n')
    assert (result.code, found) == (0, b'{"input": "a"}\n')
    assert sidecar.read_bytes() == b"name: d # why\r\ngraders: [a]\r\n"
    assert "x.suite.yaml:1:1: dataset → name" in result.out
    # By its own name too.
    sidecar.write_bytes(b"dataset: d")
    assert evalcase("migrate", "x.suite.yaml", cwd=tmp_path).code == 0
    assert sidecar.read_bytes() == b"name: d"


# What is left, and said


LEFT: dict[str, tuple[bytes, str]] = {
    "a key that another value repeats": (
        b"- &k input_messages: hi\n  criteria: *k\n",
        "x.yaml:1:3: warning[deprecated-name]",
    ),
    "an alias beside its primary": (
        b"- input: a\n  input_messages: b\n  criteria: x\n",
        "x.yaml:2:3: warning[ignored-alias]",
    ),
    "a primary that is null": (
        b"- input: null\n  input_messages: b\n  criteria: x\n",
        "x.yaml:2:3: warning[deprecated-name]",
    ),
    "execution": (
        b"- input: a\n  execution: {target: t, evaluators: [x]}\n",
        "x.yaml:2:3: warning[deprecated-name]",
    ),
    "execution of a suite": (
        b"execution: {target: t}\ncases: [{input: a, criteria: x}]\n",
        "x.yaml:1:1: warning[deprecated-name]",
    ),
    "an escaped key": (
        b'- "input\\x5fmessages": hi\n  criteria: x\n',
        "x.yaml:1:3: warning[deprecated-name]",
    ),
}


@for_each("name", LEFT)
def test_what_is_no_plain_rename_stays_and_is_said(tmp_path: Path, name: str) -> None:
    data, said = LEFT[name]
    result, found = migrate(tmp_path, "x.yaml", data)
    assert (result.code, found, result.err) == (0, data, "")
    assert said in result.out
    # It must not promise to do what it has just not done.
    assert "`evalcase migrate` renames it" not in result.out
    assert "renamed" not in result.out
    # There is nothing left to rename, so a check in CI doesn't fail for ever.
    assert migrate(tmp_path, "x.yaml", data, "--check")[0].code == 0


# Files with errors


FAULTY = [
    ("0.yaml", b"- input_messages: [\n"),
    ("1.yaml", b"- input_messages: caf\xe9\n"),
    ("2.yaml", OLD + b"\x07"),
    ("3.yaml", b"- input_messages: a\n  input_messages: b\n"),
    ("4.yaml", b"- input_messages: !x a\n"),
    ("5.yaml", OLD + b"---\n" + OLD),
    ("6.yaml", OLD.decode().encode("utf-16")),
    ("7.yaml", b"[" * 200 + b"input_messages"),
    ("8.json", b'[{"input_messages": "a",}]'),
    ("9.json", b'{"input_messages": NaN}'),
    ("10.jsonl", b'{"input_messages": "a"\n'),
]


@pytest.mark.parametrize("options", [[], ["--check"], ["--diff"]], ids=["", "check", "diff"])
def test_a_file_with_faults_in_its_text_is_not_touched(tmp_path: Path, options: list[str]) -> None:
    for name, data in FAULTY:
        (tmp_path / name).write_bytes(data)
    result = evalcase("migrate", *options, *(name for name, _ in FAULTY), cwd=tmp_path)
    assert result.code == 2
    said = result.err if options == ["--diff"] else result.out
    for name, data in FAULTY:
        assert (tmp_path / name).read_bytes() == data
        assert re.search(rf"^{re.escape(name)}:\d+:\d+: error\[", said, re.MULTILINE), name


def test_a_bad_line_of_jsonl_does_not_stop_the_others(tmp_path: Path) -> None:
    data = b'{"input_messages": "a"}\n{"input_messages": \n{"input_messages": "caf\xe9"}\n'
    data += b'{"input_messages": "d"}\n'
    result, found = migrate(tmp_path, "x.jsonl", data)
    assert result.code == 2
    assert found == data.replace(b'{"input_messages": "a"}', b'{"input": "a"}').replace(
        b'{"input_messages": "d"}', b'{"input": "d"}'
    )
    assert "x.jsonl:2:" in result.out
    assert "x.jsonl:3:24: error[bad-encoding]" in result.out


def test_paths_that_are_no_suites(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.yaml").write_bytes(OLD)
    (tmp_path / "x.txt").touch()
    os.mkfifo(tmp_path / "pipe.yaml")
    for path, said in [
        ("missing.yaml", "unreadable-file"),
        ("x.txt", "unknown-file-type"),
        ("empty", "no-suites"),
        ("pipe.yaml", "unreadable-file"),
    ]:
        result = evalcase("migrate", path, "good.yaml", cwd=tmp_path)
        assert result.code == 2
        assert f"{path}: error[{said}]" in result.out
    assert (tmp_path / "good.yaml").read_bytes() == NEW


# --check and --diff


def test_check_changes_nothing_and_says_so_by_its_exit_code(tmp_path: Path) -> None:
    result, found = migrate(tmp_path, "x.yaml", OLD, "--check")
    assert (result.code, found, result.err) == (1, OLD, "")
    assert "x.yaml:1:3: input_messages → input" in result.out
    assert "x.yaml: 2 names to rename" in result.out
    result, found = migrate(tmp_path, "x.yaml", NEW, "--check")
    assert (result.code, found) == (0, NEW)
    assert result.out == "x.yaml: nothing to rename\n"


def test_diff_alone_is_no_failure_and_with_check_it_is(tmp_path: Path) -> None:
    result, found = migrate(tmp_path, "x.yaml", OLD, "--diff")
    assert (result.code, found) == (0, OLD)
    assert result.out.startswith("--- a/x.yaml")
    assert "2 names to rename" in result.err
    assert "input_messages → input" not in result.out
    result, found = migrate(tmp_path, "x.yaml", OLD, "--diff", "--check")
    assert (result.code, found) == (1, OLD)
    result, found = migrate(tmp_path, "x.yaml", NEW, "--diff", "--check")
    assert (result.code, result.out) == (0, "")


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    files = {f"{name}.yaml": before for name, (before, _) in BYTES.items()}
    files |= {
        "my evals/sub folder/x.yaml": OLD + b"# x\n" * 50 + OLD,
        "bytes.jsonl": b'{"input_messages": "a"}\n{"input": "caf\xe9"}\n{"input_messages": "b"}\n',
        "control.jsonl": '{"input_messages": "a\u2028\x85\x7f"}\n{"input": "\x9b"}\n'.encode(),
    }
    for name, before in files.items():
        for folder in ("one", "two"):
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(before)
    diff = evalcase("migrate", "--diff", *files, cwd=tmp_path / "one")
    command = ["git", "apply", "-p1", "--whitespace=nowarn"]
    subprocess.run(command, cwd=tmp_path / "one", input=diff.stdout, timeout=LIMIT_S, check=True)
    evalcase("migrate", *files, cwd=tmp_path / "two")
    for name, before in files.items():
        after = (tmp_path / "two" / name).read_bytes()
        assert (tmp_path / "one" / name).read_bytes() == after, name
        assert after != before, name


# Migrate files


# Standard input


def test_standard_input_goes_to_standard_output(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + OLD.replace(b"\n", b"\r\n")
    result = evalcase("migrate", "-", stdin=data, cwd=tmp_path)
    assert result.code == 0
    assert result.stdout == b"\xef\xbb\xbf" + NEW.replace(b"\n", b"\r\n")
    assert "-:1:3: input_messages → input" in result.err
    assert list(tmp_path.iterdir()) == []


def test_standard_input_in_every_format() -> None:
    line = b'{"input_messages": "a"}\n'
    for format in ("json", "jsonl"):
        result = evalcase("migrate", "-", "--stdin-format", format, stdin=line)
        assert (result.code, result.stdout) == (0, b'{"input": "a"}\n')
    result = evalcase("migrate", "-", "--stdin-format", "jsonl", stdin=line * 3)
    assert result.stdout == b'{"input": "a"}\n' * 3


def test_standard_input_with_errors_comes_out_as_it_went_in() -> None:
    data = b"- input_messages: [\r\n"
    result = evalcase("migrate", "-", stdin=data)
    assert (result.code, result.stdout) == (2, data)
    assert "error[syntax]" in result.err


# Files


def test_a_folder_is_searched_and_each_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.eval.yaml").write_bytes(OLD)
    (tmp_path / "sub" / "b.eval.json").write_bytes(b'[{"input": "a", "criteria": "x"}]')
    (tmp_path / "other.yaml").write_bytes(OLD)
    result = evalcase("migrate", tmp_path)
    assert result.code == 0
    assert (tmp_path / "a.eval.yaml").read_bytes() == NEW
    assert (tmp_path / "other.yaml").read_bytes() == OLD
    assert "a.eval.yaml: 2 names renamed" in result.out
    assert "b.eval.json: nothing to rename" in result.out


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "x.yaml"
    target.write_bytes(OLD)
    link = tmp_path / "x.yaml"
    link.symlink_to("real/x.yaml")
    assert evalcase("migrate", link).code == 0
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert [path.name for path in tmp_path.rglob(".*")] == []


@for_each("mode", [0o600, 0o644, 0o755, 0o640])
def test_the_mode_stays(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(OLD)
    path.chmod(mode)
    assert evalcase("migrate", path).code == 0
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o7777 == mode


def test_a_file_that_is_read_only_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(OLD)
    path.chmod(0o400)
    result = unprivileged("migrate", path)
    assert (result.code, path.read_bytes()) == (2, OLD)
    assert "can't be written: it is read-only" in result.out


def test_a_disk_that_takes_nothing_leaves_the_file_alone(tmp_path: Path) -> None:
    # No file may grow beyond zero bytes, as on a full disk.
    (tmp_path / "x.yaml").write_bytes(OLD)
    result = shell("ulimit -f 0; $EVALCASE migrate x.yaml | cat", cwd=tmp_path)
    assert "x.yaml: error[" in result.out
    assert "can't be written: File too large" in result.out
    assert "renamed" not in result.out
    assert (tmp_path / "x.yaml").read_bytes() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["x.yaml"]
    code = shell("ulimit -f 0; $EVALCASE migrate x.yaml > /dev/null", cwd=tmp_path).code
    assert code == 2


def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "evals"
    folder.mkdir()
    (folder / "x.yaml").write_bytes(OLD)
    folder.chmod(0o555)
    try:
        result = unprivileged("migrate", folder / "x.yaml")
    finally:
        folder.chmod(0o755)
    assert result.code == 2
    assert "Permission denied" in result.out
    assert (folder / "x.yaml").read_bytes() == OLD


def test_a_failure_in_one_file_does_not_stop_the_next(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yaml").write_bytes(OLD)
    (tmp_path / "a").chmod(0o555)
    try:
        result = unprivileged("migrate", "a/x.yaml", "b/x.yaml", cwd=tmp_path)
    finally:
        (tmp_path / "a").chmod(0o755)
    assert result.code == 2
    assert (tmp_path / "a" / "x.yaml").read_bytes() == OLD
    assert (tmp_path / "b" / "x.yaml").read_bytes() == NEW


def test_thousands_of_names(tmp_path: Path) -> None:
    data = b"".join(b"- {id: c%d, input_messages: hi, outcome: x}\n" % n for n in range(3_000))
    result, found = migrate(tmp_path, "x.yaml", data)
    assert result.code == 0
    assert found == data.replace(b"input_messages", b"input").replace(b"outcome", b"criteria")
    assert "6,000 names renamed" in result.out
