"""`evalcase view` answers a browser of this machine that was given its address, and nobody else."""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalcase.report.view import Listing, has_screen
from tests.cli.command import LIMIT_S
from tests.cli.viewing import View, view
from tests.for_each import for_each
from tests.report.page.opened import open_page
from tests.run.project import Gate, Project, case, cases, finish


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, View]]:
    """A project with two runs and one that is damaged, viewed."""
    project = Project(tmp_path_factory.mktemp("viewed"))
    project.suite(case("a"), case("b", "say no"))
    project.run("run")
    project.run("run", "--target", "other")
    broken = project.path / ".evalcase" / "runs" / "20200101-000000-abcdef"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    with view(project) as seen:
        yield project, seen


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_runs_are_listed_with_their_rates(shown: tuple[Project, View]) -> None:
    project, seen = shown
    told = seen.get("runs").json
    assert [run["id"] for run in told["runs"][:2]] == [p.name for p in project.runs()[:0:-1]]
    newest, first, damaged = told["runs"]
    assert newest["parts"] == [
        {"suite": "s.eval.yaml", "target": "other", "rate": newest["rate"]},
    ]
    assert first["verdicts"] == {"total": 2, "passed": 1, "failed": 1}
    assert (damaged["status"], "run.json" in damaged["problem"]) == ("damaged", True)


def test_a_run_and_two_runs_are_the_page_of_the_report(shown: tuple[Project, View]) -> None:
    project, seen = shown
    first, second = (path.name for path in project.runs()[1:])
    page = open_page(seen.get(f"run/{first}").body)
    assert {row["case"] for row in page.rows} == {"a", "b"}
    assert (page.about["home"], page.about["watch"]) == ("../", None)
    compared = open_page(seen.get(f"compare/{first}/{second}").body)
    assert {row["case"]: row["change"] for row in compared.rows}["b"] == "fixed"
    refused = seen.get(f"compare/{first}/{first}")
    assert (refused.status, b"nothing to compare" in refused.body) == (409, True)


def test_the_list_says_what_evalcase_list_says(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"))
    project.run("run", "--quiet")
    project.run("run", "--quiet", "--failed-of", "latest")
    project.run("run", "--quiet", "--case", "a")
    project.run("run", "--quiet")
    project.run("grade", "latest", "--grader", "length: {max: 1, unit: words}")
    project.run("run", "--quiet", "--fail-fast", "--concurrency", "1", "--target", "other")
    listed = project.run("list").out
    with view(project) as seen:
        whole, graded, part, again, first = seen.get("runs").json["runs"]
    assert (first["remark"], first["apart"], whole["apart"]) == ("", False, False)
    assert "by --grader length" in graded["remark"]
    assert again["remark"].startswith("cases that did not pass in ")
    assert part["remark"] == "1 of 2 cases selected"
    for run in (graded, part, again):
        assert run["apart"]
        assert run["remark"] in listed


def test_nothing_is_written(shown: tuple[Project, View]) -> None:
    project, seen = shown
    before = files_of(project.path)
    run = project.runs()[-1].name
    for path in ("", "runs", f"run/{run}", f"rows/{run}?offset=0", "nothing"):
        seen.get(path)
    assert files_of(project.path) == before


@pytest.mark.parametrize("path", ["", "runs", "run/nothing", "rows/nothing?offset=0"])
def test_every_answer_keeps_others_out(shown: tuple[Project, View], path: str) -> None:
    said = shown[1].get(path)
    policy = said.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy
    assert said.headers["X-Content-Type-Options"] == "nosniff"
    assert said.headers["Referrer-Policy"] == "no-referrer"
    assert said.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert said.headers["Cache-Control"] == "no-store"
    assert said.headers["Access-Control-Allow-Origin"] is None
    assert said.headers["Set-Cookie"] is None


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1",
     "127.0.0.1.evil.example:{port}", "", "127.0.0.1:{port}\nevil.example",
     "127.0.0.1:{port}\n127.0.0.1:{port}", "[::1]:{port}"],
)  # fmt: skip
def test_a_name_that_was_rebound_to_this_machine_is_refused(
    shown: tuple[Project, View], host: str
) -> None:
    said = shown[1].get("runs", {"Host": host.format(port=shown[1].port)})
    assert said.status == 400
    assert b"rate" not in said.body


@pytest.mark.parametrize(
    "token", ["", "x", "%00", "%C3%A9", "{token}x", "{token}%2F", "run", "x" * 4000]
)
def test_a_wrong_token_is_told_where_the_right_one_is(
    shown: tuple[Project, View], token: str
) -> None:
    said = shown[1].send(f"/{token.format(token=shown[1].token)}/runs", {})
    assert said.status == 403
    assert said.body == b"open the address in your terminal\n"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
def test_another_page_may_not_ask(shown: tuple[Project, View], headers: dict[str, str]) -> None:
    assert shown[1].get("runs", headers).status == 403


def test_a_link_may_be_followed_from_anywhere(shown: tuple[Project, View]) -> None:
    headers = {
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"
    }  # fmt: skip
    assert shown[1].get("", headers).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_nothing_can_be_changed(shown: tuple[Project, View], method: str) -> None:
    assert shown[1].get("runs", method=method).status == 405


def say(seen: View, data: bytes) -> bytes:
    """What comes back to bytes of any kind, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", seen.port), timeout=LIMIT_S) as client:
        client.sendall(data)
        with client.makefile("rb") as said:
            return said.read()


@pytest.mark.parametrize(
    ("start", "more", "status"),
    [
        ("GET /{token}/runs", "Content-Length: 2\r\n\r\nhi", 413),
        ("GET /{token}/runs", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413),
        ("POST /{token}/runs", "Content-Length: 2\r\n\r\nhi", 405),
        ("GET /{token}/runs", "Connection: close\r\nX: {long}\r\n\r\n", 200),
        ("GET http://127.0.0.1:{port}/{token}/runs", "\r\n", 403),
        ("OPTIONS *", "\r\n", 405),
        ("CONNECT 127.0.0.1:{port}", "\r\n", 405),
    ],
)
def test_odd_requests_have_an_answer_in_words(
    shown: tuple[Project, View], start: str, more: str, status: int
) -> None:
    seen = shown[1]
    text = f"{start} HTTP/1.1\r\nHost: 127.0.0.1:{{port}}\r\n{more}"
    text = text.format(token=seen.token, port=seen.port, long="y" * 60_000)
    said = say(seen, text.encode())
    assert said.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\nContent-Security-Policy: default-src 'none'" in said
    assert said.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "path",
    ["run/..", "run/%2e%2e", "run/..%2F..%2Fevalcase.toml", "run/%2Fetc%2Fpasswd", "run/.", "run/",
     "run/20200101-000000-abcdef", "../", "rows/..%2F..?offset=0", "compare/../..",
     "run/..%5C..%5Cevalcase.toml", "run/%00"],
)  # fmt: skip
def test_only_runs_of_the_list_are_found(shown: tuple[Project, View], path: str) -> None:
    said = shown[1].get(path)
    assert said.status in (403, 404)
    assert b"agent" not in said.body


def test_only_this_machine_can_connect(shown: tuple[Project, View]) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", shown[1].port), timeout=5)


def test_a_run_is_opened_by_its_name(project: Project) -> None:
    project.suite(case("a"))
    project.run("run")
    with view(project, "latest") as seen:
        assert seen.address.endswith(f"/run/{project.runs()[-1].name}")


def test_a_browser_is_opened_at_the_address(project: Project) -> None:
    opened = project.path / "opened"
    os.mkfifo(opened)
    program = project.path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    program.chmod(0o755)
    process = project.start("view", env={"BROWSER": f"{program} %s"})
    assert process.stdout is not None
    address, rest = (process.stdout.readline() for _ in range(2))
    assert rest == b"press Ctrl-C to stop\n"
    assert opened.read_bytes() == address
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 0


@for_each(
    ("environment", "platform", "has"),
    [({}, "linux", False), ({"DISPLAY": ":0"}, "linux", True), ({}, "darwin", True)],
)
def test_no_browser_is_started_over_the_terminal(
    environment: dict[str, str], platform: str, has: bool
) -> None:
    assert has_screen(environment, platform) == has


def test_a_run_that_there_is_not_is_refused(project: Project) -> None:
    done = project.run("view", "nothing", "--no-browser")
    assert done.code == 2
    assert "there is no run `nothing`" in done.err


def test_a_run_that_goes_on_is_told_row_by_row(project: Project) -> None:
    gate = Gate(project.path)
    project.suite(case("a", "gate", expected_output="ok"), case("b", "gate", repeat=2))
    process = project.start("run", "--concurrency", "1")
    gate.await_calls(1)
    with view(project) as seen:
        (run,) = seen.get("runs").json["runs"]
        assert run["status"] == "running"
        assert (run["remark"], run["apart"]) == ("running, 0 of 3 trials", True)
        page = open_page(seen.get(f"run/{run['id']}").body)
        assert page.about["watch"]["address"] == f"../rows/{run['id']}"
        first = seen.get(f"rows/{run['id']}?offset=0").json
        assert (first["rows"], first["state"]) == ([], "running")
        gate.let_go(1)
        gate.await_calls(2)
        second = seen.get(f"rows/{run['id']}?offset={first['offset']}").json
        assert [(row["case"], row["verdict"]) for row in second["rows"]] == [("a", "passed")]
        assert second["rows"][0]["detail"]["input"][0]["parts"] == [{"text": "gate"}]
        gate.let_go(1)
        gate.await_calls(3)
        third = seen.get(f"rows/{run['id']}?offset={second['offset']}").json
        assert [(row["case"], row["verdict"]) for row in third["rows"]] == [("b", "unfinished")]
        gate.let_go(1)
        assert finish(process).code == 0
        last = seen.get(f"rows/{run['id']}?offset={third['offset']}").json
        assert [(row["case"], row["passed"]) for row in last["rows"]] == [("b", 2)]
        assert last["state"] == "completed"
    gate.close()


# The list of `evalcase view` has the rates that `report` has, with the same intervals or none


def tell_newest(project: Project) -> dict[str, Any]:
    listing = Listing(str(project.path / ".evalcase" / "runs"), str(project.path), None)
    newest: dict[str, Any] = listing.tell()["runs"][0]
    return newest


def report_figures(project: Project) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(project.run("report", "--format", "json").out)["figures"]
    return figures


def bounds(part: dict[str, Any]) -> tuple[Any, Any, Any]:
    return part["rate"], part["low"], part["high"]


def run_decided(project: Project) -> None:
    project.suite(*cases(60), *cases(60, "say no", prefix="d"))
    options = ("--fail-under", "0.9", "--stop", "likely", "--concurrency", "1", "--seed", "0")
    project.run("run", "--quiet", *options)


def run_failing_fast(project: Project) -> None:
    project.suite(*cases(3, "say no"))
    project.run("run", "--quiet", "--fail-fast", "--concurrency", "1")


def run_one_case_each(project: Project) -> None:
    project.suite(case("a"), name="one")
    project.suite(case("b", "say no"), name="two")
    project.run("run", "--quiet")


def run_one_case(project: Project) -> None:
    project.suite(case("a"), case("omega", skip="not now"))
    project.run("run", "--quiet")


def run_repeated(project: Project) -> None:
    project.suite(*cases(3), case("x", "say no"), repeat=3)
    project.run("run", "--quiet")


def run_at_two_targets(project: Project) -> None:
    project.suite(case("a", "say no"), case("b"))
    project.run("run", "--quiet", "--target", "agent", "--target", "other")


def run_suites_at_targets_of_their_own(project: Project) -> None:
    project.suite(*cases(3), name="one", target="agent")
    project.suite(*cases(3), name="two", target="other")
    project.run("run", "--quiet")


@pytest.mark.parametrize(
    "make",
    [
        run_decided, run_failing_fast, run_one_case_each, run_one_case, run_repeated,
        run_at_two_targets, run_suites_at_targets_of_their_own,
    ],
)  # fmt: skip
def test_intervals_of_view_are_those_of_report(
    project: Project, make: Callable[[Project], None]
) -> None:
    make(project)
    told, figures = tell_newest(project), report_figures(project)
    assert told["rate"] == bounds(figures["all"])
    by_suite: dict[str, list[Any]] = {}
    for part in told["parts"]:
        by_suite.setdefault(part["suite"], []).append(part["rate"])
    for suite, rates in by_suite.items():
        if len(rates) == 1:
            assert rates == [bounds(figures["by_suite"][suite])]
        else:
            assert rates == [bounds(part) for part in figures["by_target"].values()]
