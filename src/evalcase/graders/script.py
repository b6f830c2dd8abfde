"""Any program as a grader: it is given a trial as JSON on stdin, and replies with a score."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from evalcase.errors import ConfigError, GraderError
from evalcase.graders.script_protocol.given import describe_trial
from evalcase.graders.script_protocol.reply import BadScriptReplyError, read_script_reply
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.json_value import JSON
from evalcase.model.option import option
from evalcase.model.shape import Anything, Choice, MapOf, Number, OptionFault
from evalcase.model.shape_names import Argv
from evalcase.model.target import Surroundings
from evalcase.system.program_sources import program_sources
from evalcase.system.programs import find_program
from evalcase.text.strict_json import BadJsonError, parse_json

if TYPE_CHECKING:
    from evalcase.system.processes.line_workers import LineWorkers
    from evalcase.system.processes.process import Process

# What starts processes is slow to import, and `check` starts none: it is imported where it is used.
_MOST_BYTES = 10_000_000
_SHOWN = 200


@dataclass(slots=True)
class ScriptGrader(Grader):
    """Runs a program for each answer, or keeps it and hands it one after the other."""

    kind: ClassVar[GraderKind] = GraderKind(
        "script", "Graded by a program, which reads the trial from stdin and prints a score.",
        "value", runs_code=True, example="- script: [python3, evals/polite.py]",
        only_reads=True,
    )  # fmt: skip

    value: tuple[str, ...] = option(
        Argv(),
        "The program and its arguments. It runs in the project folder, without a shell.",
        example=["python3", "evals/polite.py"], elsewhere=("command", "script", "cmd", "argv"),
    )  # fmt: skip
    mode: str = option(
        Choice(("once", "worker")),
        "`once` starts it for each answer; a `worker` keeps running, and reads and writes one "
        "line per answer.",
        default="once",
    )  # fmt: skip
    memory_mb: int | None = option(
        Number(1, whole=True), "The memory limit of each process, where the system supports it.",
        default=None, example=500,
    )  # fmt: skip
    config: dict[str, JSON] | None = option(
        MapOf(Anything(), "a mapping"),
        "Further data for the program, passed as `config`.",
        default=None,
    )
    surroundings: Surroundings | None = None
    workers: LineWorkers | None = None
    has_adopted: bool = False

    @conflict
    def _has_no_name(self) -> Iterator[OptionFault]:
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
            from evalcase.system.processes import tree

            self.has_adopted = True
            tree.adopt_orphans()
        given = describe_trial(context, self.config)
        if self.mode == "once":
            return await self._run(given)
        if self.workers is None:
            from evalcase.system.processes.line_workers import LineWorkers

            self.workers = LineWorkers(self._make, _object_to, self._place().warn)
        return read_script_reply(await self.workers.exchange(given))

    async def close(self) -> None:
        try:
            if self.workers is not None:
                await self.workers.close()
        finally:
            self.workers = None
            if self.has_adopted:
                from evalcase.system.processes import tree

                self.has_adopted = False
                tree.disown_orphans()

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
        from evalcase.system.processes.process import Process

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
