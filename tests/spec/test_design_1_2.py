"""The format, part 1.2: the other fields of a case. One test for each thing it says."""

import csv
import json
import re
from hashlib import sha256
from io import StringIO
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.format.positions import Format
from tests.for_each import for_each
from tests.run.project import Project
from tests.spec.found import only_problem, places, problems_of
from tests.spec.reading import case_of


def fields_of(text: str) -> dict[str, Any]:
    """The canonical form of a case, given without its `input`, and without what every case has."""
    case = case_of(f"input: hi\n{text}")
    return {name: value for name, value in case.items() if name not in ("id", "input")}


# `description`, `tags`, `metadata`, `skip`, `conversation_id`.


def test_description_is_text() -> None:
    """It is kept, and available in Python."""
    assert fields_of("description: A sum") == {"description": "A sum"}
    assert evalcase.parse_case("input: hi\ndescription: A sum").description == "A sum"
    assert places("input: hi\ndescription: [x]\n") == [("wrong-type", 2, 14, 2, 17)]


def test_tags_are_a_list_of_strings() -> None:
    """Nothing else is taken for one, and each wrong item is pointed at."""
    assert fields_of("tags: [a, 'b c']") == {"tags": ["a", "b c"]}
    assert evalcase.parse_case("input: hi\ntags: [b, a]").tags == ("b", "a")
    assert places("input: hi\ntags: a\n") == [("wrong-type", 2, 7, 2, 8)]
    assert places("input: hi\ntags: [a, 5, [b]]\n") == [
        ("wrong-type", 2, 11, 2, 12),
        ("wrong-type", 2, 14, 2, 17),
    ]


def test_metadata_is_any_mapping_and_stays_untouched() -> None:
    """Keys that mean something elsewhere mean nothing in here."""
    metadata: dict[str, Any] = {
        "riskLevel": 1,
        "input_messages": 5,
        "x-y": None,
        "role": "user",
        "b": [{}],
        "a": {},
    }
    found = fields_of(f"metadata: {json.dumps(metadata)}")
    assert json.dumps(found) == json.dumps({"metadata": metadata})
    assert problems_of(f"input: hi\nmetadata: {json.dumps(metadata)}") == []
    assert places("input: hi\nmetadata: [1]\n") == [("wrong-type", 2, 11, 2, 14)]


@pytest.mark.parametrize(("value", "skip"), [("true", True), ("too slow", "too slow")])
def test_skip_is_a_reason_or_true(value: str, skip: str | bool) -> None:
    """A case is skipped with a reason, or without one."""
    assert fields_of(f"skip: {value}") == {"skip": skip}
    assert evalcase.parse_case(f"input: hi\nskip: {value}").skip == skip


def test_skip_false_is_the_same_as_none() -> None:
    """A case that isn't skipped doesn't say so."""
    assert fields_of("skip: false") == {}
    assert evalcase.parse_case("input: hi\nskip: false").skip is False


@for_each("value", ["5", "''", "[a]", "0"])
def test_skip_of_another_type_is_an_error(value: str) -> None:
    """Is 0 yes or no? Nobody has to guess."""
    assert places(f"input: hi\nskip: {value}\n") == [("wrong-type", 2, 7, 2, 7 + len(value))]


@for_each("value", ["no", "No", "NO", "n", "off", '"false"', "'False'", '"0"'])
def test_skip_is_never_a_word_for_false(value: str) -> None:
    """`no` is text in YAML 1.2, so it would skip the case, and everything would be green."""
    problem = only_problem(f"input: hi\nskip: {value}\n")
    assert (problem.code, problem.span) == ("bad-value", (2, 7, 2, 7 + len(value)))
    assert problem.hint == "write `false`"


def test_tags_have_each_tag_once() -> None:
    """A second one is told, and left out of the canonical form."""
    problem = only_problem("input: hi\ntags: [a, b, a, a]\nexpected_output: x\n")
    assert (problem.code, problem.span) == ("duplicate-tag", (2, 14, 2, 15))
    assert fields_of("tags: [a, b, a, a]")["tags"] == ["a", "b"]


def test_conversation_id_is_text_that_stays_untouched() -> None:
    """It is kept, and available in Python."""
    assert fields_of("conversation_id: c-1") == {"conversation_id": "c-1"}
    assert evalcase.parse_case("input: hi\nconversation_id: c-1").conversation_id == "c-1"
    problem = only_problem("input: hi\nconversation_id: 17\n")
    assert (problem.code, problem.span) == ("wrong-type", (2, 18, 2, 20))
    assert problem.hint == 'write it in quotes: "17"'


UNTOUCHED: dict[str, Any] = {
    "metadata": {"riskLevel": "High", "n": 1.0, "none": None, "list": [{"b": 2, "a": 1}]},
    "conversation_id": "  c-1 \u00e9 ",
}


def test_metadata_and_conversation_id_reach_graders_untouched() -> None:
    """A grader sees them as they were written."""
    seen: list[dict[str, Any]] = []

    def look(case: evalcase.Case) -> bool:
        seen.append({"metadata": case.metadata, "conversation_id": case.conversation_id})
        return True

    case = evalcase.Case(input="hi", **UNTOUCHED)
    assert evalcase.evaluate([case], "echo", graders=[look]).ok
    assert json.dumps(seen) == json.dumps([UNTOUCHED])


def test_metadata_and_conversation_id_reach_results_untouched(tmp_path: Path) -> None:
    """Every form of a report that tells of cases has them."""
    project = Project(tmp_path)
    project.suite({"id": "a", "input": "hi", "expected_output": "ok", **UNTOUCHED})
    project.run("run")
    (row,) = map(json.loads, project.run("report", "--format", "jsonl").out.splitlines())
    assert json.dumps({name: row[name] for name in UNTOUCHED}) == json.dumps(UNTOUCHED)
    (cells,) = csv.DictReader(StringIO(project.run("report", "--format", "csv").out))
    assert cells["conversation_id"] == UNTOUCHED["conversation_id"]
    assert json.loads(cells["metadata"]) == UNTOUCHED["metadata"]
    shown = project.run("report", "--case", "a").out
    assert "  conversation_id   c-1 \u00e9\n" in shown
    assert "riskLevel" in shown


# `criteria` and `rubrics`.


def test_criteria_is_prose() -> None:
    """It is kept, and available in Python."""
    assert fields_of("criteria: Is polite") == {"criteria": "Is polite"}
    assert evalcase.parse_case("input: hi\ncriteria: Is polite").criteria == "Is polite"
    assert places("input: hi\ncriteria: [a]\n") == [("wrong-type", 2, 11, 2, 14)]


@pytest.mark.parametrize("alias", ["expected_outcome", "outcome"])
def test_criteria_has_two_aliases(alias: str) -> None:
    """Both are read as `criteria`, with a warning at the name."""
    assert fields_of(f"{alias}: Is polite") == {"criteria": "Is polite"}
    assert places(f"input: hi\n{alias}: x\n") == [("deprecated-name", 2, 1, 2, 1 + len(alias))]


def test_rubrics_are_strings_or_mappings_and_become_mappings() -> None:
    """A string is a rubric with that text."""
    text = "rubrics:\n  - Is polite\n  - {id: r, text: Is right, weight: 2, required: true}\n"
    assert fields_of(text) == {
        "rubrics": [
            {"text": "Is polite"},
            {"text": "Is right", "id": "r", "weight": 2, "required": True},
        ]
    }
    assert evalcase.parse_case("input: hi\nrubrics: [a]").rubrics == ({"text": "a"},)


def test_rubric_takes_description_for_text() -> None:
    """The name that rubrics have elsewhere is accepted."""
    assert fields_of("rubrics: [{description: Is right}]") == {"rubrics": [{"text": "Is right"}]}


@for_each(
    ("rubrics", "place"),
    [
        ("Is polite", ("wrong-type", 10, 19)),
        ("[]", ("empty-list", 10, 12)),
        ("[5]", ("wrong-type", 11, 12)),
        ("[{id: a}]", ("wrong-type", 11, 18)),
        ("[{text: 5}]", ("wrong-type", 18, 19)),
        ("[{text: a, txet: b}]", ("unknown-field", 21, 25)),
        ("[{text: a, weight: -1}]", ("bad-value", 29, 31)),
        ("[{text: a, required: 1}]", ("wrong-type", 31, 32)),
        ("[{text: a, id: 5}]", ("wrong-type", 25, 26)),
        ("[{text: a, description: b}]", ("conflicting-fields", 21, 32)),
    ],
)
def test_rubrics_of_any_other_shape_are_errors(rubrics: str, place: tuple[str, int, int]) -> None:
    """Each is pointed at."""
    code, column, end_column = place
    assert places(f"input: hi\nrubrics: {rubrics}\n") == [(code, 2, column, 2, end_column)]


# `graders`.


@for_each(
    ("spelling", "grader"),
    [
        ("exact", {"type": "exact"}),
        ("{contains: Paris}", {"type": "contains", "value": "Paris"}),
        ("{contains: [a, b]}", {"type": "contains", "value": ["a", "b"]}),
        ("{latency: 5}", {"type": "latency", "value": 5}),
        ("{contains: {value: Paris, weight: 2}}",
         {"type": "contains", "value": "Paris", "weight": 2}),
        ("{type: contains, value: Paris, weight: 2}",
         {"type": "contains", "value": "Paris", "weight": 2}),
        ("{type: exact}", {"type": "exact"}),
    ],
)  # fmt: skip
def test_grader_in_each_of_its_four_spellings(spelling: str, grader: dict[str, Any]) -> None:
    """A name, a name with an argument, a name with options, and options with a type."""
    assert fields_of(f"graders:\n  - {spelling}\n") == {"graders": [grader]}


@for_each(
    ("name", "key"),
    [
        ("equals", "weight"),
        ("json_equals", "weight"),
        ("fields", "weight"),
        ("json_schema", "title"),
    ],
)
def test_grader_whose_argument_is_a_mapping_takes_it_as_such(name: str, key: str) -> None:
    """For these a mapping is what to compare with; options need the long form."""
    found = fields_of(
        f"graders: [{{{name}: {{{key}: x}}}}, {{type: {name}, value: {{{key}: y}}, weight: 3}}]"
    )
    assert found["graders"] == [
        {"type": name, "value": {key: "x"}},
        {"type": name, "value": {key: "y"}, "weight": 3},
    ]


def test_graders_have_the_alias_evaluators() -> None:
    """It is read as `graders`, with a warning at the name."""
    assert fields_of("evaluators: [exact]") == {"graders": [{"type": "exact"}]}
    assert places("input: hi\nevaluators: [x]\n") == [("deprecated-name", 2, 1, 2, 11)]


# `target`, `targets`, `repeat`, `threshold`, `timeout_s`.


def test_target_becomes_a_list_of_targets() -> None:
    """One target is a list of one."""
    assert fields_of("target: a") == {"targets": ["a"]} == fields_of("targets: [a]")
    assert evalcase.parse_case("input: hi\ntargets: [b, a]").targets == ("b", "a")


def test_target_beside_targets_is_an_error() -> None:
    """Both say the same thing, so neither is ignored."""
    assert places("input: hi\ntarget: a\ntargets: [b]\n") == [("conflicting-fields", 2, 1, 2, 7)]


@for_each(
    ("value", "times", "rate", "repeat"),
    [
        ("5", 5, 1.0, {"times": 5}),
        ("{times: 5}", 5, 1.0, {"times": 5}),
        ("{times: 5, pass_rate: 0.8}", 5, 0.8, {"times": 5, "pass_rate": 0.8}),
        ("{pass_rate: 0, times: 1}", 1, 0, {"times": 1, "pass_rate": 0}),
    ],
)
def test_repeat_is_a_number_or_times_with_a_pass_rate(
    value: str, times: int, rate: float, repeat: dict[str, Any]
) -> None:
    """The number alone is short for `times`."""
    assert fields_of(f"repeat: {value}") == {"repeat": repeat}
    case = evalcase.parse_case(f"input: hi\nrepeat: {value}")
    assert (case.repeat, case.pass_rate) == (times, rate)


def test_threshold_lies_between_0_and_1() -> None:
    """Both ends are allowed."""
    for value in (0, 0.5, 1):
        assert fields_of(f"threshold: {value}") == {"threshold": value}
        assert evalcase.parse_case(f"input: hi\nthreshold: {value}").threshold == value
    assert places("input: hi\nthreshold: 1.01\n") == [("bad-value", 2, 12, 2, 16)]
    assert places("input: hi\nthreshold: -1\n") == [("bad-value", 2, 12, 2, 14)]
    assert places("input: hi\nthreshold: true\n") == [("wrong-type", 2, 12, 2, 16)]


def test_timeout_s_is_more_than_0_seconds() -> None:
    """Whole seconds or parts of them."""
    for value in (0.5, 30):
        assert fields_of(f"timeout_s: {value}") == {"timeout_s": value}
        assert evalcase.parse_case(f"input: hi\ntimeout_s: {value}").timeout_s == value
    assert places("input: hi\ntimeout_s: 0\n") == [("bad-value", 2, 12, 2, 13)]
    assert places("input: hi\ntimeout_s: 5s\n") == [("wrong-type", 2, 12, 2, 14)]


@for_each(
    ("on_suite", "on_case", "result"),
    [
        ("target: a", "target: b", {"targets": ["b"]}),
        ("targets: [a]", "target: b", {"targets": ["b"]}),
        ("target: a", "targets: [b, c]", {"targets": ["b", "c"]}),
        ("repeat: {times: 5, pass_rate: 0.5}", "repeat: 2", {"repeat": {"times": 2}}),
        ("threshold: 0.5", "threshold: 0", {"threshold": 0}),
        ("timeout_s: 5", "timeout_s: 1", {"timeout_s": 1}),
    ],
)
def test_what_a_case_says_overrides_the_suite(
    on_suite: str, on_case: str, result: dict[str, Any]
) -> None:
    """A case has the last word; where it says nothing, or null, the suite's holds."""
    case = case_of(f"{on_suite}\ncases:\n  - input: hi\n    {on_case}\n")
    assert {name: case[name] for name in result} == result
    silent = case_of(f"{on_suite}\ncases: [{{input: hi}}]\n")
    null = on_case.partition(":")[0] + ": null"
    assert case_of(f"{on_suite}\ncases:\n  - input: hi\n    {null}\n") == silent
    (name,) = result
    assert silent[name] == fields_of(on_suite)[name] != result[name]


# `execution`.


def test_execution_on_a_case_is_read_as_the_fields_that_took_its_place() -> None:
    """`target` and `evaluators` in it are the case's target and graders; it is warned about."""
    text = "- input: hi\n  execution:\n    target: t\n    evaluators: [g, {contains: x}]\n"
    case = case_of(text)
    assert case["targets"] == ["t"]
    assert case["graders"] == [{"type": "g"}, {"type": "contains", "value": "x"}]
    assert "execution" not in case
    assert places(text) == [("deprecated-name", 2, 3, 2, 12)]


def test_execution_on_a_suite_is_read_as_the_fields_that_took_its_place() -> None:
    """The same for suites: it holds for every case."""
    text = "execution: {target: t, evaluators: [g]}\ncases: [{input: hi}, {input: ho}]\n"
    for case in evalcase.loads(text):
        assert (case.targets, case.graders) == (("t",), ({"type": "g"},))
    assert places(text) == [("deprecated-name", 1, 1, 1, 10)]


def test_execution_evaluators_of_a_case_replace_the_suites() -> None:
    """They did so where the field comes from, unlike `graders`, which are added."""
    suite = "graders: [s]\ncases:\n  - input: hi\n    "
    assert case_of(f"{suite}execution: {{evaluators: [c]}}")["graders"] == [{"type": "c"}]
    assert case_of(f"{suite}graders: [c]")["graders"] == [{"type": "s"}, {"type": "c"}]
    assert case_of(f"{suite}execution: {{target: t}}")["graders"] == [{"type": "s"}]


@for_each(
    ("beside", "inside"),
    [
        ("target: a", "target: b"),
        ("targets: [a]", "target: b"),
        ("graders: [a]", "evaluators: [b]"),
    ],
)
def test_field_in_execution_is_ignored_beside_its_primary(beside: str, inside: str) -> None:
    """The precedence of any alias, told where the ignored one stands."""
    text = f"- input: hi\n  {beside}\n  execution: {{{inside}}}\n"
    assert ("ignored-alias", 3, 15, 3, 15 + len(inside.partition(":")[0])) in places(text)
    assert fields_of(beside) == {
        name: value for name, value in case_of(text).items() if name not in ("id", "input")
    }


# The format, part 1.2: the `id` of a case


def ids_of(text: str, format: Format = "yaml") -> list[str]:
    return [case.id for case in evalcase.loads(text, format)]


@for_each("id", ["a", "A b/c", "ünïcode", "7", " a "])
def test_id_is_a_string_kept_as_it_is(id: str) -> None:
    """Any text will do, and none is changed."""
    assert case_of(json.dumps({"id": id, "input": "hi"}))["id"] == id


def test_id_is_unique_in_the_suite() -> None:
    """Two cases can't have the same id."""
    text = "- {id: a, input: x}\n- {id: b, input: x}\n- {id: a, input: y}\n"
    assert places(text) == [("duplicate-id", 3, 8, 3, 9)]
    assert only_problem(text).severity == "error"


def test_id_given_may_not_be_one_that_was_made_for_another_case() -> None:
    """A made id is taken as well, and the case that has it is named."""
    (made,) = ids_of("- input: hi\n")
    problem = only_problem(f"- input: hi\n- {{id: {made}, input: ho}}\n")
    assert (problem.code, problem.span) == ("duplicate-id", (2, 8, 2, 8 + len(made)))
    assert "line 1" in problem.message


def test_id_made_is_a_slug_of_the_first_user_text_and_six_hex_digits() -> None:
    """Words of the text in lower case, then a piece of a hash."""
    (id,) = ids_of("input: What is  2+2, exactly?")
    assert re.fullmatch(r"what-is-2-2-exactly-[0-9a-f]{6}", id)


@for_each("text", ["a" * 500, "word " * 100, "a" * 39 + " b", "ü" * 41, "x" * 40])
def test_id_made_has_a_slug_of_at_most_40_characters(text: str) -> None:
    """Long texts are cut, and never end in a dash because of it."""
    (id,) = ids_of(json.dumps({"input": text}), "json")
    slug, digits = id[:-7], id[-7:]
    assert re.fullmatch("-[0-9a-f]{6}", digits)
    assert 30 < len(slug) <= 40
    assert not slug.endswith("-")


def test_id_made_depends_on_the_canonical_input_and_not_on_its_spelling() -> None:
    """Short form, long form, alias; YAML, JSON, JSONL: one input, one id."""
    spellings: list[tuple[str, Format]] = [
        ("input: hi", "yaml"),
        ("- input_messages: hi", "yaml"),
        ("cases: [{input: [{content: hi, role: user}]}]", "yaml"),
        ('{"input": {"role": "user", "content": "hi"}}', "json"),
        ('{"input": "hi"}', "jsonl"),
    ]
    assert len({ids_of(text, format)[0] for text, format in spellings}) == 1


def test_id_made_does_not_change_between_versions() -> None:
    """Results are kept under these ids, so they are part of the format."""
    assert ids_of('input: "What is 2+2?"') == ["what-is-2-2-0bd13b"]
    digits = sha256(b'[{"content":"What is 2+2?","role":"user"}]').hexdigest()[:6]
    assert digits == "0bd13b"


def test_id_made_survives_reordering() -> None:
    """Wherever a case stands, its id is the same."""
    cases = ["- input: a\n", "- input: b\n", "- {id: x, input: c}\n"]
    by_order = [ids_of("".join(order)) for order in permutations(cases)]
    assert {frozenset(ids) for ids in by_order} == {frozenset(by_order[0])}


def test_id_made_survives_edits_elsewhere() -> None:
    """Other fields, other cases, the suite's fields: none of them touches it."""
    (id,) = ids_of("- input: a\n")
    assert (
        ids_of("- {input: new}\n- {input: a, expected_output: x, tags: [t], criteria: c}\n")[1]
        == id
    )
    assert ids_of("name: s\ngraders: [g]\ntarget: t\ntests: [{input: a}]\n") == [id]


@pytest.mark.parametrize("format", ["yaml", "jsonl"])
def test_only_identical_inputs_get_a_number(format: Format) -> None:
    """The first keeps the plain id, copies are counted from 2."""
    lines = ['{"input": "a"}', '{"input": "b"}', '{"input": [{"content": "a", "role": "user"}]}',
             '{"input": "a", "tags": ["t"]}']  # fmt: skip
    text = "\n".join(lines) if format == "jsonl" else f"[{', '.join(lines)}]"
    first, other, second, third = ids_of(text, format)
    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert not re.search("-[23]$", other)


@for_each("value", ["7", "1.5", "true", "0x10"])
def test_id_number_is_an_error_that_says_quote_it(value: str) -> None:
    """Is 007 the text or the number? Quotes tell."""
    problem = only_problem(f"- id: {value}\n  input: hi\n")
    assert (problem.code, problem.span) == ("wrong-type", (1, 7, 1, 7 + len(value)))
    assert problem.hint == f'write it in quotes: "{value}"'


@for_each("id", ["", " ", " \t "])
def test_id_blank_is_an_error(id: str) -> None:
    """Nobody could name such a case."""
    problem = only_problem(json.dumps({"id": id, "input": "hi"}), "json")
    assert (problem.code, problem.line, problem.column) == ("bad-value", 1, 8)
