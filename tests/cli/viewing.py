"""`evalcase view` as a process, and what anybody may send to it."""

import http.client
import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.cli.command import LIMIT_S
from tests.run.project import Project


class Said(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class View(NamedTuple):
    address: str
    process: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return self.address.split("/")[3]

    def get(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Said:
        """What is answered to a path below the token."""
        return self.send(f"/{self.token}/{path}", headers or {}, method)

    def send(self, path: str, headers: Mapping[str, str], method: str = "GET") -> Said:
        """The same for any path. A Host that is given takes the place of the right one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{self.port}", **headers}
        for name, value in given.items():
            for each in value.split("\n"):
                connection.putheader(name, each)
        connection.endheaders()
        response = connection.getresponse()
        said = Said(response.status, response.headers, response.read())
        connection.close()
        return said


@contextmanager
def view(project: Project, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[View]:
    """The server, until the test is done with it."""
    process = project.start("view", "--no-browser", *arguments, env=env)
    assert process.stdout is not None
    address = process.stdout.readline().decode().strip()
    try:
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield View(address, process)
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, err) == (0, b""), (process.returncode, err.decode())
