"""`batch = true`: many questions sent at once, waited for, and never paid for twice."""

from collections.abc import Iterator

import pytest

from tests.run.project import Done, Project
from tests.targets.batch_services import (
    AnthropicService,
    BatchService,
    OpenAIService,
    serving_batches,
)

TEXTS = [f"text {number}" for number in range(5)]
CONFIG = """
target = "it"

[targets.it]
kind = "{kind}"
model = "m"
base_url = "{url}"
key_env = "SOME_KEY"
batch = true
batch_poll_s = 0.01
price = {{input = 2, output = 4}}
"""


@pytest.fixture(params=["openai", "anthropic"])
def service(request: pytest.FixtureRequest, project: Project) -> Iterator[BatchService]:
    service = {"openai": OpenAIService, "anthropic": AnthropicService}[request.param]()
    with serving_batches(service):
        url = service.url + ("/v1" if request.param == "openai" else "")
        project.configure(CONFIG.format(kind=request.param, url=url))
        project.suite(*({"id": text, "input": text, "expected_output": text} for text in TEXTS))
        yield service


ENV = {"SOME_KEY": "a-key-of-some-length"}


def run(project: Project, *arguments: str) -> Done:
    return project.run(*arguments, env=ENV)


def test_all_questions_go_in_one_batch_at_half_the_price(
    project: Project, service: BatchService
) -> None:
    done = run(project, "run", "--json")
    assert done.code == 0, done.err
    assert (done.json["passed"], done.json["cost_usd"]) == (5, 5 * 3.0)
    assert service.questions() == TEXTS
    assert len(service.batches) == 1
    assert "5 questions are sent as batch batch_1" in done.err
    assert "batch batch_1: 5 of 5 answered" in done.err
    key = ENV["SOME_KEY"]
    assert all(
        key in sent.get("authorization", sent.get("x-api-key", "")) for sent in service.headers
    )
    assert run(project, "resume", "latest").code == 0
    assert len(service.batches) == 1


def test_what_has_no_answer_is_errored_and_asked_again_only_when_that_is_said(
    project: Project, service: BatchService
) -> None:
    service.spoilt = {TEXTS[1]: "errored", TEXTS[2]: "expired", TEXTS[3]: "missing"}
    done = run(project, "run")
    assert done.code == 3
    for said in ("no such model", "expired", "no batch of the run has an answer to it"):
        assert said in done.out
    assert run(project, "resume", "latest").code == 3
    assert len(service.batches) == 1
    service.spoilt = {}
    done = run(project, "resume", "latest", "--retry-errored", "--json")
    assert (done.code, done.json["passed"]) == (0, 5), done.err
    assert service.questions() == [*TEXTS, *TEXTS[1:4]]


def test_a_service_that_is_busy_is_asked_again_and_one_that_refuses_stops_the_run(
    project: Project, service: BatchService
) -> None:
    service.refuse = [(503, {"error": {"message": "busy"}})]
    assert run(project, "run").code == 0
    assert service.questions() == TEXTS
    service.refuse = [(401, {"error": {"message": "who are you?"}})]
    done = run(project, "run")
    assert (done.code, "who are you?" in done.out) == (3, True)
    assert run(project, "resume").code == 0
    assert service.questions() == [*TEXTS, *TEXTS]


def test_what_can_not_be_had_in_batches_is_refused_with_a_word(
    project: Project, service: BatchService
) -> None:
    talk = {"id": "talk", "turns": [{"input": "a", "expected_output": "a"}]}
    project.suite(talk)
    done = run(project, "run")
    assert (done.code, "a conversation can't be run in batches" in done.out) == (3, True)
    project.suite({"id": "a", "input": "hello", "criteria": "It greets."})
    config = CONFIG.format(kind="openai", url=service.url) + '\n[judge]\ntarget = "it"\n'
    project.configure(config)
    done = run(project, "run", "--target", "echo")
    assert (done.code, "a judge can't wait for" in " ".join(done.err.split())) == (2, True)
    assert not service.batches
