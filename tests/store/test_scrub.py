from pathlib import Path
from typing import Any

from evalcase.store.index import read_index
from evalcase.store.rows import write_row
from evalcase.store.scrub import encode_clean
from evalcase.types.answer import Answer, Failure, Usage
from evalcase.types.case import canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.target import TrialKey
from evalcase.util.secrets import Scrubber
from tests.for_each import for_each
from tests.store.rows import as_row, case_row, dict_of, read_results
from tests.store.samples import result, row, rows_of, write

SECRET = "sk-0123456789abcdef"
CUT = SECRET[:10]


def knowing(**values: str) -> Scrubber:
    return Scrubber(values, values)


def written(row: dict[str, Any], scrubber: Scrubber | None = None) -> dict[str, Any]:
    line, clean = encode_clean(as_row(row), (scrubber or knowing(KEY=SECRET)).look())
    assert SECRET.encode() not in line
    assert write_row(clean) == line
    return dict_of(clean)


def test_a_row_without_secrets_is_written_as_it_is() -> None:
    plain = row(1)
    for scrubber in (Scrubber({}), knowing(KEY=SECRET)):
        written_row = as_row(plain)
        assert encode_clean(written_row, scrubber.look()) == (write_row(written_row), written_row)


def test_what_targets_and_graders_say_is_looked_through() -> None:
    failure = Failure("exit", f"no: {SECRET}", {SECRET: [SECRET]})
    grade = Grade("g", 0.0, False, SECRET, {"seen": SECRET}, failure=failure)
    clean = written(row(1, text=SECRET, grades=(grade,), failure=failure, retried=(failure,)))
    told = {"kind": "exit", "message": "no: ***KEY***", "details": {"***KEY***": ["***KEY***"]}}
    assert clean["answer"]["messages"][0] == {"role": "assistant", "content": "***KEY***"}
    assert (clean["failure"], clean["retried"], clean["grades"][0]["failure"]) == (
        told,
        [told],
        told,
    )
    assert clean["grades"][0]["reason"] == "***KEY***"
    assert clean["grades"][0]["details"] == {"seen": "***KEY***"}


def test_an_answer_is_marked_if_something_was_taken_out_of_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    grade = Grade("g", 0.0, False, SECRET)
    rows = [row(1, text=SECRET), row(2), row(3, grades=(grade,))]
    write(path, rows, scrubber=knowing(KEY=SECRET))
    answers = [each.answer for each in read_results(str(path))]
    assert [answer.scrubbed for answer in answers if answer is not None] == [True, False, False]


def test_pieces_are_looked_for_where_something_was_cut() -> None:
    failure = Failure("http", f"401: {CUT}…", {"body": [CUT]})
    grade = Grade("g", 0.0, False, f"got {CUT}…")
    clean = written(row(1, grades=(grade,), failure=failure))
    assert clean["grades"][0]["reason"] == "got ***KEY***…"
    assert clean["failure"]["message"] == "401: ***KEY***…"
    cut = Answer((Message({"role": "assistant", "content": CUT}),), truncated=True)
    kept = written(row(1, answer=cut))
    assert kept["answer"]["messages"][0]["content"] == "***KEY***"


def test_numbers_that_the_record_needs_as_numbers_become_unknown(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    message = Message({"role": "assistant", "content": {"pin": 98765432}})
    answer = Answer((message,), Usage(98765432, 7), 98765432.0)
    write(path, [row(1, answer=answer, duration_s=98765432.0)], scrubber=knowing(PIN="98765432"))
    [found] = read_results(str(path))
    assert found.answer is not None
    assert found.answer.content == {"pin": "***PIN***"}
    assert (found.answer.usage, found.answer.cost_usd) == (Usage(None, 7), None)
    assert found.duration_s == 98765432.0


def test_ids_paths_names_hashes_and_times_are_never_altered(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    key = TrialKey("evals/secretive.eval.yaml", "secretive-1", "command:secretive", 1)
    plain = row(5, key=key, question_hash="secretive", grading_hash="secretive")
    grade = {"grader": "secretive", "score": 1.0, "passed": True, "reason": "secretive"}
    write(path, [{**plain, "grades": [grade]}], scrubber=knowing(WORD="secretive"))
    [found] = rows_of(path)
    assert found["grades"] == [{**grade, "reason": "***WORD***"}]
    assert {**found, "grades": plain["grades"]} == plain
    assert read_index(str(path)).find(key) is not None


@for_each("word", ["passed", "content", "assistant", "result", "2026-11-15"])
def test_a_secret_that_is_a_word_of_the_record_does_not_break_it(tmp_path: Path, word: str) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(5, text=f"It {word}.")], scrubber=knowing(WORD=word))
    [found] = read_results(str(path))
    assert (found.verdict, found.started_at) == ("passed", result(5).started_at)


def test_a_case_is_looked_through_and_marked() -> None:
    fields = {"metadata": {SECRET: SECRET}, "tags": ["a"]}
    graders = [{"type": "contains", "name": "n", "value": SECRET}]
    message = {"role": "user", "content": SECRET}
    case = canonical_case({"id": "one", "input": [message], "graders": graders, **fields})
    clean = written(case_row("a.eval.yaml", case))
    assert clean["scrubbed"] is True
    assert clean["data"]["graders"] == [{"type": "contains", "name": "n", "value": "***KEY***"}]
    assert clean["data"]["metadata"] == {"***KEY***": "***KEY***"}
    assert clean["data"]["input"] == [{"role": "user", "content": "***KEY***"}]
    plain = case_row(
        "a.eval.yaml", canonical_case({"id": "one", "input": [{"role": "user", "content": "x"}]})
    )
    assert written(plain) == plain
