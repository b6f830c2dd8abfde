"""Limits of a target hold for all workers together, and what services say of them is learnt."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.run.project import CONFIG, Project, await_lines, case, finish, interrupt

PROCESSES = ("--processes", "2", "--concurrency", "4")


def test_requests_per_minute_are_those_of_all_workers_together(project: Project) -> None:
    project.configure(CONFIG + "rpm = 3\n")  # of `other`
    project.suite(
        *[case(f"c{number}", target="other", expected_output="no") for number in range(9)]
    )
    process = project.start("run", *PROCESSES, out=subprocess.DEVNULL)
    await_lines(process, "failed c", 3)
    interrupt(process)
    assert finish(process).code == 130
    assert len(project.calls("others")) == len(project.rows()) == 3


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a service that says that nothing is left, and what it was asked."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Be silent."""

        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            message = {"role": "assistant", "content": "no"}
            data = json.dumps({"choices": [{"message": message}], "model": "m"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("x-ratelimit-limit-requests", "1")
            self.send_header("x-ratelimit-remaining-requests", "0")
            self.send_header("x-ratelimit-reset-requests", "50s")
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", heard
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_a_service_has_left_is_learnt_from_any_worker(
    project: Project, asked: tuple[str, list[str]]
) -> None:
    url, heard = asked
    project.configure(
        f'target = "it"\n[targets.it]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}"\n'
    )
    project.suite(*[case(f"c{number}") for number in range(9)])
    engine = ("--processes", "2", "--concurrency", "1")
    process = project.start("run", *engine, out=subprocess.DEVNULL)
    await_lines(process, "failed c", 1)
    interrupt(process)
    assert finish(process).code == 130
    assert len(heard) == len(project.rows()) == 1
