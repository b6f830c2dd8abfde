import json
from collections import Counter

from tests.run.project import Project, case
from tests.servers.aimock import KEY, Aimock
from tests.servers.asking import KEY_NAME, configure, results, run

QUESTIONS = [f"Question {number}?" for number in range(100)]


def last_deeds(aimock: Aimock) -> dict[str, str]:
    """What became of the last request for each question: a kind of chaos, or `answered`."""
    return {
        entry["body"]["messages"][-1]["content"]: entry["response"].get("chaosAction", "answered")
        for entry in aimock.journal()
    }


def times_asked(aimock: Aimock) -> Counter[str]:
    return Counter(entry["body"]["messages"][-1]["content"] for entry in aimock.journal())


def times_recorded(project: Project) -> Counter[str]:
    lines = (project.runs()[-1] / "journal.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return Counter(row["key"][1] for row in rows if row["type"] == "result")


def test_every_trial_is_recorded_as_it_went(
    project: Project, aimock: Aimock, protocol: str
) -> None:
    """The chances differ from run to run; the record has to agree with the server's in each."""
    aimock.when("Question", {"content": "ok"})
    aimock.chaos(malformedRate=0.2, rateLimitRate=0.03, disconnectRate=0.2, dropRate=0.1)
    configure(project, aimock, protocol)
    project.suite(*(case(text, text) for text in QUESTIONS))
    found = run(project, protocol, options=("--concurrency", "20")).results

    assert times_recorded(project) == Counter(QUESTIONS)
    assert {id: result.attempts for id, result in found.items()} == times_asked(aimock)
    passed = {id for id, result in found.items() if result.verdict == "passed"}
    assert passed == {id for id, deed in last_deeds(aimock).items() if deed == "answered"}
    errored = {id for id, result in found.items() if result.verdict == "errored"}
    assert passed | errored == set(QUESTIONS)
    assert errored, "a chance in a million"

    aimock.reset()
    aimock.when("Question", {"content": "ok"})
    name = project.runs()[-1].name
    done = project.run("resume", name, "--retry-errored", "--json", env={KEY_NAME: KEY})
    assert done.code == 0
    assert done.counts() == {"passed": 100}
    assert times_asked(aimock) == Counter(errored)
    assert times_recorded(project) == Counter(QUESTIONS) + Counter(errored)
    assert {result.verdict for result in results(project).values()} == {"passed"}
