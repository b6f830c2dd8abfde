"""Evals with pytest-xdist: the process that started the workers runs the cases, all of them at
once, and each worker asks it what came of those that it was dealt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from secrets import token_hex
from threading import Thread

from evalcase.pytest_plugin.conductor import Conductor, EndedBeforeError, NotRunError
from evalcase.pytest_plugin.told import CaseKey, ToldItem

WorkerLine = dict[str, str]
"""How a worker reaches the switchboard: an address of this machine, and a key."""


class Switchboard:
    """Answers workers. What goes back and forth is JSON."""

    def __init__(self, conductor: Conductor, listener: Listener, key: str) -> None:
        self._conductor = conductor
        self._listener = listener
        self.line: WorkerLine = {"address": str(listener.address), "key": key}

    def open(self) -> None:
        Thread(target=self._accept, name="evalcase-switchboard", daemon=True).start()

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
            self._conductor.begin(keys, whole=chosen["whole"])
            while True:
                key = CaseKey(*json.loads(worker.recv_bytes()))
                worker.send_bytes(json.dumps(self._tell(key)).encode())

    def _tell(self, key: CaseKey) -> dict[str, object]:
        try:
            return {"told": self._conductor.wait(key)}
        except NotRunError as error:
            is_ended = isinstance(error, EndedBeforeError)
            return {"not_run": [str(error), error.brief], "is_ended": is_ended}


def open_switchboard(conductor: Conductor) -> Switchboard:
    """One that workers can reach."""
    key = token_hex(16)
    made = Switchboard(conductor, _listen(key.encode()), key)
    made.open()
    return made


def _listen(key: bytes) -> Listener:
    try:
        return Listener(authkey=key)
    except OSError:  # TMPDIR is longer than the path of a socket may be
        path = f"/tmp/evalcase-{token_hex(8)}"  # noqa: S108 - its name can't be guessed
        return Listener(path, authkey=key)


class RemoteConductor:
    """Stands for the conductor in a worker."""

    width = 80

    def __init__(self, line: WorkerLine) -> None:
        self._line = line
        self._connection: Connection | None = None

    def begin(self, keys: Sequence[CaseKey], *, whole: bool) -> None:
        """Say which cases were chosen: it is the same for all workers."""
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

    def wait(self, key: CaseKey) -> ToldItem:
        assert self._connection is not None
        try:
            self._connection.send_bytes(json.dumps(key).encode())
            answer = json.loads(self._connection.recv_bytes())
        except (OSError, EOFError):
            raise NotRunError("the process that runs the cases has come to its end") from None
        if "told" not in answer:
            raise (EndedBeforeError if answer["is_ended"] else NotRunError)(*answer["not_run"])
        verdict, reason, text, duration_s, properties = answer["told"]
        return ToldItem(verdict, reason, text, duration_s, tuple(map(tuple, properties)))

    def interrupt(self) -> None:
        """That is for others to do."""

    def end(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def find_fault(self) -> str | None:
        """That is told where the cases are run."""
        return None

    def summary(self) -> Iterator[str]:
        """All there is to say is said where the cases are run."""
        return iter(())
