from __future__ import annotations

import signal

import pytest

from tests.cli import test_batches
from tests.cli.command import LIMIT_S
from tests.cli.test_batches import ENV, TEXTS, run
from tests.run.project import Project, finish
from tests.targets.batch_services import BatchService

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
    assert "batch batch_1 goes on by itself: `evalcase resume " in done.err.replace("\n", " ")
    service.ends.set()
    done = run(project, "resume", "--json")
    assert (done.code, done.json["passed"], len(service.batches)) == (0, 5, 1), done.err
    assert "batch batch_1 is picked up again" in done.err


@pytest.mark.parametrize("amid", [False, True])
def test_fault_48_a_kill_never_has_a_batch_paid_for_twice(
    project: Project, service: BatchService, amid: bool
) -> None:
    """Also while the service has the batch and nobody was told its id."""
    service.ends.clear()
    if amid:
        service.hold.clear()
    process = project.start("run", env=ENV)
    assert (service.made if amid else service.looked).wait(LIMIT_S)
    process.kill()
    process.communicate()
    service.hold.set()
    service.ends.set()
    done = run(project, "resume", "--json")
    assert (done.code, done.json["passed"]) == (0, 5), done.err
    assert service.questions() == TEXTS


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
    assert "batch batch_1 is gone" in done.err
