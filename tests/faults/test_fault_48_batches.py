import signal

from tests.cli import test_batches
from tests.cli.command import LIMIT_S
from tests.cli.test_batches import ENV, TEXTS, run
from tests.run.project import Project, finish
from tests.targets.batch_services import BatchService, OpenAIService

service = test_batches.service


def test_fault_48_ctrl_c_leaves_the_batch_and_says_how_to_go_on(
    project: Project, service: BatchService
) -> None:
    service.ends.clear()
    process = project.start("run", env=ENV)
    assert service.looked.wait(LIMIT_S)
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.code == 130
    assert "batch batch_1 goes on without evalcase: `evalcase resume " in done.err.replace(
        "\n", " "
    )
    service.ends.set()
    done = run(project, "resume", "--json")
    assert (done.code, done.json["passed"], len(service.batches)) == (0, 5, 1), done.err
    assert "batch batch_1 is picked up again" in done.err


def test_fault_48_a_kill_never_has_a_batch_paid_for_twice(
    project: Project, service: BatchService
) -> None:
    """At each request, which the service has carried out, and whose answer nobody hears: a file
    goes up, a batch is made, looked at, and its answers come down."""
    requests = 5 if isinstance(service, OpenAIService) else 3
    for number in range(1, requests + 1):
        service.batches.clear()
        service.headers.clear()
        service.hold.clear()
        service.held.clear()
        service.hold_at = number
        process = project.start("run", env=ENV)
        assert service.held.wait(LIMIT_S)
        process.kill()
        process.communicate()
        service.hold_at = None
        service.hold.set()
        done = run(project, "resume", "--json")
        assert (done.code, done.json["passed"]) == (0, 5), done.err
        assert service.questions() == TEXTS, f"killed at request {number}"


def test_fault_48_a_batch_of_somebody_else_is_not_taken_for_it(
    project: Project, service: BatchService
) -> None:
    """Of another run, at the same time, and of the same size."""
    service.hold.clear()
    service.hold_at = 2 if isinstance(service, OpenAIService) else 1
    process = project.start("run", env=ENV)
    assert service.held.wait(LIMIT_S)
    process.kill()
    process.communicate()
    (ours,) = service.batches.values()
    others = [{**each, "custom_id": f"else-{n}"} for n, each in enumerate(ours["requests"])]
    service.batches["batch_0"] = {**ours, "id": "batch_0", "metadata": {}, "requests": others}
    service.hold.set()
    done = run(project, "resume", "--json")
    assert (done.code, done.json["passed"], len(service.batches)) == (0, 5, 2), done.err


def test_fault_48_a_batch_that_the_service_has_forgotten_is_sent_again(
    project: Project, service: BatchService
) -> None:
    service.ends.clear()
    process = project.start("run", env=ENV)
    assert service.looked.wait(LIMIT_S)
    process.kill()
    process.communicate()
    service.batches["batch_2"] = service.batches.pop("batch_1")
    service.batches["batch_2"] |= {"id": "batch_2", "requests": []}
    service.ends.set()
    done = run(project, "resume", "--json")
    assert (done.code, done.json["passed"]) == (0, 5), done.err
    assert "batch batch_1 no longer exists" in done.err
