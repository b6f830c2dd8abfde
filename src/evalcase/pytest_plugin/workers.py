"""Evals with pytest-xdist: the process that started the workers runs all cases, and each worker
asks it for the outcomes of its items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from secrets import token_hex
from threading import Thread

from evalcase.pytest_plugin.background_run import (
    BackgroundRun,
    CaseKey,
    EndedBeforeError,
    NotRunError,
    Outcome,
)

ServerAddress = dict[str, str]
"""How a worker reaches the run: an address of this machine, and a key."""


class RunServer:
    """Answers workers, in JSON."""

    def __init__(self, run: BackgroundRun, listener: Listener, key: str) -> None:
        self._conductor = run
        self._listener = listener
        self.line: ServerAddress = {"address": str(listener.address), "key": key}

    def open(self) -> None:
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
            chosen = json.loads(worker.recv_bytes())
            keys = [CaseKey(*key) for key in chosen["keys"]]
            self._conductor.start(keys, whole=chosen["whole"])
            while True:
                key = CaseKey(*json.loads(worker.recv_bytes()))
                worker.send_bytes(json.dumps(self._answer(key)).encode())

    def _answer(self, key: CaseKey) -> dict[str, object]:
        try:
            return {"outcome": self._conductor.wait(key)}
        except NotRunError as error:
            is_ended = isinstance(error, EndedBeforeError)
            return {"not_run": [str(error), error.brief], "is_ended": is_ended}


def open_run_server(run: BackgroundRun) -> RunServer:
    """Start a server that workers can reach."""
    key = token_hex(16)
    made = RunServer(run, _listen(key.encode()), key)
    made.open()
    return made


def _listen(key: bytes) -> Listener:
    try:
        return Listener(authkey=key)
    except OSError:  # TMPDIR is longer than the path of a socket may be
        path = f"/tmp/evalcase-{token_hex(8)}"  # noqa: S108 - its name can't be guessed
        return Listener(path, authkey=key)


class RemoteRun:
    """The run, as a worker sees it."""

    width = 80

    def __init__(self, line: ServerAddress) -> None:
        self._line = line
        self._connection: Connection | None = None

    def start(self, keys: Sequence[CaseKey], *, whole: bool) -> None:
        """Connect, and send the selected cases: they are the same for all workers."""
        if self._connection is None:
            try:
                connection = Client(self._line["address"], authkey=self._line["key"].encode())
            except OSError as error:
                raise NotRunError(
                    "cases are run by the process that was started as pytest, and this worker "
                    f"can't reach it: {error}. Workers have to be on the same machine"
                ) from None
            connection.send_bytes(json.dumps({"keys": keys, "whole": whole}).encode())
            self._connection = connection

    def wait(self, key: CaseKey) -> Outcome:
        assert self._connection is not None
        try:
            self._connection.send_bytes(json.dumps(key).encode())
            answer = json.loads(self._connection.recv_bytes())
        except (OSError, EOFError):
            raise NotRunError("the process that runs the cases has come to its end") from None
        if "outcome" not in answer:
            raise (EndedBeforeError if answer["is_ended"] else NotRunError)(*answer["not_run"])
        verdict, reason, text, duration_s, properties = answer["outcome"]
        return Outcome(verdict, reason, text, duration_s, tuple(map(tuple, properties)))

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
