"""Evals with pytest-xdist: the process that started the workers runs all cases, and each worker
asks it for the outcomes of its items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from secrets import token_hex
from threading import Thread

from evalcase.pytest_plugin.background_run import BackgroundRun, CaseKey, NotRunError, Outcome

_HOST = "127.0.0.1"


class RunServer:
    """Answers workers of this machine that have its key."""

    def __init__(self, run: BackgroundRun) -> None:
        self._run = run
        key = token_hex(16)
        self._listener = Listener((_HOST, 0), authkey=key.encode())
        _, port = self._listener.address
        self.address = {"port": str(port), "key": key}
        Thread(target=self._accept, name="evalcase-workers", daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError, EOFError):  # it was closed
            while True:
                worker = self._listener.accept()
                Thread(target=self._serve, args=(worker,), daemon=True).start()

    def _serve(self, worker: Connection) -> None:
        with suppress(OSError, EOFError), worker:  # the worker has come to its end
            keys, whole = worker.recv()
            self._run.start(keys, whole=whole)
            while True:
                try:
                    worker.send(self._run.wait(worker.recv()))
                except NotRunError as error:
                    worker.send(error)


class RemoteRun:
    """The run, as a worker sees it."""

    width = 80

    def __init__(self, address: dict[str, str]) -> None:
        self._address = address
        self._connection: Connection | None = None

    def start(self, keys: Sequence[CaseKey], *, whole: bool) -> None:
        """Connect, and send the selected cases: they are the same for all workers."""
        if self._connection is None:
            try:
                address, key = (_HOST, int(self._address["port"])), self._address["key"]
                connection = Client(address, authkey=key.encode())
            except OSError as error:
                raise NotRunError(
                    "cases are run by the process that was started as pytest, and this worker "
                    f"can't reach it: {error}. Workers have to be on the same machine"
                ) from None
            connection.send((keys, whole))
            self._connection = connection

    def wait(self, key: CaseKey) -> Outcome:
        assert self._connection is not None
        try:
            self._connection.send(key)
            answer: Outcome | NotRunError = self._connection.recv()
        except (OSError, EOFError):
            raise NotRunError("the process that runs the cases has come to its end") from None
        if isinstance(answer, NotRunError):
            raise answer
        return answer

    def interrupt(self) -> None:
        """Only the first process can interrupt the run."""

    def end(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def find_problem(self) -> str | None:
        """The first process reports it."""
        return None

    def summary(self) -> Iterator[str]:
        """The first process prints it."""
        return iter(())
