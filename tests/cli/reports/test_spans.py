"""A report as OTLP JSON: what others read of it, and what comes of reading it again."""

import base64
import json
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evalcase.report import otlp
from evalcase.report.otlp import SCHEMA
from tests.run.project import Project, case

IDS = ("traceId", "spanId")


@pytest.fixture
def run(project: Project) -> Project:
    project.suite(
        case("a", "say \N{SNOWMAN}", expected_output="\N{SNOWMAN}"),
        {"id": "b", "input": "say -2", "graders": [{"contains": "3"}, {"length": {"max": 9}}]},
        case("c", "raise no"),
    )
    project.run("run")
    return project


def as_protobuf(value: Any) -> Any:
    """Ids in base64, as Protobuf's own JSON has them, in place of OTLP's hexadecimal digits."""
    if isinstance(value, list):
        return [as_protobuf(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else as_protobuf(item)
        for key, item in value.items()
    }


def read_export(line: str) -> Any:
    return Parse(json.dumps(as_protobuf(json.loads(line))), ExportTraceServiceRequest())


def plain(attributes: Any) -> dict[str, Any]:
    found = {}
    for each in attributes:
        found[each.key] = getattr(each.value, each.value.WhichOneof("value"))
    return found


def test_opentelemetry_itself_reads_a_trial_as_a_trace_and_a_grade_as_an_event(
    run: Project,
) -> None:
    (line,) = run.run("report", "--format", "otlp").out.splitlines()
    (resource,) = read_export(line).resource_spans
    (scoped,) = resource.scope_spans
    assert (resource.schema_url, scoped.schema_url) == (SCHEMA, SCHEMA)
    assert plain(resource.resource.attributes)["service.name"] == "evalcase"
    assert [(len(each.trace_id), len(each.span_id)) for each in scoped.spans] == [(16, 8)] * 3
    told = [plain(each.attributes) for each in scoped.spans]
    assert [(each["evalcase.case"], each["evalcase.verdict"]) for each in told] == [
        ("a", "passed"), ("b", "failed"), ("c", "errored"),
    ]  # fmt: skip
    assert told[0]["evalcase.score"] == 1.0
    assert [each.status.code for each in scoped.spans] == [0, 0, 2]
    assert all(each.end_time_unix_nano >= each.start_time_unix_nano > 0 for each in scoped.spans)
    first, second = [plain(event.attributes) for event in scoped.spans[1].events]
    assert {event.name for event in scoped.spans[1].events} == {"gen_ai.evaluation.result"}
    assert first["gen_ai.evaluation.name"] == "contains"
    assert first["gen_ai.evaluation.score.value"] == 0.0
    assert first["gen_ai.evaluation.score.label"] == "fail"
    assert '"3"' in first["gen_ai.evaluation.explanation"]
    assert second["gen_ai.evaluation.score.label"] == "pass"


def test_what_was_reported_is_answered_again(run: Project) -> None:
    assert run.run("report", "--format", "otlp", "-o", "out.otlp.json").code == 0
    before = json.loads(run.run("report", "--format", "json").out)["cases"]
    run.run("run", "--target", "otlp:out.otlp.json")
    after = json.loads(run.run("report", "--format", "json").out)["cases"]
    assert [each["verdict"] for each in after] == [each["verdict"] for each in before]


def test_a_conversation_is_a_trace_for_each_turn_and_can_be_had_again(project: Project) -> None:
    turns = [{"input": "say a", "expected_output": "a"}, {"input": "say b", "expected_output": "x"}]
    project.suite(
        {"id": "talk", "input": {"role": "system", "content": "Be brief."}, "turns": turns,
         "graders": [{"turns": {"max": 2}}]},
    )  # fmt: skip
    project.run("run")
    project.run("report", "--format", "otlp", "-o", "out.otlp.json")
    text = (project.path / "out.otlp.json").read_text()
    spans = read_export(text).resource_spans[0].scope_spans[0].spans
    assert len({span.trace_id for span in spans}) == 2
    first, second = told = [plain(span.attributes) for span in spans]
    assert [each["evalcase.turn"] for each in told] == [1, 2]
    assert len({each["gen_ai.conversation.id"] for each in told}) == 1
    assert "evalcase.verdict" not in first
    assert second["evalcase.verdict"] == "failed"
    roles = [message["role"] for message in json.loads(second["gen_ai.input.messages"])]
    assert roles == ["system", "user", "assistant", "user"]
    assert [each["role"] for each in json.loads(second["gen_ai.output.messages"])] == ["assistant"]
    graded = [[plain(event.attributes)["gen_ai.evaluation.name"] for event in span.events]
              for span in spans]  # fmt: skip
    assert graded == [["turn 1: expected"], ["turn 2: expected", "turns"]]
    before = list(project.rows())
    assert project.run("run", "--target", "otlp:out.otlp.json").code == 1
    (row,), (again,) = before, project.rows()
    assert again["grades"] == row["grades"]
    assert again["answer"]["messages"] == row["answer"]["messages"]


def test_large_runs_are_several_exports(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "AT_ONCE", 10)
    project.suite(*[case(f"c{number}", "say x") for number in range(11)])
    project.run("run", "--quiet")
    lines = project.run("report", "--format", "otlp").out.splitlines()
    spans = [read_export(each).resource_spans[0].scope_spans[0].spans for each in lines]
    assert [len(each) for each in spans] == [10, 1]
