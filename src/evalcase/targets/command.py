"""Any program as a target: started once per trial, or kept as a worker.

The program and its arguments are a list, and no shell is involved unless it is asked for. Options
and placeholders are in `process/options`, the reading of answers in `outputs`. An exit code other
than 0 is an error of the trial, and is not tried again.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import asdict

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.asking.fingerprint import describe_asked
from evalcase.targets.asking.shown import describe_hidden
from evalcase.targets.process.input import CommandInput, prepare_input
from evalcase.targets.process.options import COMMAND_RULES, CommandOptions
from evalcase.targets.process.program import Program, resolve_program
from evalcase.targets.process.worker import Workers
from evalcase.targets.reading.outputs import read_output
from evalcase.tracing.context import VARIABLE, StartedTraces, TraceContext
from evalcase.types.answer import Answer
from evalcase.types.question import Question
from evalcase.types.read_options import fields_of
from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits
from evalcase.types.value import JSON, replace
from evalcase.util.files import read_start
from evalcase.util.process_tree import close_guard, open_guard
from evalcase.util.processes import Output, Process
from evalcase.util.sources import program_sources


def _split_words(value: str) -> dict[str, JSON]:
    """`command:./agent --fast "two words"`: quotes as in a shell, and nothing else of one."""
    from shlex import split

    try:
        words: list[JSON] = [*split(value)]
        meant = next((word for word in split(value, posix=False) if word in _OF_SHELLS), None)
    except ValueError as error:
        raise ConfigError(f"command target: {error}: {value}") from None
    if meant is not None:
        what = f"`{meant}` means something to a shell, and no shell is asked"
        way = "write command:sh -c '…', or put it in quotes if it is an argument"
        raise ConfigError(f"command target: {what}: {way}")
    return {"command": words}


_OF_SHELLS = frozenset({"|", "||", "&&", "&", ";", ">", ">>", "<", "<<", "2>", "2>&1", "&>"})
"""What joins commands and files in a shell."""


class CommandTarget(Target):
    """Runs a program."""

    kind: ClassVar[TargetKind] = TargetKind(
        "command", "Runs a program.", CommandOptions,
        value="command", split_value=_split_words, runs_code=True, rules=COMMAND_RULES,
    )  # fmt: skip

    def __init__(self, options: CommandOptions, surroundings: Surroundings) -> None:
        most = (options.workers or 1) if options.mode == "worker" else None
        bounds = [bound for bound in (most, options.concurrency) if bound is not None]
        is_worker = options.mode == "worker"
        stateless = options.stateless
        if stateless is None:
            stateless = "session" not in options.template.used
        self.traits = Traits(
            min(bounds, default=None), caching="keyed", stateless=stateless,
            holds_sessions=is_worker and not stateless, only_reads=True,
        )  # fmt: skip
        self._traces = StartedTraces()
        if options.trace:
            self.traits = replace(self.traits, seen=self._traces.seen_of)
        self._most_workers = most
        self._options = options
        self._surroundings = surroundings
        self._program: Program | None = None
        self._workers: Workers | None = None
        self._files: dict[str, str] | None = None
        self._warned = False

    async def open(self) -> None:
        program = resolve_program(self._options, self._surroundings)
        program.check_place()
        open_guard()
        self._program = program
        if self._most_workers is not None:
            self._workers = Workers(program, self._most_workers, self._surroundings.warn)

    async def answer(self, question: Question) -> Answer:
        if not self._options.trace:
            return await self._answer(question, None)
        with self._traces.start(question) as begun:
            return replace(await self._answer(question, begun), trace=begun.trace)

    async def _answer(self, question: Question, trace: TraceContext | None) -> Answer:
        program = self._program
        assert program is not None, "open() comes first"
        if self._workers is not None:
            session = question.session if self.traits.holds_sessions else None
            return await self._workers.answer(question, session, trace)
        self._warn_of_hidden(program, question)
        with prepare_input(program, question) as given:
            if trace is not None:
                given.env[VARIABLE] = trace.traceparent
            most_bytes = program.max_output_bytes
            async with Process(given.argv, program.cwd, given.env, most_bytes) as process:
                output = await self._run(process, given)
                return self._read(output, program, process)

    def cache_key(self, question: Question) -> JSON:
        """What decides an answer: the command with its files, and what it is given."""
        program = self._program
        assert program is not None, "open() comes first"
        if self._files is None:
            self._files = self.sources()
        options = asdict(self._options)
        for name in fields_of(TargetOptions):
            del options[name]  # they decide how it is asked, and not what it answers
        files: JSON = dict(self._files)
        asked = describe_asked(question)
        if program.sees_object:
            asked["suite"] = question.suite
        return {"options": options, "files": files, "asked": asked}

    def sources(self) -> dict[str, str]:
        program = resolve_program(self._options, self._surroundings)
        path = program.variables().get("PYTHONPATH", "")
        return program_sources(program.template.texts, program.cwd, self._surroundings.root, path)

    async def end_session(self, session: str) -> None:
        if self._workers is not None:
            self._workers.end_session(session)

    async def close(self) -> None:
        try:
            if self._workers is not None:
                await self._workers.close()
        finally:
            if self._program is not None:
                self._program = None
                close_guard()

    def _read(self, output: Output, program: Program, process: Process) -> Answer:
        """The answer. What the program wrote beside it is kept where there is none to be seen."""
        try:
            answer = read_output(output, program.output, self._surroundings.warn)
        except TargetError as error:
            error.details |= {"stderr": process.stderr} if process.stderr else {}
            raise
        if not process.stderr or answer.text.strip() or answer.tool_calls:
            return answer
        return replace(answer, stderr=process.stderr)

    async def _run(self, process: Process, given: CommandInput) -> Output:
        code, stdout = await process.run(given.stdin)
        if code != 0:
            raise process.failure("the command", stdout.data)
        if given.output_file is None:
            return stdout
        try:
            return Output(*read_start(given.output_file, self._options.max_output_bytes))
        except OSError as error:
            message = f"the command left no answer in its output file: {error.strerror}"
            raise TargetError(message, kind="protocol", details=process.details()) from None

    def _warn_of_hidden(self, program: Program, question: Question) -> None:
        if self._warned or not program.sees_last_only:
            return
        what = describe_hidden(question)
        if what is not None:
            self._warned = True
            hint = "{input_file}, or JSON on stdin, has all of them"
            self._surroundings.warn(f"the command sees the last user message only; {what}; {hint}")
