"""Any program as a grader: it is given a trial as JSON on stdin, and replies with a score."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from evalcase.errors import ConfigError, GraderError
from evalcase.graders.script_protocol.given import describe_trial
from evalcase.graders.script_protocol.reply import BadScriptReplyError, read_script_reply
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import Argv, Count, OptionFault, about
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.process_tree import close_guard, open_guard
from evalcase.util.processes import LineWorkers, Process
from evalcase.util.project import find_program
from evalcase.util.sources import program_sources

_MOST_BYTES = 10_000_000
_SHOWN = 200


class ScriptGrader(Grader):
    """Runs a program for each answer, or keeps it and hands it one after the other."""

    kind: ClassVar[GraderKind] = GraderKind(
        "script", "Graded by a program, which reads the trial from stdin and prints a score.",
        "value", runs_code=True, example="- script: [python3, evals/polite.py]",
        only_reads=True,
    )  # fmt: skip

    value: Annotated[
        Argv,
        about(
            "The program and its arguments. It runs in the project folder, without a shell.",
            example=["python3", "evals/polite.py"],
            elsewhere=("command", "script", "cmd", "argv"),
        ),
    ]
    mode: Annotated[
        Literal["once", "worker"],
        about(
            "`once` starts it for each answer; a `worker` keeps running, and reads "
            "and writes one line per answer."
        ),
    ] = "once"
    memory_mb: Annotated[
        Count | None,
        about("The memory limit of each process, where the system supports it.", example=500),
    ] = None
    config: Annotated[
        dict[str, JSON] | None,
        about("Further data for the program, passed as `config`.", words="a mapping"),
    ] = None
    surroundings: Surroundings | None = None
    workers: LineWorkers | None = None
    has_adopted: bool = False

    def conflicts(self) -> Iterator[OptionFault]:
        if not self.value[0]:
            yield OptionFault(("value", 0), "the program has no name")

    def load(self, surroundings: Surroundings) -> None:
        """Raise ConfigError if there is no such program."""
        self.surroundings = surroundings
        name = self.value[0]
        if find_program(name, surroundings.root, surroundings.environment) is None:
            raise ConfigError(f"grader `script`: there is no program `{name}` to run")

    def sources(self) -> dict[str, str]:
        """The files of the project that it names, and what those in Python import."""
        place = self._place()
        path = place.environment.get("PYTHONPATH", "")
        return program_sources(self.value, place.root, place.root, path)

    async def grade(self, context: Context) -> Score:
        if not self.has_adopted:
            self.has_adopted = True
            open_guard()
        given = describe_trial(context, self.config)
        if self.mode == "once":
            return await self._run(given)
        if self.workers is None:
            self.workers = LineWorkers(self._make, _object_to, self._place().warn)
        return read_script_reply(await self.workers.exchange(given))

    async def close(self) -> None:
        try:
            if self.workers is not None:
                await self.workers.close()
        finally:
            self.workers = None
            if self.has_adopted:
                self.has_adopted = False
                close_guard()

    async def _run(self, given: Mapping[str, object]) -> Score:
        async with self._make() as process:
            code, stdout = await process.run(json.dumps(given).encode())
            if code != 0:
                raise process.failure("the script", stdout.data)
            try:
                reply = parse_json(stdout.data)
                if not isinstance(reply, dict):
                    raise BadScriptReplyError("is not an object")
                return read_script_reply(reply)
            except BadJsonError as error:
                why = f"what the script printed is not JSON ({error}); logs go to stderr"
                raise _make_odd_error(process, why, stdout.data) from None
            except BadScriptReplyError as error:
                raise _make_odd_error(process, f"the reply {error}", stdout.data) from None

    def _make(self) -> Process:
        place = self._place()
        argv = list(self.value)
        if self.memory_mb is not None and os.name == "posix":
            limit = f'ulimit -v {self.memory_mb * 1024} && exec "$@"'
            argv = ["/bin/sh", "-c", limit, "sh", *argv]
        return Process(argv, place.root, place.environment, _MOST_BYTES)

    def _place(self) -> Surroundings:
        assert self.surroundings is not None, "load() comes first"
        return self.surroundings


def _object_to(reply: dict[str, JSON]) -> str | None:
    """Why a reply of a worker is no score, or None."""
    try:
        read_script_reply(reply)
    except BadScriptReplyError as error:
        return str(error)
    return None


def _make_odd_error(process: Process, what: str, printed: bytes) -> GraderError:
    text = printed.decode(errors="backslashreplace")
    line = text.strip().partition("\n")[0]
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    details = {**process.details(), "output": text[:4000]}
    return GraderError("grader", f"{what}: {shown}" if shown else what, details)
