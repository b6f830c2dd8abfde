import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.replay import ReplayTarget
from evalcase.types.answer import Answer, Earlier, Usage
from evalcase.types.message import Message
from evalcase.types.result import Result
from evalcase.types.target import TrialKey
from evalcase.types.value import encode_object, replace
from tests.for_each import for_each
from tests.store.rows import encode_row
from tests.targets.questions import answer_all, ask, of_value, question, target_of


def replay(tmp_path: Path, *rows: Any, **options: Any) -> ReplayTarget:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (tmp_path / "answers.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return target_of(ReplayTarget, path="answers.jsonl", root=str(tmp_path), **options)


MESSAGE = {"role": "assistant", "content": "m", "tool_calls": [{"tool": "t"}]}


@for_each(
    ("row", "content"),
    [
        ({"case": "one", "answer": "a"}, "a"),
        ({"id": "one", "text": "a"}, "a"),
        ({"case": "one", "answer": {"k": 1}, "score": 1}, {"k": 1}),
        ({"case": "one", "messages": [MESSAGE]}, "m"),
        ({"case": "one", "answer": MESSAGE}, "m"),
        ({"case": "one", "answer": False}, False),
    ],
)
def test_rows_of_every_shape_are_answers(tmp_path: Path, row: Any, content: Any) -> None:
    assert ask(replay(tmp_path, row)).content == content


@pytest.mark.parametrize("name", ["answer", "text"])
def test_calls_beside_a_text_are_read(tmp_path: Path, name: str) -> None:
    row = {"case": "one", name: "a", "tool_calls": [{"name": "t", "args": {"x": 1}}]}
    answer = ask(replay(tmp_path, row))
    assert answer.text == "a"
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("t", {"x": 1})]


def test_calls_beside_turns_are_an_error(tmp_path: Path) -> None:
    row = {"case": "one", "turns": ["a", "b"], "tool_calls": [{"tool": "t"}]}
    with pytest.raises(TargetError, match="has `tool_calls` beside its turns"):
        ask(replay(tmp_path, row))


@for_each(
    ("row", "said"),
    [
        (
            {"output": "a"},
            "its line has `case`, `output`, and no `answer`, `text` or `messages`",
        ),
        ({"answr": "a"}, "its line has `case`, `answr`, and"),
        ({"answer": None}, "its line has `case`, `answer`, and"),
    ],
)
def test_a_line_without_an_answer_says_what_it_has(tmp_path: Path, row: Any, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        ask(replay(tmp_path, {"case": "one", **row}))
    assert said in str(caught.value)


def test_a_misspelt_name_of_calls_is_an_error_with_its_line(tmp_path: Path) -> None:
    row = {"case": "two", "answer": "a", "tool_cals": [{"tool": "t"}]}
    with pytest.raises(ConfigError) as caught:
        ask(replay(tmp_path, {"case": "one", "answer": "a"}, row))
    said = "answers.jsonl:2: `tool_cals` is not read: did you mean `tool_calls`?"
    assert said in str(caught.value)
    turn = {"said": [], "answer": "a", "toolcalls": [{"tool": "t"}]}
    with pytest.raises(TargetError, match="`toolcalls` is not read: did you mean `tool_calls`"):
        ask(replay(tmp_path, {"case": "one", "turns": [turn]}))


def test_keys_that_nobody_reads_are_warned_of_once(tmp_path: Path) -> None:
    said: list[str] = []
    rows = [{"case": case, "answer": "a", "anser": "b", "note": 1} for case in ("zero", "one")]
    ask(replay(tmp_path, *rows, warn=said.append))
    place = f"replay target: {tmp_path / 'answers.jsonl'}:1"
    assert sorted(said) == [
        f"{place}: `anser` is not read",
        f"{place}: `note` is not read",
    ]


@pytest.mark.parametrize("second", [{"text": "b"}, {"messages": [MESSAGE]}])
def test_two_answers_in_a_line_are_an_error_with_its_line(tmp_path: Path, second: Any) -> None:
    row = {"case": "two", "answer": "a", **second}
    with pytest.raises(ConfigError) as caught:
        ask(replay(tmp_path, {"case": "one", "answer": "a"}, row))
    assert f"answers.jsonl:2: `answer` and `{next(iter(second))}` are two answers" in str(
        caught.value
    )
    with pytest.raises(TargetError, match="are two answers"):
        ask(replay(tmp_path, {"case": "one", "turns": [{"said": [], "answer": "a", **second}]}))


FAILURE = {"kind": "timeout", "message": "no answer within 5 s", "details": {}}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"error": "boom"}, "the line of the answer says: boom"),
        ({"error": {"code": 7}}, 'the line of the answer says: {"code": 7}'),
        ({"failure": "boom"}, "the line of the answer says: boom"),
        ({"failure": FAILURE, "verdict": "errored"}, "no answer within 5 s"),
    ],
)
@pytest.mark.parametrize("answer", [{"answer": "a"}, {"answer": None}, {}])
def test_an_error_is_one_whatever_stands_beside_it(
    tmp_path: Path, told: Any, said: str, answer: Any
) -> None:
    with pytest.raises(TargetError) as caught:
        ask(replay(tmp_path, {"case": "one", **answer, **told}))
    assert str(caught.value) == said
    turn = {"said": [], "answer": "a", **told}
    with pytest.raises(TargetError) as caught:
        ask(replay(tmp_path, {"case": "one", "turns": [turn]}))
    assert str(caught.value) == said


@for_each(
    ("noted", "seconds"),
    [
        ({"duration_s": 1.5}, 1.5),
        ({"duration_ms": 300}, 0.3),
        ({"duration_s": "x"}, None),
        ({}, None),
    ],
)
def test_what_an_answer_took_when_it_was_given_is_known_where_it_was_noted(
    tmp_path: Path, noted: Any, seconds: float | None
) -> None:
    answer = ask(replay(tmp_path, {"id": "one", "text": "a", "cost_usd": 2, **noted}))
    assert answer.earlier == Earlier(seconds, 2.0)


def test_repeats_and_suites_are_told_apart(tmp_path: Path) -> None:
    rows = [
        {"case": "one", "repeat": 1, "answer": "first"},
        {"case": "one", "repeat": 2, "answer": "second"},
        {"case": "two", "answer": "all repeats"},
        {"case": "three", "suite": "a.yaml", "answer": "of a"},
        {"case": "three", "suite": "b.yaml", "answer": "of b"},
        {"case": "four", "suite": "a.yaml", "answer": "elsewhere"},
    ]
    given = [
        question(repeat=2), question(), question(id="two", repeat=9),
        question(id="three", suite="b.yaml"), question(id="four"), question(id="three"),
        question(repeat=3),
    ]  # fmt: skip
    found = asyncio.run(answer_all(replay(tmp_path, *rows), given))
    texts = [each.text for each in found if isinstance(each, Answer)]
    assert texts == ["second", "first", "all repeats", "of b", "elsewhere"]
    assert [type(each) for each in found[5:]] == [TargetError, TargetError]


def test_a_missing_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="has no answer to case `one`"):
        ask(replay(tmp_path, {"case": "two", "answer": "a"}))


@for_each(
    ("rows", "said"),
    [
        (["{"], "answers.jsonl:1: not JSON"),
        ([[1]], "answers.jsonl:1: not JSON: it is not an object"),
        ([{"answer": "x"}], "`case` and `suite` are texts"),
        ([{"case": "x", "repeat": "1"}], "`repeat` a number"),
        ([{"case": "x", "text": "1"}, "", {"case": "x", "text": "2"}], "answers.jsonl:3: a second"),
        ([{"case": "x", "target": "a"}, {"case": "x", "target": "b", "repeat": 2}], "say which"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_at_once(
    tmp_path: Path, rows: list[Any], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        ask(replay(tmp_path, *rows))
    assert said in str(caught.value)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        ask(of_value(ReplayTarget, "nowhere.jsonl", root=str(tmp_path)))


def result(case: str, target: str, answer: Answer | None, repeat: int = 1) -> dict[str, Any]:
    key = TrialKey("suite.yaml", case, target, repeat)
    data = encode_object(Result(key, "0", "passed" if answer else "errored", answer))
    return {"type": "result", **data}


def journal(tmp_path: Path, *rows: dict[str, Any], end: str = "") -> str:
    folder = tmp_path / "run"
    folder.mkdir()
    lines = b"".join(map(encode_row, rows))
    (folder / "journal.jsonl").write_bytes(lines + end.encode())
    return str(folder)


def test_a_run_is_replayed_and_its_last_result_counts(tmp_path: Path) -> None:
    whole = Answer((Message(MESSAGE),), Usage(1, 2), 0.5, truncated=True)
    folder = journal(
        tmp_path,
        {"type": "start"},
        result("one", "t", None),
        result("two", "t", None),
        result("one", "t", whole),
        end='{"type":"result","case":"tw',
    )
    told: list[str] = []
    target = target_of(ReplayTarget, path=folder, warn=told.append)
    again, missing = asyncio.run(answer_all(target, [question(), question(id="two")]))
    assert [text.partition("journal.jsonl")[2] for text in told] == [
        ":5: this line is cut short, and left out"
    ]
    earlier = Earlier(cost_usd=0.5)
    paid = replace(whole, cost_usd=0.0, cached=True, earlier=earlier)
    assert again == paid, "it was paid for in that run"
    assert isinstance(missing, TargetError)
    assert "case `two` has no answer" in str(missing)


@for_each("line", [1, 2, 3])
def test_a_row_that_was_changed_is_an_error_with_its_line_also_the_last(
    tmp_path: Path, line: int
) -> None:
    cases = ("one", "two", "three")
    rows = [result(case, "t", Answer.of_text("yes")) for case in cases]
    path = Path(journal(tmp_path, *rows), "journal.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b"yes", b"no!")
    path.write_bytes(b"".join(lines))
    said = f"journal.jsonl:{line}: the record is damaged: this line does not match its checksum"
    with pytest.raises(ConfigError, match=said):
        ask(target_of(ReplayTarget, path=str(path.parent)))


def test_a_row_that_is_changed_while_it_is_used_is_an_error_of_its_trial(tmp_path: Path) -> None:
    folder = journal(tmp_path, result("one", "t", Answer.of_text("yes")))
    path = Path(folder, "journal.jsonl")
    target = target_of(ReplayTarget, path=folder)
    asyncio.run(target.open())
    with path.open("r+b") as file:
        file.write(path.read_bytes().replace(b"yes", b"no!"))
    with pytest.raises(TargetError, match="changed while it was read"):
        asyncio.run(target.answer(question()))
    asyncio.run(target.close())


def test_a_journal_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = journal(tmp_path, result("one", "t", Answer.of_text("yes")))
    path = Path(folder, "journal.jsonl")
    path.symlink_to(path.rename(tmp_path / "elsewhere"))
    with pytest.raises(ConfigError, match="it is a link"):
        ask(target_of(ReplayTarget, path=folder))
